"""Rows of virtual sources: joined so far, on their way through a flow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eddyline.kernels.hashing import combine, mix_all
from eddyline.kernels.lineage import order_ties
from eddyline.runtime.batch import Batch
from eddyline.runtime.stores.columns import Array


@dataclass
class Composites:
    """Rows of one virtual source: joined so far, and who wants them.

    Attributes:
        ts, seq: of the youngest row, which all probes are made as of.
        ids, instants: by source, the base rows and their timestamps.
        wanted: uint64[n, W], their lineage; or, where queries differ only in their windows,
            int64[n], the first level that wants them.
        group: int64[n], whose windows a row has been pushed out of: the composites are taken back
            (-1: they come). None: all of them come.
    """

    ts: Array
    seq: Array
    ids: dict[int, Array]
    instants: dict[int, Array]
    wanted: Array
    group: Array | None = None

    def __len__(self) -> int:
        return int(self.ts.size)

    def take(self, rows: Array | slice, wanted: Array | None = None) -> Composites:
        """Some of them."""
        return Composites(
            self.ts[rows],
            self.seq[rows],
            {s: i[rows] for s, i in self.ids.items()},
            {s: t[rows] for s, t in self.instants.items()},
            self.wanted[rows] if wanted is None else wanted,
            None if self.group is None else self.group[rows],
        )


def singletons(number: int, batch: Batch, wanted: Array) -> Composites:
    """Rows of one source that are not joined with anything yet."""
    return Composites(batch.ts, batch.seq, {number: batch.ids[0]}, {number: batch.ts}, wanted)


def in_order(found: Sequence[Composites], sources: int, nobody: Array) -> Composites:
    """All results of a chunk in the order of events; of one event by their rows, so that the route
    does not show.

    Args:
        nobody: ``wanted`` of no rows.
    """
    nothing = np.zeros(0, np.int64)
    none = dict.fromkeys(range(sources), nothing)
    parts = [p for p in found if len(p)] or [Composites(nothing, nothing, none, none, nobody)]
    if len(parts) == 1 and sources < 3:
        return parts[0]
    whole = Composites(
        np.concatenate([p.ts for p in parts]),
        np.concatenate([p.seq for p in parts]),
        {s: np.concatenate([p.ids[s] for p in parts]) for s in range(sources)},
        {s: np.concatenate([p.instants[s] for p in parts]) for s in range(sources)},
        np.concatenate([p.wanted for p in parts]),
        _groups(parts),
    )
    order = np.argsort(whole.seq, kind="stable")
    if sources > 2:
        rows = mix_all(whole.ids[0])
        for source in range(1, sources):
            combine(rows, mix_all(whole.ids[source]))
        order_ties(order, whole.seq, rows)
    return whole.take(order)


def _groups(parts: Sequence[Composites]) -> Array | None:
    if all(p.group is None for p in parts):
        return None
    return np.concatenate([np.full(len(p), -1) if p.group is None else p.group for p in parts])
