"""Rows of limbs (``limbs.py``) of groups: what the doubles of their sums cannot hold.

A row has the limbs of the sum, and behind them, if the aggregate needs it, those of the sum of
squares. A group has the row ``place[s]``, or none; ``free`` says which rows are free.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from eddyline.kernels.limbs import (
    SQUARE_BASE,
    SUM_BASE,
    SUM_LIMBS,
    add_double,
    add_square,
    leading,
    normalize,
)
from eddyline.kernels.options import bare, inlined, kernel

#: ``place`` of a group whose sums fit the doubles; the end of the list of released rows of limbs.
NO_PLACE = -1
#: Free rows of limbs: the first of those that were released, linked by their first limbs, and the
#: first of those that were never taken, which are zeros.
RELEASED, FRESH = 0, 1
#: Exponents of what is taken from limbs into doubles.
_LOWEST, _HIGHEST = -900, 900


@inlined
def has_room(limbs: Any, free: Any) -> Any:
    """Whether there is a row of limbs for one more group."""
    return free[RELEASED] != NO_PLACE or free[FRESH] < limbs.shape[0]


@bare
def row_of(s: int, place: np.ndarray, limbs: np.ndarray, free: np.ndarray) -> int:
    """The group's row of limbs; it is given one if it has none."""
    row = place[s]
    if row == NO_PLACE:
        row = free[RELEASED]
        if row == NO_PLACE:
            row = free[FRESH]
            free[FRESH] += 1
        else:
            free[RELEASED] = limbs[row, 0]
            limbs[row, 0] = 0
        place[s] = row
    return row


@bare
def release_row(s: int, place: np.ndarray, limbs: np.ndarray, free: np.ndarray) -> None:
    """Take the group's row of limbs back."""
    row = place[s]
    for i in range(limbs.shape[1]):
        limbs[row, i] = 0
    limbs[row, 0] = free[RELEASED]
    free[RELEASED] = row
    place[s] = NO_PLACE


@kernel
def release_rows(slots: np.ndarray, place: np.ndarray, limbs: np.ndarray, free: np.ndarray) -> None:
    """Take back the rows of limbs of groups."""
    for i in range(slots.size):
        if place[slots[i]] != NO_PLACE:
            release_row(slots[i], place, limbs, free)


@kernel
def taken_up(digits: np.ndarray, base: int, parts: np.ndarray) -> tuple[float, int, bool]:
    """Bring doubles and limbs together, in the doubles as far as they can hold it.

    Returns x and the exponent of ``x * 2**exponent``, the sum of both, and whether the limbs are
    zero now.
    """
    for i in range(parts.size):
        add_double(digits, base, parts[i])
        parts[i] = 0.0
    sign = normalize(digits)
    x, exponent = leading(digits, base)
    total, total_exponent = sign * x, exponent
    for i in range(parts.size):
        if sign == 0 or not _LOWEST < exponent < _HIGHEST:
            break
        part = math.ldexp(x, exponent)
        parts[i] = sign * part
        add_double(digits, base, -part)
        sign *= normalize(digits)
        x, exponent = leading(digits, base)
    if sign < 0:
        for i in range(digits.size):
            digits[i] = -digits[i]
    return total, total_exponent, sign == 0


@kernel
def add_rests(row: np.ndarray, rest: float, high: float, low: float) -> None:
    """Add to a group's limbs what its doubles cannot hold of a value and of its square's halves."""
    add_double(row[:SUM_LIMBS], SUM_BASE, rest)
    if row.size > SUM_LIMBS:
        add_double(row[SUM_LIMBS:], SQUARE_BASE, high)
        add_double(row[SUM_LIMBS:], SQUARE_BASE, low)


@kernel
def add_whole(row: np.ndarray, sign: int, value: float) -> None:
    """Add to a group's limbs a value, and its square, that is beyond its doubles."""
    add_double(row[:SUM_LIMBS], SUM_BASE, sign * value)
    if row.size > SUM_LIMBS:
        add_square(row[SUM_LIMBS:], sign, value)
