"""SUM, AVG, STDDEV and variance of floats over signed rows: an aggregate as in ``aggregates.py``.
``double_sums.py`` does as much as needs no limbs.

Sums are exact, so that a value leaves without trace whatever it has been among. They are kept in a
few doubles (error-free transformations, Dekker 1971); the digits that these cannot hold are kept in
limbs (``limbs.py``), which few groups need, and only while large and small values meet in a window.
Infinities and NaNs are counted apart. All are functions of the exact sums and the counts alone, so
they are the same if parts of the rows are summed apart (``partial_sums.py``).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from eddyline.kernels.aggregates import SignedRows, is_asked_for
from eddyline.kernels.error_free import two_product, two_sum
from eddyline.kernels.group_limbs import (
    NO_PLACE,
    add_rests,
    add_whole,
    has_room,
    release_row,
    row_of,
    taken_up,
)
from eddyline.kernels.limbs import (
    SQUARE_BASE,
    SQUARE_LIMBS,
    SUM_BASE,
    SUM_LIMBS,
    add_double,
    difference,
)
from eddyline.kernels.options import bare, bare_inlined, inlined, kernel

#: Columns of its counters: values, NaNs, +inf, -inf.
COUNT, NANS, PLUS_INF, MINUS_INF = 0, 1, 2, 3
#: Between these, squares neither overflow nor lose digits in doubles; sums only need the upper one.
TINY, HUGE = 2.0**-400, 2.0**400
#: A bound of the relative error of a few operations on doubles.
ROUNDING = 1e-14
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


@bare
def _in_limbs(s: int, n: int, what: int, state: _State) -> float:
    """Deviation or variance, in limbs, which the group need not have."""
    _, sums, place, limbs, _, scratch = state
    row = place[s]
    for i in range(scratch.size):
        scratch[i] = 0 if row == NO_PLACE else limbs[row, i]
    total, squares = scratch[:SUM_LIMBS], scratch[SUM_LIMBS:]
    for i in range(2):
        add_double(total, SUM_BASE, sums[s, i])
    for i in range(2, 5):
        add_double(squares, SQUARE_BASE, sums[s, i])
    x, exponent = difference(total, total, squares, n, True)
    return spread(x, exponent, n, what)


@kernel
def sum_or_mean(x: float, exponent: int, n: int, what: int) -> float:
    """The SUM or AVG of n values whose sum, rounded to a double, is ``x * 2**exponent``."""
    total = math.ldexp(x, exponent)
    if what == SUM:
        return total
    return total / n if np.isfinite(total) else math.ldexp(x / n, exponent)


@bare
def _from_limbs(s: int, n: int, what: int, state: _State) -> float:
    """The aggregate of the n finite values of a group that has limbs, which may go."""
    _, sums, place, limbs, free, _ = state
    row = limbs[place[s]]
    x, exponent, done = taken_up(row[:SUM_LIMBS], SUM_BASE, sums[s, :2])
    if what < STDDEV:
        out = sum_or_mean(x, exponent, n, what)
    else:
        done &= taken_up(row[SUM_LIMBS:], SQUARE_BASE, sums[s, 2:])[2]
        out = _in_limbs(s, n, what, state)
    if done:
        release_row(s, place, limbs, free)
    return out


@inlined
def may_be_asked_for(what: Any, n: Any, total: Any, squares: Any, low: Any, high: Any) -> Any:
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
    """
    slot, sign, emit, screened, at_most, at_least = rows
    m = emit[start:].sum()
    values, valids = np.empty((2, m), np.float64), np.empty((2, m), np.bool_)
    new, old, new_valid, old_valid = values[0], values[1], valids[0], valids[1]
    state = _State(counters, sums, place, limbs, free, np.empty(limbs.shape[1], np.int64))
    everything = valid.size == 0
    most, least = squared_bounds(what, at_most, at_least)
    j = 0
    end = slot.size
    for i in range(start, slot.size):
        s = slot[i]
        if place[s] == NO_PLACE and not has_room(limbs, free):
            end = i
            break
        if everything or valid[i]:
            _take(s, sign[i], value[i], what, state)
        if screened and emit[i]:
            emit[i] = _is_shown(s, what, at_most, at_least, most, least, state) or (
                reported_valid[s] and is_asked_for(reported[s], at_most, at_least)
            )
        if emit[i]:
            old[j], old_valid[j] = reported[s], reported_valid[s]
            is_valid = counters[s, COUNT] > least_of(what)
            out = _value(s, what, state) if is_valid else 0.0
            new[j], new_valid[j] = out, is_valid
            reported[s], reported_valid[s] = out, is_valid
            j += 1
    return end, new[:j], new_valid[:j], old[:j], old_valid[:j]


