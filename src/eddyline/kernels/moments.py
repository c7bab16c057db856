"""SUM, AVG, STDDEV and variance of floats over signed rows: an aggregate as in ``aggregates.py``.

Sums are exact, so that a value leaves without trace whatever it has been among. They are kept in a
few doubles (error-free transformations, Dekker 1971); the digits that these cannot hold are kept in
limbs (``limbs.py``), which few groups need, and only while large and small values meet in a window.
Infinities and NaNs are counted apart. All are functions of the exact sums and the counts alone, so
they are the same if parts of the rows are summed apart (``partial_sums.py``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from eddyline.kernels.aggregates import SignedRows, is_asked_for
from eddyline.kernels.error_free import two_product, two_sum
from eddyline.kernels.limbs import (
    SQUARE_BASE,
    SQUARE_LIMBS,
    SUM_BASE,
    SUM_LIMBS,
    add_double,
    add_square,
    difference,
    leading,
    normalize,
)
from eddyline.kernels.options import inlined, kernel

#: Columns of its counters: values, NaNs, +inf, -inf.
COUNT, NANS, PLUS_INF, MINUS_INF = 0, 1, 2, 3
#: ``place`` of a group whose sums fit the doubles; the end of the list of released rows of limbs.
NO_PLACE = -1
#: Free rows of limbs: the first of those that were released, linked by their first limbs, and the
#: first of those that were never taken, which are zeros.
RELEASED, FRESH = 0, 1
#: Between these, squares neither overflow nor lose digits in doubles; sums only need the upper one.
TINY, HUGE = 2.0**-400, 2.0**400
#: A bound of the relative error of a few operations on doubles.
ROUNDING = 1e-14
#: Exponents of what is taken from limbs into doubles.
_LOWEST, _HIGHEST = -900, 900
#: Sums of squares, and numbers of values, of which doubles can tell the deviation.
_LEAST, _MOST, _FEW = 2.0**-700, 2.0**900, 2.0**30

#: What ``run_moments`` reports; those from STDDEV on need squares.
SUM, AVG, STDDEV, STDDEV_POP, VAR_SAMP, VAR_POP = 0, 1, 2, 3, 4, 5


def parts_of(what: int) -> int:
    """The columns of a group's sums: two doubles for the sum, three for the sum of squares."""
    return 5 if what >= STDDEV else 2


def limbs_of(what: int) -> int:
    """The length of a group's row of limbs: those of the sum, then those of the sum of squares."""
    return SUM_LIMBS + (SQUARE_LIMBS if what >= STDDEV else 0)


@inlined
def least_of(what: Any) -> Any:
    """An aggregate has a value of more values than these."""
    return 1 if what in (STDDEV, VAR_SAMP) else 0


