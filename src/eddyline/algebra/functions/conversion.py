"""CAST of Arrow arrays; it never raises on data.

The one definition, used by the folding of literals and by evaluation. The rules are Spark's in ANSI
mode: a value that cannot be read as the target type, or does not fit it, becomes NULL here, and
:func:`failed` separates it from values that were NULL before. Text without a zone is UTC.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.functions import datetime_text, number_text
from eddyline.algebra.functions.nested_conversion import (
    convert_nested,
    failed_nested,
    parts_of,
)

_SECOND: Final = 1_000_000
_DAY: Final = 86_400 * _SECOND
_TRUE: Final = ("t", "true", "y", "yes", "1")
_FALSE: Final = ("f", "false", "n", "no", "0")


def convert(values: pa.Array, type_: pa.DataType) -> pa.Array:
    """The values as another type, NULL where a value cannot be converted.

    Args:
        values: an array of a type that :func:`~eddyline.algebra.functions.cast` can convert.
        type_: the target.

    Returns:
        An array of exactly that type and the same length.
    """
    source = values.type
    if source == type_:
        return values
    if pt.is_nested(source):
        return convert_nested(values, type_, convert)
    for from_, to, rule in _RULES:
        if from_(source) and to(type_):
            return rule(values, type_)
    return values.cast(type_, safe=False)


def failed(values: pa.Array, result: pa.Array) -> pa.Array | None:
    """bool[n]: the values that could not be converted; None if all could."""
    if pt.is_nested(values.type):
        return failed_nested(values, result, failed)
    if result.null_count == values.null_count:
        return None
    lost = pc.and_(values.is_valid(), result.is_null())
    if pt.is_floating(values.type) and pt.is_decimal(result.type):  # NaN becomes NULL
        lost = pc.and_(lost, pc.fill_null(pc.is_finite(values), False))
    return lost if lost.true_count else None


def can_fail(source: pa.DataType, target: pa.DataType) -> bool:
    """Whether some value of the source type cannot be converted to the target type."""
    if pt.is_nested(source):
        return any(can_fail(a, b) for a, b in parts_of(source, target))
    if source == target or pt.is_null(source) or pt.is_boolean(target):
        return bool(pt.is_string(source) and pt.is_boolean(target))
    if pt.is_decimal(target):
        return not (_holds(target, source))
    if pt.is_integer(target):
        narrower = pt.is_integer(source) and source.bit_width > target.bit_width
        seconds = pt.is_timestamp(source) and target.bit_width < 64
        return bool(
            narrower
            or seconds
            or any(t(source) for t in (pt.is_floating, pt.is_decimal, pt.is_string))
        )
    if pt.is_timestamp(target):
        return bool(
            any(t(source) for t in (pt.is_floating, pt.is_decimal, pt.is_string, pt.is_date))
        )
    return bool(pt.is_string(source) and (pt.is_floating(target) or pt.is_date(target)))


#: Decimal digits that hold every value of an integer type, by its width.
_DIGITS: Final = {8: 3, 16: 5, 32: 10, 64: 19}


def _holds(decimal: pa.DataType, source: pa.DataType) -> bool:
    """Whether a decimal type holds every value of another type after rounding."""
    if pt.is_integer(source):
        digits = _DIGITS[source.bit_width]
    elif pt.is_decimal(source):
        # rounding a fraction may add one digit to the integer part
        digits = source.precision - source.scale + (decimal.scale < source.scale)
    else:
        digits = 1 if pt.is_boolean(source) else 2 * 38
    return bool(digits <= decimal.precision - decimal.scale)


def _narrowed(values: pa.Array, type_: pa.DataType) -> pa.Array:
    if type_.bit_width >= values.type.bit_width:
        return values.cast(type_)
    try:
        return values.cast(type_)
    except pa.ArrowInvalid:
        return _in_range(values, type_)


def _is_not_zero(values: pa.Array, _: pa.DataType) -> pa.Array:
    if pt.is_decimal(values.type):
        values = values.cast(pa.float64())
    return pc.not_equal(values, pa.scalar(0, values.type))


def _float_to_integer(values: pa.Array, type_: pa.DataType) -> pa.Array:
    """Truncates, as in Java, where 2.0**63 becomes 2**63 - 1."""
    limits = np.iinfo(type_.to_pandas_dtype())
    numbers = values.cast(pa.float64())
    valid = np.trunc(np.asarray(numbers.fill_null(0.0)))
    fits = (valid >= float(limits.min)) & (valid <= float(limits.max))
    with np.errstate(invalid="ignore"):
        whole = np.where(fits, valid, 0.0).astype(limits.dtype)
    whole[valid >= float(limits.max)] = limits.max  # 2**63 - 1 is not representable as a double
    if fits.all() and not values.null_count:
        return pa.array(whole)
    return _nulled(pa.array(whole), pc.and_(values.is_valid(), pa.array(fits)))


def _to_decimal(values: pa.Array, type_: pa.DataType) -> pa.Array:
    """Rounded half up to the scale; NULL where it does not fit the precision."""
    if pt.is_floating(values.type):
        values = _float_as_decimal(values, type_)
    elif pt.is_string(values.type):
        values = number_text.parse_decimals(values, type_.scale)
    elif pt.is_boolean(values.type):
        values = values.cast(pa.int8())
    if pt.is_decimal(values.type):
        values = values.cast(pa.decimal256(76, values.type.scale))
        values = pc.round(values, ndigits=type_.scale, round_mode="half_towards_infinity")
    wide = values.cast(pa.decimal256(76, type_.scale), safe=False)
    bound = pa.scalar(10 ** (type_.precision - type_.scale), pa.decimal256(76, 0))
    fits = pc.less(pc.abs(wide), bound.cast(wide.type))
    return _nulled(wide, fits).cast(type_)


def _float_as_decimal(values: pa.Array, type_: pa.DataType) -> pa.Array:
    """Parsed from the shortest text to one digit beyond the scale: 3.485, not 3.48499..."""
    limit = pa.scalar(10.0 ** (type_.precision - type_.scale), values.type)
    values = _nulled(values, pc.less(pc.abs(values), limit))
    read = number_text.parse_decimals(values.cast(pa.string()), type_.scale)
    return pc.coalesce(read, values.cast(read.type))  # the text of 1e-7 has an exponent


def _decimal_to_integer(values: pa.Array, type_: pa.DataType) -> pa.Array:
    whole = pc.trunc(values.cast(pa.decimal256(76, values.type.scale))).cast(pa.decimal256(76, 0))
    return _in_range(whole, type_)


def _text_to_integer(values: pa.Array, type_: pa.DataType) -> pa.Array:
    return _in_range(number_text.parse_integers(values), type_)


def _in_range(whole: pa.Array, type_: pa.DataType) -> pa.Array:
    """Whole numbers as an integer type, NULL where they are out of its range."""
    limits = np.iinfo(type_.to_pandas_dtype())
    low, high = (pa.scalar(int(x), whole.type) for x in (limits.min, limits.max))
    fits = pc.and_(pc.greater_equal(whole, low), pc.less_equal(whole, high))
    return _nulled(whole, fits).cast(type_)


def _text_to_bool(values: pa.Array, _: pa.DataType) -> pa.Array:
    words = pc.utf8_lower(pc.utf8_trim_whitespace(values))
    true = pc.is_in(words, value_set=pa.array(_TRUE))
    return _nulled(true, pc.or_(true, pc.is_in(words, value_set=pa.array(_FALSE))))


def _text_to_float(values: pa.Array, type_: pa.DataType) -> pa.Array:
    return number_text.parse_doubles(values).cast(type_, safe=False)


def _text_to_timestamp(values: pa.Array, _: pa.DataType) -> pa.Array:
    return datetime_text.parse_timestamps(values)


def _text_to_date(values: pa.Array, _: pa.DataType) -> pa.Array:
    return datetime_text.parse_dates(values)


def _seconds_to_timestamp(values: pa.Array, type_: pa.DataType) -> pa.Array:
    """Whole seconds beyond the last timestamp become the last one, as in Spark."""
    if pt.is_integer(values.type):
        most = (2**63 - 1) // _SECOND
        seconds = np.clip(np.asarray(values.cast(pa.int64()).fill_null(0)), -most, most)
        return _nulled(pa.array(seconds * _SECOND), values.is_valid()).cast(type_)
    micros = pc.trunc(pc.multiply(values.cast(pa.float64()), float(_SECOND)))
    return _nulled(micros, pc.less(pc.abs(micros), 2.0**63)).cast(pa.int64()).cast(type_)


def _date_to_timestamp(values: pa.Array, type_: pa.DataType) -> pa.Array:
    days = values.cast(pa.int32()).cast(pa.int64())
    most = (2**63 - 1) // _DAY
    known = _nulled(days, pc.less_equal(pc.abs(days), pa.scalar(most)))
    return pc.multiply(known, _DAY).cast(type_)


def _timestamp_to_number(values: pa.Array, type_: pa.DataType) -> pa.Array:
    micros = values.cast(pa.int64())
    if pt.is_floating(type_):
        return pc.divide(micros.cast(pa.float64()), float(_SECOND)).cast(type_)
    seconds = np.asarray(micros.fill_null(0)) // _SECOND  # Arrow's division truncates
    return _narrowed(_nulled(pa.array(seconds), micros.is_valid()), type_)


def _timestamp_to_date(values: pa.Array, type_: pa.DataType) -> pa.Array:
    return pc.floor_temporal(values, unit="day").cast(type_)


def _timestamp_to_text(values: pa.Array, type_: pa.DataType) -> pa.Array:
    text = values.cast(pa.timestamp("us")).cast(type_)
    return pc.utf8_rtrim(pc.utf8_rtrim(text, "0"), ".")


def _float_to_text(values: pa.Array, _: pa.DataType) -> pa.Array:
    return number_text.format_floats(values)


def _bytes_to_text(values: pa.Array, type_: pa.DataType) -> pa.Array:
    """Bytes that are not UTF-8 become U+FFFD: Arrow text must be valid."""
    try:
        return values.cast(type_)
    except pa.ArrowInvalid:  # rare, so per value
        each = [None if v is None else v.decode(errors="replace") for v in values.to_pylist()]
        return pa.array(each, type_)


def _nulled(values: pa.Array, keep: pa.Array) -> pa.Array:
    return pc.if_else(keep, values, pa.scalar(None, values.type))


TypeTest = Callable[[pa.DataType], bool]
_RULES: Final[tuple[tuple[TypeTest, TypeTest, Callable[[pa.Array, pa.DataType], Any]], ...]] = (
    (pt.is_integer, pt.is_integer, _narrowed),
    (pt.is_integer, pt.is_boolean, _is_not_zero),
    (pt.is_floating, pt.is_boolean, _is_not_zero),
    (pt.is_decimal, pt.is_boolean, _is_not_zero),
    (pt.is_floating, pt.is_integer, _float_to_integer),
    (pt.is_decimal, pt.is_integer, _decimal_to_integer),
    (pt.is_string, pt.is_boolean, _text_to_bool),
    (pt.is_string, pt.is_integer, _text_to_integer),
    (pt.is_string, pt.is_floating, _text_to_float),
    (pt.is_string, pt.is_timestamp, _text_to_timestamp),
    (pt.is_string, pt.is_date, _text_to_date),
    (pt.is_null, pt.is_decimal, lambda values, type_: values.cast(type_)),
    (lambda _: True, pt.is_decimal, _to_decimal),
    (pt.is_integer, pt.is_timestamp, _seconds_to_timestamp),
    (pt.is_floating, pt.is_timestamp, _seconds_to_timestamp),
    (pt.is_decimal, pt.is_timestamp, _seconds_to_timestamp),
    (pt.is_date, pt.is_timestamp, _date_to_timestamp),
    (pt.is_timestamp, pt.is_integer, _timestamp_to_number),
    (pt.is_timestamp, pt.is_floating, _timestamp_to_number),
    (pt.is_timestamp, pt.is_date, _timestamp_to_date),
    (pt.is_timestamp, pt.is_string, _timestamp_to_text),
    (pt.is_floating, pt.is_string, _float_to_text),
    (pt.is_binary, pt.is_string, _bytes_to_text),
)
