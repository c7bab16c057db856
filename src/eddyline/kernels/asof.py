"""ASOF joins: the latest row of a key before each row."""

from __future__ import annotations

import numpy as np

from eddyline.kernels.options import kernel


@kernel
def latest_before(
    ts: np.ndarray,
    slot: np.ndarray,
    right_ts: np.ndarray,
    right_slot: np.ndarray,
    right_row: np.ndarray,
    last: np.ndarray,
    until: int,
) -> tuple[np.ndarray, int]:
    """For each left row the latest right row of its key with an earlier time.

    Args:
        ts, slot: int64[n], ascending times of left rows, and the slots of their keys; -1: none.
        right_ts, right_slot, right_row: int64[m], the same of right rows, and their numbers.
        last: int64[slots], by slot the latest right row so far, -1 for none; changed.
        until: right rows before this time are applied to ``last`` after all left rows.

    Returns:
        int64[n] numbers of right rows, -1 for none; and how many right rows have been applied.
    """
    found = np.empty(ts.size, np.int64)
    j = 0
    for i in range(ts.size):
        while j < right_ts.size and right_ts[j] < ts[i]:
            last[right_slot[j]] = right_row[j]
            j += 1
        found[i] = last[slot[i]] if slot[i] >= 0 else -1
    while j < right_ts.size and right_ts[j] < until:
        last[right_slot[j]] = right_row[j]
        j += 1
    return found, j
