"""Sums by lineage and group (``runtime/eddy/lineage_sums.py``), and lineages by their hash."""

from __future__ import annotations

import numpy as np

from eddyline.kernels.hashing import mix
from eddyline.kernels.moments import HUGE
from eddyline.kernels.options import kernel


@kernel
def lineage_hashes(lineage: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows (int64[k]) of uint64[n, W] that have bits of a mask, and int64[k], hashes of these
    bits. They do not change with the number of words; different bits may have the same one.
    """
    rows = np.empty(lineage.shape[0], np.int64)
    hashes = np.empty(lineage.shape[0], np.int64)
    count = 0
    for i in range(lineage.shape[0]):
        some, found = False, np.int64(0)
        for w in range(lineage.shape[1]):
            word = lineage[i, w] & mask[w]
            if word:
                some = True
                found = mix(found * np.int64(31) + mix(word) + np.int64(w))
        rows[count], hashes[count] = i, found
        count += some
    return rows[:count].copy(), hashes[:count].copy()


@kernel
def differing(
    lineage: np.ndarray, mask: np.ndarray, rows: np.ndarray, found: np.ndarray, words: np.ndarray
) -> np.ndarray:
    """int64[m], those of k rows, by place, of which the bits of a mask are not ``words[found]``."""
    out = np.empty(rows.size, np.int64)
    count = 0
    for i in range(rows.size):
        differs = np.uint64(0)
        for w in range(lineage.shape[1]):
            differs |= (lineage[rows[i], w] & mask[w]) ^ words[found[i], w]
        out[count] = i
        count += differs != 0
    return out[:count].copy()


@kernel
def add(
    lineage: np.ndarray,
    group: np.ndarray,
    valid: np.ndarray,
    value: np.ndarray,
    slope: float,
    weight: float,
    now: np.ndarray,
    highest: np.ndarray,
    lowest: np.ndarray,
    count: np.ndarray,
) -> float:
    """Add ``slope * value + weight`` of rows to the sums of their lineages and groups.

    Args:
        lineage, group, valid, value: by row; a lineage below 0 is none.
        now, highest, lowest, count: float64[lineages, groups]: sums, their highest and lowest
            values, and numbers of rows.

    Returns:
        The largest magnitude of a term. A term that is no number makes its sum infinite.
    """
    largest = abs(weight)
    for i in range(lineage.size):
        if lineage[i] < 0 or not valid[i]:
            continue
        c, g = lineage[i], group[i]
        x = slope * value[i] if slope != 0.0 else 0.0
        if abs(x) < HUGE:
            now[c, g] += x + weight
            largest = max(largest, abs(x) + abs(weight))
        else:
            now[c, g] = np.inf
        count[c, g] += 1.0
        lowest[c, g] = min(lowest[c, g], now[c, g])
        highest[c, g] = max(highest[c, g], now[c, g])
    return largest
