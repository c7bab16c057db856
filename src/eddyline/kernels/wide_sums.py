"""SUM and AVG of integers of up to 128 bits, DECIMALs and INTERVALs: exact sums of 192 bits.

Kernels as in ``aggregates.py``. A sum is four int64 *words*: the number of values, and the sum, low
bits first. 2**64 values of 128 bits fit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eddyline.kernels.aggregates import SignedRows
from eddyline.kernels.copies import put_row
from eddyline.kernels.options import bare, inlined, kernel

WORDS = 4
#: What becomes of a sum: there is no value; one; one that does not fit.
NOTHING, FITS, OVERFLOW = 0, 1, 2
_TOP_BIT = -(1 << 63)
_DIGITS = 6  # of 32 bits


@inlined
def _add(total: Any, s: Any, sign: Any, low: Any, middle: Any, high: Any) -> None:
    """Add 192 bits to the sum of a group, or take them out again."""
    before = total[s, 1]
    if sign > 0:
        after = before + low
        carry = 1 if (after ^ _TOP_BIT) < (low ^ _TOP_BIT) else 0
        total[s, 1] = after
        before = total[s, 2]
        after = before + middle
        more = 1 if (after ^ _TOP_BIT) < (middle ^ _TOP_BIT) else 0
        total[s, 2] = after + carry
        if carry == 1 and after == -1:
            more = 1
        total[s, 3] += high + more
    else:
        borrow = 1 if (before ^ _TOP_BIT) < (low ^ _TOP_BIT) else 0
        total[s, 1] = before - low
        before = total[s, 2]
        more = 1 if (before ^ _TOP_BIT) < (middle ^ _TOP_BIT) else 0
        after = before - middle
        if borrow == 1 and after == 0:
            more = 1
        total[s, 2] = after - borrow
        total[s, 3] -= high + more


@kernel
def run_wide_words(
    rows: SignedRows,
    valid: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    total: np.ndarray,
    reported: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of values of 128 bits, in two int64 -> new and old words, int64[m, WORDS].

    ``high`` is empty if values have 64 bits. ``total`` and ``reported`` are int64[slots, WORDS].
    """
    slot, sign, emit = rows.slot, rows.sign, rows.emit
    m = emit.sum()
    new = np.empty((m, WORDS), np.int64)
    old = np.empty((m, WORDS), np.int64)
    narrow = high.size == 0
    j = 0
    for i in range(slot.size):
        s = slot[i]
        if valid[i]:
            total[s, 0] += sign[i]
            middle = low[i] >> 63 if narrow else high[i]
            _add(total, s, sign[i], low[i], middle, middle >> 63)
        if emit[i]:
            put_row(reported, s, old, j)
            put_row(total, s, new, j)
            put_row(total, s, reported, s)
            j += 1
    return new, old


@kernel
def run_merged_words(
    rows: SignedRows, words: tuple[np.ndarray, ...], total: np.ndarray, reported: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of sums, whose four words are int64[n] each -> new and old words, as above."""
    slot, sign, emit = rows.slot, rows.sign, rows.emit
    count, low, middle, high = words
    m = emit.sum()
    new = np.empty((m, WORDS), np.int64)
    old = np.empty((m, WORDS), np.int64)
    j = 0
    for i in range(slot.size):
        s = slot[i]
        total[s, 0] += sign[i] * count[i]
        _add(total, s, sign[i], low[i], middle[i], high[i])
        if emit[i]:
            put_row(reported, s, old, j)
            put_row(total, s, new, j)
            put_row(total, s, reported, s)
            j += 1
    return new, old


@kernel
def values_of_words(
    words: np.ndarray, mean: bool, factor: int, most: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Sums or means from words -> values int64[m, 2], low bits first, and kinds int8[m].

    Args:
        mean: whether to divide by the number of values; halves are rounded away from zero.
        factor: what sums are multiplied by before, below 2**31.
        most: the largest absolute value that fits, below 2**127, in two int64.
    """
    m = words.shape[0]
    out = np.zeros((m, 2), np.int64)
    kinds = np.zeros(m, np.int8)
    digits = np.empty(_DIGITS, np.uint64)
    mask = np.uint64(0xFFFFFFFF)
    shift = np.uint64(32)
    for j in range(m):
        count = words[j, 0]
        if count == 0:
            continue
        negative = words[j, 3] < 0
        carry = np.uint64(1 if negative else 0)
        for i in range(3):
            word = ~words[j, i + 1] if negative else words[j, i + 1]
            for half in range(2):
                bits = np.uint64(word) & mask if half == 0 else (np.uint64(word) >> shift)
                bits += carry
                digits[2 * i + half] = bits & mask
                carry = bits >> shift
        carry = np.uint64(0)
        if factor > 1:
            for i in range(_DIGITS):
                bits = digits[i] * np.uint64(factor) + carry
                digits[i] = bits & mask
                carry = bits >> shift
        if mean:
            _divide(digits, np.uint64(count))
        low = digits[0] | (digits[1] << shift)
        high = digits[2] | (digits[3] << shift)
        fits = digits[4] == 0 and digits[5] == 0 and carry == 0
        if high > np.uint64(most[1]) or (high == np.uint64(most[1]) and low > np.uint64(most[0])):
            fits = False
        kinds[j] = FITS if fits else OVERFLOW
        if fits:
            a, b = np.int64(low), np.int64(high)
            if negative:
                a, b = -a, ~b + (1 if a == 0 else 0)
            out[j, 0] = a
            out[j, 1] = b
    return out, kinds


@bare
def _divide(digits: np.ndarray, by: np.uint64) -> None:
    """Divide digits by a number below 2**62; halves are rounded up."""
    one = np.uint64(1)
    rest = np.uint64(0)
    for i in range(_DIGITS - 1, -1, -1):
        digit = digits[i]
        quotient = np.uint64(0)
        if rest == 0 and by <= np.uint64(0xFFFFFFFF):
            quotient = digit // by
            rest = digit - quotient * by
        else:
            for bit in range(31, -1, -1):
                rest = (rest << one) | ((digit >> np.uint64(bit)) & one)
                quotient <<= one
                if rest >= by:
                    rest -= by
                    quotient |= one
        digits[i] = quotient
    if rest >= by - rest:
        for i in range(_DIGITS):
            digits[i] += one
            if digits[i] <= np.uint64(0xFFFFFFFF):
                break
            digits[i] = np.uint64(0)
