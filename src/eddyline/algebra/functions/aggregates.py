"""Typing rules of the aggregates of GROUP BY."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Aggregate, Expr
from eddyline.algebra.functions.coercion import cast, is_number, kind
from eddyline.errors import SqlError, UnsupportedError, did_you_mean
from eddyline.types import sql_type

#: Canonical names, and the values that they compute.
AGGREGATES: Final[dict[str, str]] = {
    "count": "Number of rows, of values that are not NULL, or (DISTINCT) of distinct values.",
    "sum": "Sum of the values that are not NULL: BIGINT of integers, DOUBLE of floats.",
    "try_sum": "The same; NULL where the sum of integers does not fit BIGINT.",
    "avg": "Mean of the values that are not NULL, a DOUBLE.",
    "min": "Smallest value that is not NULL.",
    "max": "Largest value that is not NULL.",
    "stddev": "Sample standard deviation, a DOUBLE; NULL for fewer than two values.",
}

ALIASES: Final = {"mean": "avg", "try_avg": "avg", "stddev_samp": "stddev", "std": "stddev"}

_ORDERED: Final = ("integer", "float", "decimal", "string", "date", "timestamp", "bool", "duration")


def resolve_aggregate(
    name: str, argument: Expr | None, distinct: bool = False, where: Expr | None = None
) -> Aggregate:
    """The typed aggregate; its argument is cast to the type of the computation.

    Args:
        name: an aggregate's name, in any case.
        argument: the aggregated expression; None for COUNT(*).
        distinct: whether equal values count once.
        where: the FILTER (WHERE ...) condition.

    Raises:
        SqlError: the name is unknown, or the argument does not fit; without a position.
        UnsupportedError: DISTINCT where it is not supported.
    """
    key = ALIASES.get(name.lower(), name.lower())
    if key not in AGGREGATES:
        raise SqlError(f"there is no aggregate {name}; {did_you_mean(key, AGGREGATES)}")
    if where is not None:
        if kind(where.type) not in ("bool", "null"):
            raise SqlError(f"FILTER (WHERE ...) must be a condition, not {sql_type(where.type)}")
        where = cast(where, pa.bool_())
    if argument is None:
        if key != "count" or distinct:
            raise SqlError(f"{key}(*) is not an aggregate; only COUNT(*) takes the star")
        return Aggregate(key, None, pa.int64(), where=where)
    if key in ("min", "max"):
        distinct = False  # duplicates do not affect the extreme value
    if distinct and key != "count":
        raise UnsupportedError(f"{key}(DISTINCT ...) is not supported; only COUNT(DISTINCT ...) is")
    argument = _argument(key, argument)
    return Aggregate(key, argument, _result(key, argument.type), distinct, where)


def _argument(function: str, argument: Expr) -> Expr:
    """The argument, cast to the type of the computation."""
    type_ = argument.type
    if function == "count":
        return argument
    if function in ("min", "max"):
        if kind(type_) not in _ORDERED and not pt.is_null(type_):
            raise SqlError(f"{function} needs ordered values, not {sql_type(type_)}")
        return argument
    if not is_number(type_) and not pt.is_null(type_):
        raise SqlError(f"{function} needs numbers, not {sql_type(type_)}; CAST the argument")
    is_sum = function in ("sum", "try_sum")
    if is_sum and kind(type_) == "decimal":
        raise UnsupportedError("sum of DECIMAL is not supported; CAST to DOUBLE or BIGINT")
    if is_sum and kind(type_) == "integer":
        return cast(argument, pa.int64())
    return cast(argument, pa.float64())


def _result(function: str, argument: pa.DataType) -> pa.DataType:
    return pa.int64() if function == "count" else argument