class _State(NamedTuple):
    """State of groups, as of ``run_moments``."""

    counters: np.ndarray
    sums: np.ndarray
    place: np.ndarray
    limbs: np.ndarray
    free: np.ndarray
    scratch: np.ndarray


@bare_inlined
def squared_bounds(what: int, at_most: float, at_least: float) -> tuple[float, float]:
    """The bounds that readers ask for; of the variance if it is a deviation."""
    if what != STDDEV and what != STDDEV_POP:
        return at_most, at_least
    most = at_most * at_most if at_most >= 0.0 else -np.inf
    return most, at_least * at_least if at_least > 0.0 else -np.inf


@bare_inlined
def count_in(s: int, sign: int, v: float, counters: np.ndarray) -> None:
    """Count a value of a group, or one less."""
    counters[s, COUNT] += sign
    if np.isnan(v):
        counters[s, NANS] += sign
    elif np.isinf(v):
        counters[s, PLUS_INF if v > 0 else MINUS_INF] += sign


@bare_inlined
def _take(s: int, sign: int, v: float, what: int, state: _State) -> None:
    """Let a value enter or leave a group."""
    counters, sums, place, limbs, free, _ = state
    count_in(s, sign, v, counters)
    if np.isfinite(v):
        _add(s, sign, v, what, state)
    if counters[s, COUNT] == 0:
        for part in range(sums.shape[1]):
            sums[s, part] = 0.0
        if place[s] != NO_PLACE:
            release_row(s, place, limbs, free)


@bare_inlined
def _add(s: int, sign: int, v: float, what: int, state: _State) -> None:
    """Add a finite value, or its opposite, to the sums of a group."""
    _, sums, place, limbs, free, _ = state
    size = abs(v)
    if size < HUGE and (size > TINY or what < STDDEV):
        rest, high, low = add_to_sum(sums, s, sign * v), 0.0, 0.0
        if what >= STDDEV:
            p, e = two_product(v, v)
            high = add_to_squares(sums, s, sign * p)
            low = add_to_squares(sums, s, sign * e)
        if rest != 0.0 or high != 0.0 or low != 0.0:
            add_rests(limbs[row_of(s, place, limbs, free)], rest, high, low)
    elif size > 0.0:
        add_whole(limbs[row_of(s, place, limbs, free)], sign, v)


@bare_inlined
def _is_shown(
    s: int,
    what: int,
    at_most: float,
    at_least: float,
    most: float,
    least: float,
    state: _State,
) -> bool:
    """Whether readers may ask for the present aggregate of a group; ``most`` and ``least`` are of
    the variance if it is a deviation.
    """
    counters, sums, place, _, _, _ = state
    n = counters[s, COUNT]
    if n <= least_of(what):
        return False
    if counters[s, NANS] | counters[s, PLUS_INF] | counters[s, MINUS_INF]:
        return True
    if place[s] != NO_PLACE:
        exact = _from_limbs(s, n, what, state)
        return is_asked_for(exact, at_most, at_least)
    squares = sums[s, 2] if what >= STDDEV else 0.0
    return may_be_asked_for(what, float(n), sums[s, 0], squares, most, least)


@bare_inlined
def _value(s: int, what: int, state: _State) -> float:
    """The present aggregate of a group."""
    counters, sums, place, _, _, _ = state
    n = counters[s, COUNT]
    if counters[s, NANS] | counters[s, PLUS_INF] | counters[s, MINUS_INF]:
        return of_specials(counters[s, NANS], counters[s, PLUS_INF], counters[s, MINUS_INF], what)
    if place[s] != NO_PLACE:
        return _from_limbs(s, n, what, state)
    if what == SUM:
        return sums[s, 0]
    if what == AVG:
        return sums[s, 0] / n
    out = in_doubles(sums, s, float(n), what)
    return out if out >= 0.0 else _in_limbs(s, n, what, state)


@bare
def of_specials(nans: int, plus: int, minus: int, what: int) -> float:
    """The aggregate of values with as many NaNs and infinities."""
    if nans or (plus and minus) or what >= STDDEV:
        return np.nan
    return np.inf if plus else -np.inf
