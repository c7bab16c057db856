"""Percentiles, MODE and lists: aggregates of all values of a group in order.

They are computed of rows, or of parts: a part is a value with the number of its rows, a structure
of both.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa

from eddyline.kernels import multisets as kernels
from eddyline.kernels import treaps
from eddyline.kernels.aggregates import SignedRows
from eddyline.kernels.heaps import NO_NODE, Values
from eddyline.runtime.aggregates.base import (
    Aggregate,
    Reported,
    SlotArrays,
    Wanted,
    computes,
    number_array,
    numbers,
)
from eddyline.runtime.aggregates.nodes import OfNodes
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array, bitmap
from eddyline.runtime.stores.order_keys import order_keys, values_of_keys
from eddyline.runtime.stores.slots import SlotArray

_ONCE: Final = np.zeros(0, np.int64)


class _Trees(SlotArrays):
    """Order keys and links of nodes; a node's links are set when it is inserted."""

    order: Array
    links: Array

    def __init__(self) -> None:
        super().__init__(
            order=SlotArray(np.int64), links=SlotArray(np.int64, (treaps.LINKS,), fill=NO_NODE)
        )


class Multiset(OfNodes, ABC):
    """The values of groups in order. At the end of a chunk what was reported last is what the trees
    have, so nothing else is kept.

    Args:
        of: what is wanted. parts: whether rows are parts.
    """

    root: Array

    def __init__(self, of: Wanted, *, parts: bool) -> None:
        assert of.argument is not None
        self._parts = parts
        self._type = of.argument.field(0).type if parts else of.argument
        super().__init__(self._type, root=SlotArray(np.int64, fill=NO_NODE))
        self.dtypes: Sequence[Any] = (np.int64, np.int64) if parts else (np.int64,)
        self._trees = _Trees()

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        assert values is not None
        weight: list[Array] = []
        if self._parts:
            values, counts = values.flatten()
            weight = [numbers(counts, np.int64)]
        nodes = self._nodes.number(slot, values)
        self._trees.grow(self._nodes.table.end)
        rows = np.flatnonzero(nodes >= 0)
        self._trees.order[nodes[rows]] = order_keys(values)[rows]
        return [nodes, *weight]

    def run(self, rows: SignedRows, lanes: Sequence[Array]) -> Reported:
        nodes, weight = lanes if self._parts else (*lanes, _ONCE)
        self._nodes.touch(nodes)
        slots, old = _before(rows.slot[rows.emit])
        values, changed = self._reported(slots, old, rows, nodes, weight)
        return Reported(values.slice(slots.size), values.take(pa.array(old)), changed)

    def _as_trees(self) -> kernels.Trees:
        """For kernels."""
        values = Values(self._trees.order, *self._nodes.texts())
        return kernels.Trees(values, self._nodes.occurrences, self._trees.links, self.root)

    @abstractmethod
    def _reported(
        self, slots: Array, old: Array, rows: SignedRows, nodes: Array, weight: Array
    ) -> tuple[pa.Array, Array]:
        """The values of ``slots`` before the rows, then those at the m emissions, and bool[m]
        whether they differ from those that ``old`` numbers.
        """

    def state(self) -> State:
        return {**super().state(), "trees": self._trees.state()}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._trees.restore(nested(state, "trees"))


class Picks(Multiset):
    """Single values of each group, or numbers between two of them.

    The parameters are, but for MODE, the fractions of the rows, or for NTH the number of a row;
    then whether values are in descending order. With several fractions the result is a list.

    Args:
        what: of ``kernels/multisets.py``.
    """

    def __init__(self, what: int, of: Wanted, *, parts: bool) -> None:
        super().__init__(of, parts=parts)
        *fractions, descending = of.parameters
        self._what = what
        self._fractions = np.array(fractions if what != kernels.MODE else [0.0], np.float64)
        self._keep = int(fractions[0]) if what == kernels.NTH and of.endless else 0
        self._choice = kernels.Choice(what, self._fractions, descending, self._keep)
        self._result = of.result

    def _reported(
        self, slots: Array, old: Array, rows: SignedRows, nodes: Array, weight: Array
    ) -> tuple[pa.Array, Array]:
        before, had = self._picked(slots)
        if self._keep:  # of which later ones take the places
            self._nodes.touch(kernels.lists(slots, True, self._as_trees())[0])
        new, have = kernels.run_picks(rows, nodes, weight, self._choice, self._as_trees())
        values, seen = self._values(np.concatenate((before, new)), np.concatenate((had, have)))
        return values, (seen[slots.size :] != seen[old]).any(axis=1)

    def _picked(self, slots: Array) -> tuple[Array, Array]:
        return kernels.picks(slots, self._choice, self._as_trees())

    def _values(self, nodes: Array, rows: Array) -> tuple[pa.Array, Array]:
        """The values of int64[n, k, 2] nodes, and int64[n, k] that are equal where they are."""
        low, high = nodes[:, :, 0], nodes[:, :, 1]
        valid = rows > 0
        if self._what != kernels.BETWEEN:
            return self._shaped(self._nodes.values(low.ravel()), valid), low
        found = self._between(low, high, rows)
        seen = np.where(valid[:, None], found.view(np.int64), NO_NODE)
        there = np.repeat(valid, self._fractions.size)
        return self._shaped(number_array(found.ravel(), there, pa.float64()), valid), seen

    def _between(self, low: Array, high: Array, rows: Array) -> Array:
        """The numbers at the fractions, as Spark computes them."""
        place = (rows[:, None] - 1) * self._fractions[None, :]
        below, above = np.floor(place), np.ceil(place)
        first, second = (self._numbers(n) for n in (low, high))
        with np.errstate(invalid="ignore"):
            mixed = first + (second - first) * (place - below)
        found: Array = np.where((below == above) | (low == high), first, mixed)
        return found

    def _numbers(self, nodes: Array) -> Array:
        there = nodes.ravel() >= 0
        keys = np.zeros(there.size, np.int64)
        keys[there] = self._trees.order[nodes.ravel()[there]]
        return numbers(values_of_keys(keys, there, pa.float64()), np.float64).reshape(nodes.shape)

    def _shaped(self, values: pa.Array, valid: Array) -> pa.Array:
        """One value per group, or a list."""
        if not pa.types.is_list(self._result):
            return values
        offsets = np.arange(valid.size + 1, dtype=np.int32) * self._fractions.size
        return _lists(self._result, offsets, values, valid)

    def current(self, slots: Array) -> pa.Array:
        return self._values(*self._picked(slots))[0]


