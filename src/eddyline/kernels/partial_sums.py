"""Sums of parts of a group's rows, and the sums of these: exact, so nothing depends on the parts.

Kernels as in ``aggregates.py``. A part of integers is 128 bits wide. A part of floats is a text of
int32 *words*: the counters of ``moments.py`` (two words each), the sum, and for a deviation the sum
of squares. A sum is its sign times the number of its lowest limb plus 1 (0: it is zero), how many
limbs follow, and these, of 30 bits each. Equal sums have equal words. A part without values has
none.
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.aggregates import SignedRows
from eddyline.kernels.copies import grown, put, put_row
from eddyline.kernels.limbs import (
    SUM_BASE,
    SUM_LIMBS,
    add_double,
    add_square,
    difference,
    leading,
    normalize,
)
from eddyline.kernels.moments import (
    COUNT,
    MINUS_INF,
    NANS,
    PLUS_INF,
    STDDEV,
    least_of,
    limbs_of,
    spread,
    sum_or_mean,
)
from eddyline.kernels.options import bare, kernel

COUNTERS = 4
#: Words of a part's counters.
_HEAD = 2 * COUNTERS
_LOW = 0xFFFFFFFF
_TOP_BIT = -(1 << 63)


def most_words(what: int) -> int:
    """How many words a part has at most: of SUM and AVG, or of STDDEV."""
    return _HEAD + (4 if what >= STDDEV else 2) + limbs_of(what)


@kernel
def run_wide_sum(
    rows: SignedRows,
    valid: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    count: np.ndarray,
    total: np.ndarray,
    reported: np.ndarray,
    reported_valid: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """SUM of integers of 128 bits, in two int64 -> new, new_valid, old, old_valid.

    ``total`` and ``reported`` are int64[slots, 2], sums int64[m, 2]: the low half, then the high.
    """
    slot, sign, emit = rows.slot, rows.sign, rows.emit
    m = emit.sum()
    new = np.empty((m, 2), np.int64)
    new_valid = np.empty(m, np.bool_)
    old = np.empty((m, 2), np.int64)
    old_valid = np.empty(m, np.bool_)
    j = 0
    for i in range(slot.size):
        s = slot[i]
        if valid[i]:
            count[s] += sign[i]
            before = total[s, 0]
            if sign[i] > 0:
                total[s, 0] = before + low[i]
                carry = (total[s, 0] ^ _TOP_BIT) < (low[i] ^ _TOP_BIT)
                total[s, 1] += high[i] + (1 if carry else 0)
            else:
                total[s, 0] = before - low[i]
                borrow = (before ^ _TOP_BIT) < (low[i] ^ _TOP_BIT)
                total[s, 1] -= high[i] + (1 if borrow else 0)
        if emit[i]:
            put_row(reported, s, old, j)
            old_valid[j] = reported_valid[s]
            put_row(total, s, new, j)
            new_valid[j] = count[s] > 0
            put_row(total, s, reported, s)
            reported_valid[s] = new_valid[j]
            j += 1
    return new, new_valid, old, old_valid


@kernel
def run_merged_count(
    rows: SignedRows, value: np.ndarray, count: np.ndarray, reported: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The sum of counts -> new int64[m], old int64[m]; 0 of none."""
    slot, sign, emit = rows.slot, rows.sign, rows.emit
    m = emit.sum()
    new = np.empty(m, np.int64)
    old = np.empty(m, np.int64)
    j = 0
    for i in range(slot.size):
        s = slot[i]
        count[s] += sign[i] * value[i]
        if emit[i]:
            old[j] = reported[s]
            new[j] = count[s]
            reported[s] = count[s]
            j += 1
    return new, old


@kernel
def _count_in(counters: np.ndarray, sign: int, value: float) -> bool:
    """Count a value, or take it out again; returns whether it is finite."""
    counters[COUNT] += sign
    if np.isnan(value):
        counters[NANS] += sign
    elif np.isinf(value):
        counters[PLUS_INF if value > 0 else MINUS_INF] += sign
    else:
        return True
    return False


@kernel
def _words_of(counters: np.ndarray, limbs: np.ndarray, out: np.ndarray) -> int:
    """Write the words of a part; returns their number."""
    if counters[COUNT] == 0:
        return 0
    for c in range(COUNTERS):
        out[2 * c] = np.int32(np.uint32(counters[c] & _LOW))
        out[2 * c + 1] = np.int32(counters[c] >> 32)
    end = write_sum(limbs[:SUM_LIMBS].copy(), out, _HEAD)
    if limbs.size > SUM_LIMBS:
        end = write_sum(limbs[SUM_LIMBS:].copy(), out, end)
    return end


@kernel
def write_sum(digits: np.ndarray, out: np.ndarray, at: int) -> int:
    """Write the words of a sum, whose limbs are overwritten; returns where they end."""
    sign = normalize(digits)
    low, top = 0, digits.size - 1
    if sign == 0:
        top = -1
    else:
        while digits[low] == 0:
            low += 1
        while digits[top] == 0:
            top -= 1
    out[at] = sign * (low + 1)
    out[at + 1] = top + 1 - low
    for i in range(low, top + 1):
        out[at + 2 + i - low] = digits[i]
    return at + 3 + top - low


