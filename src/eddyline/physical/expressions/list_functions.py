"""Kernels of functions of lists. Elements of all lists of a column are handled at once."""

from __future__ import annotations

from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.expressions import Call
from eddyline.algebra.list_parts import list_parts
from eddyline.kernels.lists import first_in_lists, ranges
from eddyline.physical.expressions.data import Datum, as_arrays, null_where_not
from eddyline.physical.expressions.kernel import Kernel, Maker, always, argument_constant
from eddyline.physical.expressions.list_sets import LIST_SET_KERNELS
from eddyline.physical.expressions.nested import lists_of
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.keys import same_values


def _order(offsets: Array, elements: pa.Array, ascending: bool, nulls_first: bool) -> Array:
    """The elements list by list, each in order; NaN is larger than any number."""
    row = np.repeat(np.arange(offsets.size - 1), np.diff(offsets))
    is_nan = pc.is_nan(elements) if pa.types.is_floating(elements.type) else None
    columns = {"row": pa.array(row), "null": elements.is_null(), "value": elements}
    keys = [("row", "ascending"), ("null", "descending" if nulls_first else "ascending")]
    direction = "ascending" if ascending else "descending"
    if is_nan is not None:
        columns["nan"] = is_nan.fill_null(False)
        keys.append(("nan", direction))
    keys.append(("value", direction))
    return np.asarray(pc.sort_indices(pa.table(columns), sort_keys=keys)).astype(np.int64)


def _make_sort(call: Call) -> Kernel:
    ascending, nulls_first = (bool(argument_constant(call, i)) for i in (1, 2))

    def kernel(lists: pa.Array, *_: Datum) -> pa.Array:
        offsets, elements = list_parts(lists)
        order = _order(offsets, elements, ascending, nulls_first)
        return lists_of(call.type, offsets, elements.take(pa.array(order)), lists)

    return kernel


def _make_extreme(*, largest: bool) -> Maker:
    def kernel(lists: pa.Array) -> pa.Array:
        offsets, elements = list_parts(lists)
        order = _order(offsets, elements, not largest, nulls_first=False)
        there = np.diff(offsets) > 0
        places = np.zeros(there.size, np.int64)
        places[there] = order[offsets[:-1][there]]
        return elements.take(pa.array(places, mask=~there))

    return always(kernel)


def _array_position(lists: Datum, element: Datum) -> pa.Array:
    values, wanted = as_arrays(lists, element)
    offsets, elements = list_parts(values)
    beside = wanted.take(pa.array(np.repeat(np.arange(len(wanted)), np.diff(offsets))))
    same = same_values([elements], [beside]) & ~np.asarray(elements.is_null())
    places = first_in_lists(offsets, same)
    found = pa.array(np.where(places < 0, 0, places - offsets[:-1] + 1))
    return null_where_not(pc.and_(values.is_valid(), wanted.is_valid()), found)


def _make_slice(call: Call) -> Kernel:
    start, length = argument_constant(call, 1), argument_constant(call, 2)

    def kernel(lists: pa.Array, *_: Datum) -> pa.Array:
        offsets, elements = list_parts(lists)
        sizes = np.diff(offsets)
        first = np.full(sizes.size, start - 1) if start > 0 else sizes + start
        count = np.clip(np.minimum(length, sizes - first), 0, None)
        count = np.where(first < 0, 0, count)
        ends = np.concatenate([[0], np.cumsum(count)])
        places = np.arange(ends[-1]) + np.repeat(offsets[:-1] + first - ends[:-1], count)
        return lists_of(call.type, ends, elements.take(pa.array(places)), lists)

    return kernel


def _make_longer(*, behind: bool) -> Maker:
    def make(call: Call) -> Kernel:
        def kernel(lists: Datum, value: Datum) -> pa.Array:
            values, added = as_arrays(lists, value)
            offsets, elements = list_parts(values)
            sizes, there = np.diff(offsets), np.asarray(values.is_valid())
            ends = np.concatenate([[0], np.cumsum(sizes + there)])
            row = np.repeat(np.arange(sizes.size), sizes + there)
            nth = np.arange(ends[-1]) - ends[:-1][row]
            is_added = nth == sizes[row] if behind else nth == 0
            own = offsets[:-1][row] + nth - (not behind)
            places = pa.array(np.where(is_added, len(elements) + row, own))
            both = pa.concat_arrays([elements, added.cast(elements.type)])
            return lists_of(call.type, ends, both.take(places), values)

        return kernel

    return make


def _make_reverse(call: Call) -> Kernel:
    def kernel(lists: pa.Array) -> pa.Array:
        offsets, elements = list_parts(lists)
        ends = np.repeat(offsets[:-1] + offsets[1:], np.diff(offsets))
        places = pa.array(ends - 1 - np.arange(len(elements)))
        return lists_of(call.type, offsets, elements.take(places), lists)

    return kernel


def _make_repeat(call: Call) -> Kernel:
    count = max(argument_constant(call, 1), 0)

    def kernel(values: pa.Array, *_: Datum) -> pa.Array:
        places = np.repeat(np.arange(len(values)), count)
        return lists_of(
            call.type, np.arange(len(values) + 1) * count, values.take(pa.array(places))
        )

    return kernel


def _make_substring_index(call: Call) -> Kernel:
    separator, count = argument_constant(call, 1), argument_constant(call, 2)

    def kernel(texts: pa.Array, *_: Datum) -> pa.Array:
        if not separator or not count:
            return null_where_not(texts.is_valid(), pa.repeat("", len(texts)))
        offsets, parts = list_parts(pc.split_pattern(texts, separator))
        sizes = np.diff(offsets)
        taken = np.minimum(sizes, abs(count))
        first = offsets[:-1] + (0 if count > 0 else sizes - taken)
        ends = np.concatenate([[0], np.cumsum(taken)])
        chosen = parts.take(pa.array(ranges(first, ends)))
        return pc.binary_join(lists_of(pa.list_(pa.string()), ends, chosen, texts), separator)

    return kernel


LIST_KERNELS: Final[dict[str, Maker]] = {
    "sort_array": _make_sort,
    "array_max": _make_extreme(largest=True),
    "array_min": _make_extreme(largest=False),
    "array_position": always(_array_position),
    "slice": _make_slice,
    "substring_index": _make_substring_index,
    "array_append": _make_longer(behind=True),
    "array_prepend": _make_longer(behind=False),
    "array_reverse": _make_reverse,
    "array_repeat": _make_repeat,
} | LIST_SET_KERNELS
