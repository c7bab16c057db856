"""Kernels of sort keys, see ``kernels/sort_keys.py``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call
from eddyline.algebra.functions.aggregate_arguments import NARROW_DIGITS
from eddyline.algebra.list_parts import list_parts
from eddyline.kernels import sort_keys as kernels
from eddyline.physical.expressions.data import Datum, as_arrays
from eddyline.physical.expressions.kernel import Kernel, Maker, argument_constant
from eddyline.runtime.stores.columns import Array, bitmap, raw_values, text_buffers, validity_of
from eddyline.runtime.stores.order_keys import order_keys, values_of_keys, wide_values

_KINDS: Final = {"n": kernels.NARROW, "w": kernels.WIDE, "t": kernels.TEXT}
_NO_LOW: Final = np.zeros(0, np.int64)


def _make_sort_key(call: Call) -> Kernel:
    letters = argument_constant(call, 0)

    def kernel(_: Datum, *data: Datum) -> pa.Array:
        columns = as_arrays(*data)
        count = len(columns[0])
        valid = [_valid(c) for c in columns]
        sizes = sum(
            (_size(c, v) for c, v in zip(columns, valid, strict=True)), np.zeros(count, np.int64)
        )
        offsets = np.concatenate(([0], np.cumsum(sizes)))
        out, at = np.empty(offsets[-1], np.uint8), offsets[:-1].copy()
        for letter, column, there in zip(letters, columns, valid, strict=True):
            descending = letter in "dD"
            null = 0 if (letter in "ad") != descending else 2
            _write(out, at, column, there, null, descending)
        buffers = [None, pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(out)]
        return pa.Array.from_buffers(pa.binary(), count, buffers)

    return kernel


def _valid(values: pa.Array) -> Array:
    valid = validity_of(values)
    return np.ones(len(values), np.bool_) if valid is None else valid


def _is_text(type_: pa.DataType) -> bool:
    return bool(pt.is_string(type_) or pt.is_binary(type_))


def _is_wide(type_: pa.DataType) -> bool:
    return bool(pt.is_decimal(type_) and type_.precision > NARROW_DIGITS)


def _size(values: pa.Array, valid: Array) -> Array:
    if _is_text(values.type):
        return kernels.text_sizes(*text_buffers(values), valid)
    return np.where(valid, 17 if _is_wide(values.type) else 9, 1)


def _write(
    out: Array, at: Array, values: pa.Array, valid: Array, null: int, descending: bool
) -> None:
    if _is_text(values.type):
        kernels.write_texts(out, at, *text_buffers(values), valid, null, descending)
        return
    if _is_wide(values.type):
        halves = raw_values(values, np.dtype("2i8"))
        high, low = halves[:, 1].copy(), halves[:, 0].copy()
    else:
        high, low = order_keys(values), _NO_LOW
    kernels.write_numbers(out, at, high, low, valid, null, descending)


def _make_last(call: Call) -> Kernel:
    read = _reader(argument_constant(call, 1), call.type)
    return lambda keys, _: read(keys)


def _make_values(call: Call) -> Kernel:
    read, empty = (
        _reader(argument_constant(call, 1), call.type.value_type),
        argument_constant(call, 2),
    )

    def kernel(lists: pa.Array, *_: Datum) -> pa.Array:
        offsets, keys = list_parts(lists)
        valid = None if empty else validity_of(lists)
        buffers = [bitmap(valid), pa.py_buffer(offsets.astype(np.int32))]
        return pa.Array.from_buffers(call.type, len(lists), buffers, children=[read(keys)])

    return kernel


def _reader(letters: str, type_: pa.DataType) -> Callable[[pa.Array], pa.Array]:
    """What reads the last values of sort keys."""
    kinds = np.array([_KINDS[x.lower()] for x in letters])
    descending = np.array([x.isupper() for x in letters])

    def read(keys: pa.Array) -> pa.Array:
        offsets, data = text_buffers(keys)
        start = kernels.last_parts(offsets, data, _valid(keys), kinds, descending)
        if kinds[-1] == kernels.TEXT:
            ends, text, valid = kernels.read_texts(data, start)
            buffers = [bitmap(valid), pa.py_buffer(ends), pa.py_buffer(text)]
            return pa.Array.from_buffers(type_, len(keys), buffers)
        high, low, valid = kernels.read_numbers(data, start)
        if kinds[-1] == kernels.WIDE:
            return wide_values(high, low, valid, type_)
        return values_of_keys(high, valid, type_)

    return read


SORT_KEY_KERNELS: Final[dict[str, Maker]] = {
    "sort_key": _make_sort_key,
    "last_of_sort_key": _make_last,
    "values_of_sort_keys": _make_values,
}
