"""The aggregate functions of GROUP BY: one record each. What they compute is registered by the same
name in ``runtime/aggregates``. Those that are expressions over these are in
``composed_aggregates.py``.

Functions *over parts* are computed where the rows of a group are in several places: one over each
part of the rows, and one that merges what these gave. SQL does not know them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Aggregate, Expr
from eddyline.algebra.functions.aggregate_arguments import (
    anything,
    averaged,
    double,
    doubles,
    integers,
    mean_type,
    ordered,
    sum_type,
    summed,
)
from eddyline.algebra.functions.coercion import cast, kind
from eddyline.errors import SqlError, UnsupportedError, did_you_mean
from eddyline.types import WIDE_INTEGER, sql_type

#: An aggregate's name and arguments to the argument in the type of the computation.
ArgumentRule = Callable[..., Expr]


def _same(type_: pa.DataType) -> pa.DataType:
    return type_


def _always(type_: pa.DataType) -> Callable[[pa.DataType], pa.DataType]:
    return lambda _: type_


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
        argument: checks and casts the argument, or makes a pair of two.
        over_parts: how it is computed from parts of the rows (with DISTINCT: ``algebra/parts.py``).
        aliases: other names.
        result: type of the result, given that of the cast argument.
        star: whether ``name(*)`` counts rows.
        distinct: what DISTINCT means: it is ``computed``, has no ``effect``, or is ``refused``.
        state_bytes: memory per group, for estimates.
        values: the names of its arguments.
    """

    name: str
    help: str
    argument: ArgumentRule
    over_parts: OverParts
    aliases: tuple[str, ...] = ()
    result: Callable[[pa.DataType], pa.DataType] = _same
    star: bool = False
    distinct: Literal["computed", "no effect", "refused"] = "refused"
    state_bytes: int = 24
    values: tuple[str, ...] = ("value",)

    @property
    def forms(self) -> tuple[str, ...]:
        """The ways to write it, for documentation."""
        distinct = "[DISTINCT] " if self.distinct == "computed" else ""
        value = f"{self.name}({distinct}{', '.join(self.values)})"
        return (f"{self.name}(*)", value) if self.star else (value,)


def _spread(name: str, help_: str, *aliases: str) -> AggregateFunction:
    over_parts = OverParts("partial_stddev", f"merged_{name}")
    return AggregateFunction(name, help_, double, over_parts, aliases, distinct="computed")


def _of_pairs(name: str, help_: str) -> AggregateFunction:
    partial = "partial_covar" if name.startswith("covar") else "partial_regr"
    return AggregateFunction(
        name,
        help_,
        doubles,
        OverParts(partial, f"merged_{name}"),
        result=_always(pa.float64()),
        state_bytes=2448 if partial == "partial_covar" else 4848,
        values=("y", "x"),
    )


def _bits(name: str, help_: str) -> AggregateFunction:
    size = 17 if name == "bit_xor" else 529
    over_parts = OverParts(name, name)
    return AggregateFunction(name, help_, integers, over_parts, state_bytes=size)


