"""Rows on their way through an eddy: which queries require them.

Lineage is as in ``lineage.py``.

Source: Madden et al. 2002, section 2.3.
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.options import kernel


@kernel
def required_of(
    lanes: np.ndarray, required: np.ndarray, mask: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The rows that some of these queries require.

    Args:
        lanes: int64[c, n]. required: uint64[n, W], lineage. mask: uint64[W], the queries.

    Returns:
        int64[c, k]; uint64[k, W], the lineage, without other queries.
    """
    kept, lineage = _narrowed(required, mask)
    out = np.empty((lanes.shape[0], kept.size), np.int64)
    for c in range(lanes.shape[0]):
        for i in range(kept.size):
            out[c, i] = lanes[c, kept[i]]
    return out, lineage


@kernel
def probing(
    lanes: np.ndarray, key: int, required: np.ndarray, mask: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The rows that probe for some of these queries.

    Args:
        lanes: int64[c, n]: ts, seq, and others. key: the number of that with the key.
        required, mask: as of ``required_of``.

    Returns:
        int64[k], rows; uint64[k, W], their lineage; int64[k], key, ts and seq.
    """
    kept, lineage = _narrowed(required, mask)
    keys, ts, seq = np.empty_like(kept), np.empty_like(kept), np.empty_like(kept)
    for i in range(kept.size):
        row = kept[i]
        keys[i], ts[i], seq[i] = lanes[key, row], lanes[0, row], lanes[1, row]
    return kept, lineage, keys, ts, seq


@kernel
def _narrowed(required: np.ndarray, mask: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The rows that have one of the bits of a mask, and these bits."""
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
def joined(
    lanes: np.ndarray,
    rows: np.ndarray,
    own: np.ndarray,
    number: np.ndarray,
    found: np.ndarray,
    base: int,
    row_ts: np.ndarray,
    sets: np.ndarray,
    set_of: np.ndarray,
    windows: np.ndarray,
    members: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The pairs that satisfy some query: its bit is in both rows, and the row found in its window.

    Args:
        lanes: int64[c, n], as of ``probing``. rows: int64[k], those that probe.
        own: uint64[k, W], their lineage.
        number, found: int64[p], which of them probe, and the positions of the rows found; ``base``
            is that of place 0.
        row_ts, set_of: int64, by place: when the row came, and the number of its lineage.
        sets: uint64[m, W], lineage by number.
        windows, members: as of ``lineage.meet``.

    Returns:
        int64[c + 1, q], lanes, the last one with the positions of the rows found; uint64[q, W],
        lineage.
    """
    width = own.shape[1]
    kept = np.empty(number.size, np.int64)
    rank = np.empty(number.size, np.int64)
    count = 0
    for p in range(number.size):
        a, at = number[p], found[p] - base
        b, r = set_of[at], np.searchsorted(windows, lanes[0, rows[a]] - row_ts[at], "right")
        common = np.uint64(0)
        for w in range(width):
            common |= own[a, w] & sets[b, w] & members[r, w]
        kept[count] = p
        rank[count] = r
        count += common != 0
    before = lanes.shape[0]
    out = np.empty((before + 1, count), np.int64)
    lineage = np.empty((count, width), np.uint64)
    for i in range(count):
        a, at, r = number[kept[i]], found[kept[i]] - base, rank[i]
        for w in range(width):
            lineage[i, w] = own[a, w] & sets[set_of[at], w] & members[r, w]
        out[before, i] = found[kept[i]]
    for c in range(before):
        for i in range(count):
            out[c, i] = lanes[c, rows[number[kept[i]]]]
    return out, lineage
