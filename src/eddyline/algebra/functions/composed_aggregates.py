"""Aggregate functions that are expressions over those of ``aggregates.py``.

``last(price)`` is a part of ``MAX(sort_key(ts, price))``, ``bool_and(x)`` is ``MIN(x)``: so they
need no state of their own, are shared with the queries that compute the same, and are merged from
parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Aggregate, AggregateCall, Call, Expr, Literal
from eddyline.algebra.functions.aggregate_arguments import NARROW_DIGITS
from eddyline.algebra.functions.aggregates import (
    AGGREGATES,
    base_aggregate,
    condition_of,
    is_base_aggregate,
)
from eddyline.algebra.functions.sort_keys import Ordering, last_value, sort_key, where_known
from eddyline.errors import SqlError, UnsupportedError
from eddyline.types import sql_type


@dataclass(frozen=True, slots=True)
class Request:
    """An aggregate as written.

    Attributes:
        name: of the function, in any case. arguments: None for the star.
        distinct: whether equal values count once. where: the FILTER (WHERE ...) condition.
        order: of ORDER BY inside the parentheses, or of WITHIN GROUP if ``within``.
        ignore_nulls: IGNORE NULLS.
        time: the event time of the rows; None: they have none that is a column.
    """

    name: str
    arguments: tuple[Expr, ...] | None
    distinct: bool = False
    where: Expr | None = None
    order: tuple[Ordering, ...] = ()
    within: bool = False
    ignore_nulls: bool = False
    time: Expr | None = None

    def base(self, function: str, *arguments: Expr, distinct: bool | None = None) -> Expr:
        """An aggregate of ``aggregates.py`` of the rows that FILTER accepts."""
        distinct = self.distinct if distinct is None else distinct
        return _call(base_aggregate(function, arguments, distinct, self.where))

    def accepting(self, *conditions: Expr) -> Request:
        """The request for rows that meet more conditions."""
        given = () if self.where is None else (condition_of(self.where),)
        terms = (*given, *map(condition_of, conditions))
        where = terms[0] if len(terms) == 1 else Call(pa.bool_(), "and", terms)
        return replace(self, where=where)


@dataclass(frozen=True, slots=True)
class Composed:
    """An aggregate function over others.

    Attributes:
        name: canonical name, lower case. aliases: other names.
        forms: its syntax, for messages and documentation. help: one sentence on the result.
        least, most: numbers of arguments.
        build: makes the expression.
        distinct, order: whether it takes DISTINCT, and ORDER BY inside.
    """

    name: str
    aliases: tuple[str, ...]
    forms: tuple[str, ...]
    help: str
    least: int
    most: int
    build: Callable[[Request, tuple[Expr, ...]], Expr]
    distinct: bool = False
    order: bool = False
    nulls: bool = False


#: The composed aggregates by name and alias.
COMPOSED: Final[dict[str, Composed]] = {}


def compose(
    names: str,
    forms: str | Sequence[str],
    help_: str,
    arguments: tuple[int, int],
    *,
    distinct: bool = False,
    order: bool = False,
    nulls: bool = False,
) -> Callable[
    [Callable[[Request, tuple[Expr, ...]], Expr]], Callable[[Request, tuple[Expr, ...]], Expr]
]:
    """Register what makes an aggregate, under each of the blank-separated names."""
    name, *aliases = names.split()
    shown = (forms,) if isinstance(forms, str) else tuple(forms)

    def register(
        build: Callable[[Request, tuple[Expr, ...]], Expr],
    ) -> Callable[[Request, tuple[Expr, ...]], Expr]:
        function = Composed(
            name, tuple(aliases), shown, help_, *arguments, build, distinct, order, nulls
        )
        for each in (name, *aliases):
            assert each not in COMPOSED, f"{each} is registered twice"
            COMPOSED[each] = function
        return build

    return register


def is_aggregate_name(name: str) -> bool:
    """Whether a name, in any case, is one of an aggregate function."""
    return is_base_aggregate(name) or name.lower() in COMPOSED


def resolve_aggregate(request: Request) -> Expr:
    """The expression over aggregates, each of them an ``AggregateCall``.

    Raises:
        SqlError: the name is unknown, or the arguments do not fit; without a position.
        UnsupportedError: DISTINCT or ORDER BY where it is not supported.
    """
    function, arguments = COMPOSED.get(request.name.lower()), request.arguments
    _check_clauses(request, function)
    if function is None:
        return _base(request)
    if arguments is None or not function.least <= len(arguments) <= function.most:
        given = "*" if arguments is None else ", ".join(map(str, arguments))
        valid = " or ".join(function.forms)
        raise SqlError(f"{request.name}({given}) is not an aggregate; valid: {valid}")
    return function.build(request, arguments)


def _check_clauses(request: Request, function: Composed | None) -> None:
    name = request.name
    if request.order and not (function and function.order):
        raise UnsupportedError(
            f"ORDER BY in {name}(...) is not supported: the order of its rows does not matter"
        )
    if request.ignore_nulls and not (function and function.nulls):
        raise UnsupportedError(
            f"IGNORE NULLS of {name}(...) is not supported: it has no effect there, leave it out"
        )
    if request.distinct and function and not function.distinct:
        raise UnsupportedError(f"{name}(DISTINCT ...) is not supported; write it without DISTINCT")


def _base(request: Request) -> Expr:
    name, arguments = request.name.lower(), request.arguments
    if arguments is not None and len(arguments) > 1 and name == "count":
        if not request.distinct:
            whole = request.accepting(*(Call(pa.bool_(), "is_not_null", (a,)) for a in arguments))
            return _call(base_aggregate("count", None, where=whole.where))
        key = sort_key("count", *map(Ordering, arguments))
        return request.base("count", where_known(arguments, key))
    if name in ("min", "max") and arguments is not None and len(arguments) == 1:
        [value] = arguments
        if pt.is_decimal(value.type) and value.type.precision > NARROW_DIGITS:
            return _chosen(request, name, [Ordering(value)])
    return _call(base_aggregate(name, arguments, request.distinct, request.where))


def _call(aggregate: Aggregate) -> Expr:
    return AggregateCall(aggregate.type, aggregate)


def _chosen(request: Request, extreme: str, orderings: Sequence[Ordering]) -> Expr:
    """The last value of the row that is first or last in an order; rows without a value of the
    order but the last are left out.
    """
    *by, value = orderings
    key = sort_key(request.name, *orderings)
    known = where_known([o.value for o in by or [value]], key)
    return last_value(request.base(extreme, known, distinct=False), orderings)


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
    return _call(base_aggregate("count", None, where=where))


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
    "approx_count_distinct approx_distinct count_distinct",
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
    return _base(replace(request, name="min"))


def _pairs(request: Request, arguments: tuple[Expr, ...]) -> Request:
    return request.accepting(*(Call(pa.bool_(), "is_not_null", (a,)) for a in arguments))


@compose("regr_count", "regr_count(y, x)", "Number of pairs without a NULL.", (2, 2))
def _regr_count(request: Request, arguments: tuple[Expr, ...]) -> Expr:
    return _call(base_aggregate("count", None, where=_pairs(request, arguments).where))


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


def _by(extreme: str) -> Callable[[Request, tuple[Expr, ...]], Expr]:
    def build(request: Request, arguments: tuple[Expr, ...]) -> Expr:
        value, by = arguments
        return _chosen(request, extreme, [Ordering(by), Ordering(value)])

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
        order = request.order or _time_order(request)
        return _in_order(request, extreme, order, value)

    return build


def _time_order(request: Request) -> tuple[Ordering, ...]:
    """By the event time of the rows."""
    if request.time is None:
        raise UnsupportedError(
            f"{request.name}(value) needs the event time of a stream, which these rows do not "
            f"have: write {request.name}(value ORDER BY column), or min_by or max_by(value, column)"
        )
    return (Ordering(request.time),)


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

#: All names of aggregate functions, the canonical ones.
AGGREGATE_NAMES: Final = tuple(dict.fromkeys((*AGGREGATES, *(f.name for f in COMPOSED.values()))))
