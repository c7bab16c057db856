"""Until when pairs of keys are required: exact, open hash tables.

A table is replaced by another one bit by bit. Meanwhile a pair is in the new table, or else in the
old one; pairs there that were required until ``limit`` at most are as good as gone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from eddyline.kernels.chains import KEY, LINK, NOT_INDEXED
from eddyline.kernels.hashing import mix
from eddyline.kernels.options import bare_inlined, inlined, kernel

#: The result for a pair that is not in the table.
NEVER = -(1 << 62)


@inlined
def _hashed(left: Any, right: Any) -> Any:
    return mix(mix(left) * np.int64(31) + right)


class PairTable(NamedTuple):
    """An open hash table of pairs of keys: int64[size] each, a power of two.

    Attributes:
        times: until when pairs are required, ``^ NEVER``: 0 in free slots.
    """

    lefts: np.ndarray
    rights: np.ndarray
    times: np.ndarray


class Replaced(NamedTuple):
    """A table that is being replaced, and its limit."""

    table: PairTable
    limit: int


@bare_inlined
def _slot(lefts: np.ndarray, rights: np.ndarray, times: np.ndarray, left: int, right: int) -> int:
    """The slot of a pair, or a free one for it."""
    last = times.size - 1
    slot = _hashed(left, right) & last
    while times[slot] != 0 and (lefts[slot] != left or rights[slot] != right):
        slot = (slot + 1) & last
    return slot


@bare_inlined
def _until(
    lefts: np.ndarray,
    rights: np.ndarray,
    times: np.ndarray,
    old_lefts: np.ndarray,
    old_rights: np.ndarray,
    old_times: np.ndarray,
    limit: int,
    left: int,
    right: int,
) -> int:
    found = times[_slot(lefts, rights, times, left, right)] ^ NEVER
    if found == NEVER and old_times.size > 1:
        found = old_times[_slot(old_lefts, old_rights, old_times, left, right)] ^ NEVER
        if found <= limit:
            found = NEVER
    return found


@kernel
def until_of(table: PairTable, old: Replaced, left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """int64[n]: until when pairs of keys are required.

    Args:
        left, right: int64[n], the pairs.
    """
    (a, b, c), ((d, e, f), limit) = table, old
    out = np.empty(left.size, np.int64)
    for i in range(left.size):
        out[i] = _until(a, b, c, d, e, f, limit, left[i], right[i])
    return out


@kernel
def pairs_wanted(
    table: PairTable,
    old: Replaced,
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
    (a, b, c), ((d, e, f), limit) = table, old
    out = np.zeros(left.size, np.bool_)
    for i in range(left.size):
        x, y = left[i], right[i]
        if left_nodes[x, LINK] == NOT_INDEXED or right_nodes[y, LINK] == NOT_INDEXED:
            continue
        keys = left_nodes[x, KEY], right_nodes[y, KEY]
        out[i] = _until(a, b, c, d, e, f, limit, keys[0], keys[1]) > clock
    return out


@kernel
def extend(
    table: PairTable, old: Replaced, left: np.ndarray, right: np.ndarray, new: np.ndarray
) -> tuple[np.ndarray, int]:
    """Require pairs of keys until ``new`` at least, in order; the table must have room.

    Returns:
        int64[n], until when each was required before, and how many are new in the table.
    """
    lefts, rights, times = table
    (a, b, c), limit = old
    before = np.empty(left.size, np.int64)
    added = 0
    for i in range(left.size):
        before[i] = _until(lefts, rights, times, a, b, c, limit, left[i], right[i])
        slot = _slot(lefts, rights, times, left[i], right[i])
        added += times[slot] == 0
        lefts[slot] = left[i]
        rights[slot] = right[i]
        times[slot] = max(before[i], new[i]) ^ NEVER
    return before, added


@kernel
def move(table: PairTable, old: Replaced, start: int, end: int) -> tuple[int, int]:
    """Move the pairs in slots [start, end) of the old table to the new one, unless they are gone.

    Returns:
        How many are new in the table, and how many there were.
    """
    lefts, rights, times = table
    (old_lefts, old_rights, old_times), limit = old
    added, seen = 0, 0
    for i in range(start, end):
        if old_times[i] == 0:
            continue
        seen += 1
        slot = _slot(lefts, rights, times, old_lefts[i], old_rights[i])
        if times[slot] == 0 and (old_times[i] ^ NEVER) > limit:
            lefts[slot] = old_lefts[i]
            rights[slot] = old_rights[i]
            times[slot] = old_times[i]
            added += 1
    return added, seen
