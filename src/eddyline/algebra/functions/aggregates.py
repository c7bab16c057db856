"""The aggregate functions of GROUP BY: one record each. What they compute is registered by the same
name in ``runtime/aggregates``.

Functions *over parts* are computed where the rows of a group are in several places: one over each
part of the rows, and one that merges what these gave. SQL does not know them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Aggregate, Expr
from eddyline.algebra.functions.coercion import cast, is_number, kind
from eddyline.errors import SqlError, UnsupportedError, did_you_mean
from eddyline.types import WIDE_INTEGER, sql_type

#: An aggregate's name and argument to the argument in the type of the computation.
ArgumentRule = Callable[[str, Expr], Expr]


@dataclass(frozen=True, slots=True)
class OverParts:
    """How an aggregate is computed where the rows of a group are in several places.

    Attributes:
        partial: the function over the rows of a part. merged: the one over the parts' values, which
            gives exactly what the aggregate over all rows is.
    """

    partial: str
    merged: str


@dataclass(frozen=True, slots=True)
class AggregateFunction:
    """An aggregate function.

    Attributes:
        name: canonical name, lower case.
        help: one sentence on what it computes.
        argument: checks and casts the argument.
        over_parts: how it is computed from parts of the rows (with DISTINCT: ``algebra/parts.py``).
        aliases: other names.
        result: type of the result; None: that of the cast argument.
        star: whether ``name(*)`` counts rows.
        distinct: what DISTINCT means: it is ``computed``, has no ``effect``, or is ``refused``.
        state_bytes: memory per group, for estimates.
    """

    name: str
    help: str
    argument: ArgumentRule
    over_parts: OverParts
    aliases: tuple[str, ...] = ()
    result: pa.DataType | None = None
    star: bool = False
    distinct: Literal["computed", "no effect", "refused"] = "refused"
    state_bytes: int = 24

    @property
    def forms(self) -> tuple[str, ...]:
        """The ways to write it, for documentation."""
        distinct = "[DISTINCT] " if self.distinct == "computed" else ""
        value = f"{self.name}({distinct}value)"
        return (f"{self.name}(*)", value) if self.star else (value,)


def _any(name: str, argument: Expr) -> Expr:
    return argument


def _ordered(name: str, argument: Expr) -> Expr:
    type_ = argument.type
    if kind(type_) not in _ORDERED and not pt.is_null(type_):
        raise SqlError(f"{name} needs ordered values, not {sql_type(type_)}")
    return argument


def _double(name: str, argument: Expr) -> Expr:
    type_ = argument.type
    if not is_number(type_) and not pt.is_null(type_):
        raise SqlError(f"{name} needs numbers, not {sql_type(type_)}; CAST the argument")
    return cast(argument, pa.float64())


def _bigint_or_double(name: str, argument: Expr) -> Expr:
    if kind(argument.type) == "decimal":
        raise UnsupportedError("sum of DECIMAL is not supported; CAST to DOUBLE or BIGINT")
    is_integer = kind(argument.type) == "integer"
    return cast(argument, pa.int64()) if is_integer else _double(name, argument)


_ORDERED: Final = ("integer", "float", "decimal", "string", "date", "timestamp", "bool", "duration")
_FUNCTIONS: Final = (
    AggregateFunction(
        "count",
        "Number of rows, of values that are not NULL, or (DISTINCT) of distinct values.",
        _any,
        OverParts("count", "merged_count"),
        result=pa.int64(),
        star=True,
        distinct="computed",
    ),
    AggregateFunction(
        "sum",
        "Sum of the values that are not NULL: BIGINT of integers, DOUBLE of floats.",
        _bigint_or_double,
        OverParts("partial_sum", "merged_sum"),
    ),
    AggregateFunction(
        "try_sum",
        "The same; NULL where the sum of integers does not fit BIGINT.",
        _bigint_or_double,
        OverParts("partial_sum", "merged_try_sum"),
    ),
    AggregateFunction(
        "avg",
        "Mean of the values that are not NULL, a DOUBLE.",
        _double,
        OverParts("partial_sum", "merged_avg"),
        ("mean", "try_avg"),
    ),
    AggregateFunction(
        "min",
        "Smallest value that is not NULL.",
        _ordered,
        OverParts("min", "min"),
        distinct="no effect",
    ),
    AggregateFunction(
        "max",
        "Largest value that is not NULL.",
        _ordered,
        OverParts("max", "max"),
        distinct="no effect",
    ),
    AggregateFunction(
        "stddev",
        "Sample standard deviation, a DOUBLE; NULL for fewer than two values.",
        _double,
        OverParts("partial_stddev", "merged_stddev"),
        ("stddev_samp", "std"),
    ),
)

#: The aggregate functions by canonical name.
AGGREGATES: Final = {f.name: f for f in _FUNCTIONS}
#: Functions over parts that are no aggregate functions of SQL, with the memory that they need per
#: group in bytes, for estimates.
FUNCTIONS_OVER_PARTS: Final = {
    "partial_sum": 980,
    "partial_stddev": 2788,
    "merged_count": 16,
    "merged_sum": 660,
    "merged_try_sum": 660,
    "merged_avg": 660,
    "merged_stddev": 1840,
}
_BY_NAME: Final = {name: f for f in _FUNCTIONS for name in (f.name, *f.aliases)}


def is_aggregate_name(name: str) -> bool:
    """Whether a name, in any case, is one of an aggregate function."""
    return name.lower() in _BY_NAME


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
    function = _BY_NAME.get(name.lower())
    if function is None:
        raise SqlError(f"there is no aggregate {name}; {did_you_mean(name.lower(), AGGREGATES)}")
    if where is not None:
        if kind(where.type) not in ("bool", "null"):
            raise SqlError(f"FILTER (WHERE ...) must be a condition, not {sql_type(where.type)}")
        where = cast(where, pa.bool_())
    name = function.name
    if argument is None:
        if not function.star or distinct:
            raise SqlError(
                f"{name}(*) is not an aggregate; only {_those('star')}(*) takes the star"
            )
        return Aggregate(name, None, pa.int64(), where=where)
    if distinct and function.distinct == "refused":
        only = f"{_those('distinct')}(DISTINCT ...)"
        raise UnsupportedError(f"{name}(DISTINCT ...) is not supported; only {only} is")
    argument = function.argument(name, argument)
    type_ = argument.type if function.result is None else function.result
    return Aggregate(name, argument, type_, distinct and function.distinct == "computed", where)


def partial_aggregate(aggregate: Aggregate, value: Expr | None) -> Aggregate:
    """The aggregate over the rows of a part.

    Args:
        aggregate: over all rows, without DISTINCT.
        value: that of the aggregate, over the rows of the part.
    """
    function = AGGREGATES[aggregate.function].over_parts.partial
    type_ = aggregate.type
    if function in ("partial_sum", "partial_stddev"):
        assert value is not None, "sums have one"
        type_ = WIDE_INTEGER if pt.is_integer(value.type) else pa.binary()
    return Aggregate(function, value, type_)


def merged_aggregate(aggregate: Aggregate, part: Expr) -> Aggregate:
    """The aggregate from parts of the rows.

    Args:
        aggregate: over all rows.
        part: what the partial aggregate gave; with DISTINCT: values that the parts have.
    """
    if aggregate.distinct:
        return Aggregate(aggregate.function, part, aggregate.type, distinct=True)
    return Aggregate(AGGREGATES[aggregate.function].over_parts.merged, part, aggregate.type)


def state_bytes(function: str) -> int:
    """Memory per group of an aggregate function, or of one over parts, for estimates."""
    known = AGGREGATES.get(function)
    return FUNCTIONS_OVER_PARTS[function] if known is None else known.state_bytes


def _those(what: Literal["star", "distinct"]) -> str:
    """The names of the functions that take the star or DISTINCT."""
    found = (f for f in _FUNCTIONS if (f.star if what == "star" else f.distinct == "computed"))
    return ", ".join(f.name.upper() for f in found)
