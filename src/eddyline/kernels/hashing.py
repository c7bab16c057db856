"""64-bit hashes of key columns.

``mix`` is a bijection on 64-bit integers, so for a single column of at most 64 bits equal hashes
mean equal values; everything else is verified after the look-up.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eddyline.kernels.options import inlined, kernel

#: What a NULL contributes to a hash.
NULL_HASH = np.int64(-0x61C8864680B583EB)
_NAN_BITS = np.int64(0x7FF8000000000000)


@inlined
def mix(value: Any) -> Any:
    """The splitmix64 finaliser: bijective, every bit depends on every bit."""
    z = np.uint64(value)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64(z ^ (z >> np.uint64(31)))


@kernel
def mix_all(values: np.ndarray) -> np.ndarray:
    """int64[n] -> int64[n]: ``mix`` of each value."""
    out = np.empty(values.size, np.int64)
    for i in range(values.size):
        out[i] = mix(values[i])
    return out


@kernel
def combine(hashes: np.ndarray, more: np.ndarray) -> None:
    """Fold the next column's hashes into ``hashes``, in place."""
    for i in range(hashes.size):
        hashes[i] = mix(hashes[i] * np.int64(31) + more[i])


@kernel
def hash_texts(offsets: np.ndarray, data: np.ndarray) -> np.ndarray:
    """Hashes of n byte strings, int32 offsets[n + 1] into uint8 data, eight bytes at a time."""
    n = offsets.size - 1
    out = np.empty(n, np.int64)
    for i in range(n):
        at = offsets[i]
        end = offsets[i + 1]
        h = np.uint64(end - at) * np.uint64(0x9E3779B97F4A7C15)
        while at + 8 <= end:
            h = _fold(h, _word(data, at, 8))
            at += 8
        if at < end:
            h = _fold(h, _word(data, at, end - at))
        out[i] = mix(np.int64(h))
    return out


@kernel
def fold_in(hashes: np.ndarray, values: np.ndarray) -> None:
    """Fold the next column's values (int64[n]) into uint64[n], in place; see ``below``."""
    for i in range(hashes.size):
        hashes[i] = _fold(hashes[i], np.uint64(values[i]))


@kernel
def fold_in_doubles(hashes: np.ndarray, values: np.ndarray, bits: np.ndarray) -> None:
    """As ``fold_in``, with float64[n] and the same as int64[n]: 0.0 and -0.0 are one value, and so
    is every NaN.
    """
    for i in range(hashes.size):
        value = bits[i]
        if values[i] == 0.0:
            value = np.int64(0)
        elif np.isnan(values[i]):
            value = _NAN_BITS
        hashes[i] = _fold(hashes[i], np.uint64(value))


@kernel
def places_below(hashes: np.ndarray, limit: np.uint64) -> np.ndarray:
    """int64[k]: the numbers of those that are ``below`` a limit."""
    out = np.empty(hashes.size, np.int64)
    count: Any = 0
    for i in range(hashes.size):
        out[count] = i
        count += np.uint64(mix(np.int64(hashes[i]))) < limit
    return out[:count]


@kernel
def below(hashes: np.ndarray, limit: np.uint64) -> np.ndarray:
    """bool[n]: whether what values were folded into (uint64[n]), mixed, is below a limit."""
    out = np.empty(hashes.size, np.bool_)
    for i in range(hashes.size):
        out[i] = np.uint64(mix(np.int64(hashes[i]))) < limit
    return out


@kernel
def below_each(hashes: np.ndarray, limits: np.ndarray) -> np.ndarray:
    """As ``below``, with a limit for each row (uint64[n])."""
    out = np.empty(hashes.size, np.bool_)
    for i in range(hashes.size):
        out[i] = np.uint64(mix(np.int64(hashes[i]))) < limits[i]
    return out


@inlined
def _fold(h: Any, word: Any) -> Any:
    h = (h ^ word) * np.uint64(0xFF51AFD7ED558CCD)
    return h ^ (h >> np.uint64(32))


@inlined
def _word(data: Any, at: Any, count: Any) -> Any:
    """Up to eight bytes as one number."""
    word = np.uint64(0)
    for k in range(count):
        word |= np.uint64(data[at + k]) << np.uint64(8 * k)
    return word
