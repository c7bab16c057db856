"""The cells of texts in a grouped filter, see ``grouped_filter.py``."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eddyline.kernels.grouped_filter import rank
from eddyline.kernels.options import inlined, kernel


@inlined
def _leading(data: Any, start: Any, end: Any) -> Any:
    """The first eight of some bytes, zeros after their end, as a number that orders alike."""
    word = np.uint64(0)
    for k in range(8):
        word <<= np.uint64(8)
        if start + k < end:
            word |= np.uint64(data[start + k])
    return np.int64(word ^ np.uint64(1 << 63))


@inlined
def _compare(a: Any, a_start: Any, a_end: Any, b: Any, b_start: Any, b_end: Any) -> Any:
    """-1, 0 or 1: how some bytes are ordered against others."""
    i = np.int64(a_start)
    j = np.int64(b_start)
    while i < a_end and j < b_end and a[i] == b[j]:
        i += 1
        j += 1
    order = np.int64(0)
    if i < a_end and j < b_end:
        order = np.int64(1) if a[i] > b[j] else np.int64(-1)
    elif i < a_end:
        order = np.int64(1)
    elif j < b_end:
        order = np.int64(-1)
    return order


@kernel
def leading_bytes(offsets: np.ndarray, data: np.ndarray, skip: int) -> np.ndarray:
    """int64[m] that order texts by the eight bytes behind their first ``skip``."""
    out = np.empty(offsets.size - 1, np.int64)
    for i in range(out.size):
        out[i] = _leading(data, np.int64(offsets[i]) + skip, np.int64(offsets[i + 1]))
    return out


class TextThresholds(NamedTuple):
    """Sorted texts between which cells lie.

    Attributes:
        offsets: int32[m + 1], offsets into ``data``; m > 0.
        skip: number of first bytes that all of them share.
        leading: int64[p], their distinct ``leading_bytes``, ascending; ``starts``, ``origin`` and
            ``scale`` are the directory of these.
        runs: int64[p + 1]: the texts of ``leading[j]`` are ``[runs[j], runs[j + 1])``.
    """

    offsets: np.ndarray
    data: np.ndarray
    skip: int
    leading: np.ndarray
    runs: np.ndarray
    starts: np.ndarray
    origin: float
    scale: float


@kernel
def cells_of_texts(
    offsets: np.ndarray,
    data: np.ndarray,
    rows: np.ndarray,
    texts: TextThresholds,
) -> np.ndarray:
    """int64[k]: the cells of some of the texts in ``offsets`` and ``data``."""
    thresholds, threshold_data, skip = texts.offsets, texts.data, texts.skip
    leading, runs = texts.leading, texts.runs
    starts, origin, scale = texts.starts, texts.origin, texts.scale
    out = np.empty(rows.size, np.int64)
    for i in range(rows.size):
        at = np.int64(offsets[rows[i]])
        end = np.int64(offsets[rows[i] + 1])
        order = _compare(data, at, min(at + skip, end), threshold_data, 0, skip)
        if order != 0:
            out[i] = 0 if order < 0 else thresholds.size - 1
            continue
        own = _leading(data, at + skip, end)
        place = rank(own, leading, starts, origin, scale)
        low = high = runs[place]
        if place > 0 and leading[place - 1] == own:
            low = runs[place - 1]
        while low < high:
            middle = (low + high) >> 1
            start = np.int64(thresholds[middle]) + skip
            if _compare(threshold_data, start, thresholds[middle + 1], data, at + skip, end) <= 0:
                low = middle + 1
            else:
                high = middle
        out[i] = low
    return out
