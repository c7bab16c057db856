"""Kernels of functions that choose elements of lists by their values, NULL being one of them."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.expressions import Call
from eddyline.algebra.list_parts import list_parts
from eddyline.physical.expressions.data import Datum, as_arrays, null_where_not
from eddyline.physical.expressions.kernel import Kernel, Maker, always
from eddyline.physical.expressions.nested import lists_of
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.keys import same_values


def _rows(offsets: Array) -> Array:
    """int64[elements]: the number of the list of each element."""
    return np.repeat(np.arange(offsets.size - 1), np.diff(offsets))


def _codes(offsets: Array, elements: pa.Array, count: int) -> Array:
    """int64[elements]: numbers that are equal for equal elements of one list.

    Args:
        offsets: int64[n + 1] of the lists.
        count: how many lists begin to count again: elements of the lists i and i + count are
            compared with each other.
    """
    if pa.types.is_floating(elements.type):
        elements = pc.add(elements, pa.scalar(0.0, elements.type))  # -0.0 is 0.0
    encoded = elements.dictionary_encode(null_encoding="encode")
    indices = np.asarray(encoded.indices).astype(np.int64)
    return (_rows(offsets) % max(count, 1)) * (len(encoded.dictionary) + 1) + indices


def chosen_elements(type_: pa.DataType, values: pa.Array, chosen: Array) -> pa.Array:
    """The lists with those of their elements for which bool[elements] is true."""
    offsets, elements = list_parts(values)
    before = np.concatenate([[0], np.cumsum(chosen)])
    return lists_of(type_, before[offsets], elements.filter(pa.array(chosen)), values)


def _first_of_each(codes: Array) -> Array:
    """bool[n]: whether no earlier code is the same."""
    is_first = np.zeros(codes.size, np.bool_)
    is_first[np.unique(codes, return_index=True)[1]] = True
    return is_first


def repeats(offsets: Array, elements: pa.Array) -> Array:
    """bool[elements]: whether an earlier element of the same list is equal."""
    return ~_first_of_each(_codes(offsets, elements, offsets.size - 1))


def _make_distinct(call: Call) -> Kernel:
    def kernel(lists: pa.Array) -> pa.Array:
        offsets, elements = list_parts(lists)
        codes = _codes(offsets, elements, len(lists))
        return chosen_elements(call.type, lists, _first_of_each(codes))

    return kernel


def _make_compact(call: Call) -> Kernel:
    def kernel(lists: pa.Array) -> pa.Array:
        elements = list_parts(lists)[1]
        return chosen_elements(call.type, lists, np.asarray(elements.is_valid()))

    return kernel


def _make_remove(call: Call) -> Kernel:
    def kernel(lists: Datum, value: Datum) -> pa.Array:
        values, removed = as_arrays(lists, value)
        offsets, elements = list_parts(values)
        beside = removed.take(pa.array(_rows(offsets)))
        kept = chosen_elements(call.type, values, ~same_values([elements], [beside]))
        return null_where_not(removed.is_valid(), kept)

    return kernel


def _make_flatten(call: Call) -> Kernel:
    def kernel(lists: pa.Array) -> pa.Array:
        offsets, inner = list_parts(lists)
        ends, elements = list_parts(inner)
        missing = np.concatenate([[0], np.cumsum(np.asarray(inner.is_null()))])
        whole = pa.array(missing[offsets[1:]] == missing[offsets[:-1]])
        found = lists_of(call.type, ends[offsets], elements, lists)
        return null_where_not(whole, found)

    return kernel


def _pair(left: Datum, right: Datum) -> tuple[pa.Array, pa.Array, Array, Array]:
    """Two columns of lists, and comparable codes of the elements of each."""
    a, b = as_arrays(left, right)
    both = pa.concat_arrays([a, b.cast(a.type)])
    offsets, elements = list_parts(both)
    codes = _codes(offsets, elements, len(a))
    return a, b, codes[: offsets[len(a)]], codes[offsets[len(a)] :]


def _make_common(*, common: bool) -> Maker:
    """The different elements of the first list that the second has, or has not."""

    def make(call: Call) -> Kernel:
        def kernel(left: Datum, right: Datum) -> pa.Array:
            a, b, mine, others = _pair(left, right)
            chosen = _first_of_each(mine) & (np.isin(mine, others) == common)
            return null_where_not(b.is_valid(), chosen_elements(call.type, a, chosen))

        return kernel

    return make


def _make_union(call: Call) -> Kernel:
    def kernel(left: Datum, right: Datum) -> pa.Array:
        a, b, mine, others = _pair(left, right)
        (starts, first), (more, second) = list_parts(a), list_parts(b)
        order = np.argsort(np.concatenate([_rows(starts), _rows(more)]), kind="stable")
        elements = pa.concat_arrays([first, second.cast(first.type)]).take(pa.array(order))
        joined = lists_of(call.type, starts + more, elements)
        distinct = chosen_elements(
            call.type, joined, _first_of_each(np.concatenate([mine, others])[order])
        )
        return null_where_not(pc.and_(a.is_valid(), b.is_valid()), distinct)

    return kernel


def _overlap(left: Datum, right: Datum) -> pa.Array:
    a, b, mine, others = _pair(left, right)
    (starts, first), (more, second) = list_parts(a), list_parts(b)
    shared = np.isin(mine, others) & np.asarray(first.is_valid())
    found, null, null_too = (
        np.bincount(rows[truths], minlength=len(a)) > 0
        for rows, truths in (
            (_rows(starts), shared),
            (_rows(starts), np.asarray(first.is_null())),
            (_rows(more), np.asarray(second.is_null())),
        )
    )
    unknown = (null | null_too) & (np.diff(starts) > 0) & (np.diff(more) > 0) & ~found
    known = pc.and_(pc.and_(a.is_valid(), b.is_valid()), pa.array(~unknown))
    return null_where_not(known, pa.array(found))


LIST_SET_KERNELS: Final[dict[str, Maker]] = {
    "array_distinct": _make_distinct,
    "array_compact": _make_compact,
    "array_remove": _make_remove,
    "flatten": _make_flatten,
    "array_union": _make_union,
    "array_intersect": _make_common(common=True),
    "array_except": _make_common(common=False),
    "arrays_overlap": always(_overlap),
}