_FUNCTIONS: Final = (
    AggregateFunction(
        "count",
        "Number of rows, of values that are not NULL, or (DISTINCT) of distinct values. "
        "count(DISTINCT a, b) counts distinct pairs without a NULL.",
        anything,
        OverParts("count", "merged_count"),
        result=_always(pa.int64()),
        star=True,
        distinct="computed",
    ),
    AggregateFunction(
        "sum",
        "Sum of the values that are not NULL: BIGINT of integers, DOUBLE of floats, of "
        "DECIMAL(p, s) a DECIMAL(p + 10, s) of at most 38 digits, of INTERVAL an INTERVAL.",
        summed,
        OverParts("partial_sum", "merged_sum"),
        result=sum_type,
        distinct="computed",
    ),
    AggregateFunction(
        "try_sum",
        "The same; NULL where the sum does not fit its type.",
        summed,
        OverParts("partial_sum", "merged_try_sum"),
        result=sum_type,
        distinct="computed",
    ),
    AggregateFunction(
        "avg",
        "Mean of the values that are not NULL, a DOUBLE; of DECIMAL(p, s) a DECIMAL(p + 4, s + 4) "
        "of at most 38 digits, of INTERVAL an INTERVAL, rounded to the nearest.",
        averaged,
        OverParts("partial_sum", "merged_avg"),
        ("mean",),
        result=mean_type,
        distinct="computed",
    ),
    AggregateFunction(
        "try_avg",
        "The same; NULL where the mean does not fit its type.",
        averaged,
        OverParts("partial_sum", "merged_try_avg"),
        result=mean_type,
        distinct="computed",
    ),
    AggregateFunction(
        "min",
        "Smallest value that is not NULL.",
        ordered,
        OverParts("min", "min"),
        distinct="no effect",
    ),
    AggregateFunction(
        "max",
        "Largest value that is not NULL.",
        ordered,
        OverParts("max", "max"),
        distinct="no effect",
    ),
    _spread(
        "stddev",
        "Sample standard deviation, a DOUBLE; NULL for fewer than two values.",
        *("stddev_samp", "std"),
    ),
    _spread("stddev_pop", "Standard deviation of the values, a DOUBLE.", "stdevp"),
    _spread(
        "variance",
        "Sample variance, a DOUBLE; NULL for fewer than two values.",
        *("var_samp", "var"),
    ),
    _spread("var_pop", "Variance of the values, a DOUBLE.", "varp"),
    _of_pairs("covar_samp", "Sample covariance of the pairs without a NULL."),
    _of_pairs("covar_pop", "Covariance of the pairs without a NULL."),
    _of_pairs("corr", "Correlation of the pairs; NULL if y or x are all equal."),
    _of_pairs("regr_slope", "Slope of the line through the pairs by least squares."),
    _of_pairs("regr_intercept", "Where that line meets x = 0."),
    _of_pairs("regr_r2", "The square of the correlation; 1 if y are all equal, NULL if x are."),
    _of_pairs("regr_sxy", "Sum of the products of y and x, each minus its mean."),
    _bits("bit_and", "The bits that all integers have."),
    _bits("bit_or", "The bits that an integer has."),
    _bits("bit_xor", "The bits that an odd number of integers has."),
)

_SUMS: Final = ("sum", "try_sum", "avg", "try_avg")
#: The aggregate functions by canonical name.
AGGREGATES: Final = {f.name: f for f in _FUNCTIONS}
#: Functions of all values of a group, which composed aggregates use, with the memory per group in
#: bytes. Over parts they are ``merged_``, over pairs of a value and the number of its rows.
OF_VALUES: Final = dict.fromkeys(
    (
        *("percentile_between", "percentile_value", "most_frequent", "nth_in_order"),
        *("sorted_list", "value_counts"),
    ),
    24,
)
#: Functions over parts that are no aggregate functions of SQL, with the memory that they need per
#: group in bytes, for estimates.
FUNCTIONS_OVER_PARTS: Final = {
    "partial_sum": 980,
    "partial_stddev": 2788,
    "partial_covar": 3700,
    "partial_regr": 7300,
    "merged_count": 16,
    **dict.fromkeys(("merged_sum", "merged_try_sum", "merged_avg", "merged_try_avg"), 660),
    **{
        f.over_parts.merged: 1840 if f.over_parts.partial == "partial_stddev" else f.state_bytes
        for f in _FUNCTIONS
        if f.over_parts.partial in ("partial_stddev", "partial_covar", "partial_regr")
    },
    **{f"merged_{name}": size for name, size in OF_VALUES.items()},
}
_BY_NAME: Final = {name: f for f in _FUNCTIONS for name in (f.name, *f.aliases)}


def is_base_aggregate(name: str) -> bool:
    """Whether a name, in any case, is one of a function of this module."""
    return name.lower() in _BY_NAME


def condition_of(where: Expr) -> Expr:
    """The condition of a FILTER.

    Raises:
        SqlError: it is none.
    """
    if kind(where.type) not in ("bool", "null"):
        raise SqlError(f"FILTER (WHERE ...) must be a condition, not {sql_type(where.type)}")
    return cast(where, pa.bool_())


