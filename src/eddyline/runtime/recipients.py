"""The queries that get each row of a batch.

Queries are numbered; in a flow the number is a query's bit in the lineage. A row may go to many
queries and leave the answer of each at another time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from eddyline.kernels.lineage import by_bit, earliest, expand, within_reach
from eddyline.runtime.stores.columns import Array
from eddyline.types import BEGINNING, FOREVER

_Lists = tuple[Array, Array]
_NO_ROWS: Final = np.zeros(0, np.int64)


class Recipients:
    """The recipients of n rows, listed query by query.

    Args:
        rows: int64[m], row numbers, query by query.
        starts: int64[width + 1]: the rows of query q are ``[starts[q], starts[q + 1])``.
        exp: int64[m], when each row leaves that query's answer, or what computes it.

    Attributes:
        lineages: int64[n] by reader, the numbers of the lineages of its queries (``Lineages``).
    """

    def __init__(self, rows: Array, starts: Array, exp: Array | Callable[[], Array]) -> None:
        self.lineages: Mapping[object, Array] = {}
        self._listed: _Lists | None = (rows, starts)
        self._exp = exp
        self._counts: Array | None = None

    def _lists(self) -> _Lists:
        assert self._listed is not None, "set by __init__"
        return self._listed

    @property
    def rows(self) -> Array:
        """int64[m], row numbers, query by query."""
        return self._lists()[0]

    @property
    def starts(self) -> Array:
        """int64[width + 1], where the rows of each query begin."""
        return self._lists()[1]

    @property
    def exp(self) -> Array:
        """int64[m], when each row leaves its query's answer."""
        if callable(self._exp):
            self._exp = self._exp()
        return self._exp

    @property
    def width(self) -> int:
        """All query numbers are less than this."""
        return int(self.starts.size) - 1

    @property
    def are_none(self) -> bool:
        """Whether it is known that no query gets a row, without listing them."""
        return self._listed is not None and not self._listed[0].size

    @property
    def query(self) -> Array:
        """int64[m], the query that gets each of ``rows``."""
        return _repeated(self.counts())

    def by_row(self, n: int) -> Array:
        """int64[m], the numbers of ``rows``, row by row and then query by query."""
        rows = self.rows
        return by_bit(np.arange(rows.size), rows, n)[0]

    def counts(self) -> Array:
        """int64[width], number of rows per query."""
        if self._counts is None:
            starts = self.starts
            self._counts = starts[1:] - starts[:-1]
        return self._counts

    def counts_by(self, group: Array, groups: int) -> Array:
        """int64[groups, width], number of rows of each group (``group``: int64[n]) per query."""
        cells = group[self.rows] * self.width + self.query
        counts: Array = np.bincount(cells, minlength=groups * self.width)
        return counts.reshape((groups, self.width))

    def of(self, query: int) -> tuple[Array, Array]:
        """The rows of one query, and when they leave its answer."""
        mine = slice(self.starts[query], self.starts[query + 1])
        return self.rows[mine], self.exp[mine]

    def only(self, chosen: Array) -> Recipients:
        """Those of ``rows`` where bool[m] ``chosen``."""
        kept = np.flatnonzero(chosen)
        counts = np.bincount(self.query[kept], minlength=self.width)
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
        return Recipients(self.rows[kept], starts, self.exp[kept])

    def of_queries(self, chosen: Array) -> Recipients:
        """The rows of the queries where bool[width] ``chosen``."""
        return self.only(chosen[self.query])

    def received(self, n: int) -> Array:
        """bool[n], the rows that some query gets."""
        received = np.zeros(n, np.bool_)
        received[self.rows] = True
        return received

    def renumbered(self, kept: Array) -> Recipients:
        """The recipients after only rows where bool[n] ``kept`` are left; the others have none."""
        return Recipients((np.cumsum(kept) - 1)[self.rows], self.starts, self._exp)

    def last_exp(self, n: int) -> Array:
        """int64[n], when each row has left all answers; without recipients, BEGINNING."""
        last = np.full(n, BEGINNING, np.int64)
        np.maximum.at(last, self.rows, self.exp)
        return last

    def lineage(self, n: int, words: int) -> tuple[Array, Array]:
        """int64[n], the number of each row's lineage among several, uint64[k, words]."""
        lineage, bit = np.zeros((n, words), np.uint64), self.query
        mask = np.uint64(1) << (bit & 63).astype(np.uint64)
        np.bitwise_or.at(lineage, (self.rows, bit >> 6), mask)
        return np.arange(n), lineage

    def sets(self, n: int) -> tuple[Array, Sequence[Array]]:
        """int64[n], the number of the set of queries that get each row; and these sets (int64)."""
        _, lineage = self.lineage(n, (self.width + 63) // 64)
        different, number = np.unique(lineage, axis=0, return_inverse=True)
        members = np.unpackbits(different.view(np.uint8), axis=1, bitorder="little")
        return number.ravel(), [np.flatnonzero(some) for some in members]


class NestedRecipients(Recipients):
    """The recipients where windows are nested: each query gets all rows up to some level.

    Rows are listed by query only on access.

    Args:
        rows_exp: int64[n], when rows expire for all queries.
        level: int64[n], by row. reach: int64[width], by query; -1: it gets no row.
        instants: as of ``recipients_of``.
        until: int64[n]: a row is for queries whose reach is less than this only; None: for all.
    """

    def __init__(
        self,
        rows_exp: Array,
        level: Array,
        reach: Array,
        instants: Sequence[tuple[Array, Array]],
        until: Array | None = None,
    ) -> None:
        self.lineages = {}
        self._listed = None
        self._exp = self._expiries
        self._rows_exp = rows_exp
        self._level = level
        self._reach = reach
        self._instants = instants
        self._counts: Array | None = None
        self._until = until

    @property
    def width(self) -> int:
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
        """More than any level that a query reaches, or where a row begins or ends."""
        ends = (int(level.max(initial=0)) for level, _ in self._ends())
        return max(int(self._reach.max()), *ends) + 1

    def _ends(self) -> list[tuple[Array, int]]:
        """Where rows begin (1) and where they end (-1)."""
        begun = (self._level, 1)
        return [begun] if self._until is None else [begun, (self._until, -1)]

    def _of_each(self, up_to: Array) -> Array:
        """Per query, out of the number of rows up to each level."""
        counts: Array = np.where(self._reach >= 0, up_to[..., self._reach], 0)
        return counts

    def of(self, query: int) -> tuple[Array, Array]:
        mine = self._level <= self._reach[query]
        if self._until is not None:
            mine &= self._reach[query] < self._until
        rows = np.flatnonzero(mine)
        exp = self._rows_exp[rows]
        for ts, window_us in self._instants:
            np.minimum(exp, ts[rows] + window_us[query], out=exp)
        return rows, np.minimum(exp, FOREVER)

    def of_queries(self, chosen: Array) -> Recipients:
        reach = np.where(chosen, self._reach, -1)
        return NestedRecipients(self._rows_exp, self._level, reach, self._instants, self._until)

    def received(self, n: int) -> Array:
        if self._until is None:
            received: Array = self._level <= self._reach.max()
            return received
        queries = np.sort(self._reach)
        below = np.searchsorted(queries, np.stack((self._level, self._until)), "left")
        received = below[0] < below[1]
        return received

    def renumbered(self, kept: Array) -> Recipients:
        rows = np.flatnonzero(kept)
        instants = [(ts[rows], window_us) for ts, window_us in self._instants]
        until = None if self._until is None else self._until[rows]
        return NestedRecipients(
            self._rows_exp[rows], self._level[rows], self._reach, instants, until
        )

    def last_exp(self, n: int) -> Array:
        if self._until is not None:
            return super().last_exp(n)
        longest = int(self._reach.argmax())  # its windows contain those of all others
        rows, exp = self.of(longest)
        last = np.full(n, BEGINNING, np.int64)
        last[rows] = exp
        return last

    def lineage(self, n: int, words: int) -> tuple[Array, Array]:
        if self._until is not None:
            return super().lineage(n, words)
        levels = np.arange(int(self._level.max(initial=0)) + 1)
        get = np.zeros((levels.size, 64 * words), np.bool_)
        get[:, : self.width] = self._reach >= levels[:, np.newaxis]
        return self._level, np.packbits(get, axis=1, bitorder="little").view(np.uint64)

    def sets(self, n: int) -> tuple[Array, Sequence[Array]]:
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
            self._listed = within_reach(self._level, self._until, self._reach, starts), starts
        return self._listed

    def _expiries(self) -> Array:
        return _exp(self._rows_exp, self.rows, self.starts, self._instants)


class _Nested(Sequence[Array]):
    """The queries that get rows of each level."""

    def __init__(self, reach: Array) -> None:
        self._reach = reach

    def __len__(self) -> int:
        return int(self._reach.max()) + 1

    def __getitem__(self, level: Any) -> Any:
        return np.flatnonzero(self._reach >= range(len(self))[level])


def _exp(
    rows_exp: Array, rows: Array, starts: Array, instants: Iterable[tuple[Array, Array]]
) -> Array:
    """When each row leaves the answer of the query that gets it."""
    exp = rows_exp.take(rows)
    query = _repeated(starts[1:] - starts[:-1]).astype(np.int32)
    for ts, window_us in instants:
        earliest(exp, rows, query, ts, window_us)
    return np.minimum(exp, FOREVER)


def _repeated(counts: Array) -> Array:
    """int64[m]: each number as often as ``counts`` has there, which mostly is 0."""
    (some,) = (counts > 0).nonzero()
    return some.repeat(counts[some])


def recipients_of(
    rows_exp: Array,
    blocks: Iterable[tuple[Array, Array]],
    width: int,
    instants: Iterable[tuple[Array, Array]],
    pairs: Iterable[tuple[Array, Array]] = (),
) -> Recipients:
    """The recipients of rows, by their lineage.

    Args:
        rows_exp: int64[n], when rows expire for all queries.
        blocks: row numbers (int64[k]) and lineage (uint64[k, W]) of pieces of the batch.
        width: larger than any bit that is set.
        instants: per source with windows, int64[n] ts of its rows and int64[width] window lengths.
        pairs: further row numbers (int64[m], ascending) and queries (int32[m]), seen to first.
    """
    pieces = [*pairs, *(expand(lineage, numbers) for numbers, lineage in blocks)]
    if len(pieces) > 1:
        pieces = [(np.concatenate([r for r, _ in pieces]), np.concatenate([b for _, b in pieces]))]
    if not pieces or not pieces[0][0].size:
        return Recipients(_NO_ROWS, np.zeros(width + 1, np.int64), _NO_ROWS)
    rows, starts = by_bit(*pieces[0], width)
    ends = [(ts, window_us.copy()) for ts, window_us in instants]  # windows may change
    return Recipients(rows, starts, lambda: _exp(rows_exp, rows, starts, ends))


def all_for(
    query: int, rows_exp: Array, width: int, instants: Sequence[tuple[Array, Array]]
) -> Recipients:
    """The recipients of rows that all are for one query; arguments as of ``recipients_of``."""
    starts = np.zeros(width + 1, np.int64)
    starts[query + 1 :] = rows_exp.size

    def exp() -> Array:
        found = rows_exp
        for (ts, _), window_us in zip(instants, windows, strict=True):
            found = np.minimum(found, ts + window_us)
        return np.minimum(found, FOREVER)

    windows = [int(lengths[query]) for _, lengths in instants]
    return Recipients(np.arange(rows_exp.size), starts, exp)
