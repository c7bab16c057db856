"""Integers that compare as values do."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from eddyline.kernels.text import text_prefixes
from eddyline.runtime.stores.columns import Array, bitmap, raw_values, text_buffers

_SMALLER = np.int64(0x7FFFFFFFFFFFFFFF)


def order_keys(values: pa.Array) -> Array:
    """int64[n] that compare as the values do; of texts the first eight bytes, the rest may tie.
    Decimals have at most 18 digits.
    """
    type_ = values.type
    if pt.is_floating(type_):
        bits = _numbers(values, np.float64).copy()
        bits[bits == 0.0] = 0.0
        bits[np.isnan(bits)] = np.nan  # one NaN, above everything, as in Spark
        as_int = bits.view(np.int64)
        return np.where(as_int < 0, as_int ^ _SMALLER, as_int)
    if pt.is_string(type_) or pt.is_binary(type_):
        return text_prefixes(*text_buffers(values))
    if pt.is_decimal(type_):  # the low half of the 16 bytes
        return raw_values(values, np.dtype("2i8"))[:, 0].copy()
    return _numbers(_as_integers(values), np.int64)


def values_of_keys(keys: Array, valid: Array, type_: pa.DataType) -> pa.Array:
    """The inverse of ``order_keys``, NULL where not ``valid``; not of texts."""
    if pt.is_floating(type_):
        bits = np.where(keys < 0, keys ^ _SMALLER, keys).view(np.float64)
        return _array(pa.float64(), bits, valid).cast(type_)
    if pt.is_decimal(type_):
        return wide_values(keys >> 63, keys, valid, type_)
    whole = _array(pa.int64(), keys, valid)
    if pt.is_boolean(type_):
        return whole.cast(pa.bool_())
    return whole.cast(pa.int32()).cast(type_) if pt.is_date32(type_) else whole.cast(type_)


def wide_values(high: Array, low: Array, valid: Array, type_: pa.DataType) -> pa.Array:
    """Decimals of two halves, NULL where not ``valid``."""
    halves = np.ascontiguousarray(np.stack((low, high), axis=1))
    return pa.Array.from_buffers(type_, valid.size, [bitmap(valid), pa.py_buffer(halves)])


def _as_integers(values: pa.Array) -> pa.Array:
    type_ = values.type
    if pt.is_date32(type_):
        return values.cast(pa.int32())
    if pt.is_timestamp(type_) or pt.is_duration(type_):
        return values.cast(pa.int64())
    return values.cast(pa.int8()) if pt.is_boolean(type_) else values


def _numbers(values: pa.Array, dtype: type) -> Array:
    filled = values.fill_null(0) if values.null_count else values
    return np.asarray(filled.to_numpy(zero_copy_only=False)).astype(dtype, copy=False)


def _array(type_: pa.DataType, values: Array, valid: Array) -> pa.Array:
    return pa.Array.from_buffers(type_, valid.size, [bitmap(valid), pa.py_buffer(values)])
