"""Kernels of structures, lists and maps."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.expressions import Call
from eddyline.algebra.list_parts import list_parts
from eddyline.kernels.lists import first_in_lists
from eddyline.physical.expressions.data import Datum, as_arrays, null_where_not, values_of
from eddyline.physical.expressions.evaluation import LENIENT, Evaluation, without
from eddyline.physical.expressions.kernel import Kernel, Maker, always, argument_constant
from eddyline.runtime.stores.columns import Array, bitmap, validity_of
from eddyline.runtime.stores.keys import same_values
from eddyline.types import element_type


def _make_field(call: Call) -> Kernel:
    name = argument_constant(call, 1)

    def of_structures(values: pa.Array, _: Datum) -> pa.Array:
        return pc.struct_field(values, [name])

    def of_lists(values: pa.Array, _: Datum) -> pa.Array:
        offsets, elements = list_parts(values)
        return lists_of(call.type, offsets, pc.struct_field(elements, [name]), values)

    return of_lists if pt.is_list(call.args[0].type) else of_structures


def lists_of(
    type_: pa.DataType, offsets: Array, elements: pa.Array, like: pa.Array | None = None
) -> pa.Array:
    """Lists of elements, NULL where values of ``like`` are."""
    valid = None if like is None else validity_of(like)
    buffers = [bitmap(valid), pa.py_buffer(offsets.astype(np.int32))]
    elements = elements if elements.type == type_.value_type else elements.cast(type_.value_type)
    return pa.Array.from_buffers(type_, offsets.size - 1, buffers, children=[elements])


def maps_of(
    type_: pa.DataType,
    offsets: Array,
    keys: pa.Array,
    items: pa.Array,
    like: pa.Array | None = None,
) -> pa.Array:
    """Maps of keys and values, NULL where values of ``like`` are."""
    fields = list(element_type(type_))
    entries = pa.StructArray.from_arrays([keys, items], fields=fields)
    valid = None if like is None else validity_of(like)
    buffers = [bitmap(valid), pa.py_buffer(offsets.astype(np.int32))]
    return pa.Array.from_buffers(type_, offsets.size - 1, buffers, children=[entries])


def zipped(lists: Sequence[pa.Array]) -> tuple[Array, list[pa.Array]]:
    """int64 offsets[n + 1] of lists as long as the longest of each row, and the elements of each
    list, NULL where it has none.
    """
    parts = [list_parts(a) for a in lists]
    sizes = np.max([np.diff(offsets) for offsets, _ in parts], axis=0)
    ends = np.concatenate([[0], np.cumsum(sizes)])
    rows = np.repeat(np.arange(sizes.size), sizes)
    nth = np.arange(rows.size) - ends[rows]
    found = []
    for offsets, elements in parts:
        is_there = nth < np.diff(offsets)[rows]
        found.append(elements.take(pa.array(offsets[rows] + nth, mask=~is_there)))
    return ends, found


def _make_element(first: int, *, tolerant: bool = False) -> Maker:
    """The elements at positions, which count from ``first``, 0 or 1, and in the second case also
    from the end. A list without the element is a failure, or NULL if tolerant; then the position 0
    is a failure still if it is none of these.
    """

    def kernel(evaluation: Evaluation, lists: Datum, position: Datum) -> pa.Array:
        values, positions = as_arrays(lists, position)
        offsets, elements = list_parts(values)
        lengths, at = np.diff(offsets), values_of(positions).astype(np.int64)
        if first:
            at = np.where(at > 0, at - 1, np.where(at < 0, at + lengths, -1))
        known = np.asarray(pc.and_(values.is_valid(), positions.is_valid()))
        there = (at >= 0) & (at < lengths)
        places = np.where(there & known, offsets[:-1] + at, -1)
        result = elements.take(pa.array(places, mask=places < 0))
        bad = known & ~there
        if tolerant:
            bad &= (values_of(positions) == 0) if first else False
        if not bad.any():
            return result
        sizes = pa.array(lengths)
        reason = ("there is no element ", positions, " in a list of ", sizes)
        return without(evaluation, bad, result, *reason)

    return lambda call: kernel


def _make_try_element(first: int) -> Maker:
    def make(call: Call) -> Kernel:
        return partial(_make_element(first, tolerant=True)(call), LENIENT)

    return make


def _value_of_key(maps: Datum, key: Datum) -> pa.Array:
    values, keys = as_arrays(maps, key)
    offsets, entries = list_parts(values)
    wanted = keys.take(pa.array(np.repeat(np.arange(len(keys)), np.diff(offsets))))
    same = same_values([entries.field(0)], [wanted])
    places = first_in_lists(offsets, same)
    return entries.field(1).take(pa.array(places, mask=places < 0))


def _array_contains(lists: Datum, element: Datum) -> pa.Array:
    values, wanted = as_arrays(lists, element)
    offsets, elements = list_parts(values)
    beside = wanted.take(pa.array(np.repeat(np.arange(len(wanted)), np.diff(offsets))))
    unknown = np.asarray(elements.is_null())
    same = same_values([elements], [beside]) & ~unknown
    found, unknown = (pa.array(first_in_lists(offsets, t) >= 0) for t in (same, unknown))
    known = pc.and_(values.is_valid(), wanted.is_valid())
    known = pc.and_(known, pc.or_(found, pc.invert(unknown)))
    return pc.if_else(known, found, pa.scalar(None, pa.bool_()))


def _same_parts(left: Datum, right: Datum) -> pa.Array:
    a, b = as_arrays(left, right)
    same = same_values([a], [b])
    return null_where_not(pc.and_(a.is_valid(), b.is_valid()), pa.array(same))


def _size(values: pa.Array) -> pa.Array:
    sizes = pa.array(np.diff(list_parts(values)[0]).astype(np.int32))
    return pc.if_else(values.is_valid(), sizes, pa.scalar(None, pa.int32()))


def _make_entries(number: int) -> Maker:
    """The keys (0) or values (1) of maps."""

    def make(call: Call) -> Kernel:
        def kernel(maps: pa.Array) -> pa.Array:
            offsets, entries = list_parts(maps)
            return lists_of(call.type, offsets, entries.field(number), maps)

        return kernel

    return make


def _array_join(lists: Datum, separator: Datum, null: Datum | None = None) -> pa.Array:
    given = [] if null is None else [null]
    values, between, *instead = as_arrays(lists, separator, *given)
    offsets, elements = list_parts(values)
    row = np.repeat(np.arange(len(values)), np.diff(offsets))
    if instead:
        elements = pc.coalesce(elements, instead[0].take(pa.array(row)))
    kept = np.asarray(elements.is_valid())
    shorter = np.concatenate([[0], np.cumsum(kept)])[offsets]
    texts = lists_of(pa.list_(pa.string()), shorter, elements.filter(pa.array(kept)), values)
    joined = pc.binary_join(texts, between)
    known = pc.and_(values.is_valid(), between.is_valid())
    for more in instead:
        known = pc.and_(known, more.is_valid())
    return pc.if_else(known, joined, pa.scalar(None, pa.string()))


def _make_split(call: Call) -> Kernel:
    pattern = argument_constant(call, 1)
    most = argument_constant(call, 2)
    if most == 1:
        return lambda texts, *_: lists_of(call.type, np.arange(len(texts) + 1), texts, texts)
    options = {} if most <= 0 else {"max_splits": most - 1}
    return lambda texts, *_: pc.split_pattern_regex(texts, pattern, **options)


def _make_array(call: Call) -> Kernel:
    def kernel(*data: Datum) -> pa.Array:
        columns = as_arrays(*data)
        offsets = np.arange(len(columns[0]) + 1, dtype=np.int64) * len(columns)
        return lists_of(call.type, offsets, interleaved(columns))

    return kernel


def interleaved(columns: Sequence[pa.Array]) -> pa.Array:
    """The values of columns row by row."""
    count, width = len(columns[0]), len(columns)
    order = np.arange(count * width).reshape(width, count).T.ravel()
    return pa.concat_arrays(list(columns)).take(pa.array(order))


def _make_named_struct(call: Call) -> Kernel:
    def kernel(*data: Datum) -> pa.Array:
        return pa.StructArray.from_arrays(as_arrays(*data), fields=list(call.type))

    return kernel


NESTED_KERNELS: Final[dict[str, Maker]] = {
    "field": _make_field,
    "value_of_key": lambda call: _value_of_key,
    "get": _make_try_element(0),
    "try_element_at": _make_try_element(1),
    "same_parts": always(_same_parts),
    "size": lambda call: _size,
    "array_contains": lambda call: _array_contains,
    "array_join": lambda call: _array_join,
    "map_keys": _make_entries(0),
    "map_values": _make_entries(1),
    "array": _make_array,
    "split": _make_split,
    "named_struct": _make_named_struct,
}
FALLIBLE_NESTED: Final[dict[str, Any]] = {
    "element": _make_element(0),
    "element_at": _make_element(1),
    "try_element_at": _make_element(1, tolerant=True),
}
