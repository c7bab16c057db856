"""Kernels that read whole JSON texts: from_json, the names and the number of parts.

A text is read type by type: the fields of a structure, or the elements of a list, are texts of JSON
themselves, all of a column at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.expressions import Call
from eddyline.algebra.functions import conversion
from eddyline.kernels import json_parts, json_paths
from eddyline.physical.expressions.data import Datum, null_where_not
from eddyline.physical.expressions.json_values import values_at
from eddyline.physical.expressions.kernel import Kernel, Maker, always
from eddyline.physical.expressions.nested import lists_of, maps_of
from eddyline.runtime.stores.columns import Array, text_buffers

_NUMBER: Final = r"^-?[0-9]"
_INTEGER: Final = r"^-?[0-9]+$"
_NO_NUMBERS: Final = ("NaN", "Infinity", "-Infinity", "+INF", "INF", "-INF")


@dataclass(frozen=True)
class _Parts:
    """The parts of texts.

    Attributes:
        known: bool[n], which texts are what is wanted. offsets: int64[n + 1], where parts begin.
        values: of all parts, as JSON. names: of fields; none of elements.
    """

    known: Array
    offsets: Array
    values: pa.Array
    names: pa.Array | None


def _parts(texts: pa.Array, opening: int) -> _Parts:
    offsets, data = text_buffers(texts)
    steps, names = json_paths.steps_of(())
    counts = np.empty(len(texts), np.int64)
    json_parts.counted_parts(offsets, data, opening, steps, names, counts)
    counts[np.asarray(texts.is_null())] = -1
    begins = np.concatenate(([0], np.cumsum(np.maximum(counts, 0))))
    size, total = int(offsets[-1] - offsets[0]), int(begins[-1])
    out, keys = np.empty(size, np.uint8), np.empty(size, np.uint8)
    ends, key_ends = np.zeros(total + 1, np.int32), np.zeros(total + 1, np.int32)
    is_object = opening == json_parts.OBJECT
    json_parts.written_parts(offsets, data, counts, is_object, out, ends, keys, key_ends)
    fields = _texts(key_ends, keys) if is_object else None
    return _Parts(counts >= 0, begins, _texts(ends, out), fields)


def _texts(ends: Array, data: Array) -> pa.Array:
    return pa.StringArray.from_buffers(ends.size - 1, pa.py_buffer(ends), pa.py_buffer(data))


def _read(texts: pa.Array, type_: pa.DataType) -> pa.Array:
    """The values of texts of JSON; NULL of those of other types."""
    if pt.is_struct(type_):
        known = pc.fill_null(pc.starts_with(values_at(texts, (), json_paths.NESTED), "{"), False)
        return _structures(texts, type_, known)
    if pt.is_list(type_):
        parts = _parts(texts, json_parts.ARRAY)
        elements = _read(parts.values, type_.value_type)
        return lists_of(type_, parts.offsets, elements, _marked(parts.known))
    if pt.is_map(type_):
        parts = _parts(texts, json_parts.OBJECT)
        items = _read(parts.values, type_.item_type)
        return maps_of(type_, parts.offsets, parts.names, items, _marked(parts.known))
    return _scalars(texts, type_)


def _structures(texts: pa.Array, type_: pa.DataType, known: pa.Array) -> pa.Array:
    """Structures of the texts, NULL where they are not known."""
    fields = [type_.field(i) for i in range(type_.num_fields)]
    values = [_read(values_at(texts, (f.name,), json_paths.JSON), f.type) for f in fields]
    return pa.StructArray.from_arrays(values, fields=fields, mask=pc.invert(known))


def _marked(known: Array) -> pa.Array:
    """An array that is NULL where the other is false."""
    return pa.array(known, mask=~known)


def _scalars(texts: pa.Array, type_: pa.DataType) -> pa.Array:
    plain = values_at(texts, (), json_paths.TEXT)
    if pt.is_string(type_):
        return plain
    quoted = pc.fill_null(pc.starts_with(pc.utf8_ltrim_whitespace(texts), '"'), False)
    if pt.is_boolean(type_):
        fits = pc.is_in(plain, pa.array(["true", "false"]))
        fits = pc.and_not(fits, quoted)
    elif pt.is_timestamp(type_):
        seconds = pc.and_not(pc.match_substring_regex(plain, _INTEGER), quoted)
        counted = conversion.convert(null_where_not(seconds, plain), pa.int64())
        written = conversion.convert(null_where_not(quoted, plain), type_)
        return pc.coalesce(written, conversion.convert(counted, type_))
    elif pt.is_date(type_):
        fits = quoted
    else:
        pattern = _INTEGER if pt.is_integer(type_) else _NUMBER
        fits = pc.match_substring_regex(plain, pattern)
        if not pt.is_decimal(type_):
            fits = pc.and_not(fits, quoted)
        if pt.is_floating(type_):
            named = pc.is_in(plain, pa.array(_NO_NUMBERS))
            fits = pc.or_(fits, pc.and_(named, quoted))
    kept = null_where_not(pc.fill_null(fits, False), plain)
    if pt.is_floating(type_):
        kept = pc.replace_substring_regex(kept, r"^([+-]?)INF$", r"\1Infinity")
    return conversion.convert(kept, type_)


def _make_from_json(call: Call) -> Kernel:
    """A text that is no JSON has a structure of NULLs, as in Spark."""
    type_ = call.type

    def kernel(texts: pa.Array, _: Datum) -> pa.Array:
        if not pt.is_struct(type_):
            return _read(texts, type_)
        blank = pc.equal(pc.binary_length(pc.utf8_trim_whitespace(texts)), 0)
        known = pc.and_not(texts.is_valid(), pc.fill_null(blank, True))
        return _structures(texts, type_, known)

    return kernel


def _array_length(texts: pa.Array) -> pa.Array:
    parts = _parts(texts, json_parts.ARRAY)
    counts = np.diff(parts.offsets).astype(np.int32)
    return pa.array(counts, mask=~parts.known)


def _object_keys(texts: pa.Array) -> pa.Array:
    parts = _parts(texts, json_parts.OBJECT)
    return lists_of(pa.list_(pa.string()), parts.offsets, parts.names, _marked(parts.known))


JSON_READING_KERNELS: Final[dict[str, Maker]] = {
    "from_json": _make_from_json,
    "json_array_length": always(_array_length),
    "json_object_keys": always(_object_keys),
}
