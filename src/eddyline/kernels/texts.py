"""Texts of two columns that are searched for each other, or compared."""

from __future__ import annotations

import numpy as np

from eddyline.kernels.options import bare, kernel


@kernel
def found_at(
    offsets: np.ndarray, data: np.ndarray, part_offsets: np.ndarray, part_data: np.ndarray
) -> np.ndarray:
    """int64[n]: the first byte, from 0, at which a text has the part in the same row; -1: none.

    Args:
        offsets, part_offsets: integers[n + 1]. data, part_data: uint8.
    """
    n = offsets.size - 1
    out = np.empty(n, np.int64)
    for i in range(n):
        start, size = offsets[i], offsets[i + 1] - offsets[i]
        part, length = part_offsets[i], part_offsets[i + 1] - part_offsets[i]
        out[i] = -1
        for at in range(size - length + 1):
            k = 0
            while k < length and data[start + at + k] == part_data[part + k]:
                k += 1
            if k == length:
                out[i] = at
                break
    return out


@kernel
def edit_distances(
    offsets: np.ndarray, data: np.ndarray, other_offsets: np.ndarray, other_data: np.ndarray
) -> np.ndarray:
    """int32[n]: how many characters have to be inserted, left out or replaced to make the text of
    one column of that of the other. Costs the product of their lengths.

    Args:
        offsets, other_offsets: integers[n + 1]. data, other_data: uint8, UTF-8.

    Source: Wagner and Fischer 1974.
    """
    n = offsets.size - 1
    out = np.empty(n, np.int32)
    longest, other_longest = 0, 0
    for i in range(n):
        longest = max(longest, offsets[i + 1] - offsets[i])
        other_longest = max(other_longest, other_offsets[i + 1] - other_offsets[i])
    a, b = np.empty(longest, np.int32), np.empty(other_longest, np.int32)
    costs = np.empty(other_longest + 1, np.int32)
    for i in range(n):
        size = _code_points(data, offsets[i], offsets[i + 1], a)
        other_size = _code_points(other_data, other_offsets[i], other_offsets[i + 1], b)
        for k in range(other_size + 1):
            costs[k] = k
        for j in range(size):
            diagonal = costs[0]
            costs[0] = j + 1
            for k in range(other_size):
                replaced = diagonal + (a[j] != b[k])
                diagonal = costs[k + 1]
                costs[k + 1] = min(replaced, diagonal + 1, costs[k] + 1)
        out[i] = costs[other_size]
    return out


@bare
def _code_points(data: np.ndarray, start: int, end: int, out: np.ndarray) -> int:
    """The characters of UTF-8 as numbers; returns how many they are."""
    n = 0
    for i in range(start, end):
        byte = np.int32(data[i])
        if byte & 0xC0 != 0x80:
            out[n] = byte
            n += 1
        else:
            out[n - 1] = out[n - 1] << 6 | byte & 0x3F
    return n
