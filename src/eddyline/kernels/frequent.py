"""Counting frequent values in bounded memory.

Source: Misra and Gries 1982, "Finding repeated elements".
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.hashing import mix
from eddyline.kernels.options import kernel


@kernel
def count_frequent(hashes: np.ndarray, keys: np.ndarray, counts: np.ndarray, most: int) -> int:
    """Count hashes, int64[n], in a table of at most ``most`` counters.

    A hash without a counter while none is free lowers all counters by one instead. So a counter is
    too small by at most the number of these, which is at most n / (most + 1).

    Args:
        keys, counts: int64[2^b], more than ``most``: an open hash table, which is changed; a count
            of 0 is a free place.

    Returns:
        How often all counters were lowered.
    """
    mask = keys.size - 1
    used = 0
    for at in range(counts.size):
        used += counts[at] > 0
    lowered = 0
    for i in range(hashes.size):
        at = _place(keys, counts, mask, hashes[i])
        if counts[at] > 0:
            counts[at] += 1
        elif used < most:
            keys[at] = hashes[i]
            counts[at] = 1
            used += 1
        else:
            lowered += 1
            used = _lower(keys, counts, mask)
    return lowered


@kernel
def _place(keys: np.ndarray, counts: np.ndarray, mask: int, key: int) -> int:
    """The place of a key, or the free one where it would be."""
    at = mix(key) & mask
    while counts[at] > 0 and keys[at] != key:
        at = (at + 1) & mask
    return at


@kernel
def _lower(keys: np.ndarray, counts: np.ndarray, mask: int) -> int:
    """Lower all counts by one, and free those of 0; how many are left."""
    left = 0
    for at in range(counts.size):
        if counts[at] > 1:
            keys[left], counts[left] = keys[at], counts[at] - 1
            left += 1
    old_keys, old_counts = keys[:left].copy(), counts[:left].copy()
    counts[:] = 0
    for i in range(left):
        at = _place(keys, counts, mask, old_keys[i])
        keys[at] = old_keys[i]
        counts[at] = old_counts[i]
    return left
