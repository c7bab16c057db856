"""Kernels of functions that make maps, and sequences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.expressions import Call
from eddyline.algebra.list_parts import list_parts
from eddyline.kernels.lists import first_in_lists, ranges
from eddyline.physical.expressions.data import Datum, as_arrays, null_where_not, values_of
from eddyline.physical.expressions.evaluation import Evaluation, without
from eddyline.physical.expressions.kernel import Kernel, Maker, argument_constant
from eddyline.physical.expressions.list_sets import repeats
from eddyline.physical.expressions.months import months_later
from eddyline.physical.expressions.nested import interleaved, lists_of, maps_of, zipped
from eddyline.runtime.stores.columns import Array

#: Most elements of a sequence.
_MOST: Final = 10_000


def _checked(
    evaluation: Evaluation,
    type_: pa.DataType,
    offsets: Array,
    entries: tuple[pa.Array, pa.Array],
    known: pa.Array,
) -> pa.Array:
    """Maps of keys and values, NULL where not ``known``; keys that are NULL or repeated fail."""
    keys, items = entries
    is_null = first_in_lists(offsets, np.asarray(keys.is_null())) >= 0
    is_repeated = first_in_lists(offsets, repeats(offsets, keys)) >= 0
    bad = (is_null | is_repeated) & np.asarray(known)
    if bad.any() or known.null_count or not np.asarray(known).all():
        kept = np.repeat(np.asarray(known) & ~bad, np.diff(offsets))
        before = np.concatenate([[0], np.cumsum(kept)])
        offsets = before[offsets]
        keys, items = (e.filter(pa.array(kept)) for e in (keys, items))
    maps = null_where_not(known, maps_of(type_, offsets, keys, items))
    maps = _without(evaluation, bad & is_null, maps, "a key of a map is NULL")
    return _without(evaluation, bad & ~is_null, maps, "a map has a key twice")


def _without(evaluation: Evaluation, bad: Array, result: pa.Array, *reason: Datum) -> pa.Array:
    """The result without rows that fail, if there are any."""
    return without(evaluation, bad, result, *reason) if bad.any() else result


def _make_map(call: Call) -> Kernel:
    def kernel(evaluation: Evaluation, *data: Datum) -> pa.Array:
        columns = as_arrays(*data)
        width = len(columns) // 2
        keys, items = (interleaved(part) for part in (columns[:width], columns[width:]))
        count = len(columns[0])
        offsets = np.arange(count + 1, dtype=np.int64) * width
        known = pa.array(np.ones(count, np.bool_))
        return _checked(evaluation, call.type, offsets, (keys, items), known)

    return kernel


def _make_map_from_arrays(call: Call) -> Kernel:
    def kernel(evaluation: Evaluation, left: Datum, right: Datum) -> pa.Array:
        keys, items = as_arrays(left, right)
        known = pc.and_(keys.is_valid(), items.is_valid())
        sizes = [np.diff(list_parts(a)[0]) for a in (keys, items)]
        uneven = (sizes[0] != sizes[1]) & np.asarray(known)
        offsets, found = zipped((keys, items))
        fits = pc.and_(known, pa.array(~uneven))
        maps = _checked(evaluation, call.type, offsets, (found[0], found[1]), fits)
        return _without(evaluation, uneven, maps, "a map has as many keys as values")

    return kernel


def _make_map_from_entries(call: Call) -> Kernel:
    def kernel(evaluation: Evaluation, lists: pa.Array) -> pa.Array:
        offsets, entries = list_parts(lists)
        complete = first_in_lists(offsets, np.asarray(entries.is_null())) < 0
        known = pc.and_(lists.is_valid(), pa.array(complete))
        both = (entries.field(0), entries.field(1))
        return _checked(evaluation, call.type, offsets, both, known)

    return kernel


def _make_map_concat(call: Call) -> Kernel:
    def kernel(evaluation: Evaluation, *data: Datum) -> pa.Array:
        maps = as_arrays(*data)
        known = maps[0].is_valid()
        for more in maps[1:]:
            known = pc.and_(known, more.is_valid())
        parts = [list_parts(m) for m in maps]
        rows = [
            np.repeat(np.arange(len(m)), np.diff(p[0])) for m, p in zip(maps, parts, strict=True)
        ]
        order = pa.array(np.argsort(np.concatenate(rows), kind="stable"))
        both = [pa.concat_arrays([p[1].field(i) for p in parts]).take(order) for i in (0, 1)]
        offsets = np.sum([p[0] for p in parts], axis=0)
        return _checked(evaluation, call.type, offsets, (both[0], both[1]), known)

    return kernel


def _make_str_to_map(call: Call) -> Kernel:
    between_pairs, between = argument_constant(call, 1), argument_constant(call, 2)

    def kernel(evaluation: Evaluation, texts: pa.Array, *_: Datum) -> pa.Array:
        offsets, pairs = list_parts(pc.split_pattern_regex(texts, between_pairs))
        starts, parts = list_parts(pc.split_pattern_regex(pairs, between, max_splits=1))
        has_value = np.diff(starts) > 1
        keys = parts.take(pa.array(starts[:-1]))
        items = parts.take(pa.array(starts[:-1] + has_value, mask=~has_value))
        return _checked(evaluation, call.type, offsets, (keys, items), texts.is_valid())

    return kernel


def _make_map_entries(call: Call) -> Kernel:
    def kernel(maps: pa.Array) -> pa.Array:
        offsets, entries = list_parts(maps)
        structures = pa.StructArray.from_arrays(
            [entries.field(0), entries.field(1)], fields=list(call.type.value_type)
        )
        return lists_of(call.type, offsets, structures, maps)

    return kernel


def _make_arrays_zip(call: Call) -> Kernel:
    def kernel(*data: Datum) -> pa.Array:
        lists = as_arrays(*data)
        offsets, found = zipped(lists)
        entries = pa.StructArray.from_arrays(found, fields=list(call.type.value_type))
        known = lists[0].is_valid()
        for more in lists[1:]:
            known = pc.and_(known, more.is_valid())
        return null_where_not(known, lists_of(call.type, offsets, entries))

    return kernel


# -- sequences ---------------------------------------------------------


def _numbers(array: pa.Array) -> Array:
    """int64[n] of integers, dates and times; 0 for NULL."""
    if pt.is_date32(array.type):
        array = array.cast(pa.int32())
    numbers: Array = values_of(array.cast(pa.int64())).astype(np.int64)
    return numbers


def _make_sequence(call: Call) -> Kernel:
    element = call.type.value_type
    one = 86_400_000_000 if pt.is_timestamp(element) else 1

    def kernel(evaluation: Evaluation, *data: Datum) -> pa.Array:
        arrays = as_arrays(*data)
        first, last = (_numbers(a) for a in arrays[:2])
        step = _numbers(arrays[2]) if len(arrays) > 2 else np.where(first <= last, one, -one)
        ends = (step >= 0) == (first <= last)
        good = np.where(step == 0, first == last, ends | (first == last))
        span = np.where(first <= last, last - first, first - last).view(np.uint64)
        size = np.where(step == 0, 1, np.abs(step)).view(np.uint64)
        counts = np.minimum(span // size, _MOST).astype(np.int64) + 1
        return _sequences(
            evaluation,
            call,
            arrays,
            (good, counts),
            lambda rows, nth: first[rows] + nth * step[rows],
        )

    return kernel


def _make_sequence_of_months(call: Call) -> Kernel:
    step = argument_constant(call, 2)

    def kernel(evaluation: Evaluation, *data: Datum) -> pa.Array:
        arrays = as_arrays(*data[:2])
        bounds = [months_later(a, 0)[1] for a in arrays]
        good = (bounds[0] == bounds[1]) | ((bounds[0] < bounds[1]) == (step > 0))
        good &= (step != 0) | (bounds[0] == bounds[1])
        months = [months_later(a, 0)[0] for a in arrays]
        most = (months[1] - months[0]) // step if step else np.zeros_like(months[0])
        most = np.clip(most, 0, _MOST)
        reached = months_later(arrays[0], most * step)[1]
        beyond = reached > bounds[1] if step > 0 else reached < bounds[1]
        counts = np.where(good, most + 1 - beyond, 1)

        def element(rows: Array, nth: Array) -> Array:
            return months_later(arrays[0].take(pa.array(rows)), nth * step)[1]

        return _sequences(evaluation, call, arrays, (good, counts), element)

    return kernel


def _sequences(
    evaluation: Evaluation,
    call: Call,
    arguments: Sequence[pa.Array],
    found: tuple[Array, Array],
    element: Any,
) -> pa.Array:
    """The lists.

    Args:
        found: whether the bounds fit the step, and how many elements there are.
        element: gives the elements by int64[k] rows and places in their lists.
    """
    good, counts = found
    known = arguments[0].is_valid()
    for more in arguments[1:]:
        known = pc.and_(known, more.is_valid())
    there = np.asarray(known)
    unfit, long = there & ~good, there & good & (counts > _MOST)
    counts = np.where(there & ~unfit & ~long, counts, 0)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    rows = np.repeat(np.arange(counts.size), counts)
    nth = ranges(np.zeros(counts.size, np.int64), offsets)
    values = pa.array(element(rows, nth))
    type_ = call.type.value_type
    values = values.cast(pa.int32()).cast(type_) if pt.is_date32(type_) else values.cast(type_)
    lists = null_where_not(known, lists_of(call.type, offsets, values))
    reason = ("a sequence from ", arguments[0], " to ", arguments[1])
    lists = _without(evaluation, unfit, lists, *reason, " does not fit its step")
    return _without(evaluation, long, lists, *reason, f" has more than {_MOST:,} elements")


MAP_KERNELS: Final[dict[str, Maker]] = {
    "map_entries": _make_map_entries,
    "arrays_zip": _make_arrays_zip,
}
FALLIBLE_MAPS: Final[dict[str, Maker]] = {
    "map": _make_map,
    "map_from_arrays": _make_map_from_arrays,
    "map_from_entries": _make_map_from_entries,
    "map_concat": _make_map_concat,
    "str_to_map": _make_str_to_map,
    "sequence": _make_sequence,
    "sequence_of_months": _make_sequence_of_months,
}