@bare
def _add_words(
    words: np.ndarray, start: int, sign: int, counters: np.ndarray, limbs: np.ndarray
) -> None:
    """Add a part to the sums of a group, or take it out again."""
    for c in range(COUNTERS):
        low = np.int64(words[start + 2 * c]) & _LOW
        counters[c] += sign * ((np.int64(words[start + 2 * c + 1]) << 32) | low)
    end = add_sum(words, start + _HEAD, sign, limbs[:SUM_LIMBS])
    if limbs.size > SUM_LIMBS:
        add_sum(words, end, sign, limbs[SUM_LIMBS:])


@bare
def add_sum(words: np.ndarray, at: int, sign: int, limbs: np.ndarray) -> int:
    """Add a sum to limbs; returns where its words end."""
    head, end = words[at], at + 2 + words[at + 1]
    low = abs(head) - 1
    by = sign if head > 0 else -sign
    for i in range(at + 2, end):
        limbs[low + i - at - 2] += by * np.int64(words[i])
    return end


@kernel
def gathered_words(
    words: np.ndarray, length: np.ndarray, slot: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The words of slots, one after the other, and int64[n + 1] where each begins."""
    starts = np.zeros(slot.size + 1, np.int64)
    for i in range(slot.size):
        starts[i + 1] = starts[i] + length[slot[i]]
    out = np.empty(starts[-1], np.int32)
    for i in range(slot.size):
        put(words[slot[i], : length[slot[i]]], out, starts[i])
    return out, starts


@kernel
def with_words(words: np.ndarray, starts: np.ndarray, j: int, part: np.ndarray) -> np.ndarray:
    """The words with those of part ``j`` behind the others, in a larger array if they do not fit;
    ``starts`` gets where they end.
    """
    used, end = starts[j], starts[j] + part.size
    if end > words.size:
        words = grown(words, used, 2 * words.size + part.size)
    put(part, words, used)
    starts[j + 1] = end
    return words


@bare
def words_differ(
    old: np.ndarray, old_starts: np.ndarray, new: np.ndarray, new_starts: np.ndarray, j: int
) -> bool:
    """Whether the words of part ``j`` are others."""
    at, to = old_starts[j], new_starts[j]
    size = old_starts[j + 1] - at
    if size != new_starts[j + 1] - to:
        return True
    k = 0
    while k < size and old[at + k] == new[to + k]:
        k += 1
    return k < size


@kernel
def run_partial_moments(
    rows: SignedRows,
    valid: np.ndarray,
    value: np.ndarray,
    counters: np.ndarray,
    limbs: np.ndarray,
    reported: np.ndarray,
    length: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The part of a sum or deviation of float64 -> new words, starts, old words, starts, changed
    bool[m].

    ``counters`` is int64[slots, COUNTERS], ``limbs`` int64[slots, limbs_of(what)]; ``reported`` has
    the words of each slot, int32[slots, most_words(what)], ``length`` their number.
    """
    slot, sign, emit = rows.slot, rows.sign, rows.emit
    m = emit.sum()
    squares = limbs.shape[1] > SUM_LIMBS
    new = np.empty(16 * m, np.int32)
    old = np.empty(16 * m, np.int32)
    new_starts = np.zeros(m + 1, np.int64)
    old_starts = np.zeros(m + 1, np.int64)
    changed = np.empty(m, np.bool_)
    j = 0
    for i in range(slot.size):
        s = slot[i]
        if valid[i] and _count_in(counters[s], sign[i], value[i]):
            add_double(limbs[s, :SUM_LIMBS], SUM_BASE, sign[i] * value[i])
            if squares:
                add_square(limbs[s, SUM_LIMBS:], sign[i], value[i])
        if emit[i]:
            old = with_words(old, old_starts, j, reported[s, : length[s]])
            length[s] = _words_of(counters[s], limbs[s], reported[s])
            new = with_words(new, new_starts, j, reported[s, : length[s]])
            changed[j] = words_differ(old, old_starts, new, new_starts, j)
            j += 1
    return new[: new_starts[m]], new_starts, old[: old_starts[m]], old_starts, changed


@kernel
def _merged_value(counters: np.ndarray, limbs: np.ndarray, what: int) -> float:
    """The aggregate of a group with values; the limbs are overwritten."""
    plus, minus = counters[PLUS_INF] > 0, counters[MINUS_INF] > 0
    if counters[NANS] > 0 or (plus and minus):
        return np.nan
    if plus or minus:
        return np.nan if what >= STDDEV else (np.inf if plus else -np.inf)
    if what >= STDDEV:
        total = limbs[:SUM_LIMBS]
        x, exponent = difference(total, total, limbs[SUM_LIMBS:], counters[COUNT], True)
        return spread(x, exponent, counters[COUNT], what)
    sign = normalize(limbs)
    x, exponent = leading(limbs, SUM_BASE)
    return sum_or_mean(sign * x, exponent, counters[COUNT], what)


@kernel
def run_merged_moments(
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
    """SUM, AVG or STDDEV from parts -> new, new_valid, old, old_valid, as of ``run_moments``.

    The part of row i is ``words[start[i]:end[i]]``.
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
        if start[i] < end[i]:
            _add_words(words, start[i], sign[i], counters[s], limbs[s])
        if emit[i]:
            old[j] = reported[s]
            old_valid[j] = reported_valid[s]
            new_valid[j] = counters[s, COUNT] > least_of(what)
            if new_valid[j]:
                new[j] = _merged_value(counters[s], limbs[s].copy(), what)
            reported[s] = new[j]
            reported_valid[s] = new_valid[j]
            j += 1
    return new, new_valid, old, old_valid
