"""Arithmetic operators, of numbers and of timestamps, dates and intervals."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions.coercion import (
    MAX_PRECISION,
    as_decimal,
    cast,
    is_number,
    kind,
    literal,
    unify,
)
from eddyline.algebra.functions.registry import define, takes
from eddyline.algebra.slots import Slot
from eddyline.errors import SqlError
from eddyline.types import TIMESTAMP

_BIGINT, _DOUBLE = pa.int64(), pa.float64()
_INTERVAL = pa.duration("us")


@define(
    "Arithmetic",
    "+",
    ["number + number", "timestamp + interval", "date + days"],
    "Sum. An INTERVAL may have months; a day that a month does not have becomes its last.",
)
def _add(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2:
        return None
    left, right = args
    if kind(left.type) in ("duration", "integer") and kind(right.type) in ("timestamp", "date"):
        left, right = right, left  # one canonical order
    return _arithmetic("+", left, right) or _shifted("+", left, right)


@define(
    "Arithmetic",
    "-",
    ["number - number", "timestamp - interval", "timestamp - timestamp", "date - days", "- number"],
    "Difference; of two timestamps or dates, the INTERVAL between them.",
)
def _subtract(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) == 1:
        return _negative(args)
    if len(args) != 2:
        return None
    left, right = args
    plain = _arithmetic("-", left, right) or _shifted("-", left, right)
    if plain is None and {kind(left.type), kind(right.type)} <= {"timestamp", "date"}:
        return Call(_INTERVAL, "-", (cast(left, TIMESTAMP), cast(right, TIMESTAMP)))
    return plain


@define("Arithmetic", "*", ["number * number", "interval * integer"], "Product.")
def _multiply(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2:
        return None
    left, right = args
    if kind(left.type) == "integer" and kind(right.type) == "duration":
        left, right = right, left
    if kind(left.type) == "duration" and kind(right.type) == "integer":
        return Call(_INTERVAL, "*", (left, cast(right, _BIGINT)))
    return _arithmetic("*", left, right)


@define(
    "Arithmetic",
    "/",
    ["number / number", "interval / integer"],
    "Quotient as a DOUBLE.",
)
def _divide(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2:
        return None
    left, right = args
    if kind(left.type) == "duration" and kind(right.type) == "integer":
        return Call(_INTERVAL, "/", (left, cast(right, _BIGINT)))
    if not _numbers(left, right):
        return None
    _refuse_decimals("/", left, right)
    return Call(_DOUBLE, "/", (cast(left, _DOUBLE), cast(right, _DOUBLE)))


define(
    "Arithmetic",
    "div",
    "integer DIV integer",
    "Quotient without its fraction, a BIGINT.",
    takes("div", (_BIGINT, _BIGINT), _BIGINT),
)


@define(
    "Arithmetic",
    "% mod",
    ["number % number", "mod(number, number)"],
    "Remainder with the sign of the dividend.",
)
def _modulo(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 2 or not _numbers(*args):
        return None
    _refuse_decimals("%", *args)
    left, right = _number_pair(*args)
    return Call(left.type, "%", (left, right))


@define("Arithmetic", "negative", ["- number", "- interval"], "The number with the opposite sign.")
def _negative(args: tuple[Expr, ...]) -> Expr | None:
    if len(args) != 1 or not (
        is_number(args[0].type) or kind(args[0].type) in ("duration", "null")
    ):
        return None
    (arg,) = args
    if pt.is_null(arg.type):
        return cast(arg, _DOUBLE)
    if isinstance(arg, Slot):
        return arg.derived(_opposite)
    if isinstance(arg, Literal) and not arg.is_null:
        return _opposite(arg)
    return Call(arg.type, "negative", args)


def _opposite(constant: Literal) -> Literal:
    return literal(-constant.value, constant.type)


def _numbers(*args: Expr) -> bool:
    return all(is_number(a.type) or pt.is_null(a.type) for a in args)


def _number_pair(left: Expr, right: Expr) -> tuple[Expr, Expr]:
    left, right = unify((left, right))
    return (cast(left, _DOUBLE), cast(right, _DOUBLE)) if pt.is_null(left.type) else (left, right)


def _arithmetic(function: str, left: Expr, right: Expr) -> Expr | None:
    """``+ - *`` of numbers, or ``+ -`` of intervals."""
    if kind(left.type) == kind(right.type) == "duration" and function != "*":
        return Call(_INTERVAL, function, (left, right))
    if not _numbers(left, right):
        return None
    if {"decimal"} <= {kind(left.type), kind(right.type)} <= {"decimal", "integer"}:
        return _decimal_arithmetic(function, left, right)
    left, right = _number_pair(left, right)
    return Call(left.type, function, (left, right))


def _decimal_arithmetic(function: str, left: Expr, right: Expr) -> Expr:
    """Exact arithmetic: the result type holds every result, else the expression is refused."""
    a, b = as_decimal(left.type), as_decimal(right.type)
    if function == "*":
        precision, scale = a.precision + b.precision + 1, a.scale + b.scale
    else:
        scale = max(a.scale, b.scale)
        precision = max(a.precision - a.scale, b.precision - b.scale) + scale + 1
    if precision > MAX_PRECISION:
        raise SqlError(
            f"the result of {function} would need DECIMAL({precision},{scale}), more than "
            f"{MAX_PRECISION} digits; CAST to a narrower DECIMAL or to DOUBLE"
        )
    return Call(pa.decimal128(precision, scale), function, (cast(left, a), cast(right, b)))


def _refuse_decimals(function: str, *args: Expr) -> None:
    exact = [a for a in args if kind(a.type) == "decimal"]
    if exact and not any(kind(a.type) == "float" for a in args):
        raise SqlError(f"{function} is not exact on DECIMAL; CAST {exact[0]} to DOUBLE")


def _shifted(function: str, left: Expr, right: Expr) -> Expr | None:
    """A date or timestamp plus or minus an interval, or a date plus or minus a number of days."""
    if kind(left.type) in ("timestamp", "date") and kind(right.type) == "duration":
        return Call(TIMESTAMP, function, (cast(left, TIMESTAMP), right))
    if kind(left.type) == "date" and kind(right.type) == "integer":
        days = cast(right, _BIGINT)
        return Call(left.type, "date_add", (left, days if function == "+" else _minus(days)))
    return None


def _minus(expr: Expr) -> Expr:
    negative = _negative((expr,))
    assert negative is not None
    return negative
