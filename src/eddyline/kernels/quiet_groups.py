"""The groups that no reader asks for: an aggregate stays on one side of a bound while rows enter
and leave.

A group is *quiet* in a call if that holds after each of its rows. Sums are computed in doubles
here, with a margin for rounding: a group near the bound is not quiet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from eddyline.kernels.aggregates import SignedRows
from eddyline.kernels.moments import HUGE, NO_PLACE
from eddyline.kernels.monotone_queues import KEY, NEWER, NO_RUN, ROWS
from eddyline.kernels.options import kernel

#: The relative error of sums of few rows, and that of each addition.
LEAST_ERROR, ADDITION = 1e-11, 2.3e-16
#: Columns of the scratch, by slot: the turn in which a group was seen; 1 where it is not quiet; the
#: value of the condition; the sum of the magnitudes of its terms; the number of values; their mean.
TURN, LOUD, LEVEL, SIZE, VALUES, MEAN = range(6)
SCRATCH = 6


#: Of a condition without a sum; of sums that are not squared, or have no parts elsewhere.
NO_VALUES, NO_SQUARES, NO_PLACES = np.zeros(0), np.zeros((0, 3)), np.zeros(0, np.int64)


class Condition(NamedTuple):
    """``slope * sum + weight * count + offset``, below 0 where no reader asks for the group.

    Attributes:
        squared: the sum is one of squared distances from a mean. That of an earlier mean is not
            less than that of the mean of the rows.
        least: of no more values than these there is no aggregate.
    """

    slope: float
    weight: float
    offset: float
    squared: bool
    least: int


class SumState(NamedTuple):
    """By slot, what an aggregate knows of sums.

    Attributes:
        counts: number of values. totals: their sum, rounded, the largest part of it.
        squares: float64[slots, 3], parts of the sum of squares; empty if none is needed.
        special: int64[slots, k], one of which is not 0 if ``totals`` is not the sum.
        place: ``NO_PLACE`` unless parts of the sums are elsewhere; empty: always.
    """

    counts: np.ndarray
    totals: np.ndarray
    squares: np.ndarray
    special: np.ndarray
    place: np.ndarray


@kernel
def loud_sums(
    rows: SignedRows,
    valid: np.ndarray,
    value: np.ndarray,
    condition: Condition,
    state: SumState,
    scratch: np.ndarray,
    turn: int,
) -> np.ndarray:
    """bool[n]: where the group of a row is not quiet.

    Args:
        value: empty if the slope is 0.
        scratch: float64[slots, SCRATCH], kept between calls, each of which has a larger ``turn``.
    """
    slope, weight, offset, squared, least = condition
    counts, totals, squares, special, place = state
    slot, sign = rows.slot, rows.sign
    error = max(LEAST_ERROR, ADDITION * slot.size)
    summed = value.size > 0
    for i in range(slot.size):
        s = slot[i]
        v = float(value[i]) if summed and valid[i] else 0.0
        if scratch[s, TURN] != turn:
            n = counts[s]
            mean, base, size = 0.0, 0.0, 0.0
            if squared:
                mean = totals[s] / n if n > 0 else v
                size = squares[s, 0] + totals[s] * mean
                base = squares[s, 0] - totals[s] * mean
            elif summed:
                base = float(totals[s])
                size = abs(base)
            level = slope * base + weight * n + offset
            size = abs(slope) * size + abs(weight) * n + abs(offset)
            is_loud = place.size > 0 and place[s] != NO_PLACE
            for k in range(special.shape[1]):
                is_loud |= special[s, k] != 0
            is_loud |= n > least and not level < -error * size
            scratch[s, TURN] = turn
            scratch[s, LOUD] = is_loud
            scratch[s, LEVEL] = level
            scratch[s, SIZE] = size
            scratch[s, VALUES] = n
            scratch[s, MEAN] = mean
        if not valid[i] or scratch[s, LOUD] != 0.0:
            continue
        if not abs(v) < HUGE:
            scratch[s, LOUD] = 1.0
            continue
        if squared:
            v = (v - scratch[s, MEAN]) * (v - scratch[s, MEAN])
        x = slope * v + weight
        level = scratch[s, LEVEL] + sign[i] * x
        size = scratch[s, SIZE] + abs(slope * v) + abs(weight)
        n = scratch[s, VALUES] + sign[i]
        scratch[s, LEVEL] = level
        scratch[s, SIZE] = size
        scratch[s, VALUES] = n
        if n > least and not level < -error * size:
            scratch[s, LOUD] = 1.0
    out = np.empty(slot.size, np.bool_)
    for i in range(slot.size):
        out[i] = scratch[slot[i], LOUD] != 0.0
    return out


@kernel
def loud_extremes(
    rows: SignedRows,
    valid: np.ndarray,
    key: np.ndarray,
    largest: bool,
    above: bool,
    bound: int,
    front: np.ndarray,
    runs: np.ndarray,
    scratch: np.ndarray,
    turn: int,
) -> np.ndarray:
    """bool[n]: where the group of a row is not quiet; of MIN and MAX as of ``monotone_queues.py``.

    Readers ask for values from ``bound`` on if ``above``, else for those below it. An extreme
    towards the bound (a MAX above it) is quiet if no row reaches it; one away from it (a MIN above
    it) if a row that does not reach it stays.
    """
    slot, sign = rows.slot, rows.sign
    for i in range(slot.size):
        s = slot[i]
        if scratch[s, TURN] != turn:
            scratch[s, TURN] = turn
            scratch[s, VALUES] = 0.0  # rows that leave
            scratch[s, LOUD] = 0.0
            first = front[s]
            if largest == above and first != NO_RUN:
                scratch[s, LOUD] = (runs[first, KEY] >= bound) == above
        if not valid[i]:
            continue
        if sign[i] < 0:
            scratch[s, VALUES] += 1.0
        elif largest == above and (key[i] >= bound) == above:
            scratch[s, LOUD] = 1.0
    if largest != above:
        for i in range(slot.size):
            s = slot[i]
            leaving = scratch[s, VALUES]
            if leaving < 0.0:
                continue
            run = front[s]
            while run != NO_RUN and runs[run, ROWS] <= leaving:
                leaving -= runs[run, ROWS]
                run = runs[run, NEWER]
            scratch[s, LOUD] = run == NO_RUN or (runs[run, KEY] >= bound) == above
            scratch[s, VALUES] = -1.0  # judged
    out = np.empty(slot.size, np.bool_)
    for i in range(slot.size):
        out[i] = scratch[slot[i], LOUD] != 0.0
    return out
