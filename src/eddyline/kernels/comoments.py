"""Covariance, correlation and linear regression of pairs of floats, and their parts.

Kernels as in ``aggregates.py``. All sums are in limbs (``limbs.py``), so they are exact, a pair
leaves without trace, and results are the same if parts of the rows are summed apart. Pairs with a
NaN or an infinity are counted apart. A part is a text of int32 words as in ``partial_sums.py``.
"""

from __future__ import annotations

import math

import numpy as np

from eddyline.kernels.aggregates import SignedRows
from eddyline.kernels.limbs import (
    SQUARE_LIMBS,
    SUM_BASE,
    SUM_LIMBS,
    add_double,
    add_product,
    difference,
    leading,
    normalize,
)
from eddyline.kernels.options import bare, kernel
from eddyline.kernels.partial_sums import add_sum, with_words, words_differ, write_sum

#: What is computed of pairs (y, x), as SQL has them.
COVAR_SAMP, COVAR_POP, CORR, SLOPE, INTERCEPT, R2, SXY = range(7)
#: Counters of a group: pairs, and pairs with a value that is not finite.
COUNTERS = 2
_HEAD = 2 * COUNTERS
#: Where the limbs of the sums of y, x, yx, yy and xx end.
_Y, _X, _YX, _YY, _XX = (
    SUM_LIMBS,
    2 * SUM_LIMBS,
    2 * SUM_LIMBS + SQUARE_LIMBS,
    2 * SUM_LIMBS + 2 * SQUARE_LIMBS,
    2 * SUM_LIMBS + 3 * SQUARE_LIMBS,
)
_LOW = 0xFFFFFFFF


def limbs_of(what: int) -> int:
    """The length of a group's row of limbs: covariances need no squares."""
    return _YX if what in (COVAR_SAMP, COVAR_POP) else _XX


def most_words(limbs: int) -> int:
    """Maximum number of words of a part with this number of limbs."""
    return _HEAD + limbs + (6 if limbs == _YX else 10)


@bare
def _count_in(counters: np.ndarray, sign: int, y: float, x: float) -> bool:
    """Count a pair, or take it out again; returns whether it is finite."""
    counters[0] += sign
    finite = np.isfinite(y) and np.isfinite(x)
    if not finite:
        counters[1] += sign
    return finite


@bare
def _add_pair(limbs: np.ndarray, sign: int, y: float, x: float) -> None:
    add_double(limbs[:_Y], SUM_BASE, sign * y)
    add_double(limbs[_Y:_X], SUM_BASE, sign * x)
    add_product(limbs[_X:_YX], sign, y, x)
    if limbs.size > _YX:
        add_product(limbs[_YX:_YY], sign, y, y)
        add_product(limbs[_YY:_XX], sign, x, x)


@kernel
def _mean(limbs: np.ndarray, n: int) -> float:
    sign = normalize(limbs)
    x, exponent = leading(limbs, SUM_BASE)
    return math.ldexp(sign * x / float(n), exponent)


@kernel
def _ratio(a: float, a_exponent: int, b: float, b_exponent: int) -> float:
    return math.ldexp(a / b, a_exponent - b_exponent)


