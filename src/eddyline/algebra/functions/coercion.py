"""Type conversions: common types, explicit and implicit casts, folding of literal casts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import partial, reduce
from typing import Any, Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions.conversion import can_fail, convert, failed
from eddyline.algebra.functions.nested_conversion import parts_of
from eddyline.algebra.slots import Slot
from eddyline.errors import SqlError
from eddyline.types import TIMESTAMP, sql_type

INTEGERS: Final = (pa.int8(), pa.int16(), pa.int32(), pa.int64())
#: Decimal digits that hold every value of an integer type.
_DIGITS: Final = dict(zip(INTEGERS, (3, 5, 10, 20), strict=True))
MAX_PRECISION: Final = 38
#: Types of Python whose values are those of a type of SQL.
_AS_THEY_ARE: Final = {
    bool: pa.bool_(),
    float: pa.float64(),
    timedelta: pa.duration("us"),
    str: pa.string(),
    int: pa.int64(),
}
_INT64_LIMIT: Final = 1 << 63
_DOUBLE: Final = pa.float64()
_BIGINT: Final = pa.int64()

_CASTS: Final[dict[str, str]] = {
    "null": "bool integer float decimal string binary date timestamp duration nested",
    "bool": "bool integer float decimal string",
    "integer": "bool integer float decimal string timestamp",
    "float": "bool integer float decimal string timestamp",
    "decimal": "bool integer float decimal string timestamp",
    "string": "bool integer float decimal string binary date timestamp",
    "binary": "binary string",
    "date": "date timestamp string",
    "timestamp": "timestamp date string integer float",
    "duration": "duration",
    "nested": "string",
}


def kind(type_: pa.DataType) -> str:
    """The family of a type: a key of the cast table, or ``other``."""
    for name, test in _KINDS:
        if test(type_):
            return name
    return "other"


_KINDS: Final = (
    ("integer", pt.is_signed_integer),
    ("float", pt.is_floating),
    ("string", pt.is_string),
    ("bool", pt.is_boolean),
    ("timestamp", pt.is_timestamp),
    ("date", pt.is_date),
    ("duration", pt.is_duration),
    ("decimal", pt.is_decimal),
    ("binary", pt.is_binary),
    ("null", pt.is_null),
    ("nested", pt.is_nested),
)


def is_number(type_: pa.DataType) -> bool:
    """Whether a type is an integer, float or decimal."""
    return kind(type_) in ("integer", "float", "decimal")


def literal(value: Any, type_: pa.DataType) -> Literal:
    """A constant whose value has its type's Python form, so that equal constants are equal.

    >>> import pyarrow as pa
    >>> literal(1, pa.float64()).value
    1.0
    """
    if type_ == _AS_THEY_ARE.get(type(value)) and _is_certainly_valid(value):
        return Literal(type_, value)
    return Literal(type_, pa.scalar(value, type_).as_py())


def _is_certainly_valid(value: Any) -> bool:
    """Whether Arrow need not check it: a text may be no UTF-8, an integer too large."""
    if type(value) is str:
        return value.isascii()
    return type(value) is not int or -_INT64_LIMIT <= value < _INT64_LIMIT


def common_type(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    """The type to which values of both types convert implicitly.

    Raises:
        SqlError: there is none (for example for text and numbers).
    """
    common = _common(a, b)
    if common is None:
        types = f"{sql_type(a)} and {sql_type(b)}"
        raise SqlError(f"{types} have no common type; CAST one of them to the other")
    return common


def unify(args: Sequence[Expr]) -> tuple[Expr, ...]:
    """The arguments cast to their common type; text literals may become dates or timestamps.

    Raises:
        SqlError: there is no common type, or a text literal is not a valid date or timestamp.
    """
    fixed = [a.type for a in args if not _is_text_literal(a)]
    target = reduce(common_type, fixed) if fixed else pa.string()
    if not pt.is_temporal(target) or pt.is_duration(target):
        target = reduce(common_type, (a.type for a in args))
    return tuple(_parsed(a, target) for a in args)


def with_element(args: Sequence[Expr]) -> tuple[Expr, Expr] | None:
    """A list and a value as a list of the common type of its elements and the value, and the value
    as that type; None if the arguments are others.

    Raises:
        SqlError: there is no common type.
    """
    if len(args) != 2 or not pt.is_list(args[0].type):
        return None
    list_, value = args
    if _is_text_literal(value) and pt.is_temporal(list_.type.value_type):
        value = _parsed(value, list_.type.value_type)
    type_ = common_type(list_.type.value_type, value.type)
    return cast(list_, pa.list_(type_)), cast(value, type_)


def cast(expr: Expr, type_: pa.DataType) -> Expr:
    """The expression converted to a type, as by an explicit CAST; literals are converted here.

    Raises:
        SqlError: the types cannot be converted, or the value of a literal cannot.
    """
    if expr.type == type_:
        return expr
    _require_castable(expr.type, type_)
    if isinstance(expr, Literal):
        constant = converted_constant(expr, type_)
        if constant is None:
            raise SqlError(f"{expr} is not a valid {sql_type(type_)}")
        return constant
    return Call(type_, "cast", (expr,))


def try_cast(expr: Expr, type_: pa.DataType) -> Expr:
    """The expression converted to a type, NULL where its value cannot be converted.

    Raises:
        SqlError: the types cannot be converted.
    """
    if expr.type == type_:
        return expr
    _require_castable(expr.type, type_)
    if any(
        pt.is_map(a) and can_fail(a.key_type, b.key_type) for a, b in _all_parts(expr.type, type_)
    ):
        raise SqlError(f"cannot TRY_CAST to {sql_type(type_)}: a key of a map cannot be NULL")
    if isinstance(expr, Literal):
        return converted_constant(expr, type_) or Literal(type_, None)
    return Call(type_, "try_cast" if can_fail(expr.type, type_) else "cast", (expr,))


def converted_constant(constant: Literal, type_: pa.DataType) -> Expr | None:
    """The constant as another type; None if its value cannot be converted."""
    if isinstance(constant, Slot):
        return constant.derived(partial(converted_constant, type_=type_))
    if pt.is_integer(constant.type) and type_ in (_BIGINT, _DOUBLE) and not constant.is_null:
        return Literal(type_, constant.value if pt.is_integer(type_) else float(constant.value))
    values = pa.array([constant.value], constant.type)
    result = convert(values, type_)
    if failed(values, result) is not None:
        return None
    try:
        return Literal(type_, result[0].as_py())
    except (OverflowError, ValueError):  # an instant outside the years of Python's datetime
        return Call(type_, "cast", (constant,))  # converted at evaluation


def _all_parts(
    source: pa.DataType, target: pa.DataType
) -> Iterator[tuple[pa.DataType, pa.DataType]]:
    """Both types, and those of their parts."""
    yield source, target
    for pair in parts_of(source, target):
        yield from _all_parts(*pair)


def _require_castable(source: pa.DataType, target: pa.DataType) -> None:
    parts = parts_of(source, target)
    for part in parts:
        _require_castable(*part)
    if parts or (pt.is_nested(source) and source == target):
        return
    targets = _CASTS.get(kind(source), "")
    if kind(target) not in targets.split():
        valid = ", ".join(targets.upper().split()) or "nothing"
        raise SqlError(
            f"cannot CAST {sql_type(source)} to {sql_type(target)}; it converts to: {valid}"
        )


def implicit(expr: Expr, type_: pa.DataType) -> Expr | None:
    """The expression as an argument of a parameter of this type; None if it needs a CAST.

    Implicit conversions: NULL to anything, integers to BIGINT, numbers to DOUBLE, DATE to
    TIMESTAMP, text literals to DATE or TIMESTAMP.
    """
    if expr.type == type_:
        return expr
    if _is_text_literal(expr) and kind(type_) in ("date", "timestamp"):
        return _parsed(expr, type_)
    if _common(expr.type, type_) == type_ or (is_number(expr.type) and type_ == pa.float64()):
        return cast(expr, type_)
    return None


def _common(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    if a == b or pt.is_null(b):
        return a
    if pt.is_null(a):
        return b
    kinds = {kind(a), kind(b)}
    if kinds == {"integer"}:
        return max(a, b, key=INTEGERS.index)
    if kinds <= {"integer", "decimal"}:
        return _common_decimal(as_decimal(a), as_decimal(b))
    if kinds <= {"integer", "float", "decimal"}:
        # FLOAT holds 24 bits: enough for SMALLINT, too few for INT (Spark's ANSI rule)
        small = {pa.int8(), pa.int16(), pa.float32()}
        return pa.float32() if {a, b} <= small else pa.float64()
    if kinds == {"date", "timestamp"}:
        return TIMESTAMP
    return _common_nested(a, b) if kinds == {"nested"} else None


def _common_nested(a: pa.DataType, b: pa.DataType) -> pa.DataType | None:
    """Of parts that have a common type; fields of structures have the same names."""
    common = [_common(*pair) for pair in parts_of(a, b)]
    if not common or any(c is None for c in common):
        return None
    if pt.is_list(a):
        return pa.list_(common[0])
    if pt.is_map(a):
        return pa.map_(*common)
    if any(f.name.lower() != g.name.lower() for f, g in zip(a, b, strict=True)):
        return None
    return pa.struct([(f.name, c) for f, c in zip(a, common, strict=True)])


def as_decimal(type_: pa.DataType) -> pa.DataType:
    """The decimal type that holds every value of an integer or decimal type."""
    return pa.decimal128(_DIGITS[type_], 0) if type_ in _DIGITS else type_


def _common_decimal(a: pa.DataType, b: pa.DataType) -> pa.DataType:
    scale = max(a.scale, b.scale)
    precision = max(a.precision - a.scale, b.precision - b.scale) + scale
    return pa.decimal128(precision, scale) if precision <= MAX_PRECISION else pa.float64()


def _is_text_literal(expr: Expr) -> bool:
    return isinstance(expr, Literal) and pt.is_string(expr.type) and not expr.is_null


def _parsed(expr: Expr, type_: pa.DataType) -> Expr:
    """The expression cast to the type, where a text literal must be a valid date or timestamp."""
    if isinstance(expr, Literal) and _is_text_literal(expr) and expr.type != type_:
        _require_castable(expr.type, type_)
        constant = converted_constant(expr, type_)
        if constant is None:
            raise SqlError(
                f"{expr} is not a valid {sql_type(type_)}; write it like '2026-01-31' or "
                "'2026-01-31 12:30:00.5Z'"
            )
        return constant
    return cast(expr, type_)
