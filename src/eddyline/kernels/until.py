"""Until when pairs of keys are required: an exact, open hash table."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eddyline.kernels.chains import KEY, LINK, NOT_INDEXED
from eddyline.kernels.hashing import mix
from eddyline.kernels.options import inlined, kernel

#: ``until`` of a free slot, and the result for a pair that is not in the table.
NEVER = -(1 << 62)


@inlined
def _slot(left: Any, right: Any, size: Any) -> Any:
    return mix(mix(left) * np.int64(31) + right) & (size - 1)


class PairTable(NamedTuple):
    """An open hash table of pairs of keys: int64[size] each, a power of two."""

    lefts: np.ndarray
    rights: np.ndarray
    until: np.ndarray


@kernel
def until_of(
    table: PairTable,
    left: np.ndarray,
    right: np.ndarray,
) -> np.ndarray:
    """int64[n]: until when pairs of keys are required.

    Args:
        left, right: int64[n], the pairs.
    """
    lefts, rights, until = table.lefts, table.rights, table.until
    out = np.empty(left.size, np.int64)
    for i in range(left.size):
        slot = _slot(left[i], right[i], until.size)
        while until[slot] != NEVER and (lefts[slot] != left[i] or rights[slot] != right[i]):
            slot = (slot + 1) & (until.size - 1)
        out[i] = until[slot]
    return out


@kernel
def pairs_wanted(
    table: PairTable,
    left_nodes: np.ndarray,
    left: np.ndarray,
    right_nodes: np.ndarray,
    right: np.ndarray,
    clock: int,
) -> np.ndarray:
    """bool[n]: which pairs of rows have keys that are required until later than ``clock``.

    Args:
        left_nodes, right_nodes: what indexes hold of the rows of a store; those that are not in the
            index have a NULL for a key, and are not required.
        left, right: int64[n], places of the rows.
    """
    lefts, rights, until = table.lefts, table.rights, table.until
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
    table: PairTable,
    left: np.ndarray,
    right: np.ndarray,
    new: np.ndarray,
) -> tuple[np.ndarray, int]:
    """Require pairs of keys until ``new`` at least, in order; the table must have room.

    Returns:
        int64[n], until when each was required before, and how many are new in the table.
    """
    lefts, rights, until = table.lefts, table.rights, table.until
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
