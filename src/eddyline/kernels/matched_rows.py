"""The rows of matches of MATCH_RECOGNIZE: where the next one begins, and which rows values read."""

from __future__ import annotations

import numpy as np

from eddyline.kernels.options import bare, kernel
from eddyline.kernels.pattern_state import (
    CURRENT,
    FINE,
    H_FIRST,
    H_NUMBER,
    H_PROBLEM,
    H_ROWS,
    H_SEQ,
    H_TS,
    HEADS,
    ITEMS,
    LABEL,
    NEXT,
    NO_TARGET,
    NONE,
    NUMBER,
    PAST_LAST,
    START,
    TARGET_IS_FIRST,
    TO_FIRST,
    TO_NEXT,
    Memory,
)


@bare
def skip_target(p: int, skip: int, variables: int, memory: Memory) -> tuple[int, int]:
    """Where the next attempt begins behind a match, and the problem."""
    rows, partitions = memory.rows, memory.partitions
    start, last = partitions[p, START], partitions[p, CURRENT]
    if skip == PAST_LAST:
        return rows[last, NEXT], FINE
    if skip == TO_NEXT:
        return rows[start, NEXT], FINE
    found, row = NONE, start
    while True:
        if (variables >> rows[row, LABEL]) & 1:
            found = row
            if skip == TO_FIRST:
                break
        if row == last:
            break
        row = rows[row, NEXT]
    if found == NONE:
        return rows[start, NEXT], NO_TARGET
    if found == start:
        return rows[start, NEXT], TARGET_IS_FIRST
    return found, FINE


@bare
def emit(p: int, now: int, seq: int, problem: int, memory: Memory) -> bool:
    """Add a match, or the first row of an attempt with a problem; False: there is no room."""
    rows, partitions = memory.rows, memory.partitions
    heads, items, c = memory.heads, memory.items, memory.c
    start = partitions[p, START]
    last = partitions[p, CURRENT] if problem == FINE else start
    h, at = c[HEADS], c[ITEMS]
    if h == heads.shape[0]:
        return False
    row = start
    while True:
        if at == items.shape[0]:
            return False
        items[at, 0], items[at, 1] = row, rows[row, LABEL]
        at += 1
        if row == last:
            break
        row = rows[row, NEXT]
    heads[h, H_TS], heads[h, H_SEQ] = now, seq
    heads[h, H_NUMBER], heads[h, H_PROBLEM] = rows[start, NUMBER], problem
    heads[h, H_FIRST], heads[h, H_ROWS] = c[ITEMS], at - c[ITEMS]
    c[HEADS], c[ITEMS] = h + 1, at
    return True


@kernel
def pick(
    low: np.ndarray,
    high: np.ndarray,
    label: np.ndarray,
    variables: int,
    from_end: bool,
    offset: int,
) -> np.ndarray:
    """int64[n]: the item in [low, high) that is ``offset`` behind the first of some variables, or
    before the last; NONE if there is none.
    """
    out = np.full(low.size, NONE, np.int64)
    for i in range(low.size):
        left = offset
        length = high[i] - low[i]
        for k in range(length):
            item = high[i] - 1 - k if from_end else low[i] + k
            if (variables >> label[item]) & 1:
                if left == 0:
                    out[i] = item
                    break
                left -= 1
    return out


@kernel
def members(
    low: np.ndarray, high: np.ndarray, label: np.ndarray, variables: int
) -> tuple[np.ndarray, np.ndarray]:
    """The items in [low, high) of some variables: int64[m] places in ``low``, int64[m] items."""
    count = 0
    for i in range(low.size):
        for item in range(low[i], high[i]):
            count += (variables >> label[item]) & 1
    place, found = np.empty(count, np.int64), np.empty(count, np.int64)
    count = 0
    for i in range(low.size):
        for item in range(low[i], high[i]):
            if (variables >> label[item]) & 1:
                place[count] = i
                found[count] = item
                count += 1
    return place, found
