"""Until when pairs of keys are wanted: a hash table that is open, and exact."""

from __future__ import annotations

from typing import Any

import numpy as np

from eddyline.kernels.chains import KEY, LINK, NOT_INDEXED
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
def pairs_wanted(
    lefts: np.ndarray,
    rights: np.ndarray,
    until: np.ndarray,
    left_nodes: np.ndarray,
    left: np.ndarray,
    right_nodes: np.ndarray,
    right: np.ndarray,
    clock: int,
) -> np.ndarray:
    """bool[n]: which pairs of rows have keys that are wanted until later than ``clock``.

    Args:
        lefts, rights, until: the table.
        left_nodes, right_nodes: what indexes hold of the rows of a store; those that are not in the
            index have a NULL for a key, and are not wanted.
        left, right: int64[n], places of the rows.
    """
    out = np.zeros(left.size, np.bool_)
    for i in range(left.size):
        a = left[i]
        b = right[i]
        if left_nodes[a, LINK] == NOT_INDEXED or right_nodes[b, LINK] == NOT_INDEXED:
            continue
        slot = _slot(left_nodes[a, KEY], right_nodes[b, KEY], until.size)
        while until[slot] != NEVER and (
            lefts[slot] != left_nodes[a, KEY] or rights[slot] != right_nodes[b, KEY]
        ):
            slot = (slot + 1) & (until.size - 1)
        out[i] = until[slot] > clock
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