@kernel
def _correlation(
    yx: float, yx_exponent: int, yy: float, yy_exponent: int, xx: float, xx_exponent: int
) -> float:
    exponent = yy_exponent + xx_exponent
    size = yy * xx
    if exponent & 1:
        size, exponent = 2.0 * size, exponent - 1
    return _ratio(yx, yx_exponent, math.sqrt(size), exponent // 2)


@kernel
def _value(counters: np.ndarray, limbs: np.ndarray, what: int) -> tuple[float, bool]:
    """The aggregate, and whether there is one; the limbs are overwritten."""
    n = counters[0]
    if n < (2 if what in (COVAR_SAMP, CORR, SLOPE, INTERCEPT, R2) else 1):
        return 0.0, False
    if counters[1] > 0:
        return np.nan, True
    y, x = limbs[:_Y], limbs[_Y:_X]
    if what in (COVAR_SAMP, COVAR_POP):
        c, exponent = difference(y, x, limbs[_X:_YX], n, False)
        c /= float(n) * float(n - (1 if what == COVAR_SAMP else 0))
        return math.ldexp(c, exponent), True
    total_y, total_x = y.copy(), x.copy()
    yx, yx_exponent = difference(y.copy(), x.copy(), limbs[_X:_YX], n, False)
    yy, yy_exponent = difference(y, y, limbs[_YX:_YY], n, True)
    xx, xx_exponent = difference(x, x, limbs[_YY:_XX], n, True)
    if what == SXY:
        return math.ldexp(yx / float(n), yx_exponent), True
    if xx == 0.0 or (what == CORR and yy == 0.0):
        return 0.0, False
    if what == SLOPE:
        return _ratio(yx, yx_exponent, xx, xx_exponent), True
    if what == INTERCEPT:
        slope = _ratio(yx, yx_exponent, xx, xx_exponent)
        return _mean(total_y, n) - slope * _mean(total_x, n), True
    if yy == 0.0:  # of R2
        return 1.0, True
    corr = _correlation(yx, yx_exponent, yy, yy_exponent, xx, xx_exponent)
    return (corr if what == CORR else corr * corr), True


@kernel
def run_comoments(
    rows: SignedRows,
    valid: np.ndarray,
    y: np.ndarray,
    x: np.ndarray,
    what: int,
    counters: np.ndarray,
    limbs: np.ndarray,
    reported: np.ndarray,
    reported_valid: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """An aggregate of pairs of float64 -> new, new_valid, old, old_valid.

    ``counters`` is int64[slots, COUNTERS], ``limbs`` int64[slots, limbs_of(what)].
    """
    slot, sign, emit = rows.slot, rows.sign, rows.emit
    m = emit.sum()
    new = np.zeros(m, np.float64)
    new_valid = np.empty(m, np.bool_)
    old = np.empty(m, np.float64)
    old_valid = np.empty(m, np.bool_)
    j = 0
    for i in range(slot.size):
        s = slot[i]
        if valid[i] and _count_in(counters[s], sign[i], y[i], x[i]):
            _add_pair(limbs[s], sign[i], y[i], x[i])
        if emit[i]:
            old[j], old_valid[j] = reported[s], reported_valid[s]
            new[j], new_valid[j] = _value(counters[s], limbs[s].copy(), what)
            reported[s], reported_valid[s] = new[j], new_valid[j]
            j += 1
    return new, new_valid, old, old_valid


@kernel
def run_merged_comoments(
    rows: SignedRows,
    words: np.ndarray,
    start: np.ndarray,
    end: np.ndarray,
    what: int,
    counters: np.ndarray,
    limbs: np.ndarray,
    reported: np.ndarray,
    reported_valid: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The same from parts; the part of row i is ``words[start[i]:end[i]]``."""
    slot, sign, emit = rows.slot, rows.sign, rows.emit
    m = emit.sum()
    new = np.zeros(m, np.float64)
    new_valid = np.empty(m, np.bool_)
    old = np.empty(m, np.float64)
    old_valid = np.empty(m, np.bool_)
    j = 0
    for i in range(slot.size):
        s = slot[i]
        if start[i] < end[i]:
            at = start[i]
            for c in range(COUNTERS):
                low = np.int64(words[at + 2 * c]) & _LOW
                counters[s, c] += sign[i] * ((np.int64(words[at + 2 * c + 1]) << 32) | low)
            at = add_sum(words, at + _HEAD, sign[i], limbs[s, :_Y])
            at = add_sum(words, at, sign[i], limbs[s, _Y:_X])
            at = add_sum(words, at, sign[i], limbs[s, _X:_YX])
            if limbs.shape[1] > _YX:
                at = add_sum(words, at, sign[i], limbs[s, _YX:_YY])
                add_sum(words, at, sign[i], limbs[s, _YY:_XX])
        if emit[i]:
            old[j], old_valid[j] = reported[s], reported_valid[s]
            new[j], new_valid[j] = _value(counters[s], limbs[s].copy(), what)
            reported[s], reported_valid[s] = new[j], new_valid[j]
            j += 1
    return new, new_valid, old, old_valid


@kernel
def _words_of(counters: np.ndarray, limbs: np.ndarray, out: np.ndarray) -> int:
    """Write the words of a part; returns their number."""
    if counters[0] == 0:
        return 0
    for c in range(COUNTERS):
        out[2 * c] = np.int32(np.uint32(counters[c] & _LOW))
        out[2 * c + 1] = np.int32(counters[c] >> 32)
    at = write_sum(limbs[:_Y].copy(), out, _HEAD)
    at = write_sum(limbs[_Y:_X].copy(), out, at)
    at = write_sum(limbs[_X:_YX].copy(), out, at)
    if limbs.size > _YX:
        at = write_sum(limbs[_YX:_YY].copy(), out, at)
        at = write_sum(limbs[_YY:_XX].copy(), out, at)
    return at


@kernel
def run_partial_comoments(
    rows: SignedRows,
    valid: np.ndarray,
    y: np.ndarray,
    x: np.ndarray,
    counters: np.ndarray,
    limbs: np.ndarray,
    reported: np.ndarray,
    length: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The part of an aggregate of pairs -> new words, starts, old words, starts, changed bool[m].

    ``reported`` has the words of each slot, int32[slots, most_words(..)], ``length`` their number.
    """
    slot, sign, emit = rows.slot, rows.sign, rows.emit
    m = emit.sum()
    new = np.empty(32 * m, np.int32)
    old = np.empty(32 * m, np.int32)
    new_starts = np.zeros(m + 1, np.int64)
    old_starts = np.zeros(m + 1, np.int64)
    changed = np.empty(m, np.bool_)
    j = 0
    for i in range(slot.size):
        s = slot[i]
        if valid[i] and _count_in(counters[s], sign[i], y[i], x[i]):
            _add_pair(limbs[s], sign[i], y[i], x[i])
        if emit[i]:
            old = with_words(old, old_starts, j, reported[s, : length[s]])
            length[s] = _words_of(counters[s], limbs[s], reported[s])
            new = with_words(new, new_starts, j, reported[s, : length[s]])
            changed[j] = words_differ(old, old_starts, new, new_starts, j)
            j += 1
    return new[: new_starts[m]], new_starts, old[: old_starts[m]], old_starts, changed
