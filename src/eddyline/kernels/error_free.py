"""Sums and products of doubles with their rounding errors (Dekker 1971)."""

from __future__ import annotations

from typing import Any

from eddyline.kernels.options import inlined


@inlined
def two_sum(a: Any, b: Any) -> Any:
    """The sum, and its rounding error."""
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


@inlined
def two_product(a: Any, b: Any) -> Any:
    """The product, and its rounding error."""
    p = a * b
    t = 134217729.0 * a
    a_hi = t - (t - a)
    a_lo = a - a_hi
    t = 134217729.0 * b
    b_hi = t - (t - b)
    b_lo = b - b_hi
    return p, ((a_hi * b_hi - p) + a_hi * b_lo + a_lo * b_hi) + a_lo * b_lo
