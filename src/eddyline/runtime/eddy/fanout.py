"""Which results go to which queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from eddyline.kernels.lineage import by_bit, earliest, expand, within_reach
from eddyline.runtime.batch import Batch
from eddyline.runtime.stores.columns import Array
from eddyline.types import FOREVER

_Lists = tuple[Array, Array, Array]


class Fanout:
    """The results of a chunk, each once, and who gets them.

    Args:
        batch: n results in (ts, seq) order.
        rows: int64[m], numbers of results, query by query.
        starts: int64[bits + 1]: those of the query with bit b are ``[starts[b], starts[b + 1])``.
        exp: int64[m], when each leaves that query's answer.
    """

    def __init__(self, batch: Batch, rows: Array, starts: Array, exp: Array) -> None:
        self.batch = batch
        self._listed: _Lists | None = (rows, starts, exp)

    def _lists(self) -> _Lists:
        assert self._listed is not None, "they were given"
        return self._listed

    @property
    def rows(self) -> Array:
        """As of ``Args``."""
        return self._lists()[0]

    @property
    def starts(self) -> Array:
        """As of ``Args``."""
        return self._lists()[1]

    @property
    def exp(self) -> Array:
        """As of ``Args``."""
        return self._lists()[2]

    @property
    def bits(self) -> int:
        """Larger than the bit of any query."""
        return int(self.starts.size) - 1

    def counts(self) -> Array:
        """int64[bits]: how many results each query gets."""
        return np.diff(self.starts)

    def counts_by(self, group: Array, groups: int) -> Array:
        """int64[groups, bits]: how many results of each group (int64[n]) each query gets."""
        cells = group[self.rows] * self.bits + self.member
        counts: Array = np.bincount(cells, minlength=groups * self.bits)
        return counts.reshape((groups, self.bits))

    def of(self, bit: int) -> tuple[Array, Array]:
        """The results of one query, and when they leave its answer."""
        mine = slice(self.starts[bit], self.starts[bit + 1])
        return self.rows[mine], self.exp[mine]

    @property
    def member(self) -> Array:
        """int64[m]: whose each of ``rows`` is."""
        return np.repeat(np.arange(self.bits), self.counts())

    def only(self, chosen: Array) -> Fanout:
        """Those of ``rows`` for which bool[m] is true."""
        kept = np.flatnonzero(chosen)
        counts = np.bincount(self.member[kept], minlength=self.bits)
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
        return Fanout(self.batch, self.rows[kept], starts, self.exp[kept])

    def of_queries(self, chosen: Array) -> Fanout:
        """What the queries get for which bool[bits] is true."""
        return self.only(chosen[self.member])

    def alive_at(self, clock: int) -> Fanout:
        """What has not left at ``clock``."""
        return self.only(self.exp > clock)

    def used(self) -> Fanout:
        """The same without results that nobody gets."""
        wanted = np.zeros(len(self.batch), np.bool_)
        wanted[self.rows] = True
        if wanted.all():
            return self
        batch = self.batch.take(np.flatnonzero(wanted))
        return Fanout(batch, (np.cumsum(wanted) - 1)[self.rows], self.starts, self.exp)

    def sets(self) -> tuple[Array, Sequence[Array]]:
        """Which queries get each result: int64[n] numbers of sets, and the sets (int64, bits)."""
        lineage = np.zeros((len(self.batch), (self.bits + 63) // 64), np.uint64)
        bit = self.member
        word, mask = bit >> 6, np.uint64(1) << (bit & 63).astype(np.uint64)
        np.bitwise_or.at(lineage, (self.rows, word), mask)
        different, number = np.unique(lineage, axis=0, return_inverse=True)
        members = np.unpackbits(different.view(np.uint8), axis=1, bitorder="little")
        return number.ravel(), [np.flatnonzero(some) for some in members]


class LeveledFanout(Fanout):
    """The same for queries whose windows are nested: each gets all results up to some level.

    Who gets what is written down for those who ask.

    Args:
        level: int64[n], by result. reach: int64[bits], by query; -1: it gets none.
        instants: as of ``fan_out``.
        until: int64[n]: a result is for queries whose reach is less than this only; None: for all.
    """

    def __init__(
        self,
        batch: Batch,
        level: Array,
        reach: Array,
        instants: Sequence[tuple[Array, Array]],
        until: Array | None = None,
    ) -> None:
        self.batch = batch
        self._listed = None
        self._level = level
        self._reach = reach
        self._instants = instants
        self._counts: Array | None = None
        self._until = until

    @property
    def bits(self) -> int:
        return int(self._reach.size)

    def counts(self) -> Array:
        if self._counts is None:
            up_to = np.zeros(self._levels, np.int64)
            for level, sign in self._ends():
                up_to += sign * np.cumsum(np.bincount(level, minlength=self._levels))
            self._counts = self._of_each(up_to)
        return self._counts

    def counts_by(self, group: Array, groups: int) -> Array:
        levels = self._levels
        up_to = np.zeros((groups, levels), np.int64)
        for level, sign in self._ends():
            cells = np.bincount(group * levels + level, minlength=groups * levels)
            up_to += sign * np.cumsum(cells.reshape(groups, levels), axis=1)
        return self._of_each(up_to)

    @property
    def _levels(self) -> int:
        """More than any level that a query reaches, or where a result begins or ends."""
        ends = (int(level.max(initial=0)) for level, _ in self._ends())
        return max(int(self._reach.max()), *ends) + 1

    def _ends(self) -> list[tuple[Array, int]]:
        """Where results begin (1) and where they end (-1)."""
        begun = (self._level, 1)
        return [begun] if self._until is None else [begun, (self._until, -1)]

    def _of_each(self, up_to: Array) -> Array:
        """What queries have of what there is up to each level."""
        counts: Array = np.where(self._reach >= 0, up_to[..., self._reach], 0)
        return counts

    def of(self, bit: int) -> tuple[Array, Array]:
        mine = self._level <= self._reach[bit]
        if self._until is not None:
            mine &= self._reach[bit] < self._until
        rows = np.flatnonzero(mine)
        exp = self.batch.exp[rows]
        for ts, window_us in self._instants:
            np.minimum(exp, ts[rows] + window_us[bit], out=exp)
        return rows, np.minimum(exp, FOREVER)

    def of_queries(self, chosen: Array) -> Fanout:
        reach = np.where(chosen, self._reach, -1)
        return LeveledFanout(self.batch, self._level, reach, self._instants, self._until)

    def used(self) -> Fanout:
        wanted = self._level <= self._reach.max()
        if self._until is not None:
            queries = np.sort(self._reach)
            below = np.searchsorted(queries, np.stack((self._level, self._until)), "left")
            wanted = below[0] < below[1]
        if wanted.all():
            return self
        kept = np.flatnonzero(wanted)
        instants = [(ts[kept], window_us) for ts, window_us in self._instants]
        until = None if self._until is None else self._until[kept]
        batch = self.batch.take(kept)
        return LeveledFanout(batch, self._level[kept], self._reach, instants, until)

    def sets(self) -> tuple[Array, Sequence[Array]]:
        if self._until is None:
            return self._level, _Nested(self._reach)
        pairs = np.stack((self._level, self._until))
        different, number = np.unique(pairs, axis=1, return_inverse=True)
        sets = [
            np.flatnonzero((first <= self._reach) & (self._reach < last))
            for first, last in different.T
        ]
        return number.ravel(), sets

    def _lists(self) -> _Lists:
        if self._listed is None:
            starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(self.counts())))
            rows = within_reach(self._level, self._until, self._reach, starts)
            member = np.repeat(np.arange(self.bits, dtype=np.int32), np.diff(starts))
            self._listed = rows, starts, _exp(self.batch, rows, member, self._instants)
        return self._listed


class _Nested(Sequence[Array]):
    """The queries that get results of each level: those whose reach is as far."""

    def __init__(self, reach: Array) -> None:
        self._reach = reach

    def __len__(self) -> int:
        return int(self._reach.max()) + 1

    def __getitem__(self, level: Any) -> Any:
        return np.flatnonzero(self._reach >= range(len(self))[level])


def _exp(
    batch: Batch, rows: Array, member: Array, instants: Iterable[tuple[Array, Array]]
) -> Array:
    """When each result leaves the answer of the query that gets it."""
    exp = batch.exp.take(rows)
    for ts, window_us in instants:
        earliest(exp, rows, member, ts, window_us)
    return np.minimum(exp, FOREVER)


def fan_out(
    batch: Batch,
    blocks: Iterable[tuple[int, Array]],
    bits: int,
    instants: Iterable[tuple[Array, Array]],
) -> Fanout:
    """The fan-out of results to queries.

    Args:
        blocks: first number and lineage (uint64[k, W]) of pieces of the batch.
        bits: larger than any bit that is set.
        instants: per source with windows, int64[n] ts of its rows and int64[bits] window lengths.
    """
    pieces = [expand(lineage, first) for first, lineage in blocks]
    row = np.concatenate([r for r, _ in pieces]) if pieces else np.zeros(0, np.int64)
    bit = np.concatenate([b for _, b in pieces]) if pieces else np.zeros(0, np.int32)
    rows, starts = by_bit(row, bit, bits)
    member = np.repeat(np.arange(bits, dtype=np.int32), np.diff(starts))
    return Fanout(batch, rows, starts, _exp(batch, rows, member, instants))
