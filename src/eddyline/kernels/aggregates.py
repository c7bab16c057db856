"""Sliding aggregates by group: each kernel runs one aggregate over a sequence of signed rows.

All take the same arguments and leave one value per *emission*:

    slot int64[n]   the group of each row        sign int8[n]   +1 enters, -1 leaves
    emit bool[n]    the last row of its group and event: here the group's value is reported

and return the values at the emissions together with the values reported before them, so that the
caller can retract or compare. State arrays are indexed by slot and changed in place.

Sums of floats are kept in two doubles (error-free transformations, Dekker 1971), so entering and
leaving a window for years does not drift; infinities and NaNs are counted apart, so they leave
again without trace.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eddyline.kernels.options import inlined, kernel


@kernel
def last_of_event(
    ts: np.ndarray, seq: np.ndarray, slot: np.ndarray, seen: np.ndarray
) -> np.ndarray:
    """bool[n]: whether a row is the last one of its group within its event.

    An event is one instant of expiry, or one arriving row with all it pushes out: rows with equal
    ts and equal ``seq >> 1``. ``seen`` is int64 scratch by slot, any content below 0.
    """
    n = slot.size
    out = np.empty(n, np.bool_)
    event = 0
    for i in range(n - 1, -1, -1):
        if i == n - 1 or ts[i] != ts[i + 1] or seq[i] >> 1 != seq[i + 1] >> 1:
            event += 1
        out[i] = seen[slot[i]] != event
        seen[slot[i]] = event
    for i in range(n):
        seen[slot[i]] = -1
    return out


@kernel
def run_count(
    slot: np.ndarray,
    sign: np.ndarray,
    emit: np.ndarray,
    valid: np.ndarray,
    count: np.ndarray,
    reported: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """COUNT(x) (``valid`` empty: COUNT(*)) -> new int64[m], old int64[m]."""
    m = emit.sum()
    new = np.empty(m, np.int64)
    old = np.empty(m, np.int64)
    everything = valid.size == 0
    j = 0
    for i in range(slot.size):
        s = slot[i]
        if everything or valid[i]:
            count[s] += sign[i]
        if emit[i]:
            old[j] = reported[s]
            new[j] = count[s]
            reported[s] = count[s]
            j += 1
    return new, old


@kernel
def run_sum_int(
    slot: np.ndarray,
    sign: np.ndarray,
    emit: np.ndarray,
    valid: np.ndarray,
    value: np.ndarray,
    count: np.ndarray,
    total: np.ndarray,
    reported: np.ndarray,
    reported_valid: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """SUM of int64 (wraps around, as in Spark) -> new, new_valid, old, old_valid."""
    m = emit.sum()
    new = np.empty(m, np.int64)
    new_valid = np.empty(m, np.bool_)
    old = np.empty(m, np.int64)
    old_valid = np.empty(m, np.bool_)
    everything = valid.size == 0
    j = 0
    for i in range(slot.size):
        s = slot[i]
        if everything or valid[i]:
            count[s] += sign[i]
            total[s] += sign[i] * value[i]
        if emit[i]:
            old[j] = reported[s]
            old_valid[j] = reported_valid[s]
            new[j] = total[s]
            new_valid[j] = count[s] > 0
            reported[s] = new[j]
            reported_valid[s] = new_valid[j]
            j += 1
    return new, new_valid, old, old_valid


#: Columns of the state of ``run_moments``: sum (high, low), sum of squares (high, low); then the
#: same of the huge values, scaled down so that neither sums nor squares overflow.
SUM_HI, SUM_LO, SQUARE_HI, SQUARE_LO = 0, 1, 2, 3
HUGE_SUMS = 4
#: Columns of its counters: values, NaNs, +inf, -inf, huge values.
COUNT, NANS, PLUS_INF, MINUS_INF, HUGE = 0, 1, 2, 3, 4
#: From here on a value is huge, and this is what it is scaled by.
_HUGE_FROM = 2.0**400
_DOWN = 2.0**-600
_UP = 2.0**600

#: What ``run_moments`` reports.
SUM, AVG, STDDEV = 0, 1, 2


@inlined
def _two_sum(a: Any, b: Any) -> Any:
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@inlined
def _two_product(a: Any, b: Any) -> Any:
    p = a * b
    t = 134217729.0 * a
    a_hi = t - (t - a)
    a_lo = a - a_hi
    t = 134217729.0 * b
    b_hi = t - (t - b)
    b_lo = b - b_hi
    return p, ((a_hi * b_hi - p) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo


@kernel
def _add(hi: float, lo: float, more_hi: float, more_lo: float) -> tuple[float, float]:
    s, e = _two_sum(hi, more_hi)
    t, f = _two_sum(lo, more_lo)
    s, e = _two_sum(s, e + t)
    return _two_sum(s, e + f)


@kernel
def _deviation(hi: float, lo: float, sq_hi: float, sq_lo: float, n: float) -> float:
    """Sample standard deviation from exact sums: sqrt((sq - sum^2 / n) / (n - 1))."""
    mean = hi / n
    # sum^2 / n = sum * mean; the error of ``mean`` is mended by a second term
    p, e = _two_product(mean, n)
    rest = ((hi - p) - e + lo) / n
    a, b = _two_product(hi, mean)
    b += hi * rest + lo * mean
    d, f = _add(sq_hi, sq_lo, -a, -b)
    spread = d + f
    return np.sqrt(max(spread, 0.0) / (n - 1.0))


@kernel
def _accumulate(sums: np.ndarray, at: int, sign: int, v: float, what: int) -> None:
    """Let one value enter or leave the sums that start at column ``at``."""
    hi, lo = _add(sums[at + SUM_HI], sums[at + SUM_LO], sign * v, 0.0)
    sums[at + SUM_HI] = hi
    sums[at + SUM_LO] = lo
    if what == STDDEV:
        p, e = _two_product(v, v)
        hi, lo = _add(sums[at + SQUARE_HI], sums[at + SQUARE_LO], sign * p, sign * e)
        sums[at + SQUARE_HI] = hi
        sums[at + SQUARE_LO] = lo


@kernel
def _value(sums: np.ndarray, n: int, huge: bool, what: int) -> float:
    """The aggregate of n finite values; beside huge ones the squares of the others are nothing."""
    hi, lo, sq_hi, sq_lo = sums[0], sums[1], sums[2], sums[3]
    if huge:
        more_hi, more_lo = sums[HUGE_SUMS + SUM_HI], sums[HUGE_SUMS + SUM_LO]
        hi, lo = _add(more_hi, more_lo, hi * _DOWN, lo * _DOWN)
        sq_hi, sq_lo = sums[HUGE_SUMS + SQUARE_HI], sums[HUGE_SUMS + SQUARE_LO]
    if what == STDDEV:
        out = _deviation(hi, lo, sq_hi, sq_lo, float(n))
    elif what == AVG:
        out = (hi + lo) / n
    else:
        out = hi + lo
    return out * _UP if huge else out


@kernel
def run_moments(
    slot: np.ndarray,
    sign: np.ndarray,
    emit: np.ndarray,
    valid: np.ndarray,
    value: np.ndarray,
    what: int,
    counters: np.ndarray,
    sums: np.ndarray,
    reported: np.ndarray,
    reported_valid: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """SUM, AVG or STDDEV of float64 -> new, new_valid, old, old_valid.

    ``counters`` is int64[slots, 5], ``sums`` float64[slots, 8], columns as named above.
    """
    m = emit.sum()
    new = np.empty(m, np.float64)
    new_valid = np.empty(m, np.bool_)
    old = np.empty(m, np.float64)
    old_valid = np.empty(m, np.bool_)
    everything = valid.size == 0
    j = 0
    for i in range(slot.size):
        s = slot[i]
        if everything or valid[i]:
            v = value[i]
            counters[s, COUNT] += sign[i]
            if np.isnan(v):
                counters[s, NANS] += sign[i]
            elif np.isinf(v):
                counters[s, PLUS_INF if v > 0 else MINUS_INF] += sign[i]
            elif abs(v) < _HUGE_FROM:
                _accumulate(sums[s], 0, sign[i], v, what)
            else:
                counters[s, HUGE] += sign[i]
                _accumulate(sums[s], HUGE_SUMS, sign[i], v * _DOWN, what)
                if counters[s, HUGE] == 0:
                    sums[s, HUGE_SUMS:] = 0.0
            if counters[s, COUNT] == 0:
                sums[s, :] = 0.0
        if emit[i]:
            old[j] = reported[s]
            old_valid[j] = reported_valid[s]
            n = counters[s, COUNT]
            new_valid[j] = n > (1 if what == STDDEV else 0)
            out = 0.0
            if new_valid[j]:
                plus = counters[s, PLUS_INF] > 0
                minus = counters[s, MINUS_INF] > 0
                if counters[s, NANS] > 0 or (plus and minus):
                    out = np.nan
                elif plus or minus:
                    out = np.nan if what == STDDEV else (np.inf if plus else -np.inf)
                else:
                    out = _value(sums[s], n, counters[s, HUGE] > 0, what)
            new[j] = out
            reported[s] = out
            reported_valid[s] = new_valid[j]
            j += 1
    return new, new_valid, old, old_valid


@kernel
def run_count_distinct(
    slot: np.ndarray,
    sign: np.ndarray,
    emit: np.ndarray,
    node: np.ndarray,
    occurrences: np.ndarray,
    count: np.ndarray,
    reported: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """COUNT(DISTINCT x) -> new, old. ``node`` numbers the (group, value) pairs, -1 for NULL."""
    m = emit.sum()
    new = np.empty(m, np.int64)
    old = np.empty(m, np.int64)
    j = 0
    for i in range(slot.size):
        s = slot[i]
        v = node[i]
        if v >= 0:
            before = occurrences[v]
            occurrences[v] = before + sign[i]
            if before == 0:
                count[s] += 1
            elif occurrences[v] == 0:
                count[s] -= 1
        if emit[i]:
            old[j] = reported[s]
            new[j] = count[s]
            reported[s] = count[s]
            j += 1
    return new, old
