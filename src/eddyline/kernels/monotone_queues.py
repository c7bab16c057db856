"""MIN and MAX of groups whose rows leave in the order in which they came.

A group keeps the values that are extreme among those that came later: a queue of *runs*. A run is
the last of some rows in a row, none of which is better than it; all its rows leave before the next
run's. Each row is added once and removed once (Lemire 2006, the ascending minima algorithm).

Runs are int64[rows, RUN_COLUMNS]; free ones are linked by ``NEWER``.
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.aggregates import SignedRows, is_asked_for
from eddyline.kernels.options import bare_inlined, kernel

NO_RUN = -1
#: A run: its value, as an order key; the number of its rows; the next run and the one before.
KEY, ROWS, NEWER, OLDER = 0, 1, 2, 3
RUN_COLUMNS = 4
#: Free runs: the first one that was released, and the first that was never used.
RELEASED, FRESH = 0, 1


@bare_inlined
def _come(
    s: int,
    key: int,
    largest: bool,
    front: np.ndarray,
    back: np.ndarray,
    runs: np.ndarray,
    free: np.ndarray,
) -> None:
    """Let a value come to a group: it replaces the runs of values that are no better."""
    count, last = 1, back[s]
    while last != NO_RUN and (runs[last, KEY] <= key if largest else runs[last, KEY] >= key):
        count += runs[last, ROWS]
        before = runs[last, OLDER]
        runs[last, NEWER] = free[RELEASED]
        free[RELEASED] = last
        last = before
    run = free[RELEASED]
    if run == NO_RUN:
        run = free[FRESH]
        free[FRESH] += 1
    else:
        free[RELEASED] = runs[run, NEWER]
    runs[run, KEY] = key
    runs[run, ROWS] = count
    runs[run, NEWER] = NO_RUN
    runs[run, OLDER] = last
    if last == NO_RUN:
        front[s] = run
    else:
        runs[last, NEWER] = run
    back[s] = run


@bare_inlined
def _leave(s: int, front: np.ndarray, back: np.ndarray, runs: np.ndarray, free: np.ndarray) -> None:
    """Let the oldest row of a group leave."""
    first = front[s]
    runs[first, ROWS] -= 1
    if runs[first, ROWS] == 0:
        after = runs[first, NEWER]
        front[s] = after
        if after == NO_RUN:
            back[s] = NO_RUN
        else:
            runs[after, OLDER] = NO_RUN
        runs[first, NEWER] = free[RELEASED]
        free[RELEASED] = first


@kernel
def run_queues(
    rows: SignedRows,
    valid: np.ndarray,
    key: np.ndarray,
    largest: bool,
    front: np.ndarray,
    back: np.ndarray,
    runs: np.ndarray,
    free: np.ndarray,
    reported: np.ndarray,
    shown: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """MIN or MAX -> new, new_valid, old, old_valid, by order keys, as is what rows are screened by.

    Args:
        front, back: by group, its oldest and newest run. runs: with room for a run per row.
        reported, shown: by group.
    """
    slot, sign, emit, screened, low, high = rows
    m = emit.sum()
    new = np.empty(m, np.int64)
    new_valid = np.empty(m, np.bool_)
    old = np.empty(m, np.int64)
    old_valid = np.empty(m, np.bool_)
    j = 0
    for i in range(slot.size):
        s = slot[i]
        if valid[i] and sign[i] > 0:
            _come(s, key[i], largest, front, back, runs, free)
        elif valid[i]:
            _leave(s, front, back, runs, free)
        if screened and emit[i]:
            first = front[s]
            now = first != NO_RUN and is_asked_for(float(runs[first, KEY]), low, high)
            emit[i] = now or (shown[s] and is_asked_for(float(reported[s]), low, high))
        if emit[i]:
            old[j] = reported[s]
            old_valid[j] = shown[s]
            first = front[s]
            new_valid[j] = first != NO_RUN
            new[j] = runs[first, KEY] if first != NO_RUN else 0
            reported[s] = new[j]
            shown[s] = new_valid[j]
            j += 1
    return new[:j], new_valid[:j], old[:j], old_valid[:j]


@kernel
def release_queues(
    slots: np.ndarray, front: np.ndarray, runs: np.ndarray, free: np.ndarray
) -> None:
    """Release the runs of groups."""
    for s in slots:
        run = front[s]
        while run != NO_RUN:
            after = runs[run, NEWER]
            runs[run, NEWER] = free[RELEASED]
            free[RELEASED] = run
            run = after
