"""Rows on their way through an eddy: which queries require them.

Lineage is as in ``lineage.py``.

Source: Madden et al. 2002, section 2.3.
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.options import kernel


@kernel
def required_of(required: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows that some of these queries require.

    Args:
        required: uint64[n, W], lineage. mask: uint64[W], the queries.

    Returns:
        int64[k], rows; uint64[k, W], their lineage, without other queries.
    """
    width = mask.size
    kept = np.empty(required.shape[0], np.int64)
    count = 0
    for i in range(kept.size):
        common = np.uint64(0)
        for w in range(width):
            common |= required[i, w] & mask[w]
        kept[count] = i
        count += common != 0
    lineage = np.empty((count, width), np.uint64)
    for i in range(count):
        for w in range(width):
            lineage[i, w] = required[kept[i], w] & mask[w]
    return kept[:count].copy(), lineage


@kernel
def counts_of(required: np.ndarray, masks: np.ndarray) -> np.ndarray:
    """int64[m]: the numbers of rows that some query of each mask (uint64[m, W]) requires."""
    counts = np.zeros(masks.shape[0], np.int64)
    for i in range(required.shape[0]):
        for m in range(counts.size):
            for w in range(masks.shape[1]):
                if required[i, w] & masks[m, w]:
                    counts[m] += 1
                    break
    return counts


@kernel
def met(
    own: np.ndarray,
    ts: np.ndarray,
    number: np.ndarray,
    place: np.ndarray,
    row_ts: np.ndarray,
    sets: np.ndarray,
    set_of: np.ndarray,
    windows: np.ndarray,
    members: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The pairs that satisfy some query: as ``lineage.meet``.

    Args:
        own, ts: uint64[n, W] and int64[n], lineage and instants of the rows that probe.
        number, place: int64[p], the rows that probe, and the places of those found.
        row_ts, set_of: int64, by place: when the row came, and the number of its lineage.
        sets: uint64[m, W], lineage by number. windows, members: as of ``meet``.

    Returns:
        int64[q], the pairs; uint64[q, W], their lineage.
    """
    width = own.shape[1]
    kept = np.empty(number.size, np.int64)
    rank = np.empty(number.size, np.int64)
    count = 0
    for p in range(number.size):
        a, at = number[p], place[p]
        b, r = set_of[at], np.searchsorted(windows, ts[a] - row_ts[at], "right")
        common = np.uint64(0)
        for w in range(width):
            common |= own[a, w] & sets[b, w] & members[r, w]
        kept[count] = p
        rank[count] = r
        count += common != 0
    lineage = np.empty((count, width), np.uint64)
    for i in range(count):
        a, b, r = number[kept[i]], set_of[place[kept[i]]], rank[i]
        for w in range(width):
            lineage[i, w] = own[a, w] & sets[b, w] & members[r, w]
    return kept[:count].copy(), lineage
