"""Conversion of structures, lists and maps of callers to declared types, and to text."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.list_parts import list_parts
from eddyline.errors import did_you_mean
from eddyline.kernels.lists import all_in_lists
from eddyline.runtime.stores.columns import bitmap, validity_of
from eddyline.types import element_type, is_list

#: Converts values that are not nested; NULL where information would be lost.
Convert = Callable[[pa.Array, pa.DataType], pa.Array]


def converted_nested(values: pa.Array, type_: pa.DataType, convert: Convert) -> pa.Array:
    """The values as another nested type; NULL where a part cannot be converted.

    Raises:
        pa.ArrowTypeError: there is no conversion.
    """
    return (
        _converted_lists(values, type_, convert)
        if is_list(type_)
        else _structures(values, type_, convert)
    )


def _converted_lists(values: pa.Array, type_: pa.DataType, convert: Convert) -> pa.Array:
    if pt.is_map(values.type) != pt.is_map(type_) or not _has_elements(values.type):
        raise pa.ArrowTypeError("use a list for an ARRAY, and a map for a MAP")
    if not is_list(values.type):
        values = values.cast(pa.list_(values.type.value_type))
    offsets, elements = list_parts(values)
    inner = convert(elements, element_type(type_))
    valid = validity_of(values)
    if inner.null_count > elements.null_count:
        lost = np.asarray(pc.and_(elements.is_valid(), inner.is_null()))
        whole = all_in_lists(offsets, ~lost)
        valid = whole if valid is None else valid & whole
    if pt.is_map(type_):  # its entries and keys cannot be NULL
        fields = [inner.field(i) for i in range(2)]
        inner = pa.StructArray.from_arrays(fields, fields=list(element_type(type_)))
    buffers = [bitmap(valid), pa.py_buffer(offsets.astype(np.int32))]
    return pa.Array.from_buffers(type_, len(values), buffers, children=[inner])


def _has_elements(type_: pa.DataType) -> bool:
    kinds = (pt.is_list, pt.is_map, pt.is_large_list, pt.is_fixed_size_list, pt.is_list_view)
    return any(is_kind(type_) for is_kind in kinds)


def _structures(values: pa.Array, type_: pa.DataType, convert: Convert) -> pa.Array:
    if not pt.is_struct(values.type):
        raise pa.ArrowTypeError("use a structure for a STRUCT")
    positions = {f.name.lower(): i for i, f in enumerate(values.type)}
    valid = validity_of(values)
    columns = []
    for field in type_:
        position = positions.get(field.name.lower())
        if position is None:
            hint = did_you_mean(field.name, [f.name for f in values.type])
            raise pa.ArrowTypeError(f"there is no field '{field.name}'; {hint}")
        given = values.field(position)
        columns.append(convert(given, field.type))
        if columns[-1].null_count > given.null_count:
            kept = np.asarray(pc.or_(given.is_null(), columns[-1].is_valid()))
            valid = kept if valid is None else valid & kept
    return pa.Array.from_buffers(type_, len(values), [bitmap(valid)], children=columns)


def nested_text(values: pa.Array) -> pa.Array:
    """Nested values as JSON, for bad rows: a loop over these."""
    texts = (
        None if v is None else json.dumps(_plain(v, values.type), default=str, ensure_ascii=False)
        for v in values.to_pylist()
    )
    return pa.array(texts, pa.string())


def _plain(value: Any, type_: pa.DataType) -> Any:
    """A value of Python without the pairs of maps."""
    if value is None:
        return None
    if pt.is_map(type_):
        return {str(k): _plain(v, type_.item_type) for k, v in value}
    if pt.is_struct(type_):
        return {f.name: _plain(value[f.name], f.type) for f in type_}
    return [_plain(v, type_.value_type) for v in value] if _has_elements(type_) else value
