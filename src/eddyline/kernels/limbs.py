"""Integers of many limbs: exact sums of floats and of their products, whatever their magnitudes.

A number is ``sum(limbs[i] * 2**(30 * i)) * 2**base``, with int64 limbs and ``base`` below the
lowest bit that can occur, so adding rounds nothing. Limbs may hold more than 30 bits, of either
sign, until :func:`normalize` carries them on; 2**30 additions fit in between.
"""

from __future__ import annotations

import math

import numpy as np

from eddyline.kernels.options import bare, kernel

BITS = 30
_MASK = (1 << BITS) - 1
#: A sum of doubles: bits from -1126 (the smallest, as a mantissa of 53 bits) to 1023, and 40 more
#: for their number.
SUM_BASE, SUM_LIMBS = -38 * BITS, 75
#: A sum of squares or products, and what :func:`difference` makes of it: twice that range.
SQUARE_BASE, SQUARE_LIMBS = 2 * SUM_BASE, 2 * SUM_LIMBS


@bare
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


@bare
def add_double(limbs: np.ndarray, base: int, value: float) -> None:
    """Add a finite double."""
    fraction, exponent = math.frexp(value)
    add_integer(limbs, base, int(math.ldexp(fraction, 53)), exponent - 53)


@bare
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


@bare
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


@bare
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


@bare
def add_product(limbs: np.ndarray, sign: int, x: float, y: float) -> None:
    """Add the product of two finite doubles, or subtract it."""
    fraction, x_exponent = math.frexp(x)
    a = int(math.ldexp(fraction, 53))
    fraction, y_exponent = math.frexp(y)
    b = int(math.ldexp(fraction, 53))
    if (a < 0) != (b < 0):
        sign = -sign
    a, b = abs(a), abs(b)
    exponent = x_exponent + y_exponent - 106
    mask = (1 << 26) - 1
    a_low, a_high, b_low, b_high = a & mask, a >> 26, b & mask, b >> 26
    add_integer(limbs, SQUARE_BASE, sign * a_high * b_high, exponent + 52)
    add_integer(limbs, SQUARE_BASE, sign * (a_high * b_low + a_low * b_high), exponent + 26)
    add_integer(limbs, SQUARE_BASE, sign * a_low * b_low, exponent)


@kernel
def _digits_between(digits: np.ndarray) -> tuple[int, int]:
    """The first digit that is not zero, and the end of the last one."""
    end = digits.size
    while end > 0 and digits[end - 1] == 0:
        end -= 1
    start = 0
    while start < end and digits[start] == 0:
        start += 1
    return start, end


@kernel
def difference(
    a: np.ndarray, b: np.ndarray, products: np.ndarray, count: int, same: bool
) -> tuple[float, int]:
    """``count * products - a * b`` as ``x * 2**exponent``, rounded once to the nearest double x.

    ``a`` and ``b`` are sums, or the ``same`` one twice; ``products`` is a sum of products. They are
    overwritten.
    """
    sign = normalize(a)
    sign *= sign if same else normalize(b)
    products_sign = normalize(products)
    low_count, high_count = count & _MASK, count >> BITS
    above = 0
    for i in range(products.size):
        digit = products_sign * products[i]
        products[i] = digit * low_count + above
        above = digit * high_count
    a_start, a_end = _digits_between(a)
    b_start, b_end = _digits_between(b)
    for i in range(a_start, a_end):
        for j in range(b_start, b_end):
            product = a[i] * b[j]
            products[i + j] -= sign * (product & _MASK)
            products[i + j + 1] -= sign * (product >> BITS)
    sign = normalize(products)
    x, exponent = leading(products, SQUARE_BASE)
    return sign * x, exponent
