"""Aggregate functions that are expressions over those of ``aggregates.py``: their registry.

``last(price)`` is a part of ``MAX(sort_key(ts, price))``, ``bool_and(x)`` is ``MIN(x)``: so they
need no state of their own, are shared with the queries that compute the same, and are merged from
parts. The functions are in ``composed_aggregates.py`` and ``ordered_aggregates.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra.expressions import Aggregate, AggregateCall, Call, Expr
from eddyline.algebra.functions.aggregate_arguments import NARROW_DIGITS
from eddyline.algebra.functions.aggregates import (
    AGGREGATES,
    base_aggregate,
    condition_of,
    is_base_aggregate,
)
from eddyline.algebra.functions.sort_keys import last_value, sort_key, where_known
from eddyline.algebra.orderings import Ordering
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

    def require_plain(self, function: str) -> tuple[Expr, ...]:
        """The arguments of a function that takes nothing else.

        Raises:
            UnsupportedError: DISTINCT, ORDER BY or IGNORE NULLS.
        """
        if self.distinct or self.order or self.ignore_nulls:
            what = "DISTINCT" if self.distinct else "ORDER BY" if self.order else "IGNORE NULLS"
            raise UnsupportedError(f"{what} in {function}(...) is not supported")
        return self.arguments or ()

    def base(self, function: str, *arguments: Expr, distinct: bool | None = None) -> Expr:
        """An aggregate of ``aggregates.py`` of the rows that FILTER accepts."""
        distinct = self.distinct if distinct is None else distinct
        return as_call(base_aggregate(function, arguments, distinct, self.where))

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
        return uncomposed(request)
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


def uncomposed(request: Request) -> Expr:
    """The expression over a function of ``aggregates.py``."""
    name, arguments = request.name.lower(), request.arguments
    if arguments is not None and len(arguments) > 1 and name == "count":
        if not request.distinct:
            whole = request.accepting(*(Call(pa.bool_(), "is_not_null", (a,)) for a in arguments))
            return as_call(base_aggregate("count", None, where=whole.where))
        key = sort_key("count", *map(Ordering, arguments))
        return request.base("count", where_known(arguments, key))
    if name in ("min", "max") and arguments is not None and len(arguments) == 1:
        [value] = arguments
        wide = pt.is_decimal(value.type) and value.type.precision > NARROW_DIGITS
        if wide or pt.is_struct(value.type):
            return chosen_value(request, name, [Ordering(value)])
    return as_call(base_aggregate(name, arguments, request.distinct, request.where))


def as_call(aggregate: Aggregate) -> Expr:
    """The aggregate as an expression."""
    return AggregateCall(aggregate.type, aggregate)


def chosen_value(request: Request, extreme: str, orderings: Sequence[Ordering]) -> Expr:
    """The last value of the row that is first or last in an order; rows without a value of the
    order but the last are left out.
    """
    *by, value = orderings
    key = sort_key(request.name, *orderings)
    known = where_known([o.value for o in by or [value]], key)
    return last_value(request.base(extreme, known, distinct=False), orderings)


def time_order(request: Request) -> tuple[Ordering, ...]:
    """By the event time of the rows."""
    if request.time is None:
        raise UnsupportedError(
            f"{request.name}(value) needs the event time of a stream, which these rows do not "
            f"have: write {request.name}(value ORDER BY column), or min_by or max_by(value, column)"
        )
    return (Ordering(request.time),)


def aggregate_names() -> tuple[str, ...]:
    """The canonical names of all aggregate functions."""
    return tuple(dict.fromkeys((*AGGREGATES, *(f.name for f in COMPOSED.values()))))


def only_for_groups(function: str) -> SqlError:
    """The error of an aggregate that is called as a scalar function."""
    return SqlError(
        f"{function} is an aggregate; it is allowed only in the select list and in HAVING"
    )


def does_not_take(function: str, args: Sequence[Expr], form: str) -> SqlError:
    """The error of arguments that do not fit."""
    types = ", ".join(sql_type(a.type) for a in args)
    return SqlError(f"{function} does not take ({types}); valid: {form}")
