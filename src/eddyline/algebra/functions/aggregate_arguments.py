"""Which arguments aggregate functions take, and of which type their results are, as in Spark."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Expr, pair
from eddyline.algebra.functions.coercion import MAX_PRECISION, cast, is_number, kind
from eddyline.errors import SqlError
from eddyline.types import sql_type

_ORDERED: Final = ("integer", "float", "decimal", "string", "date", "timestamp", "bool", "duration")
#: Decimals of at most this precision are compared by 64 bits.
NARROW_DIGITS: Final = 18


def anything(name: str, argument: Expr) -> Expr:
    """Any argument."""
    return argument


def ordered(name: str, argument: Expr) -> Expr:
    """Values that have an order.

    Raises:
        SqlError: they have none.
    """
    type_ = argument.type
    if kind(type_) not in (*_ORDERED, "binary") and not pt.is_null(type_):
        raise SqlError(f"{name} needs ordered values, not {sql_type(type_)}")
    return argument


def double(name: str, argument: Expr) -> Expr:
    """Numbers, as DOUBLE.

    Raises:
        SqlError: they are none.
    """
    type_ = argument.type
    if not is_number(type_) and not pt.is_null(type_):
        raise SqlError(f"{name} needs numbers, not {sql_type(type_)}; CAST the argument")
    return cast(argument, pa.float64())


def summed(name: str, argument: Expr) -> Expr:
    """What SUM adds: BIGINT, DOUBLE, DECIMAL or INTERVAL."""
    if kind(argument.type) in ("decimal", "duration"):
        return argument
    is_integer = kind(argument.type) == "integer"
    return cast(argument, pa.int64()) if is_integer else double(name, argument)


def averaged(name: str, argument: Expr) -> Expr:
    """What AVG adds: DOUBLE, DECIMAL or INTERVAL."""
    return argument if kind(argument.type) in ("decimal", "duration") else double(name, argument)


def integers(name: str, argument: Expr) -> Expr:
    """Integers.

    Raises:
        SqlError: they are none.
    """
    if kind(argument.type) != "integer":
        raise SqlError(f"{name} needs integers, not {sql_type(argument.type)}; CAST the argument")
    return argument


def doubles(name: str, first: Expr, second: Expr) -> Expr:
    """Pairs of numbers, as DOUBLE."""
    return pair(double(name, first), double(name, second))


def sum_type(type_: pa.DataType) -> pa.DataType:
    """Of a SUM of values of a type: of decimals one with ten more digits, if there are."""
    if not pt.is_decimal(type_):
        return type_
    return pa.decimal128(min(type_.precision + 10, MAX_PRECISION), type_.scale)


def mean_type(type_: pa.DataType) -> pa.DataType:
    """Of an AVG of values of a type: of decimals one with four more digits, if there are."""
    if not pt.is_decimal(type_):
        return type_
    digits, scale = (min(n + 4, MAX_PRECISION) for n in (type_.precision, type_.scale))
    return pa.decimal128(digits, scale)
