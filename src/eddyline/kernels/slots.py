"""A hash table from 64-bit hashes to dense, reusable slot numbers.

Chains as in ``chains.py``, of slots instead of positions: the key of a node is its hash, a slot
that is not used is NOT_INDEXED. Free slots are a stack of those that were released; then those
from ``end`` on, of which no array has been touched.
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.chains import KEY, LINK, NOT_INDEXED, bucket_of
from eddyline.kernels.options import kernel
from eddyline.kernels.prefetch import AHEAD, prefetch

#: Number of buckets that fit the cache.
_CACHED = 1 << 15


@kernel
def find_or_claim(
    heads: np.ndarray,
    shift: int,
    split: int | None,
    nodes: np.ndarray,
    free: np.ndarray,
    free_count: int,
    end: int,
    room: int,
    wanted: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, int, int]:
    """The slot of each hash; unknown hashes claim a free slot, as long as there is ``room``.

    The caller has made sure that there are nodes for the slots that may be claimed.

    Returns:
        int64[m] slots, of the entries before the first one for which there was no room; int64[k]
        numbers of the entries that claimed one (in order); and ``free_count`` and ``end`` now.
    """
    slots = np.empty(wanted.size, np.int64)
    is_large = heads.size > _CACHED
    if is_large:
        for i in range(wanted.size):
            slots[i] = bucket_of(wanted[i], shift, split)
    claims = np.empty(wanted.size, np.int64)
    count = 0
    for i in range(wanted.size):
        h = wanted[i]
        if is_large:
            b = slots[i]
            if i + 2 * AHEAD < wanted.size:
                prefetch(heads, slots[i + 2 * AHEAD])
                prefetch(nodes, heads[slots[i + AHEAD]])
        else:
            b = bucket_of(h, shift, split)
        s = heads[b]
        while s >= 0 and nodes[s, KEY] != h:
            s = nodes[s, LINK]
        if s < 0:
            if count == room:
                return slots[:i], claims[:count].copy(), free_count, end
            if free_count:
                free_count -= 1
                s = free[free_count]
            else:
                s = end
                end += 1
            nodes[s, KEY] = h
            nodes[s, LINK] = heads[b]
            heads[b] = s
            claims[count] = i
            count += 1
        slots[i] = s
    return slots, claims[:count].copy(), free_count, end


@kernel
def release(
    heads: np.ndarray,
    shift: int,
    split: int | None,
    nodes: np.ndarray,
    free: np.ndarray,
    free_count: int,
    slots: np.ndarray,
) -> int:
    """Take slots out of the table and push them on the free stack; returns its new height."""
    for i in range(slots.size):
        s = slots[i]
        b = bucket_of(nodes[s, KEY], shift, split)
        if heads[b] == s:
            heads[b] = nodes[s, LINK]
        else:
            before = heads[b]
            while nodes[before, LINK] != s:
                before = nodes[before, LINK]
            nodes[before, LINK] = nodes[s, LINK]
        nodes[s, LINK] = NOT_INDEXED
        free[free_count] = s
        free_count += 1
    return free_count
