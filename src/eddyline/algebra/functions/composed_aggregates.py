"""Aggregate functions over MIN, MAX, COUNT, SUM and sums of pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Call, Expr, Literal
from eddyline.algebra.functions.aggregate_requests import (
    Request,
    as_call,
    chosen_value,
    compose,
    time_order,
    uncomposed,
)
from eddyline.algebra.functions.aggregates import base_aggregate, condition_of
from eddyline.algebra.functions.coercion import cast, is_number, literal
from eddyline.algebra.functions.registry import resolve
from eddyline.algebra.functions.sort_keys import last_value, sort_key
from eddyline.algebra.orderings import Ordering
from eddyline.errors import SqlError
from eddyline.types import sql_type


def _condition(request: Request, value: Expr) -> Expr:
    if not (pt.is_boolean(value.type) or pt.is_null(value.type)):
        raise SqlError(f"{request.name} needs conditions, not {sql_type(value.type)}")
    return condition_of(value)


@compose(
    "bool_and every",
    "bool_and(condition)",
    "Whether the condition is true of all rows of which it is not NULL.",
    (1, 1),
)
def _bool_and(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    return request.base("min", _condition(request, arguments[0]))


@compose(
    "bool_or some any",
    "bool_or(condition)",
    "Whether the condition is true of a row.",
    (1, 1),
)
def _bool_or(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    return request.base("max", _condition(request, arguments[0]))


@compose(
    "count_if countif", "count_if(condition)", "Number of rows that meet the condition.", (1, 1)
)
def _count_if(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    where = request.accepting(_condition(request, arguments[0])).where
    return as_call(base_aggregate("count", None, where=where))


def _restricted(name: str) -> Callable[[Request, tuple[Expr, ...]], Expr]:
    def build(request: Request, arguments: tuple[Expr, ...]) -> Expr:
        value, condition = arguments
        return request.accepting(_condition(request, condition)).base(name, value)

    return build


compose("sum_if sumif", "sum_if(value, condition)", "Sum over rows that meet a condition.", (2, 2))(
    _restricted("sum")
)
compose(
    "avg_if avgif", "avg_if(value, condition)", "Mean over rows that meet a condition.", (2, 2)
)(_restricted("avg"))


@compose(
    "approx_count_distinct approx_distinct count_distinct countdistinct",
    ["approx_count_distinct(value)", "approx_count_distinct(value, error)"],
    "Number of distinct values that are not NULL, which is exact here.",
    (1, 2),
)
def _count_distinct(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    if len(arguments) == 2 and not isinstance(arguments[1], Literal):
        raise SqlError(f"{request.name} takes a constant as its error, not {arguments[1]}")
    return request.base("count", arguments[0], distinct=True)


@compose(
    "any_value arbitrary",
    "any_value(value)",
    "A value that is not NULL if there is one: the smallest one, the same in each run.",
    (1, 1),
    nulls=True,
)
def _any_value(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    return uncomposed(replace(request, name="min"))


def _pairs(request: Request, arguments: tuple[Expr, ...]) -> Request:
    return request.accepting(*(Call(pa.bool_(), "is_not_null", (a,)) for a in arguments))


@compose("regr_count", "regr_count(y, x)", "Number of pairs without a NULL.", (2, 2))
def _regr_count(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    return as_call(base_aggregate("count", None, where=_pairs(request, arguments).where))


@compose("regr_avgx", "regr_avgx(y, x)", "Mean of x, of the pairs without a NULL.", (2, 2))
def _regr_avgx(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    return _pairs(request, arguments).base("avg", arguments[1])


@compose("regr_avgy", "regr_avgy(y, x)", "Mean of y, of the pairs without a NULL.", (2, 2))
def _regr_avgy(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    return _pairs(request, arguments).base("avg", arguments[0])


@compose(
    "regr_sxx",
    "regr_sxx(y, x)",
    "Sum of the squares of x minus its mean, of the pairs without a NULL.",
    (2, 2),
)
def _regr_sxx(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    return _pairs(request, arguments).base("regr_sxy", arguments[1], arguments[1])


@compose("regr_syy", "regr_syy(y, x)", "The same of y.", (2, 2))
def _regr_syy(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    return _pairs(request, arguments).base("regr_sxy", arguments[0], arguments[0])


def _central(
    request: Request, value: Expr
) -> tuple[Expr, Callable[[Expr, Expr], Expr], Callable[[Expr, Expr], Expr]]:
    """A number as x, the product of two expressions, and the sum of the products of two values
    less their means, which is exact.
    """
    if not (is_number(value.type) or pt.is_null(value.type)):
        raise SqlError(f"{request.name} needs numbers, not {sql_type(value.type)}")
    double = cast(value, pa.float64())
    return (
        double,
        lambda a, b: resolve("*", (a, b)),
        lambda a, b: _pairs(request, (a, b)).base("regr_sxy", a, b),
    )


@compose(
    "skewness",
    "skewness(number)",
    "Skewness of the values, a DOUBLE; NULL if all are equal. It loses digits where their mean is "
    "many times their deviation.",
    (1, 1),
)
def _skewness(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    x, times, moment = _central(request, arguments[0])
    zero, two = (literal(n, pa.float64()) for n in (0.0, 2.0))
    second = moment(x, x)
    twice = times(two, request.base("avg", x))
    third = resolve("-", (moment(times(x, x), x), times(twice, second)))
    root = resolve("sqrt", (cast(request.base("count", x), pa.float64()),))
    spread = resolve("nullif", (times(second, resolve("sqrt", (second,))), zero))
    return resolve("/", (times(root, third), spread))


@compose(
    "kurtosis",
    "kurtosis(number)",
    "Excess kurtosis of the values, a DOUBLE; NULL if all are equal. It loses digits as skewness "
    "does.",
    (1, 1),
)
def _kurtosis(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    x, times, moment = _central(request, arguments[0])
    zero, two = (literal(n, pa.float64()) for n in (0.0, 2.0))
    square, second = times(x, x), moment(x, x)
    twice = times(two, request.base("avg", x))
    count = cast(request.base("count", x), pa.float64())
    # of x * x - twice * x, which is (x - mean) ** 2 but for a constant
    mixed = times(times(two, twice), moment(square, x))
    fourth = resolve("-", (moment(square, square), mixed))
    fourth = resolve("+", (fourth, times(times(twice, twice), second)))
    spread = resolve("nullif", (times(second, second), zero))
    excess = resolve("/", (times(count, fourth), spread))
    return resolve("-", (excess, two))


def _by(extreme: str) -> Callable[[Request, tuple[Expr, ...]], Expr]:
    def build(request: Request, arguments: tuple[Expr, ...]) -> Expr:
        value, by = arguments
        return chosen_value(request, extreme, [Ordering(by), Ordering(value)])

    return build


_TIES: Final = "of several rows the {} value"
compose(
    "min_by arg_min argmin",
    "min_by(value, by)",
    f"The value of the row with the smallest ``by``; {_TIES.format('smallest')}.",
    (2, 2),
)(_by("min"))
compose(
    "max_by arg_max argmax",
    "max_by(value, by)",
    f"The value of the row with the largest ``by``; {_TIES.format('largest')}.",
    (2, 2),
)(_by("max"))


def _at_end(extreme: str) -> Callable[[Request, tuple[Expr, ...]], Expr]:
    def build(request: Request, arguments: tuple[Expr, ...]) -> Expr:
        value, *flag = arguments
        ignore = request.ignore_nulls
        if flag:
            if not (isinstance(flag[0], Literal) and pt.is_boolean(flag[0].type)):
                raise SqlError(f"{request.name} takes TRUE or FALSE, whether to ignore NULLs")
            ignore = bool(flag[0].value)
        if ignore:
            request = request.accepting(Call(pa.bool_(), "is_not_null", (value,)))
        order = request.order or time_order(request)
        return _in_order(request, extreme, order, value)

    return build


def _in_order(request: Request, extreme: str, order: tuple[Ordering, ...], value: Expr) -> Expr:
    """The value of the first or last row in an order, in which NULLs have a place."""
    orderings = (*order, Ordering(value))
    key = sort_key(request.name, *orderings)
    return last_value(request.base(extreme, key, distinct=False), orderings)


compose(
    "first first_value earliest",
    ["first(value)", "first(value) IGNORE NULLS", "first(value ORDER BY x, ...)"],
    f"The value of the row with the earliest event time, or first in an order; "
    f"{_TIES.format('smallest')}.",
    (1, 2),
    order=True,
    nulls=True,
)(_at_end("min"))
compose(
    "last last_value latest",
    ["last(value)", "last(value) IGNORE NULLS", "last(value ORDER BY x, ...)"],
    f"The value of the row with the latest event time, or last in an order; "
    f"{_TIES.format('largest')}.",
    (1, 2),
    order=True,
    nulls=True,
)(_at_end("max"))
