"""A one-time hash join of two arrays of keys."""

from __future__ import annotations

import numpy as np

from eddyline.kernels.chains import NOTHING, bucket_of
from eddyline.kernels.options import kernel


@kernel
def match_pairs(left_key: np.ndarray, right_key: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All pairs (a, b) with ``left_key[a] == right_key[b]``: a one-time hash join."""
    bits = 1
    while (1 << bits) < right_key.size + 1:
        bits += 1
    shift = 64 - bits
    heads = np.full(1 << bits, NOTHING, np.int64)
    link = np.empty(right_key.size, np.int64)
    for j in range(right_key.size):
        bucket = bucket_of(right_key[j], shift, None)
        link[j] = heads[bucket]
        heads[bucket] = j
    count = 0
    for a in range(left_key.size):
        b = heads[bucket_of(left_key[a], shift, None)]
        while b >= 0:
            count += right_key[b] == left_key[a]
            b = link[b]
    left = np.empty(count, np.int64)
    right = np.empty(count, np.int64)
    count = 0
    for a in range(left_key.size):
        b = heads[bucket_of(left_key[a], shift, None)]
        while b >= 0:
            if right_key[b] == left_key[a]:
                left[count] = a
                right[count] = b
                count += 1
            b = link[b]
    return left, right
