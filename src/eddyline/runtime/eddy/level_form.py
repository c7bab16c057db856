"""Queries without predicates and with nested windows: rows need no lineage.

The age of a result is its *level*: the smallest window that contains it. Its recipients are the
queries with this window and all with larger ones.

Source: Hammad et al. 2003, section 2.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eddyline.kernels.lineage import meet_levels
from eddyline.kernels.pairs import merged_levels
from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.composites import Composites
from eddyline.runtime.eddy.result_form import FlowParts, Required, ResultForm
from eddyline.runtime.join_inputs.flow_windows import Windows
from eddyline.runtime.join_inputs.lineage_input import LineageInput
from eddyline.runtime.recipients import NestedRecipients
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import Probes
from eddyline.runtime.window_join.levels import Levels
from eddyline.runtime.window_join.rows_groups import RowsGroups


class LevelForm(ResultForm):
    """The recipients of a result are the queries from its level on.

    Args:
        levels: the queries' windows.
    """

    def __init__(
        self,
        parts: FlowParts,
        windows: Sequence[Windows],
        mask: Array,
        groups: RowsGroups | None,
        levels: Levels,
    ) -> None:
        super().__init__(parts, windows, mask, groups)
        self.levels = levels
        self._reach = levels.reach(parts.members.width)  # by bit, the query's level
        self._probes_once = len(parts.inputs) == 2 and not parts.keyless and groups is None

    def new_rows(self, source: int, batch: Batch) -> Required:
        return batch, np.zeros(len(batch), np.int64)

    def lineage(self, required: Array) -> Array | None:
        return None

    def _built(self, rows: LineageInput, mask: Array) -> tuple[Array, Array]:
        positions = rows.held()
        return positions, np.zeros(positions.size, np.int64)

    def _within(self, source: int, required: Array, age: Array) -> tuple[Array, Array]:
        return meet_levels(required, np.arange(age.size), age, self.levels.bounds[source])

    def _evicted(
        self, rows: LineageInput, ids: Array, group: Array, groups: RowsGroups
    ) -> tuple[Array | slice, Array]:
        return slice(None), groups.first[group]

    def meet(
        self, target: int, probing: Composites, number: Array, found: Array, age: Array
    ) -> tuple[Array, Array]:
        kept, level = meet_levels(probing.required, number, age, self.levels.bounds[target])
        if probing.group is not None and self.groups is not None:
            some = level < self.groups.last[probing.group[number[kept]]]
            kept, level = kept[some], level[some]
        return kept, level

    def join(self, new: Sequence[Required], evicted: Sequence[Composites] = ()) -> Composites:
        if not self._probes_once:
            return super().join(new, evicted)
        ts, seq, ids, instants, level = merged_levels(
            *self._matches(0, new[0][0]), *self._matches(1, new[1][0])
        )
        whole = Composites(ts, seq, dict(enumerate(ids)), dict(enumerate(instants)), level)
        if self.parts.verify is None or not len(whole):
            return whole
        return whole.take(self.parts.verify(whole.candidates(), None)[0])

    def _matches(self, source: int, batch: Batch) -> tuple[Any, ...]:
        """New rows of one source and their matches of the other, as ``merged_levels`` takes it."""
        own, other = self.parts.inputs[source], self.parts.inputs[1 - source]
        chosen, key = own.keyed(batch)
        if chosen.size < len(batch):
            batch = batch.take(chosen)
        probes = Probes(key, batch.ts, batch.seq)
        number, found = other.only.find(probes, inclusive=1 - source < source)
        return (
            batch.ts,
            batch.seq,
            batch.ids[0],
            number,
            other.stem.ids(found),
            other.stem.lane_at("ts", found),
            self.levels.bounds[1 - source],
            *self.levels.hints[1 - source],
        )

    def with_recipients(self, whole: Composites) -> Batch:
        return self._nested(whole, whole.required, self._reach)

    def released(self, whole: Composites, queries: Array) -> Batch:
        level = self.levels.of_results(whole.ts, list(whole.instants.values()))
        if whole.group is not None and self.groups is not None:
            firsts = np.append(self.groups.first, 0)  # -1 is for all levels
            np.maximum(level, firsts[whole.group], out=level)
        present = self._present(queries)
        reach = np.full(present.size, -1, np.int64)
        reach[: self._reach.size] = self._reach
        return self._nested(whole, level, np.where(present, reach, -1))

    def _nested(self, whole: Composites, level: Array, reach: Array) -> Batch:
        """Results with the queries whose windows contain them."""
        until = None
        if whole.group is not None:
            assert self.groups is not None, "rows were evicted from their windows"
            lasts = np.append(self.groups.last, len(self.levels))  # -1 is for all levels
            until = lasts[whole.group]
        batch, instants = self._batch(whole), self._instants(whole)
        return batch.sent_to(NestedRecipients(batch.exp, level, reach, instants, until))
