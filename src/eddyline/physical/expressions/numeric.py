"""Kernels of arithmetic that cannot fail, and of functions of numbers."""

from __future__ import annotations

import math
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.expressions import Call
from eddyline.physical.expressions.fallible_numbers import remainder
from eddyline.physical.expressions.kernel import (
    Datum,
    Kernel,
    Maker,
    always,
    argument_constant,
    as_arrays,
)


def _make_round(call: Call) -> Kernel:
    options = {"ndigits": argument_constant(call, 1), "round_mode": "half_towards_infinity"}
    if pt.is_floating(call.type):
        return lambda number, _: pc.round(number, **options)
    return lambda number, _: number  # it has no digits to round


def _make_logarithm(function: Any) -> Maker:
    return always(lambda number: _logarithm(function, number))


def _logarithm(function: Any, number: pa.Array) -> pa.Array:
    """The logarithm, NULL where it is not defined."""
    nothing = pa.scalar(None, pa.float64())
    return pc.if_else(pc.less_equal(number, 0.0), nothing, function(number))


def _log(base: Datum, number: Datum) -> pa.Array:
    logarithms = (_logarithm(pc.ln, n) for n in as_arrays(base, number))
    return pc.divide(*reversed([*logarithms]))


NUMERIC_KERNELS: Final[dict[str, Maker]] = {
    "+": always(pc.add),
    "-": always(pc.subtract),
    "*": always(pc.multiply),
    "/": always(pc.divide),
    "div": always(pc.divide),
    "%": always(remainder),
    "negative": always(pc.negate),
    "abs": always(pc.abs),
    "sign": always(pc.sign),
    "round": _make_round,
    "sqrt": always(pc.sqrt),
    "exp": always(pc.exp),
    "power": always(pc.power),
    "ln": _make_logarithm(pc.ln),
    "log2": _make_logarithm(pc.log2),
    "log10": _make_logarithm(pc.log10),
    "log": always(_log),
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
