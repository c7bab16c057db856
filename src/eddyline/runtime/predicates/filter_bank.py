"""Filter banks: the predicates of all queries over one source.

A query's predicate is a conjunction of clauses. Its condition on one attribute is one set of
values, in that attribute's grouped filter; clauses over several attributes are left to the rows
that pass these.

Source: Madden et al. 2002, section 2.2.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import cast

import numpy as np

from eddyline.algebra.value_sets import EVERYTHING, NOTHING, ValueSet
from eddyline.runtime.batch import Batch
from eddyline.runtime.eddy.policies.base import Policy
from eddyline.runtime.failures import report
from eddyline.runtime.predicates.attributes import Attribute, AttributeValues, Clause
from eddyline.runtime.predicates.disjunctions import Disjunctions
from eddyline.runtime.predicates.grouped_filter import GroupedFilter, Undecided, rows_per_block
from eddyline.runtime.stores.columns import Array

__all__ = ["Attribute", "Clause", "FilterBank"]

_Condition = tuple[Attribute, ValueSet]
_Order = tuple[GroupedFilter, ...]


class FilterBank:
    """The predicates over one source, or one virtual source (joined rows), of queries with bits.

    Args:
        policy: in which order rows visit the grouped filters.

    Attributes:
        has_predicates: whether some query does not accept every row.
        visits: number of rows that filters have evaluated.
    """

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._filters: dict[Hashable, GroupedFilter] = {}
        self._disjunctions: Disjunctions | None = None  # None: there have been none
        self._used_by: dict[int, list[Hashable]] = {}  # the filters with a predicate of a query
        self._impossible: set[int] = set()
        self._disjunctive: set[int] = set()
        self.has_predicates = False
        self.visits = 0

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
        conjuncts: dict[Hashable, _Condition] = {}
        disjunctions: list[Clause] = []
        for clause in map(_simplified, clauses):
            if clause is None:
                continue
            if len(clause) > 1:
                disjunctions.append(clause)
            elif clause:
                _combine(conjuncts, clause[0], ValueSet.intersection)
            else:
                self._impossible.add(bit)
        if any(accepts == NOTHING for _, accepts in conjuncts.values()):
            self._impossible.add(bit)
        if bit in self._impossible:
            conjuncts, disjunctions = {}, []
        for key, (attribute, accepts) in conjuncts.items():
            self._filters.setdefault(key, GroupedFilter(attribute)).put(bit, accepts)
        if disjunctions:
            if self._disjunctions is None:
                self._disjunctions = Disjunctions()
            self._disjunctions.add(bit, disjunctions)
            self._disjunctive.add(bit)
        self._used_by[bit] = list(conjuncts)
        self._look()

    def remove(self, bit: int) -> None:
        """Remove a query's predicate.

        Raises:
            KeyError: no query has this bit.
        """
        for key in self._used_by.pop(bit):
            self._filters[key].remove(bit)
            if not self._filters[key].predicates:
                del self._filters[key]
        self._impossible.discard(bit)
        if bit in self._disjunctive and self._disjunctions is not None:
            self._disjunctions.remove(bit)
            self._disjunctive.discard(bit)
        self._look()

    def _look(self) -> None:
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
        width = lineage.shape[1]
        for _ in self._narrowed(batch, width, lambda first, end: lineage[first:end]):
            pass

    def blocks(self, batch: Batch, mask: Array) -> Iterator[tuple[int, Array]]:
        """The lineage that ``narrow`` leaves of rows that the same queries require, piece by piece.

        Lineage that is made, narrowed and used a block at a time stays in the processor's cache.

        Args:
            mask: uint64[W], the queries.

        Yields:
            The number of a block's first row and its lineage, uint64[k, W], which is valid until
            the next block.
        """
        mask = mask & self._possible(mask.size)
        room = np.zeros((0, mask.size), np.uint64)

        def fresh(first: int, end: int) -> Array:
            nonlocal room
            if len(room) < end - first:
                room = np.empty((end - first, mask.size), np.uint64)
            room[: end - first] = mask
            return room[: end - first]

        yield from self._narrowed(batch, mask.size, fresh)

    def _possible(self, words: int) -> Array:
        """uint64[W]: without the queries that accept no row."""
        mask = np.full(words, -1, np.int64).view(np.uint64)
        for bit in self._impossible:
            mask[bit >> 6] &= ~np.uint64(1 << (bit & 63))
        return mask

    def _narrowed(
        self, batch: Batch, words: int, lineage_of: Callable[[int, int], Array]
    ) -> Iterator[tuple[int, Array]]:
        values = AttributeValues(batch)
        disjuncts = [] if self._disjunctions is None else self._disjunctions.filters
        step = rows_per_block(words, [*self._filters.values(), *disjuncts])
        for grouped in self._filters.values():
            grouped.prepare()
        start = 0
        for rows, order in self._routes(len(batch)):
            seen = [(f.visited, f.returned) for f in order]
            seconds = [0.0] * len(order)
            for first in range(start, start + rows, step):
                lineage = lineage_of(first, min(first + step, start + rows))
                self._narrow_block(values, first, lineage, order, seconds)
                yield first, lineage
            start += rows
            if sum(not f.attribute.guards for f in order) < 2:
                continue
            for grouped, (visited, returned), spent in zip(order, seen, seconds, strict=True):
                if grouped.attribute.guards:
                    continue
                visited, returned = grouped.visited - visited, grouped.returned - returned
                self._policy.observe(grouped, visited, returned, spent)

    def _routes(self, rows: int) -> list[tuple[int, _Order]]:
        guards = tuple(f for f in self._filters.values() if f.attribute.guards)
        others = [f for f in self._filters.values() if not f.attribute.guards]
        if len(others) < 2:  # there is no choice
            return [(rows, (*guards, *others))]
        routes = cast(list[tuple[int, _Order]], self._policy.routes(others, rows))
        return [(count, (*guards, *order)) for count, order in routes]

    def _narrow_block(
        self,
        values: AttributeValues,
        first: int,
        lineage: Array,
        order: _Order,
        seconds: list[float],
    ) -> None:
        """Send the block's rows through the filters in this order, adding up each one's seconds."""
        rows = np.arange(len(lineage))
        numbers = rows + first
        undecided: list[Undecided] = []
        for i, grouped in enumerate(order):
            started, visited = time.perf_counter(), grouped.visited
            rows = grouped.narrow(values, lineage, rows, numbers, undecided)
            seconds[i] += time.perf_counter() - started
            self.visits += grouped.visited - visited
        if self._disjunctive and self._disjunctions is not None:
            self.visits += self._disjunctions.narrow(values, lineage, rows, numbers)
        for each in undecided:  # rows that the other predicates accept have failed
            report(each.failure.of_queries(*each.bits(lineage)))
            each.clear(lineage)


def _simplified(clause: Clause) -> Sequence[_Condition] | None:
    """One condition per attribute, none that is never met; None if one is always met."""
    united: dict[Hashable, _Condition] = {}
    for condition in clause:
        _combine(united, condition, ValueSet.union)
    if any(accepts == EVERYTHING for _, accepts in united.values()):
        return None
    return [(a, accepts) for a, accepts in united.values() if accepts != NOTHING]


def _combine(
    conditions: dict[Hashable, _Condition],
    condition: _Condition,
    how: Callable[[ValueSet, ValueSet], ValueSet],
) -> None:
    attribute, accepts = condition
    held = conditions.get(attribute.key)
    combined = accepts if held is None else how(held[1], accepts)
    conditions[attribute.key] = (attribute, combined)
