"""Arithmetic that can fail: overflow of integers, timestamps and intervals, division by zero."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.expressions import Call
from eddyline.algebra.functions import conversion
from eddyline.physical.expressions.data import Datum, as_arrays, null_where_not, values_of
from eddyline.physical.expressions.evaluation import Evaluation, Flags, without
from eddyline.physical.expressions.kernel import Kernel, Maker, argument_constant
from eddyline.types import sql_type

_CHECKED: Final[dict[str, tuple[Any, Any]]] = {
    "+": (pc.add_checked, np.add),
    "-": (pc.subtract_checked, np.subtract),
    "*": (pc.multiply_checked, np.multiply),
}


def _number(type_: pa.DataType) -> pa.DataType:
    """The integer representation of a type, else the type itself."""
    return pa.int64() if pt.is_duration(type_) or pt.is_timestamp(type_) else type_


def _least(type_: pa.DataType) -> pa.Scalar:
    return pa.scalar(int(np.iinfo(type_.to_pandas_dtype()).min), type_)


def _overflow_of(type_: pa.DataType) -> str:
    if pt.is_integer(type_):
        return "integer overflow: "
    return "timestamp overflow: " if pt.is_timestamp(type_) else "interval overflow: "


def _make_checked(call: Call) -> Kernel:
    """``+ - *``."""
    checked, wrapping = _CHECKED[call.function]
    type_, name, number = call.type, call.function, _number(call.type)

    def kernel(evaluation: Evaluation, left: Datum, right: Datum) -> pa.Array:
        a, b = left.cast(number), right.cast(number)
        try:
            return checked(a, b).cast(type_)
        except pa.ArrowInvalid:
            arrays = as_arrays(a, b)
        x, y = (values_of(v) for v in arrays)
        with np.errstate(all="ignore"):
            total = wrapping(x, y)
            bad = _overflown(name, x, y, total)
        known = pc.and_(*(v.is_valid() for v in arrays))
        result = null_where_not(known, pa.array(total, number)).cast(type_)
        reason = (_overflow_of(type_), left, f" {name} ", right)
        return without(evaluation, bad & np.asarray(known), result, *reason)

    return kernel


def _overflown(name: str, x: Any, y: Any, total: Any) -> Flags:
    """bool[n]: where wrapping arithmetic has overflowed."""
    if name == "+":
        bad = ((x ^ total) & (y ^ total)) < 0
    elif name == "-":
        bad = ((x ^ y) & (x ^ total)) < 0
    else:
        least = np.iinfo(x.dtype).min
        bad = ((x != 0) & (total // np.where(x == 0, 1, x) != y)) | ((x == -1) & (y == least))
    return np.asarray(bad, np.bool_)


def _make_unary(checked: Any, before: str, after: str = "") -> Maker:
    def make(call: Call) -> Kernel:
        type_, number = call.type, _number(call.type)
        least = _least(number)

        def kernel(evaluation: Evaluation, values: pa.Array) -> pa.Array:
            numbers = values.cast(number)
            try:
                return checked(numbers).cast(type_)
            except pa.ArrowInvalid:
                bad = pc.fill_null(pc.equal(numbers, least), False)
            rest = checked(null_where_not(pc.invert(bad), numbers)).cast(type_)
            return without(evaluation, bad, rest, _overflow_of(type_) + before, values, after)

        return kernel

    return make


def _make_divide(call: Call) -> Kernel:
    """``/`` of floats, or of an interval; ``div``; ``%``. NULL divided by zero is NULL."""
    type_, name, number = call.type, call.function, _number(call.type)
    divide = remainder if name == "%" else pc.divide
    zero, one, minus_one = (pa.scalar(n, number) for n in (0, 1, -1))
    wraps = name != "%" and pt.is_integer(number)
    least = _least(number) if wraps else zero

    def kernel(evaluation: Evaluation, dividend: Datum, divisor: Datum) -> pa.Array:
        a, b = dividend.cast(number), divisor.cast(number)
        by_zero, by_minus_one = pc.equal(b, zero), pc.equal(b, minus_one)
        may_wrap = wraps and _any(by_minus_one) and _any(pc.equal(a, least))
        if not (_any(by_zero) or may_wrap):
            return divide(a, b).cast(type_)
        a, b = as_arrays(a, b)
        by_zero = _known(pc.equal(b, zero))
        overflow = _known(pc.and_(pc.equal(a, least), pc.equal(b, minus_one)))
        if not wraps:
            overflow = pc.xor(overflow, overflow)
        usable = pc.if_else(pc.or_(by_zero, overflow), one, b)
        result = divide(a, usable).cast(type_)
        reason = ("division by zero: ", dividend, f" {name} ", divisor)
        result = without(evaluation, pc.and_(by_zero, a.is_valid()), result, *reason)
        reason = (_overflow_of(type_), dividend, f" {name} ", divisor)
        return without(evaluation, overflow, result, *reason)

    return kernel


def remainder(left: Datum, right: Datum) -> pa.Array:
    """With the sign of the dividend; the divisor is not zero."""
    a, b = as_arrays(left, right)
    with np.errstate(all="ignore"):
        rest = np.fmod(values_of(a), values_of(b, fill=1))
    return null_where_not(pc.and_(a.is_valid(), b.is_valid()), pa.array(rest, a.type))


def _any(flags: Datum) -> bool:
    return bool(flags.as_py() if isinstance(flags, pa.Scalar) else flags.true_count)


def _known(flags: pa.Array) -> pa.Array:
    """The flags with NULL as false."""
    return flags.fill_null(False)


def _make_whole(function: Any, name: str) -> Maker:
    """``floor`` and ``ceil`` as BIGINT; as in Spark, those of NaN are 0."""

    def kernel(evaluation: Evaluation, numbers: pa.Array) -> pa.Array:
        whole = function(numbers)
        if whole.null_count < len(whole):
            whole = pc.if_else(pc.is_nan(whole), 0.0, whole)
        result = conversion.convert(whole, pa.int64())
        bad = conversion.failed(whole, result)
        if bad is None:
            return result
        return without(evaluation, bad, result, f"integer overflow: {name}(", numbers, ")")

    return lambda call: kernel


def _make_round(call: Call) -> Kernel:
    digits, type_ = argument_constant(call, 1), call.type
    wide = pa.decimal256(76, type_.scale if pt.is_decimal(type_) else 0)

    def kernel(evaluation: Evaluation, numbers: pa.Array, _: Datum) -> pa.Array:
        options = {"ndigits": digits, "round_mode": "half_towards_infinity"}
        result = conversion.convert(pc.round(numbers.cast(wide), **options), type_)
        bad = conversion.failed(numbers, result)
        if bad is None:
            return result
        reason = ("round(", numbers, f", {digits}) does not fit {sql_type(type_)}")
        return without(evaluation, bad, result, *reason)

    return kernel


FALLIBLE_NUMBERS: Final[dict[str, Maker]] = {
    **dict.fromkeys(_CHECKED, _make_checked),
    "negative": _make_unary(pc.negate_checked, "-(", ")"),
    "abs": _make_unary(pc.abs_checked, "abs(", ")"),
    **dict.fromkeys(("/", "div", "%"), _make_divide),
    "floor": _make_whole(pc.floor, "floor"),
    "ceil": _make_whole(pc.ceil, "ceil"),
    "round": _make_round,
}
