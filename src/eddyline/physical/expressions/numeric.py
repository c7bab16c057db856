"""Arithmetic, also of timestamps and intervals, and functions of numbers."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.expressions import Call
from eddyline.algebra.functions.conversion import convert
from eddyline.physical.expressions.kernel import (
    Datum,
    Kernel,
    Maker,
    always,
    argument_constant,
    as_arrays,
    null_where_not,
    values_of,
)


def _not_zero(divisor: Datum) -> Datum:
    """The divisor with NULL for zero."""
    zero = pc.equal(divisor, pa.scalar(0, divisor.type))
    null = pa.scalar(None, divisor.type)
    if isinstance(divisor, pa.Scalar):
        return null if zero.as_py() else divisor
    return pc.if_else(zero, null, divisor) if zero.true_count else divisor


def _divide(dividend: Datum, divisor: Datum) -> pa.Array:
    return pc.divide(dividend, _not_zero(divisor))


def _divide_integers(dividend: Datum, divisor: Datum) -> pa.Array:
    """Towards zero; the one quotient that overflows, smallest / -1, wraps as in Java."""
    divisor = _not_zero(divisor)
    quotient = pc.divide(dividend, divisor)
    minus_one = pc.equal(divisor, pa.scalar(-1, divisor.type))
    if isinstance(minus_one, pa.Scalar):
        return pc.negate(dividend) if minus_one.as_py() else quotient
    return pc.if_else(minus_one, pc.negate(dividend), quotient)


def _make_divide(call: Call) -> Kernel:
    return _divide_integers if pt.is_duration(call.type) else _divide


def _remainder(dividend: Datum, divisor: Datum) -> pa.Array:
    left, right = as_arrays(dividend, _not_zero(divisor))
    with np.errstate(all="ignore"):
        remainder = np.fmod(values_of(left), values_of(right, fill=1))
    both = pc.and_(left.is_valid(), right.is_valid())
    return null_where_not(both, pa.array(remainder, left.type))


def _make_round(call: Call) -> Kernel:
    digits, type_ = argument_constant(call, 1), call.type
    options = {"ndigits": digits, "round_mode": "half_towards_infinity"}
    if pt.is_floating(type_):
        return lambda number, _: pc.round(number, **options)

    def exact(number: pa.Array, _: Datum) -> pa.Array:  # rounding up may need one digit more
        scale = type_.scale if pt.is_decimal(type_) else 0
        return convert(pc.round(number.cast(pa.decimal256(76, scale)), **options), type_)

    return exact


def _make_whole(function: Any) -> Maker:
    return always(lambda number: convert(function(number), pa.int64()))


def _make_logarithm(function: Any) -> Maker:
    """Logarithms are NULL where they are not defined."""

    def kernel(number: pa.Array) -> pa.Array:
        return pc.if_else(
            pc.less_equal(number, 0.0), pa.scalar(None, pa.float64()), function(number)
        )

    return always(kernel)


NUMERIC_KERNELS: Final[dict[str, Maker]] = {
    "+": always(pc.add),
    "-": always(pc.subtract),
    "*": always(pc.multiply),
    "/": _make_divide,
    "div": always(_divide_integers),
    "%": always(_remainder),
    "negative": always(pc.negate),
    "abs": always(pc.abs),
    "sign": always(pc.sign),
    "floor": _make_whole(pc.floor),
    "ceil": _make_whole(pc.ceil),
    "round": _make_round,
    "sqrt": always(pc.sqrt),
    "exp": always(pc.exp),
    "power": always(pc.power),
    "ln": _make_logarithm(pc.ln),
    "log2": _make_logarithm(pc.log2),
    "log10": _make_logarithm(pc.log10),
    "sin": always(pc.sin),
    "cos": always(pc.cos),
    "tan": always(pc.tan),
    "asin": always(pc.asin),
    "acos": always(pc.acos),
    "atan": always(pc.atan),
    "atan2": always(pc.atan2),
    "degrees": always(lambda angle: pc.multiply(angle, 180 / math.pi)),
    "radians": always(lambda angle: pc.multiply(angle, math.pi / 180)),
}
