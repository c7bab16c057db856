"""A bag of rows with deletions by value: which row a deletion takes.

Rows of equal value form a stack: ``top[slot]`` is the position of the newest live row of the value
with that slot, ``older[pos - base]`` the next older live one below it. A deletion takes the top, so
every change costs O(1), however many rows have died.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.options import kernel

#: When a live row will have died.
FOREVER = 1 << 62
#: Bottom of a stack.
NOTHING = -1


class BagChanges(NamedTuple):
    """Changes in order: int64[n] slot of the value, int8[n] sign, int64[n] ts and seq."""

    slot: np.ndarray
    sign: np.ndarray
    ts: np.ndarray
    seq: np.ndarray


class Stacks(NamedTuple):
    """``top`` by slot; by position - base the next older live row, and when the row died."""

    top: np.ndarray
    older: np.ndarray
    death_ts: np.ndarray
    death_seq: np.ndarray


@kernel
def apply_changes(changes: BagChanges, first_new: int, base: int, stacks: Stacks) -> np.ndarray:
    """Apply a chunk's insertions (sign > 0) and deletions, in order.

    The inserted rows have been appended at the positions from ``first_new`` on; a deletion writes
    its instant into the death lanes of the row that it takes.

    Returns:
        int64[n]: the position of the row inserted or deleted; NOTHING where a deletion found none.
    """
    slot, sign, ts, seq = changes.slot, changes.sign, changes.ts, changes.seq
    top, older = stacks.top, stacks.older
    death_ts, death_seq = stacks.death_ts, stacks.death_seq
    out = np.empty(slot.size, np.int64)
    new = first_new
    for i in range(slot.size):
        s = slot[i]
        if sign[i] > 0:
            older[new - base] = top[s]
            top[s] = new
            out[i] = new
            new += 1
        else:
            row = top[s]
            out[i] = row
            if row != NOTHING:
                death_ts[row - base] = ts[i]
                death_seq[row - base] = seq[i]
                top[s] = older[row - base]
    return out


@kernel
def stack_all(
    slot: np.ndarray,
    base: int,
    first: int,
    end: int,
    top: np.ndarray,
    older: np.ndarray,
    death_ts: np.ndarray,
) -> None:
    """Build the stacks of the live rows at the positions in [first, end); ``top`` is empty."""
    for at in range(first - base, end - base):
        if death_ts[at] == FOREVER:
            s = slot[at]
            older[at] = top[s]
            top[s] = at + base
