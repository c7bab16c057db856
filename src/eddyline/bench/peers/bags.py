"""Bags of results as two numbers that do not depend on their order: what peers are compared by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import numba
import numpy as np
import numpy.typing as npt
import pyarrow as pa

_FACTOR: Final = np.uint64(0x9E3779B97F4A7C15)
_FOLD: Final = np.uint64(32)
_TEXT_FACTOR: Final = np.uint64(31)


class Bag(NamedTuple):
    """A bag of rows; rows that are taken back count as -1.

    Attributes:
        rows: how many. hashes: the sum of their hashes, modulo 2 ** 64.
    """

    rows: int
    hashes: int

    def __add__(self, other: object) -> Bag:  # of bags, not of tuples
        assert isinstance(other, Bag), "a bag"
        return Bag(self.rows + other.rows, (self.hashes + other.hashes) % 2**64)


class Differ(AssertionError):
    """Peers have found different results for the same query over the same rows."""


def bag_of(columns: Sequence[Any], added: npt.NDArray[np.bool_] | None = None) -> Bag:
    """The bag of rows given by columns, each an Arrow or NumPy array of integers or strings.

    Args:
        added: bool[rows]: False for a row that is taken back.
    """
    arrays = [plain(column) for column in columns]
    size = arrays[0].size if isinstance(arrays[0], np.ndarray) else len(arrays[0][1]) - 1
    hashed = np.zeros(size, np.uint64)
    for array in arrays:
        if isinstance(array, np.ndarray):
            _mix(hashed, array)
        else:
            _mix_texts(hashed, *array)
    signs = np.ones(size, np.bool_) if added is None else added
    rows, total = _finish(hashed, signs)
    return Bag(int(rows), int(total))


def check_equal(case: str, found: Mapping[str, Bag]) -> None:
    """Fail unless all have found the same bag.

    Raises:
        Differ: they have not; the message names each and what it has found.
    """
    if len(set(found.values())) > 1:
        said = "; ".join(
            f"{who}: {bag.rows:,} rows, hash {bag.hashes:x}" for who, bag in found.items()
        )
        raise Differ(f"{case}: results differ: {said}")


def plain(column: Any) -> Any:
    """The values of a column as int64[rows]; or the bytes and offsets of strings."""
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if isinstance(column, pa.DictionaryArray):
        column = column.dictionary_decode()
    if isinstance(column, np.ndarray):
        return np.ascontiguousarray(column, np.int64)
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        kind = np.int64 if pa.types.is_large_string(column.type) else np.int32
        _, offsets, data = column.buffers()
        ends = np.frombuffer(offsets, kind)[column.offset : column.offset + len(column) + 1]
        return np.frombuffer(data, np.uint8), ends
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
    return column.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)


@numba.njit(cache=True)
def _mix(hashed: Any, values: Any) -> None:
    for i in range(hashed.size):
        h = (hashed[i] ^ np.uint64(values[i])) * _FACTOR
        hashed[i] = h ^ (h >> _FOLD)


@numba.njit(cache=True)
def _mix_texts(hashed: Any, data: Any, ends: Any) -> None:
    for i in range(hashed.size):
        text = np.uint64(0)
        for at in range(ends[i], ends[i + 1]):
            text = text * _TEXT_FACTOR + np.uint64(data[at])
        h = (hashed[i] ^ text) * _FACTOR
        hashed[i] = h ^ (h >> _FOLD)


@numba.njit(cache=True)
def _finish(hashed: Any, added: Any) -> Any:
    rows, total = 0, np.uint64(0)
    for i in range(hashed.size):
        h = hashed[i] * _FACTOR
        h ^= h >> _FOLD
        if added[i]:
            rows += 1
            total += h
        else:
            rows -= 1
            total -= h
    return rows, total
