"""Until when pairs of keys are wanted: a hash table that is open, and exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from eddyline.kernels.hashing import mix
from eddyline.kernels.options import inlined, kernel

#: ``until`` of a free slot, and what is said of a pair that is not in the table.
NEVER = -(1 << 62)


@inlined
def _slot(left: Any, right: Any, size: Any) -> Any:
    return mix(mix(left) * np.int64(31) + right) & (size - 1)


@kernel
def until_of(
    lefts: np.ndarray,
    rights: np.ndarray,
    until: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
) -> np.ndarray:
    """int64[n]: until when pairs of keys are wanted.

    Args:
        lefts, rights, until: int64[size], the table; a power of two.
        left, right: int64[n], the pairs.
    """
    out = np.empty(left.size, np.int64)
    for i in range(left.size):
        slot = _slot(left[i], right[i], until.size)
        while until[slot] != NEVER and (lefts[slot] != left[i] or rights[slot] != right[i]):
            slot = (slot + 1) & (until.size - 1)
        out[i] = until[slot]
    return out


@kernel
def extend(
    lefts: np.ndarray,
    rights: np.ndarray,
    until: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    new: np.ndarray,
) -> tuple[np.ndarray, int]:
    """Want pairs of keys until ``new`` at least, one after the other; the table must have room.

    Returns:
        int64[n], until when each was wanted before, and how many are new in the table.
    """
    before = np.empty(left.size, np.int64)
    added = 0
    for i in range(left.size):
        slot = _slot(left[i], right[i], until.size)
        while until[slot] != NEVER and (lefts[slot] != left[i] or rights[slot] != right[i]):
            slot = (slot + 1) & (until.size - 1)
        before[i] = until[slot]
        added += until[slot] == NEVER
        lefts[slot] = left[i]
        rights[slot] = right[i]
        until[slot] = max(until[slot], new[i])
    return before, added
