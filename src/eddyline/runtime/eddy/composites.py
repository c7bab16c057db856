"""Rows of virtual sources: joined so far, on their way through a flow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eddyline.kernels.hashing import combine, mix_all
from eddyline.kernels.lineage import order_ties
from eddyline.runtime.batch import Batch
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.window_join.output_buffer import CandidatePairs


@dataclass
class Composites:
    """Rows of one virtual source (joined so far), and which queries require them.

    Attributes:
        ts, seq: of the youngest row, the instant of all probes.
        ids, instants: by source, the base rows and their timestamps.
        required: uint64[n, W], their lineage; or int64[n], the first level that requires them,
            where rows have no lineage.
        group: int64[n], the group of windows that a row was evicted from: the composites are
            retracted (-1: they are new). None: all are new.
    """

    ts: Array
    seq: Array
    ids: dict[int, Array]
    instants: dict[int, Array]
    required: Array
    group: Array | None = None

    def __len__(self) -> int:
        return int(self.ts.size)

    @property
    def sign(self) -> Array:
        """int8[n]: -1 where a composite is retracted."""
        sign = np.ones(len(self), np.int8)
        if self.group is not None:
            sign[self.group >= 0] = -1
        return sign

    def candidates(self) -> CandidatePairs:
        """The rows of the first two sources, as pairs that may be results."""
        return CandidatePairs(self.ts, self.seq, self.sign, self.ids[0], self.ids[1])

    def take(self, rows: Array | slice, required: Array | None = None) -> Composites:
        """Some of them."""
        return Composites(
            self.ts[rows],
            self.seq[rows],
            {s: i[rows] for s, i in self.ids.items()},
            {s: t[rows] for s, t in self.instants.items()},
            self.required[rows] if required is None else required,
            None if self.group is None else self.group[rows],
        )


def singletons(number: int, batch: Batch, required: Array) -> Composites:
    """Rows of one source that are not joined with anything yet."""
    return Composites(batch.ts, batch.seq, {number: batch.ids[0]}, {number: batch.ts}, required)


def in_order(found: Sequence[Composites], sources: int, none_required: Array) -> Composites:
    """All results of a chunk in the order of events; those of one event in an order of their rows
    that does not depend on the route.

    Args:
        none_required: ``required`` of no rows.
    """
    nothing = np.zeros(0, np.int64)
    none = dict.fromkeys(range(sources), nothing)
    parts = [p for p in found if len(p)] or [
        Composites(nothing, nothing, none, none, none_required)
    ]
    if len(parts) == 1 and sources < 3:
        return parts[0]
    whole = Composites(
        np.concatenate([p.ts for p in parts]),
        np.concatenate([p.seq for p in parts]),
        {s: np.concatenate([p.ids[s] for p in parts]) for s in range(sources)},
        {s: np.concatenate([p.instants[s] for p in parts]) for s in range(sources)},
        np.concatenate([p.required for p in parts]),
        _groups(parts),
    )
    return whole.take(order_of(whole.seq, list(whole.ids.values())))


def order_of(seq: Array, ids: Sequence[Array]) -> Array:
    """int64[n]: results in the order of events; those of one event, of three sources or more, in an
    order of their rows.
    """
    order = np.argsort(seq, kind="stable")
    if len(ids) > 2:
        rows = mix_all(ids[0])
        for others in ids[1:]:
            combine(rows, mix_all(others))
        order_ties(order, seq, rows)
    return order


def _groups(parts: Sequence[Composites]) -> Array | None:
    if all(p.group is None for p in parts):
        return None
    return np.concatenate([np.full(len(p), -1) if p.group is None else p.group for p in parts])