def base_aggregate(
    name: str,
    arguments: Sequence[Expr] | None,
    distinct: bool = False,
    where: Expr | None = None,
) -> Aggregate:
    """The typed aggregate; its argument is cast to the type of the computation.

    Args:
        name: an aggregate's name, in any case.
        arguments: the aggregated expressions; None for COUNT(*).
        distinct: whether equal values count once.
        where: the FILTER (WHERE ...) condition.

    Raises:
        SqlError: the name is unknown, or the arguments do not fit; without a position.
        UnsupportedError: DISTINCT where it is not supported.
    """
    function = _BY_NAME.get(name.lower())
    if function is None:
        raise SqlError(f"there is no aggregate {name}; {did_you_mean(name.lower(), AGGREGATES)}")
    where = None if where is None else condition_of(where)
    name = function.name
    if arguments is None:
        if not function.star or distinct:
            raise SqlError(
                f"{name}(*) is not an aggregate; only {_those('star')}(*) takes the star"
            )
        return Aggregate(name, None, pa.int64(), where=where)
    if distinct and function.distinct == "refused":
        only = ", ".join(f"{n}(DISTINCT x)" for n in _those("distinct").split(", "))
        raise UnsupportedError(f"{name}(DISTINCT ...) is not supported; these are: {only}")
    if len(arguments) != len(function.values):
        given, forms = len(arguments), " or ".join(function.forms)
        wanted = {1: "one argument", 2: "two arguments"}[len(function.values)]
        raise SqlError(f"{name} takes {wanted}, not {given}: {forms}")
    argument = function.argument(name, *arguments)
    if name == "try_avg" and pt.is_floating(argument.type):  # a mean of floats always fits
        name = "avg"
    type_ = function.result(argument.type)
    return Aggregate(name, argument, type_, distinct and function.distinct == "computed", where)


def partial_aggregate(aggregate: Aggregate, value: Expr | None) -> Aggregate:
    """The aggregate over the rows of a part.

    Args:
        aggregate: over all rows, without DISTINCT.
        value: that of the aggregate, over the rows of the part.
    """
    function = AGGREGATES[aggregate.function].over_parts.partial
    type_ = aggregate.type
    if function.startswith("partial_"):
        assert value is not None, "sums have one"
        type_ = WIDE_INTEGER if pt.is_integer(value.type) else pa.binary()
    return Aggregate(function, value, type_)


def is_by_value(aggregate: Aggregate) -> bool:
    """Whether the parts of an aggregate are the values that each place has."""
    return aggregate.distinct or aggregate.function in OF_VALUES


def counts_values(aggregate: Aggregate) -> bool:
    """Whether an aggregate by value needs to know how many rows have each."""
    return aggregate.function in OF_VALUES and not aggregate.distinct


def merged_aggregate(aggregate: Aggregate, part: Expr) -> Aggregate:
    """The aggregate from parts of the rows.

    Args:
        aggregate: over all rows.
        part: what the partial aggregate gave; of aggregates by value: values that the parts have,
            with the number of their rows where these count.
    """
    function, type_, parameters = aggregate.function, aggregate.type, aggregate.parameters
    if aggregate.distinct:
        return Aggregate(function, part, type_, distinct=True, parameters=parameters)
    if function in OF_VALUES:
        return Aggregate(f"merged_{function}", part, type_, parameters=parameters)
    merged = AGGREGATES[function].over_parts.merged
    return Aggregate(merged, part, type_, parameters=_of_merged(aggregate))


def _of_merged(aggregate: Aggregate) -> tuple[Any, ...]:
    """Constants of the merger: of sums of decimals the scale of the values."""
    value, type_ = aggregate.argument, aggregate.type
    if aggregate.function not in _SUMS or value is None or pt.is_floating(type_):
        return ()
    if not (pt.is_decimal(type_) or pt.is_duration(type_)):
        return ()
    return (value.type.scale if pt.is_decimal(type_) else 0,)


def state_bytes(function: str) -> int:
    """Memory per group of an aggregate function, or of one over parts, for estimates."""
    known = AGGREGATES.get(function)
    if known is not None:
        return known.state_bytes
    return (OF_VALUES | FUNCTIONS_OVER_PARTS)[function]


def _those(what: Literal["star", "distinct"]) -> str:
    """The names of the functions that take the star or DISTINCT."""
    found = (f for f in _FUNCTIONS if (f.star if what == "star" else f.distinct == "computed"))
    return ", ".join(f.name.upper() for f in found)
