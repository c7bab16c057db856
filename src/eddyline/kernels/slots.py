"""A hash table from 64-bit hashes to dense, reusable slot numbers.

Chains per bucket over slots: ``heads[bucket]`` -> slot, ``link[slot]`` -> next slot.
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.options import kernel


@kernel
def find_or_claim(
    heads: np.ndarray,
    link: np.ndarray,
    hashes: np.ndarray,
    free: np.ndarray,
    free_count: int,
    wanted: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, int]:
    """The slot of each hash; unknown hashes claim a slot from the ``free`` stack.

    The caller has made sure that the stack holds enough slots.

    Returns:
        int64[n] slots, int64[k] numbers of the wanted entries that claimed one (in order), and how
        many slots are left on the stack.
    """
    mask = np.uint64(heads.size - 1)
    slots = np.empty(wanted.size, np.int64)
    claims = np.empty(wanted.size, np.int64)
    count = 0
    for i in range(wanted.size):
        h = wanted[i]
        b = np.int64(np.uint64(h) & mask)
        s = heads[b]
        while s >= 0 and hashes[s] != h:
            s = link[s]
        if s < 0:
            free_count -= 1
            s = free[free_count]
            hashes[s] = h
            link[s] = heads[b]
            heads[b] = s
            claims[count] = i
            count += 1
        slots[i] = s
    return slots, claims[:count].copy(), free_count


@kernel
def release(
    heads: np.ndarray,
    link: np.ndarray,
    hashes: np.ndarray,
    free: np.ndarray,
    free_count: int,
    slots: np.ndarray,
) -> int:
    """Take slots out of the table and push them on the free stack; returns its new height."""
    mask = np.uint64(heads.size - 1)
    for i in range(slots.size):
        s = slots[i]
        b = np.int64(np.uint64(hashes[s]) & mask)
        if heads[b] == s:
            heads[b] = link[s]
        else:
            before = heads[b]
            while link[before] != s:
                before = link[before]
            link[before] = link[s]
        free[free_count] = s
        free_count += 1
    return free_count


@kernel
def rebuild(heads: np.ndarray, link: np.ndarray, hashes: np.ndarray, used: np.ndarray) -> None:
    """Fill empty ``heads`` with the used slots."""
    mask = np.uint64(heads.size - 1)
    for s in range(used.size):
        if used[s]:
            b = np.int64(np.uint64(hashes[s]) & mask)
            link[s] = heads[b]
            heads[b] = s
