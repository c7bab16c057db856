"""Gathering variable-length values (strings, bytes) out of a growable buffer."""

from __future__ import annotations

import numpy as np

from eddyline.kernels.options import kernel


@kernel
def gathered_offsets(offsets: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """int64 offsets[m + 1], int64 rows[n] -> int64[n + 1]: where each gathered value will start."""
    out = np.empty(rows.size + 1, np.int64)
    total = np.int64(0)
    for i in range(rows.size):
        out[i] = total
        r = rows[i]
        total += offsets[r + 1] - offsets[r]
    out[rows.size] = total
    return out


@kernel
def gather_bytes(
    offsets: np.ndarray,
    data: np.ndarray,
    origin: int,
    rows: np.ndarray,
    out_offsets: np.ndarray,
) -> np.ndarray:
    """The bytes of the gathered rows, back to back: uint8[out_offsets[-1]].

    Args:
        origin: the offset of the first byte in ``data``.
    """
    out = np.empty(out_offsets[rows.size], np.uint8)
    for i in range(rows.size):
        start = offsets[rows[i]] - origin
        length = offsets[rows[i] + 1] - offsets[rows[i]]
        to = out_offsets[i]
        for j in range(length):
            out[to + j] = data[start + j]
    return out


@kernel
def text_prefixes(offsets: np.ndarray, data: np.ndarray) -> np.ndarray:
    """int64[n] that order n byte strings by their first eight bytes."""
    n = offsets.size - 1
    out = np.empty(n, np.int64)
    for i in range(n):
        prefix = np.uint64(0)
        length = offsets[i + 1] - offsets[i]
        for j in range(8):
            prefix = prefix << np.uint64(8)
            if j < length:
                prefix |= np.uint64(data[offsets[i] + j])
        out[i] = np.int64(prefix ^ np.uint64(1 << 63))
    return out


@kernel
def same_texts(
    a_offsets: np.ndarray,
    a_data: np.ndarray,
    a_origin: int,
    a_rows: np.ndarray,
    b_offsets: np.ndarray,
    b_data: np.ndarray,
    b_origin: int,
    b_rows: np.ndarray,
) -> np.ndarray:
    """bool[n]: whether row ``a_rows[i]`` of one buffer equals row ``b_rows[i]`` of the other."""
    out = np.empty(a_rows.size, np.bool_)
    for i in range(a_rows.size):
        a = a_offsets[a_rows[i]]
        b = b_offsets[b_rows[i]]
        length = a_offsets[a_rows[i] + 1] - a
        same = length == b_offsets[b_rows[i] + 1] - b
        a -= a_origin
        b -= b_origin
        j = 0
        while same and j < length:
            same = a_data[a + j] == b_data[b + j]
            j += 1
        out[i] = same
    return out