@kernel
def spread(x: float, exponent: int, n: int, what: int) -> float:
    """The deviation or variance of n values with ``n * squares - sum**2`` = ``x * 2**exponent``."""
    if x == 0.0:
        return 0.0
    x /= float(n) * float(n - least_of(what))
    if what >= VAR_SAMP:
        return math.ldexp(x, exponent)
    if exponent & 1:
        x, exponent = 2.0 * x, exponent - 1
    return math.ldexp(math.sqrt(x), exponent // 2)


@inlined
def add_to_sum(sums: Any, s: Any, value: Any) -> Any:
    """Add to the sum; returns what the two doubles cannot hold."""
    hi, e = two_sum(sums[s, 0], value)
    lo, rest = two_sum(sums[s, 1], e)
    sums[s, 0], sums[s, 1] = two_sum(hi, lo)
    return rest


@inlined
def add_to_squares(sums: Any, s: Any, value: Any) -> Any:
    """Add to the sum of squares; returns what the three doubles cannot hold."""
    hi, e = two_sum(sums[s, 2], value)
    mid, e = two_sum(sums[s, 3], e)
    lo, rest = two_sum(sums[s, 4], e)
    mid, lo = two_sum(mid, lo)
    sums[s, 2], mid = two_sum(hi, mid)
    sums[s, 3], sums[s, 4] = two_sum(mid, lo)
    return rest


@inlined
def _has_room(limbs: Any, free: Any) -> Any:
    """Whether there is a row of limbs for one more group."""
    return free[RELEASED] != NO_PLACE or free[FRESH] < limbs.shape[0]


@kernel
def _placed(s: int, place: np.ndarray, limbs: np.ndarray, free: np.ndarray) -> np.ndarray:
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
    return limbs[row]


@kernel
def _displaced(s: int, place: np.ndarray, limbs: np.ndarray, free: np.ndarray) -> None:
    """Take the group's row of limbs back."""
    row = place[s]
    limbs[row] = 0
    limbs[row, 0] = free[RELEASED]
    free[RELEASED] = row
    place[s] = NO_PLACE


@kernel
def displace(slots: np.ndarray, place: np.ndarray, limbs: np.ndarray, free: np.ndarray) -> None:
    """Take back the rows of limbs of groups."""
    for i in range(slots.size):
        if place[slots[i]] != NO_PLACE:
            _displaced(slots[i], place, limbs, free)


@kernel
def _taken_up(digits: np.ndarray, base: int, parts: np.ndarray) -> tuple[float, int, bool]:
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
def _add_rests(row: np.ndarray, rest: float, high: float, low: float) -> None:
    """Add to a group's limbs what its doubles cannot hold of a value and of its square's halves."""
    add_double(row[:SUM_LIMBS], SUM_BASE, rest)
    if row.size > SUM_LIMBS:
        add_double(row[SUM_LIMBS:], SQUARE_BASE, high)
        add_double(row[SUM_LIMBS:], SQUARE_BASE, low)


@kernel
def _add_whole(row: np.ndarray, sign: int, value: float) -> None:
    """Add to a group's limbs a value, and its square, that is beyond its doubles."""
    add_double(row[:SUM_LIMBS], SUM_BASE, sign * value)
    if row.size > SUM_LIMBS:
        add_square(row[SUM_LIMBS:], sign, value)


@kernel
def in_doubles(sums: np.ndarray, s: int, n: float, what: int) -> float:
    """The deviation or variance as of ``spread``, bit by bit; negative if doubles cannot tell it.

    ``n * squares - sum**2`` is computed as ``high + low`` with a bound of the error. The result
    depends on its nearest double only: that is ``high`` if it is for all numbers within the bound.
    Unless all values are equal, two differ by 2**-53 of the largest, and the difference is at least
    ``2**-107 / n`` of ``n * squares``.
    """
    q0, q1 = two_sum(sums[s, 2], sums[s, 3])
    q1, q2 = two_sum(q1, sums[s, 4])
    q0, q1 = two_sum(q0, q1)
    if q0 == 0.0 and q1 == 0.0 and q2 == 0.0:
        return 0.0
    if not (_LEAST < q0 < _MOST and abs(q1) < 2.0**-51 * q0 and abs(q2) < 2.0**-103 * q0):
        return -1.0
    s0, s1 = sums[s, 0], sums[s, 1]
    a, a_low = two_product(n, q0)
    b, b_low = two_product(n, q1)
    c, c_low = two_product(s0, s0)
    d, d_low = two_product(2.0 * s0, s1)
    high, rest = two_sum(a, -c)  # these are exact; what is below 2**-100 of ``a`` is rounded once
    plus, plus_low = two_sum(a_low, b)
    minus, minus_low = two_sum(c_low, d)
    low, low_rest = two_sum(plus, -minus)
    low, more = two_sum(low, rest)
    rest = (plus_low - minus_low) + (low_rest + more) + ((b_low - d_low) + (n * q2 - s1 * s1))
    high, low = two_sum(high, low)
    low, rest = two_sum(low, rest)
    high, low = two_sum(high, low)
    low += rest
    if abs(high) < 2.0**-140 * a and n <= _FEW:
        return 0.0
    error = 2.0**-148 * a + 2.0**-100 * high
    if high <= 0.0 or high + (low + error) != high or high + (low - error) != high:
        return -1.0
    high /= n * (n - float(least_of(what)))
    return high if what >= VAR_SAMP else math.sqrt(high)


@kernel
def _in_limbs(sums: np.ndarray, row: np.ndarray, n: int, what: int) -> float:
    """Deviation or variance, in limbs; ``row`` is empty if the group has none."""
    total = np.zeros(SUM_LIMBS, np.int64)
    squares = np.zeros(SQUARE_LIMBS, np.int64)
    if row.size:
        total[:] = row[:SUM_LIMBS]
        squares[:] = row[SUM_LIMBS:]
    for i in range(2):
        add_double(total, SUM_BASE, sums[i])
    for i in range(2, 5):
        add_double(squares, SQUARE_BASE, sums[i])
    x, exponent = difference(total, total, squares, n, True)
    return spread(x, exponent, n, what)


@kernel
def sum_or_mean(x: float, exponent: int, n: int, what: int) -> float:
    """The SUM or AVG of n values whose sum, rounded to a double, is ``x * 2**exponent``."""
    total = math.ldexp(x, exponent)
    if what == SUM:
        return total
    return total / n if np.isfinite(total) else math.ldexp(x / n, exponent)


@kernel
def _from_limbs(
    s: int,
    n: int,
    what: int,
    sums: np.ndarray,
    place: np.ndarray,
    limbs: np.ndarray,
    free: np.ndarray,
) -> float:
    """The aggregate of the n finite values of a group that has limbs, which may go."""
    row = limbs[place[s]]
    x, exponent, done = _taken_up(row[:SUM_LIMBS], SUM_BASE, sums[s, :2])
    if what < STDDEV:
        out = sum_or_mean(x, exponent, n, what)
    else:
        done &= _taken_up(row[SUM_LIMBS:], SQUARE_BASE, sums[s, 2:])[2]
        out = _in_limbs(sums[s], row, n, what)
    if done:
        _displaced(s, place, limbs, free)
    return out


@inlined
def _may_be_asked_for(what: Any, n: Any, total: Any, squares: Any, low: Any, high: Any) -> Any:
    """Whether readers may ask for the aggregate of values with these sums, which are rounded. For
    deviations and variances ``low`` and ``high`` are squares.
    """
    x, size, scale = total, 0.0, 1.0
    if what == AVG:
        size, scale = abs(x), n
    elif what >= STDDEV:
        size, scale = 2.0 * n * squares, n * (n - float(least_of(what)))
        x = n * squares - x * x
    error = ROUNDING * size
    return x + error >= high * scale or x - error <= low * scale


@kernel
def run_moments(
    rows: SignedRows,
    valid: np.ndarray,
    value: np.ndarray,
    what: int,
    counters: np.ndarray,
    sums: np.ndarray,
    place: np.ndarray,
    limbs: np.ndarray,
    free: np.ndarray,
    reported: np.ndarray,
    reported_valid: np.ndarray,
    start: int,
) -> tuple[int, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """An aggregate of float64 -> end, new, new_valid, old, old_valid.

    ``counters`` is int64[slots, 4], columns as named above, ``sums`` float64[slots,
    parts_of(what)]. What
    these doubles cannot hold is in the row ``place`` of ``limbs``, int64[rows, limbs_of(what)];
    ``free`` says which rows are free. Rows are processed from ``start`` on, and before ``end``: up
    to one that may need a row of limbs when none is free. Rows are screened by the aggregate.

    The state is not grouped into a tuple: measured, arrays of a tuple that are passed to helper
    functions made this 4 times slower, by counting references.
    """
    slot, sign, emit, screened, at_most, at_least = rows
    most, least = at_most, at_least
    if what in (STDDEV, STDDEV_POP):
        most = at_most * at_most if at_most >= 0.0 else -np.inf
        least = at_least * at_least if at_least > 0.0 else -np.inf
    m = emit[start:].sum()
    new = np.empty(m, np.float64)
    new_valid = np.empty(m, np.bool_)
    old = np.empty(m, np.float64)
    old_valid = np.empty(m, np.bool_)
    no_limbs = np.empty(0, np.int64)
    everything = valid.size == 0
    j = 0
    end = slot.size
    for i in range(start, slot.size):
        s = slot[i]
        if place[s] == NO_PLACE and not _has_room(limbs, free):
            end = i
            break
        if everything or valid[i]:
            v = value[i]
            counters[s, COUNT] += sign[i]
            if np.isnan(v):
                counters[s, NANS] += sign[i]
            elif np.isinf(v):
                counters[s, PLUS_INF if v > 0 else MINUS_INF] += sign[i]
            else:
                size = abs(v)
                rest, high, low = 0.0, 0.0, 0.0
                if size < HUGE and (size > TINY or what < STDDEV):
                    rest = add_to_sum(sums, s, sign[i] * v)
                    if what >= STDDEV:
                        p, e = two_product(v, v)
                        high = add_to_squares(sums, s, sign[i] * p)
                        low = add_to_squares(sums, s, sign[i] * e)
                    if rest != 0.0 or high != 0.0 or low != 0.0:
                        _add_rests(_placed(s, place, limbs, free), rest, high, low)
                elif size > 0.0:
                    _add_whole(_placed(s, place, limbs, free), sign[i], v)
            if counters[s, COUNT] == 0:
                sums[s, :] = 0.0
                if place[s] != NO_PLACE:
                    _displaced(s, place, limbs, free)
        if screened and emit[i]:
            n = counters[s, COUNT]
            special = counters[s, NANS] | counters[s, PLUS_INF] | counters[s, MINUS_INF]
            now = n > least_of(what)
            if now and special == 0 and place[s] != NO_PLACE:
                exact = _from_limbs(s, n, what, sums, place, limbs, free)
                now = is_asked_for(exact, at_most, at_least)
            elif now and special == 0:
                squares = sums[s, 2] if what >= STDDEV else 0.0
                now = _may_be_asked_for(what, float(n), sums[s, 0], squares, most, least)
            emit[i] = now or (reported_valid[s] and is_asked_for(reported[s], at_most, at_least))
        if emit[i]:
            old[j] = reported[s]
            old_valid[j] = reported_valid[s]
            n = counters[s, COUNT]
            new_valid[j] = n > least_of(what)
            out = 0.0
            if new_valid[j]:
                plus = counters[s, PLUS_INF] > 0
                minus = counters[s, MINUS_INF] > 0
                if counters[s, NANS] > 0 or (plus and minus):
                    out = np.nan
                elif plus or minus:
                    out = np.nan if what >= STDDEV else (np.inf if plus else -np.inf)
                elif place[s] != NO_PLACE:
                    out = _from_limbs(s, n, what, sums, place, limbs, free)
                elif what == SUM:
                    out = sums[s, 0]
                elif what == AVG:
                    out = sums[s, 0] / n
                else:
                    out = in_doubles(sums, s, float(n), what)
                    if out < 0.0:
                        out = _in_limbs(sums[s], no_limbs, n, what)
            new[j] = out
            reported[s] = out
            reported_valid[s] = new_valid[j]
            j += 1
    return end, new[:j], new_valid[:j], old[:j], old_valid[:j]
