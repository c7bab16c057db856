"""Kernels of arithmetic that cannot fail, and of functions of numbers."""

from __future__ import annotations

import math
from functools import partial, reduce
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.expressions import Call
from eddyline.physical.expressions.data import Datum, as_arrays, null_where_not, values_of
from eddyline.physical.expressions.fallible_numbers import remainder
from eddyline.physical.expressions.kernel import Kernel, Maker, always, argument_constant
from eddyline.runtime.stores.columns import Array


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


def _log1p(number: pa.Array) -> pa.Array:
    nothing = pa.scalar(None, pa.float64())
    return pc.if_else(pc.less_equal(number, -1.0), nothing, pc.log1p(number))


def _by_numpy(function: Any, *numbers: Datum) -> pa.Array:
    """A function that Arrow has not."""
    arrays = as_arrays(*numbers)
    known = reduce(pc.and_, (a.is_valid() for a in arrays))
    return null_where_not(known, pa.array(function(*map(values_of, arrays)), pa.float64()))


def _cube_root(numbers: Array) -> Array:
    """The cube root, exact for cubes of whole numbers: on some machines ``np.cbrt`` is wrong in the
    last place, which one step of Newton's method mends.
    """
    root = np.cbrt(numbers)
    with np.errstate(all="ignore"):
        step = (root * root * root - numbers) / (3 * root * root)
    return np.where(np.isfinite(step), root - step, root)


def _width_bucket(number: Datum, low: Datum, high: Datum, count: Datum) -> pa.Array:
    """The part between the bounds, from 1; the bounds may be exchanged."""
    arrays = as_arrays(number, low, high, count)
    value, first, last = (values_of(a, math.nan) for a in arrays[:3])
    parts = values_of(arrays[3])
    known = np.isfinite(first) & np.isfinite(last) & ~np.isnan(value) & (first != last)
    known &= (parts > 0) & (parts < np.iinfo(np.int64).max)
    with np.errstate(all="ignore"):
        place = np.abs(value - first)
        inside = parts * place / np.abs(last - first)
    before = np.where(first < last, value < first, value > first)
    behind = np.where(first < last, value >= last, value <= last)
    inner = known & ~before & ~behind
    bucket = np.where(inner, inside, 0).astype(np.int64) + 1
    bucket = np.where(before, 0, np.where(behind, parts + 1, bucket))
    return pa.array(bucket, mask=~known)


def _make_truncate(call: Call) -> Kernel:
    digits = argument_constant(call, 1)

    def kernel(number: Datum, _: Datum) -> pa.Array:
        return pc.round(number, ndigits=digits, round_mode="towards_zero")

    return kernel


def _make_shift(function: Any) -> Maker:
    """Java's: the count is taken modulo the width."""

    def make(call: Call) -> Kernel:
        last = call.type.bit_width - 1

        def kernel(number: Datum, count: Datum) -> pa.Array:
            numbers, counts = as_arrays(number, count)
            known = pc.and_(numbers.is_valid(), counts.is_valid())
            shifted = function(values_of(numbers), values_of(counts) & last)
            return null_where_not(known, pa.array(shifted, call.type))

        return kernel

    return make


def _right_unsigned(numbers: Any, counts: Any) -> Any:
    unsigned = numbers.view(np.uint64 if numbers.dtype == np.int64 else np.uint32)
    return np.right_shift(unsigned, counts.astype(unsigned.dtype)).view(numbers.dtype)


def _make_of_double(function: Any) -> Maker:
    """Infinities and NaN where a function has no value."""

    def kernel(number: pa.Array) -> pa.Array:
        with np.errstate(all="ignore"):
            found = function(values_of(number).astype(np.float64))
        return null_where_not(number.is_valid(), pa.array(found, pa.float64()))

    return always(kernel)


#: Of 0 to 20; others do not fit.
_FACTORIALS: Final = tuple(map(math.factorial, range(21)))


def _factorial(number: pa.Array) -> pa.Array:
    fits = pc.and_(pc.greater_equal(number, 0), pc.less(number, len(_FACTORIALS)))
    return pa.array(_FACTORIALS, pa.int64()).take(null_where_not(fits, number))


def _bit_count(number: pa.Array) -> pa.Array:
    bits = np.bitwise_count(values_of(number).astype(np.int64).view(np.uint64))
    return pa.array(bits.astype(np.int32), mask=np.asarray(number.is_null()))


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
    "cbrt": always(partial(_by_numpy, _cube_root)),
    "hypot": always(partial(_by_numpy, np.hypot)),
    "expm1": always(pc.expm1),
    "log1p": always(_log1p),
    "sinh": always(pc.sinh),
    "cosh": always(pc.cosh),
    "tanh": always(pc.tanh),
    "sin": always(pc.sin),
    "cos": always(pc.cos),
    "tan": always(pc.tan),
    "asin": always(pc.asin),
    "acos": always(pc.acos),
    "atan": always(pc.atan),
    "atan2": always(pc.atan2),
    "truncate": _make_truncate,
    "&": always(pc.bit_wise_and),
    "|": always(pc.bit_wise_or),
    "~": always(pc.bit_wise_not),
    "shiftleft": _make_shift(np.left_shift),
    "shiftright": _make_shift(np.right_shift),
    "shiftrightunsigned": _make_shift(_right_unsigned),
    "factorial": always(_factorial),
    "asinh": _make_of_double(np.arcsinh),
    "acosh": _make_of_double(np.arccosh),
    "atanh": _make_of_double(np.arctanh),
    "cot": _make_of_double(lambda x: 1 / np.tan(x)),
    "sec": _make_of_double(lambda x: 1 / np.cos(x)),
    "csc": _make_of_double(lambda x: 1 / np.sin(x)),
    "rint": _make_of_double(np.rint),
    "bit_count": always(_bit_count),
    "width_bucket": always(_width_bucket),
    "degrees": always(lambda angle: pc.multiply(angle, 180 / math.pi)),
    "radians": always(lambda angle: pc.multiply(angle, math.pi / 180)),
}
