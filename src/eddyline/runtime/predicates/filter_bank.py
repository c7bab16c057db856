"""Filter banks: the predicates of all queries over one source.

A query's predicate is a conjunction of clauses. Its condition on one attribute is one set of
values, in that attribute's grouped filter; clauses over several attributes are left to the rows
that pass these.

Source: Madden et al. 2002, section 2.2.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import NamedTuple, cast

import numpy as np

from eddyline.algebra.value_sets import EVERYTHING, NOTHING, ValueSet
from eddyline.kernels.grouped_filter import rows_left
from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.policies.base import Policy
from eddyline.runtime.failures import report
from eddyline.runtime.predicates.box_sets import BoxSets
from eddyline.runtime.predicates.clauses import Clause, ClauseTerm, combine, simplified
from eddyline.runtime.predicates.disjunctions import Disjunctions
from eddyline.runtime.predicates.grouped_filter import (
    Attribute,
    AttributeValues,
    GroupedFilter,
    Undecided,
    rows_per_block,
)
from eddyline.runtime.predicates.screening import Screening, screening_filters
from eddyline.runtime.screens import Condition, Screen
from eddyline.runtime.stores.columns import Array, any_of

__all__ = ["Attribute", "Clause", "FilterBank"]

_Order = tuple[GroupedFilter, ...]


class _Blocked(NamedTuple):
    """Queries whose rows ``blocks`` returns, until queries change.

    Attributes:
        asked, mask: uint64[W], the queries that were asked for, and those of them.
        screening: see ``screening_filters``; empty: there are few queries.
    """

    asked: Array
    mask: Array
    screening: list[GroupedFilter]


class FilterBank:
    """The predicates over one source, or one virtual source (joined rows), of queries with bits.

    Args:
        policy: in which order rows visit the grouped filters.
        boxed: whether many queries with ranges may be found by ``pairs`` instead of ``blocks``.

    Attributes:
        has_predicates: whether some query does not accept every row.
        computed: number of grouped filters over expressions.
        visits: number of rows that filters have evaluated.
        version: grows when queries are added and removed.
    """

    def __init__(self, policy: Policy, *, boxed: bool = False) -> None:
        self._policy = policy
        self._boxes = BoxSets() if boxed else None
        self._filters: dict[Hashable, GroupedFilter] = {}
        self._disjunctions: Disjunctions | None = None  # None: there have been none
        self._used_by: dict[int, tuple[Hashable, ...]] = {}  # by bit, the keys of its filters
        self._impossible: set[int] = set()
        self._disjunctive: set[int] = set()
        self._late: dict[Hashable, int | None] = {}  # see ``late``
        self.has_predicates = False
        self.computed = 0
        self.visits = 0
        self.version = 0
        self._screening = Screening()
        self._blocked: _Blocked | None = None

    @property
    def filters(self) -> list[GroupedFilter]:
        """The grouped filters that rows are routed to."""
        return list(self._filters.values())

    def add(self, bit: int, clauses: Sequence[Clause]) -> None:
        """Add a query's predicate.

        Args:
            bit: that no query of the bank has.
            clauses: without any, every row is accepted; a clause without conditions accepts none.
        """
        assert bit not in self._used_by, f"bit {bit} belongs to another query"
        conjuncts: dict[Hashable, ClauseTerm] = {}
        disjunctions: list[Clause] = []
        for given in clauses:
            clause = simplified(given) if len(given) > 1 else given
            if clause is None or (len(clause) == 1 and clause[0][1] == EVERYTHING):
                continue
            if len(clause) > 1:
                disjunctions.append(clause)
            elif clause:
                combine(conjuncts, clause[0], ValueSet.intersection)
            else:
                self._impossible.add(bit)
        if any(accepts == NOTHING for _, accepts in conjuncts.values()):
            self._impossible.add(bit)
        if bit in self._impossible:
            conjuncts, disjunctions = {}, []
        for key, (attribute, accepts) in conjuncts.items():
            grouped = self._filters.get(key)
            if grouped is None:
                grouped = self._filters[key] = GroupedFilter(attribute)
                self.computed += not attribute.plain
            grouped.put(bit, accepts)
        if disjunctions:
            if self._disjunctions is None:
                self._disjunctions = Disjunctions()
            self._disjunctions.add(bit, disjunctions)
            self._disjunctive.add(bit)
        self._used_by[bit] = tuple(conjuncts)
        if self._boxes is not None and conjuncts and not disjunctions:
            self._boxes.offer(bit, [self._filters[key] for key in conjuncts])
        self._look()

    def remove(self, bit: int) -> None:
        """Remove a query's predicate.

        Raises:
            KeyError: no query has this bit.
        """
        used = self._used_by.pop(bit)
        if self._boxes is None or not self._boxes.remove(bit):
            self._take_out(bit, used)
        self._impossible.discard(bit)
        if bit in self._disjunctive and self._disjunctions is not None:
            self._disjunctions.remove(bit)
            self._disjunctive.discard(bit)
        self._look()

    def _take_out(self, bit: int, used: Sequence[Hashable]) -> None:
        """Remove a query from the grouped filters."""
        for key in used:
            self._filters[key].remove(bit)
            if not self._filters[key].predicates:
                self.computed -= not self._filters.pop(key).attribute.plain
                self._late.pop(key, None)

    def _look(self) -> None:
        self.version += 1
        self._blocked = None
        self.has_predicates = bool(self._filters or self._impossible or self._disjunctive)

    def narrow(self, batch: Batch, lineage: Array) -> None:
        """Clear the bits of the queries that do not accept a row.

        Args:
            batch: n rows.
            lineage: uint64[n, W], changed in place.
        """
        if not self.has_predicates:
            return
        if self._impossible:
            lineage &= self._possible(lineage.shape[1])
        values, rows = AttributeValues(batch), np.arange(len(batch))
        width = lineage.shape[1]
        for _ in self._narrowed(values, rows, width, lambda first, end: lineage[first:end]):
            pass

    def blocks(self, batch: Batch, mask: Array) -> Iterator[tuple[Array, Array]]:
        """The rows that some of the same queries require after ``narrow``, and the lineage that it
        leaves, piece by piece.

        Lineage that is made, narrowed and used a block at a time stays in the processor's cache.

        Args:
            mask: uint64[W], the queries.

        Yields:
            int64[k], rows of the batch, and their lineage, uint64[k, W], which is valid until the
            next block.
        """
        blocked = self._blocked
        if blocked is None or blocked.asked is not mask:
            blocked = self._blocked = self._block(mask)
        mask = blocked.mask
        if not any_of(mask):
            return
        values = AttributeValues(batch)
        rows = np.arange(batch.ts.size)
        if blocked.screening:
            rows, visits = self._screening.screened(values, blocked.screening, rows)
            self.visits += visits
            if not rows.size:
                return
        room = np.zeros((0, mask.size), np.uint64)

        def fresh(first: int, end: int) -> Array:
            nonlocal room
            if len(room) < end - first:
                room = np.empty((end - first, mask.size), np.uint64)
            room[: end - first] = mask
            return room[: end - first]

        yield from self._narrowed(values, rows, mask.size, fresh)

    def settle(self) -> None:
        """Begin a batch: from now on ``pairs`` may return the rows of more queries."""
        if self._boxes is not None:
            for bit in self._boxes.settle():
                self._take_out(bit, self._used_by[bit])
                self._blocked = None

    def pairs(self, batch: Batch, mask: Array) -> Iterator[tuple[Array, Array]]:
        """Rows that some of these queries require, of those for which ``blocks`` returns none.

        Yields:
            int64[m] rows of the batch, and int32[m], a query of each.
        """
        if self._boxes is None:
            return
        for boxes in self._boxes.sets:
            if len(batch) and boxes.among(mask):
                self.visits += len(batch) * len(boxes.attributes)
                yield boxes.accepting(AttributeValues(batch), np.arange(len(batch)), mask)

    def boxed(self, words: int) -> Array:
        """uint64[words]: the queries whose rows ``pairs`` returns."""
        return np.zeros(words, np.uint64) if self._boxes is None else self._boxes.mask(words)

    def _block(self, mask: Array) -> _Blocked:
        """What ``blocks`` does for some queries."""
        asked, mask = mask, mask & self._possible(mask.size)
        if self._boxes is not None:
            mask &= ~self._boxes.mask(mask.size)
        queries = len(self._used_by) - len(self._boxes or ())
        return _Blocked(asked, mask, screening_filters(self._filters.values(), mask, queries))

    def screen(self, mask: Array) -> Screen | None:
        """What rows have in common that some of these queries (uint64[W]) accept; None: nothing.

        The answer changes with the queries only.
        """
        mask = mask & self._possible(mask.size)
        every, some, left = [], [], mask.copy()
        for condition, mine in self._conditions(mask.size):
            if not (mask & mine).any():
                continue
            if not (mask & ~mine).any():
                every.append((condition,))
            elif (left & mine).any():
                some.append(condition)
                left &= ~mine
        if every:
            return Screen(tuple(every))
        return None if left.any() else Screen((tuple(some),))

    def _conditions(self, words: int) -> Iterator[tuple[Condition, Array]]:
        """What queries accept of a column, and uint64[words], these queries."""
        for boxes in () if self._boxes is None else self._boxes.sets:
            mine = boxes.mask(words)
            for condition in boxes.conditions():
                yield condition, mine
        for grouped in sorted(self._filters.values(), key=lambda f: -f.predicates):
            found = grouped.condition()
            if found is not None:
                yield found, grouped.bits(words)

    def _possible(self, words: int) -> Array:
        """uint64[W]: without the queries that accept no row."""
        mask = np.full(words, -1, np.int64).view(np.uint64)
        for bit in self._impossible:
            mask[bit >> 6] &= ~np.uint64(1 << (bit & 63))
        return mask

    def _narrowed(
        self,
        values: AttributeValues,
        numbers: Array,
        words: int,
        lineage_of: Callable[[int, int], Array],
    ) -> Iterator[tuple[Array, Array]]:
        """The rows with these numbers (int64[n]) through the filters, block by block.

        Args:
            lineage_of: the lineage of those from one place to another.
        """
        disjuncts = [] if self._disjunctions is None else self._disjunctions.filters
        early = self._early()
        step = rows_per_block(words, [*early, *disjuncts])
        for grouped in early:
            grouped.prepare()
        start = 0
        for rows, order in self._routes(early, numbers.size):
            seen = [(f.visited, f.returned) for f in order]
            seconds = [0.0] * len(order)
            for first in range(start, start + rows, step):
                end = min(first + step, start + rows)
                lineage, mine = lineage_of(first, end), numbers[first:end]
                left = self._narrow_block(values, mine, lineage, order, seconds)
                yield (mine, lineage) if left.size == mine.size else (mine[left], lineage[left])
            start += rows
            if sum(not f.attribute.guards for f in order) < 2:
                continue
            for grouped, (visited, returned), spent in zip(order, seen, seconds, strict=True):
                if grouped.attribute.guards:
                    continue
                visited, returned = grouped.visited - visited, grouped.returned - returned
                self._policy.observe(grouped, visited, returned, spent)

    def _routes(self, filters: Sequence[GroupedFilter], rows: int) -> list[tuple[int, _Order]]:
        guards = tuple(f for f in filters if f.attribute.guards)
        others = [f for f in filters if not f.attribute.guards]
        if len(others) < 2:  # there is no choice
            return [(rows, (*guards, *others))]
        routes = cast(list[tuple[int, _Order]], self._policy.routes(others, rows))
        return [(count, (*guards, *order)) for count, order in routes]

    def _narrow_block(
        self,
        values: AttributeValues,
        numbers: Array,
        lineage: Array,
        order: _Order,
        seconds: list[float],
    ) -> Array:
        """Send rows through the filters in this order, adding up each one's seconds; returns those
        that some query still requires, by place in the block.
        """
        rows = np.arange(len(lineage))
        undecided: list[Undecided] = []
        for i, grouped in enumerate(order):
            started, visited = time.thread_time(), grouped.visited
            rows = grouped.narrow(values, lineage, rows, numbers, undecided)
            spent = time.thread_time() - started
            seconds[i] += spent
            grouped.spend(spent, grouped.visited - visited)
            self.visits += grouped.visited - visited
        if self._disjunctive and self._disjunctions is not None:
            self.visits += self._disjunctions.narrow(values, lineage, rows, numbers)
            rows = rows_left(rows, lineage)
        for each in undecided:  # rows that the other predicates accept have failed
            report(each.failure.of_queries(*each.bits(lineage)))
            each.clear(lineage)
        return rows_left(rows, lineage) if undecided else rows

    # -- filters of which some are applied to joined rows --------------

    def put_off(self, grouped: GroupedFilter) -> None:
        """Apply a filter in ``narrow_late`` from now on, and not in the other methods."""
        self._late[grouped.attribute.key] = None

    def put_forward(self, grouped: GroupedFilter, until: int) -> None:
        """Undo this; rows from before go through it in ``narrow_late`` until an instant."""
        self._late[grouped.attribute.key] = until

    def late(self, clock: int) -> list[GroupedFilter]:
        """The filters of ``narrow_late``."""
        self._late = {k: until for k, until in self._late.items() if until is None or until > clock}
        return [self._filters[key] for key in self._late]

    def is_put_off(self, grouped: GroupedFilter) -> bool:
        """Whether a filter is applied in ``narrow_late`` only."""
        return self._late.get(grouped.attribute.key, 0) is None

    def _early(self) -> list[GroupedFilter]:
        if not self._late:
            return list(self._filters.values())
        return [f for f in self._filters.values() if not self.is_put_off(f)]

    def narrow_by(
        self, filters: Iterable[GroupedFilter], batch: Batch, lineage: Array
    ) -> tuple[Array, list[Undecided]]:
        """Clear the bits of the queries that do not accept a row, by some filters only.

        Returns:
            int64[m], the rows that some query still requires; and rows that have failed, whose bits
            stay.
        """
        values, numbers = AttributeValues(batch), np.arange(len(batch))
        rows, undecided = numbers, list[Undecided]()
        for grouped in filters:
            started, visited = time.thread_time(), grouped.visited
            rows = grouped.narrow(values, lineage, rows, numbers, undecided)
            grouped.spend(time.thread_time() - started, grouped.visited - visited)
            self.visits += grouped.visited - visited
        return rows, undecided

    def narrow_late(self, batch: Batch, lineage: Array) -> None:
        """Clear the bits of the queries of which a filter that has been put off does not accept a
        row (uint64[n, W]).
        """
        filters = [self._filters[key] for key in self._late]
        for each in self.narrow_by(filters, batch, lineage)[1]:
            report(each.failure.of_queries(*each.bits(lineage)))
            each.clear(lineage)
