"""The join of two streams for queries that differ in nothing but nested windows.

What a row finds is cut by age into the levels that want it, and both sides' results are put in
order, without lineage and without an eddy: there is one way to go.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from eddyline.kernels.pairs import merged_levels
from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.composites import Composites
from eddyline.runtime.join_inputs.lineage_input import LineageInput
from eddyline.runtime.stores.index import Probes
from eddyline.runtime.window_join.levels import Levels
from eddyline.runtime.window_join.output_buffer import Verify


def leveled_join(
    sides: Sequence[LineageInput], levels: Levels, new: Sequence[Batch], verify: Verify | None
) -> Composites:
    """The results of new rows of both sides, which have been built; ``wanted``: their levels.

    Args:
        verify: None: equal keys say it.
    """
    ts, seq, ids, instants, level = merged_levels(
        *_found(sides, levels, new[0], 0), *_found(sides, levels, new[1], 1)
    )
    whole = Composites(ts, seq, dict(enumerate(ids)), dict(enumerate(instants)), level)
    if verify is None or not len(whole):
        return whole
    return whole.take(verify(ids[0], ids[1], None)[0])


def _found(
    sides: Sequence[LineageInput], levels: Levels, batch: Batch, side: int
) -> tuple[Any, ...]:
    """The rows of one side with what they find on the other: arguments of ``merged_levels``."""
    other = sides[1 - side]
    chosen, key = sides[side].keyed(batch)
    if chosen.size < len(batch):
        batch = batch.take(chosen)
    probes = Probes(key, batch.ts, batch.seq)
    number, found = other.only.find(probes, inclusive=1 - side < side)
    stem, bounds = other.stem, levels.bounds[1 - side]
    return (
        batch.ts,
        batch.seq,
        batch.ids[0],
        number,
        stem.ids(found),
        stem.lane_at("ts", found),
        bounds,
        *levels.hints[1 - side],
    )
