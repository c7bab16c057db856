"""Integers of many limbs: exact sums of floats and of their squares, whatever their magnitudes.

A number is ``sum(limbs[i] * 2**(30 * i)) * 2**base``, with int64 limbs and ``base`` below the
lowest bit that can occur, so adding rounds nothing. Limbs may hold more than 30 bits, of either
sign, until :func:`normalize` carries them on; 2**30 additions fit in between.
"""

from __future__ import annotations

import math

import numpy as np

from eddyline.kernels.options import kernel

BITS = 30
_MASK = (1 << BITS) - 1
#: A sum of doubles: bits from -1126 (the smallest, as a mantissa of 53 bits) to 1023, and 40 more
#: for their number.
SUM_BASE, SUM_LIMBS = -38 * BITS, 75
#: A sum of squares, and what :func:`deviation` makes of it: twice that range.
SQUARE_BASE, SQUARE_LIMBS = 2 * SUM_BASE, 2 * SUM_LIMBS


@kernel
def add_integer(limbs: np.ndarray, base: int, mantissa: int, exponent: int) -> None:
    """Add ``mantissa * 2**exponent``; the mantissa has at most 55 bits."""
    place = (exponent - base) // BITS
    shift = (exponent - base) - place * BITS
    sign = 1
    if mantissa < 0:
        sign = -1
        mantissa = -mantissa
    low = (mantissa & _MASK) << shift
    high = ((mantissa >> BITS) << shift) + (low >> BITS)
    limbs[place] += sign * (low & _MASK)
    limbs[place + 1] += sign * (high & _MASK)
    limbs[place + 2] += sign * (high >> BITS)


@kernel
def add_double(limbs: np.ndarray, base: int, value: float) -> None:
    """Add a finite double."""
    fraction, exponent = math.frexp(value)
    add_integer(limbs, base, int(math.ldexp(fraction, 53)), exponent - 53)


@kernel
def add_square(limbs: np.ndarray, sign: int, value: float) -> None:
    """Add the square of a finite double, or subtract it."""
    fraction, exponent = math.frexp(value)
    mantissa = abs(int(math.ldexp(fraction, 53)))
    low = mantissa & ((1 << 26) - 1)
    high = mantissa >> 26
    exponent = 2 * (exponent - 53)
    add_integer(limbs, SQUARE_BASE, sign * high * high, exponent + 52)
    add_integer(limbs, SQUARE_BASE, sign * high * low, exponent + 27)
    add_integer(limbs, SQUARE_BASE, sign * low * low, exponent)


@kernel
def normalize(limbs: np.ndarray) -> int:
    """Make the limbs the digits of the absolute value; returns the sign: -1, 0 or 1."""
    for sign in (1, -1):
        carry = 0
        seen = 0
        for i in range(limbs.size):
            total = sign * limbs[i] + carry
            carry = total >> BITS
            limbs[i] = total & _MASK
            seen |= limbs[i]
        if carry == 0:
            return sign if seen != 0 else 0
        limbs[-1] += carry << BITS
    return 0  # not reached: what is below zero is above it with the other sign


@kernel
def leading(limbs: np.ndarray, base: int) -> tuple[float, int]:
    """Digits as ``x * 2**exponent``, rounded once to the nearest double x; x is 0.0 of nothing."""
    top = limbs.size - 1
    while top >= 0 and limbs[top] == 0:
        top -= 1
    if top < 0:
        return 0.0, 0
    if top < 2:
        return float((limbs[1] << BITS) | limbs[0]), base
    bits = 1
    while limbs[top] >> bits:
        bits += 1
    # the first 60 bits; the last one of them stands for all below
    first = (((limbs[top] << BITS) | limbs[top - 1]) << (BITS - bits)) | (limbs[top - 2] >> bits)
    below = limbs[top - 2] & ((1 << bits) - 1)
    place = top - 3
    while below == 0 and place >= 0:
        below = limbs[place]
        place -= 1
    if below != 0:
        first |= 1
    return float(first), base + BITS * (top - 2) + bits


@kernel
def deviation(total: np.ndarray, squares: np.ndarray, count: int) -> float:
    """The sample standard deviation of ``count`` values from their sum and their squares' sum.

    Computes ``sqrt((count * squares - total**2) / (count * (count - 1)))``. Both arguments are
    overwritten.
    """
    normalize(total)
    normalize(squares)
    low_count, high_count = count & _MASK, count >> BITS
    above = 0
    for i in range(squares.size):
        digit = squares[i]
        squares[i] = digit * low_count + above
        above = digit * high_count
    end = total.size
    while end > 0 and total[end - 1] == 0:
        end -= 1
    start = 0
    while start < end and total[start] == 0:
        start += 1
    for i in range(start, end):
        for j in range(start, end):
            product = total[i] * total[j]
            squares[i + j] -= product & _MASK
            squares[i + j + 1] -= product >> BITS
    normalize(squares)
    x, exponent = leading(squares, SQUARE_BASE)
    x /= float(count) * float(count - 1)
    if exponent & 1:
        x, exponent = 2.0 * x, exponent - 1
    return math.ldexp(math.sqrt(x), exponent // 2)
