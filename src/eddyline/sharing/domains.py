"""Sets of values of a type: canonical form, and conversion to the type below a cast."""

from __future__ import annotations

import decimal
import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr
from eddyline.algebra.functions.coercion import kind
from eddyline.algebra.value_sets import EVERYTHING, NOTHING, Interval, ValueSet, one_of

#: The kinds of types whose values grouped filters can order.
_ORDERED: Final = frozenset(
    {"bool", "integer", "float", "decimal", "string", "binary", "date", "timestamp"}
)


def is_ordered(type_: pa.DataType) -> bool:
    """Whether grouped filters can index sets of values of a type."""
    return kind(type_) in _ORDERED


def canonical(values: ValueSet, type_: pa.DataType) -> ValueSet:
    """The canonical form of a set of a type's values; for example, only floats have NaN."""
    intervals = values.intervals
    if pt.is_boolean(type_):
        intervals = one_of(v for v in (False, True) if v in values).intervals
    return ValueSet(intervals, values.null, values.nan and pt.is_floating(type_))


def is_everything(values: ValueSet, type_: pa.DataType) -> bool:
    """Whether a canonical set contains all values of a type, and NULL."""
    return values == canonical(EVERYTHING, type_)


def united(sets: Sequence[ValueSet]) -> ValueSet:
    """The union of any number of sets."""
    return _balanced(sets, ValueSet.union, NOTHING)


def intersected(sets: Sequence[ValueSet]) -> ValueSet:
    """The intersection of any number of sets."""
    return _balanced(sets, ValueSet.intersection, EVERYTHING)


def before_casts(attribute: Expr, values: ValueSet) -> tuple[Expr, ValueSet]:
    """The same condition on the operand of a cast, if the cast is injective and monotonic."""
    while (
        isinstance(attribute, Call)
        and attribute.function == "cast"
        and _is_exact(attribute.args[0].type, attribute.type)
    ):
        (attribute,) = attribute.args
        values = _narrowed(values, attribute.type)
    return attribute, values


def _balanced(
    sets: Sequence[ValueSet], combine: Callable[[ValueSet, ValueSet], ValueSet], none: ValueSet
) -> ValueSet:
    """Combines sets as a balanced tree; combining in sequence would take quadratic time."""
    level = list(sets)
    while len(level) > 1:
        pairs = zip(level[::2], level[1::2], strict=False)
        level = [combine(a, b) for a, b in pairs] + level[len(level) & ~1 :]
    return level[0] if level else none


def _is_exact(source: pa.DataType, target: pa.DataType) -> bool:
    """Whether a cast is exact for every value."""
    match kind(source), kind(target):
        case "integer", "integer":
            return bool(source.bit_width <= target.bit_width)
        case "integer", "float":  # FLOAT holds 24 bits, DOUBLE 53
            return bool(source.bit_width < 32 or (source.bit_width, target.bit_width) == (32, 64))
        case "float", "float":
            return bool(source.bit_width <= target.bit_width)
        case "decimal", "decimal":
            whole, room = source.precision - source.scale, target.precision - target.scale
            return bool(source.scale <= target.scale and whole <= room)
    return False


def _narrowed(values: ValueSet, type_: pa.DataType) -> ValueSet:
    """The values of a type that an exact cast maps into a set."""
    pieces = [_narrowed_interval(i, _FLOORS[kind(type_)], type_) for i in values.intervals]
    merged = united([ValueSet((p,)) for p in pieces if p is not None])
    return canonical(ValueSet(merged.intervals, values.null, values.nan), type_)


#: The largest value of a type that is not above a number; None if there is none.
_Floor = Callable[[Any, pa.DataType], Any]


def _narrowed_interval(interval: Interval, floor: _Floor, type_: pa.DataType) -> Interval | None:
    """The values of a type in an interval of a wider type; None if there are none.

    Values above a number are above its floor; values below a number that the type lacks are at or
    below its floor.
    """
    low, high = interval.low, interval.high
    low_closed, high_closed = interval.low_closed, interval.high_closed
    if low is not None:
        low = floor(low, type_)
        low_closed = low_closed and low == interval.low
    if high is not None:
        high = floor(high, type_)
        if high is None:
            return None
        high_closed = high_closed or high != interval.high
    if low is not None and high is not None:
        is_empty = low > high or (low == high and not (low_closed and high_closed))
        if is_empty:
            return None
    return Interval(low, low_closed, high, high_closed)


def _floor_integer(number: Any, type_: pa.DataType) -> Any:
    least = -(1 << (type_.bit_width - 1))
    if number < least:
        return None
    return min(-least - 1, number if math.isinf(number) else math.floor(number))


def _floor_float(number: Any, type_: pa.DataType) -> Any:
    if type_.bit_width == 64:
        return number
    with np.errstate(over="ignore"):
        near = np.float32(number)
    is_above = float(near) > number  # a comparison as float32 would find them equal
    return float(np.nextafter(near, np.float32(-math.inf)) if is_above else near)


def _floor_decimal(number: Any, type_: pa.DataType) -> Any:
    context = decimal.Context(prec=2 * 38, rounding=decimal.ROUND_FLOOR)
    unit = decimal.Decimal(1).scaleb(-type_.scale)
    largest = decimal.Decimal(1).scaleb(type_.precision - type_.scale, context) - unit
    if number < -largest:
        return None
    return min(largest, number.quantize(unit, context=context))


_FLOORS: Final[dict[str, _Floor]] = {
    "integer": _floor_integer,
    "float": _floor_float,
    "decimal": _floor_decimal,
}
