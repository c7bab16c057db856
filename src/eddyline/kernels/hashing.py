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
    """Hashes of n byte strings, int32 offsets[n + 1] into uint8 data: FNV-1a, then mixed."""
    n = offsets.size - 1
    out = np.empty(n, np.int64)
    for i in range(n):
        h = np.uint64(0xCBF29CE484222325)
        for j in range(offsets[i], offsets[i + 1]):
            h = (h ^ np.uint64(data[j])) * np.uint64(0x100000001B3)
        out[i] = mix(np.int64(h))
    return out
