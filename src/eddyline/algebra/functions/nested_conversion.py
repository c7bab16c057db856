"""CAST of lists, maps and structures, part by part; see ``conversion.py``."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.list_parts import list_parts
from eddyline.types import element_type, is_list

#: Converts values, NULL where a value cannot be converted.
Convert = Callable[[pa.Array, pa.DataType], pa.Array]
#: bool[n]: the values that a conversion has lost; None if there are none.
Failed = Callable[[pa.Array, pa.Array], pa.Array | None]


def convert_nested(values: pa.Array, type_: pa.DataType, convert: Convert) -> pa.Array:
    """The values as another nested type, or as text; NULL where a part cannot be converted."""
    if pt.is_string(type_):
        return _as_text(values, convert)
    valid = None if not values.null_count else values.is_valid().buffers()[1]
    if pt.is_struct(type_):
        parts = [convert(values.field(i), f.type) for i, f in enumerate(type_)]
        return pa.Array.from_buffers(type_, len(values), [valid], children=parts)
    offsets, elements = list_parts(values)
    inner = convert(elements, element_type(type_))
    buffers = [valid, pa.py_buffer(offsets.astype(np.int32))]
    return pa.Array.from_buffers(type_, len(values), buffers, children=[inner])


def failed_nested(values: pa.Array, result: pa.Array, failed: Failed) -> pa.Array | None:
    """bool[n]: the values of which a part could not be converted; None if all could."""
    if pt.is_string(result.type):
        return None
    lost = np.zeros(len(values), np.bool_)
    if pt.is_struct(result.type):
        for i in range(result.type.num_fields):
            lost |= _lost(values.field(i), result.field(i), failed)
    else:
        offsets, elements = list_parts(values)
        parts = _lost(elements, list_parts(result)[1], failed)
        before = np.concatenate([[0], np.cumsum(parts)])
        lost = before[offsets[1:]] > before[offsets[:-1]]
    lost &= np.asarray(values.is_valid())
    return pa.array(lost) if lost.any() else None


def _lost(values: pa.Array, result: pa.Array, failed: Failed) -> npt.NDArray[np.bool_]:
    found = failed(values, result)
    return np.zeros(len(values), np.bool_) if found is None else np.asarray(found)


def parts_of(source: pa.DataType, target: pa.DataType) -> list[tuple[pa.DataType, pa.DataType]]:
    """The types of the parts of one nested type, beside those into which they are converted; empty
    if the types have no such parts.
    """
    if pt.is_list(source) and pt.is_list(target):
        return [(source.value_type, target.value_type)]
    if pt.is_map(source) and pt.is_map(target):
        return [(source.key_type, target.key_type), (source.item_type, target.item_type)]
    if pt.is_struct(source) and pt.is_struct(target) and source.num_fields == target.num_fields:
        return [(a.type, b.type) for a, b in zip(source, target, strict=True)]
    return []


# -- text --------------------------------------------------------------


def _as_text(values: pa.Array, convert: Convert) -> pa.Array:
    """As Spark shows it: ``[1, null]``, ``{a -> 1}``, ``{1, x}``."""
    text = pa.string()
    if is_list(values.type):
        offsets, elements = list_parts(values)
        if pt.is_map(values.type):
            keys, items = (_shown(elements.field(i), convert) for i in (0, 1))
            shown = pc.binary_join_element_wise(keys, items, " -> ")
        else:
            shown = _shown(elements, convert)
        lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), shown)
        inner = pc.binary_join(lists, ", ")
    else:
        parts = [_shown(values.field(i), convert) for i in range(values.type.num_fields)]
        inner = pc.binary_join_element_wise(*parts, ", ")
    ends = ("[", "]") if pt.is_list(values.type) else ("{", "}")
    whole = pc.binary_join_element_wise(ends[0], inner, ends[1], "")
    return pc.if_else(values.is_valid(), whole, pa.scalar(None, text))


def _shown(values: pa.Array, convert: Convert) -> pa.Array:
    return pc.fill_null(convert(values, pa.string()), "null")
