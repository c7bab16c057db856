"""Disjunctions over several attributes: clauses that no single grouped filter can decide.

Every disjunct has a bit of its own, in a private lineage block that grouped filters narrow like any
other. The block consists of *planes*, each a copy of those words of a row's lineage that belong to
queries with disjunctions: a plane holds at most one disjunct of a query, at the query's own bit. So
the clauses of all queries are resolved word by word. For a query with (a OR b) AND (c OR d)::

     clause 0   plane 0: a     plane 1: b         a clause holds if its bit is left in any of its
     clause 1   plane 2: c     plane 3: d         planes; the query, if all its clauses do

Source: Madden et al. 2002, section 2.2.2 ("queries with disjunction").
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from eddyline.kernels.disjunctions import resolve, spread
from eddyline.kernels.grouped_filter import bitmap, rows_wanted
from eddyline.kernels.lineage import expand
from eddyline.runtime.failures import report
from eddyline.runtime.predicates.clauses import Clause
from eddyline.runtime.predicates.grouped_filter import (
    AttributeValues,
    GroupedFilter,
    Undecided,
    rows_per_block,
)
from eddyline.runtime.stores.columns import Array

_ALL_BITS: Final = np.uint64(0xFFFF_FFFF_FFFF_FFFF)


@dataclass(frozen=True, slots=True)
class _Failing:
    """Rows for which some disjunct has no value. One that is TRUE decides; if there is none, the
    row fails the query. So the clauses are resolved twice: with all undecided disjuncts TRUE, and
    with all of them FALSE. Where the outcomes differ, the row has failed.

    Attributes:
        undecided: by disjuncts. rows: int64[k], rows of the lineage.
        private: uint64[k, p * stride], with undecided disjuncts FALSE. lineage: uint64[k, W].
    """

    undecided: Sequence[Undecided]
    rows: Array
    private: Array
    lineage: Array

    @classmethod
    def of(
        cls, undecided: Sequence[Undecided], lineage: Array, rows: Array, private: Array
    ) -> _Failing | None:
        """Before the clauses are resolved; None: no row is undecided."""
        if not undecided:
            return None
        places = np.unique(np.concatenate([u.rows for u in undecided]))
        decided = private[places]
        moved = [replace(u, rows=np.searchsorted(places, u.rows)) for u in undecided]
        for each in moved:
            each.clear(decided)
        return cls(moved, rows[places], decided, lineage[rows[places]])

    def report(self, lineage: Array) -> None:
        """After both: report the rows that failed, and clear their bits."""
        failed = lineage[self.rows] & ~self.lineage
        for each in self.undecided:
            places, bits = expand(failed[each.rows], np.arange(each.rows.size))
            report(each.failure.of_queries(places, bits.astype(np.int64)))
            failed[each.rows] = 0  # one reason per row
        lineage[self.rows] &= self.lineage


class Disjunctions:
    """The clauses with several conditions of all queries over one source."""

    def __init__(self) -> None:
        self._clauses: dict[int, Sequence[Clause]] = {}
        self._clear(0)

    def _clear(self, stride: int) -> None:
        self._filters: dict[Hashable, GroupedFilter] = {}
        self._laid_out = len(self._clauses)
        self._columns: dict[int, int] = {}  # word of the lineage: its place in every plane
        self._planes: dict[tuple[int, int], int] = {}  # (clause, disjunct) of a query: its plane
        self._members = np.zeros((0, stride), np.uint64)
        self._queries: tuple[Array, Array] | None = None

    @property
    def filters(self) -> list[GroupedFilter]:
        """The filters of the disjuncts, those over plain attributes first."""
        return sorted(self._filters.values(), key=lambda f: not f.attribute.plain)

    def add(self, bit: int, clauses: Sequence[Clause]) -> None:
        """Apply clauses, each of several conditions, for the query with this bit."""
        self._clauses[bit] = clauses
        if bit >> 6 not in self._columns and len(self._columns) == self._members.shape[1]:
            self._lay_out()
        else:
            self._place(bit)

    def remove(self, bit: int) -> None:
        """Remove a query."""
        clauses = self._clauses.pop(bit)
        if 4 * len(self._clauses) < self._laid_out:  # give room back
            self._lay_out()
            return
        for number, clause in enumerate(clauses):
            for disjunct, (attribute, _) in enumerate(clause):
                plane = self._planes[number, disjunct]
                self._filters[attribute.key].remove(self._private_bit(plane, bit))
                if disjunct:
                    self._members[plane, self._columns[bit >> 6]] &= ~np.uint64(1 << (bit & 63))
                if not self._filters[attribute.key].predicates:
                    del self._filters[attribute.key]
        self._queries = None

    def _lay_out(self) -> None:
        """Assign new places to all queries, with room for twice as many words."""
        self._clear(2 * len({bit >> 6 for bit in self._clauses}))
        for bit in self._clauses:
            self._place(bit)

    def _place(self, bit: int) -> None:
        self._laid_out = max(self._laid_out, len(self._clauses))
        self._queries = None
        column = self._columns.setdefault(bit >> 6, len(self._columns))
        for number, clause in enumerate(self._clauses[bit]):
            for disjunct, (attribute, accepts) in enumerate(clause):
                plane = self._plane(number, disjunct)
                if disjunct:
                    self._members[plane, column] |= np.uint64(1 << (bit & 63))
                grouped = self._filters.setdefault(attribute.key, GroupedFilter(attribute))
                grouped.put(self._private_bit(plane, bit), accepts)

    def _plane(self, clause: int, disjunct: int) -> int:
        plane = self._planes.setdefault((clause, disjunct), len(self._planes))
        if plane == len(self._members):
            # queries without this clause pass by the plane of its first disjunct
            members = np.full(self._members.shape[1], 0 if disjunct else _ALL_BITS, np.uint64)
            self._members = np.vstack((self._members, members))
        return plane

    def _private_bit(self, plane: int, bit: int) -> int:
        word = plane * self._members.shape[1] + self._columns[bit >> 6]
        return 64 * word + (bit & 63)

    def narrow(self, values: AttributeValues, lineage: Array, rows: Array, numbers: Array) -> int:
        """Clear the bits of the queries of which a clause does not hold, in place.

        Arguments are those of ``GroupedFilter.narrow``.

        Returns:
            How often a filter has looked at a row.
        """
        before = sum(f.visited for f in self.filters)
        words, queries = self._wanting()
        wanted = rows_wanted(rows, lineage, words, False, queries)
        step = rows_per_block(self._members.size, self.filters)
        for start in range(0, wanted.size, step):
            block = wanted[start : start + step]
            self._narrow_block(values, lineage, block, numbers[block], words)
        return sum(f.visited for f in self.filters) - before

    def _narrow_block(
        self, values: AttributeValues, lineage: Array, rows: Array, numbers: Array, words: Array
    ) -> None:
        private = spread(lineage, rows, words, self._members)
        left = np.arange(rows.size)
        undecided: list[Undecided] = []
        for grouped in self.filters:
            left = grouped.narrow(values, private, left, numbers, undecided)
        failing = _Failing.of(undecided, lineage, rows, private)
        self._resolve(private, lineage, rows, words)
        if failing is not None:
            self._resolve(failing.private, failing.lineage, np.arange(failing.rows.size), words)
            failing.report(lineage)

    def _resolve(self, private: Array, lineage: Array, rows: Array, words: Array) -> None:
        clause = np.array([number for number, _ in self._planes])
        resolve(private, self._members.shape[1], clause, lineage, rows, words)

    def _wanting(self) -> tuple[Array, Array]:
        """int64[k], the words of the planes' columns; uint64[k], the queries with clauses there."""
        if self._queries is None:
            bits = np.fromiter(self._clauses, np.int64, len(self._clauses))
            words = np.fromiter(self._columns, np.int64, len(self._columns))
            queries = bitmap(bits, int(words.max()) + 1)[words]
            self._queries = words, queries
        return self._queries
