"""Which numbers have a key in common in two lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from eddyline.kernels.options import bare, inlined, kernel


@kernel
def have_common(
    a_by: np.ndarray, a_key: np.ndarray, b_by: np.ndarray, b_key: np.ndarray, count: int
) -> np.ndarray:
    """bool[count]: which numbers have one key in both lists.

    Args:
        a_by, a_key: int64[n], numbers in [0, count), ascending, and their keys. b_by, b_key: too.
    """
    out = np.zeros(count, np.bool_)
    table = np.empty(0, np.int64)
    a = 0
    b = 0
    for number in range(count):
        a_end = a
        while a_end < a_by.size and a_by[a_end] == number:
            a_end += 1
        b_end = b
        while b_end < b_by.size and b_by[b_end] == number:
            b_end += 1
        if (a_end - a) * (b_end - b) <= 64:
            for i in range(a, a_end):
                for j in range(b, b_end):
                    out[number] |= a_key[i] == b_key[j]
        else:
            bits = 2
            while (1 << bits) < 2 * (a_end - a):
                bits += 1
            if table.size < 1 << bits:
                table = np.empty(1 << bits, np.int64)
            out[number] = _meet(a_key[a:a_end], b_key[b:b_end], table[: 1 << bits], 64 - bits)
        a = a_end
        b = b_end
    return out


@bare
def _meet(a: np.ndarray, b: np.ndarray, table: np.ndarray, shift: int) -> bool:
    """Whether two lists have a value in common, by an open hash table for those of ``a``."""
    mask = table.size - 1
    table[:] = -1
    for i in range(a.size):
        slot = _slot(a[i], shift)
        while table[slot] >= 0:
            slot = (slot + 1) & mask
        table[slot] = i
    for j in range(b.size):
        slot = _slot(b[j], shift)
        while table[slot] >= 0:
            if a[table[slot]] == b[j]:
                return True
            slot = (slot + 1) & mask
    return False


@inlined
def _slot(key: Any, shift: Any) -> Any:
    return np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(shift))
