"""Kernels of digests, checksums and hashes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.expressions import Call
from eddyline.kernels import digests, spark_hashes
from eddyline.physical.expressions.data import Datum, as_arrays, null_where_not, values_of
from eddyline.physical.expressions.kernel import Kernel, Maker, always, argument_constant

_SHA2: Final = {
    224: (digests.sha256, digests.SHA224_START),
    256: (digests.sha256, digests.SHA256_START),
    384: (digests.sha512, digests.SHA384_START),
    512: (digests.sha512, digests.SHA512_START),
}
_HEX: Final = np.frombuffer(b"0123456789abcdef", np.uint8)


def _bytes_of(texts: pa.Array) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """The bytes of texts, and where each begins and ends."""
    _, offsets, data = texts.buffers()
    width = (
        np.int64 if pt.is_large_string(texts.type) or pt.is_large_binary(texts.type) else np.int32
    )
    bounds = np.frombuffer(offsets, width)[texts.offset : texts.offset + len(texts) + 1]
    none = np.empty(0, np.uint8)
    return none if data is None else np.frombuffer(data, np.uint8), bounds.astype(np.int64)


def _hexadecimal(digits: npt.NDArray[np.uint8], texts: pa.Array) -> pa.Array:
    """The digests as texts; NULL where the texts are."""
    both = np.stack([_HEX[digits >> 4], _HEX[digits & 15]], axis=-1)
    size = digits.shape[1] * 2
    offsets = np.arange(len(texts) + 1, dtype=np.int32) * size
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(np.ascontiguousarray(both))]
    shown = pa.Array.from_buffers(pa.string(), len(texts), buffers)
    return null_where_not(texts.is_valid(), shown) if texts.null_count else shown


def _digest(function: Any, start: npt.NDArray[np.uint64], size: int) -> Kernel:
    def kernel(texts: pa.Array, *_: Datum) -> pa.Array:
        if not len(texts):
            return pa.array([], pa.string())
        return _hexadecimal(function(*_bytes_of(texts), start, size), texts)

    return kernel


def _make_sha2(call: Call) -> Kernel:
    bits = argument_constant(call, 1)
    return _digest(*_SHA2[bits], bits // 8)


def _crc32(texts: pa.Array) -> pa.Array:
    sums = pa.array(digests.crc32(*_bytes_of(texts)) if len(texts) else [], pa.int64())
    return null_where_not(texts.is_valid(), sums)


def _words(values: pa.Array) -> tuple[npt.NDArray[np.int64], int]:
    """Values that are numbers as Spark hashes them, and the number of bytes."""
    type_ = values.type
    if pt.is_floating(type_):
        numbers = values_of(values)
        numbers = np.where(numbers == 0, numbers.dtype.type(0), numbers)  # not -0.0
        numbers = np.where(np.isnan(numbers), numbers.dtype.type(np.nan), numbers)
        width = numbers.dtype.itemsize
        return numbers.view(np.int32 if width == 4 else np.int64).astype(np.int64), width
    if pt.is_decimal(type_):
        whole = pc.cast(values, pa.decimal128(38, type_.scale)).fill_null(0)
        pairs = np.frombuffer(whole.buffers()[1], np.int64).reshape(-1, 2)
        return pairs[whole.offset : whole.offset + len(whole), 0].copy(), 8
    if pt.is_date(type_):
        values = values.cast(pa.int32())
    elif pt.is_timestamp(type_) or pt.is_duration(type_):
        values = values.cast(pa.int64())
    elif pt.is_boolean(type_):
        values = values.cast(pa.int8())
    return values_of(values).astype(np.int64), 8 if pt.is_int64(values.type) else 4


def _make_hash(dtype: type, of_words: Callable[..., None], of_texts: Callable[..., None]) -> Maker:
    def kernel(*data: Datum) -> pa.Array:
        arrays = as_arrays(*data)
        seeds: npt.NDArray[Any] = np.full(len(arrays[0]), 42, dtype)
        for values in arrays:
            known = np.asarray(values.is_valid())
            if pt.is_null(values.type) or not len(values):
                continue
            if pt.is_string(values.type) or pt.is_binary(values.type):
                of_texts(*_bytes_of(values), known, seeds)
            else:
                of_words(*_words(values), known, seeds)
        return pa.array(seeds)

    return always(kernel)


DIGEST_KERNELS: Final[dict[str, Maker]] = {
    "md5": always(_digest(digests.md5, digests.MD5_START, 16)),
    "sha1": always(_digest(digests.sha1, digests.SHA1_START, 20)),
    "sha2": _make_sha2,
    "crc32": always(_crc32),
    "hash": _make_hash(np.int32, spark_hashes.murmur3_words, spark_hashes.murmur3_texts),
    "xxhash64": _make_hash(np.int64, spark_hashes.xxhash64_words, spark_hashes.xxhash64_texts),
}