class SortedList(Multiset):
    """All values of each group, or the distinct ones, in order; NULL if there are none."""

    def __init__(self, of: Wanted, *, parts: bool) -> None:
        super().__init__(of, parts=parts)
        self._once = of.distinct
        self._result = of.result

    def _reported(
        self, slots: Array, old: Array, rows: SignedRows, nodes: Array, weight: Array
    ) -> tuple[pa.Array, Array]:
        before, ends = self._listed(slots)
        new, more = kernels.run_lists(rows, nodes, weight, self._once, self._as_trees())
        all_nodes = np.concatenate((before, new))
        all_ends = np.concatenate((ends, before.size + more))
        changed = kernels.lists_differ(all_nodes, all_ends, old, slots.size)
        return self._values(all_nodes, all_ends), changed

    def _listed(self, slots: Array) -> tuple[Array, Array]:
        return kernels.lists(slots, self._once, self._as_trees())

    def _values(self, nodes: Array, ends: Array) -> pa.Array:
        offsets = np.concatenate(([0], ends)).astype(np.int32)
        return _lists(self._result, offsets, self._nodes.values(nodes), np.diff(offsets) > 0)

    def current(self, slots: Array) -> pa.Array:
        return self._values(*self._listed(slots))


class ValueCounts(SortedList):
    """The values of each group with the numbers of their rows, a map; NULL if there are none."""

    def _values(self, nodes: Array, ends: Array) -> pa.Array:
        bounds = np.concatenate(([0], ends))
        first = np.ones(nodes.size, np.bool_)
        first[1:] = nodes[1:] != nodes[:-1]
        first[bounds[bounds < nodes.size]] = True
        places = np.flatnonzero(first)
        counts = np.diff(np.append(places, nodes.size))
        offsets = np.concatenate(([0], np.cumsum(first)))[bounds].astype(np.int32)
        # a key is not NULL: with other fields than the map's, reading a single value would abort
        entries = pa.StructArray.from_arrays(
            [self._nodes.values(nodes[places]), pa.array(counts)],
            fields=[self._result.key_field, self._result.item_field],
        )
        return _lists(self._result, offsets, entries, np.diff(offsets) > 0)


def _before(slots: Array) -> tuple[Array, Array]:
    """The distinct groups of emissions, and for each emission what was reported before: the number
    of the group, or behind these that of an earlier emission.
    """
    distinct, old = np.unique(slots, return_inverse=True)
    order = np.argsort(slots, kind="stable")
    again = np.flatnonzero(slots[order[1:]] == slots[order[:-1]])
    old[order[again + 1]] = distinct.size + order[again]
    return distinct, old


def _lists(type_: pa.DataType, offsets: Array, values: pa.Array, valid: Array) -> pa.Array:
    buffers = [bitmap(valid), pa.py_buffer(offsets)]
    return pa.Array.from_buffers(type_, valid.size, buffers, children=[values])


def _pick(what: int, parts: bool, of: Wanted) -> Aggregate:
    return Picks(what, of, parts=parts)


def _list(parts: bool, of: Wanted) -> Aggregate:
    return SortedList(of, parts=parts)


def _counts(parts: bool, of: Wanted) -> Aggregate:
    return ValueCounts(of, parts=parts)


for _name, _what in {
    "percentile_between": kernels.BETWEEN,
    "percentile_value": kernels.AT,
    "most_frequent": kernels.MODE,
    "nth_in_order": kernels.NTH,
}.items():
    computes(_name)(partial(_pick, _what, False))
    computes(f"merged_{_name}")(partial(_pick, _what, True))
computes("sorted_list")(partial(_list, False))
computes("merged_sorted_list")(partial(_list, True))
computes("value_counts")(partial(_counts, False))
computes("merged_value_counts")(partial(_counts, True))
