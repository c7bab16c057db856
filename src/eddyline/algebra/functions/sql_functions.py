"""Functions whose body is an expression of SQL: each call is replaced by the body."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pyarrow as pa

from eddyline.algebra.expressions import AggregateCall, Call, ColumnRef, Expr, rewrite, walk
from eddyline.algebra.functions.aggregate_requests import Request, does_not_take, only_for_groups
from eddyline.algebra.functions.aggregates import condition_of
from eddyline.algebra.functions.coercion import implicit
from eddyline.types import Schema, sql_type


@dataclass(frozen=True)
class SqlFunction:
    """A function that SQL defines.

    Attributes:
        name: the name in SQL; case is ignored.
        parameters: names and types of the arguments.
        body: an expression whose columns are the parameters, of the type of the result.
    """

    name: str
    parameters: Schema
    body: Expr

    def __str__(self) -> str:
        return f"{self.forms[0]} -> {sql_type(self.body.type)}"

    @property
    def forms(self) -> tuple[str, ...]:
        return (f"{self.name}({', '.join(sql_type(p.type) for p in self.parameters)})",)

    @property
    def result(self) -> pa.DataType:
        """The type of the result."""
        return self.body.type

    @property
    def is_aggregate(self) -> bool:
        """Whether the body has aggregates."""
        return any(isinstance(e, AggregateCall) for e in walk(self.body))

    def rule(self, args: tuple[Expr, ...]) -> Expr | None:
        """The body with the arguments; None if they do not fit."""
        if self.is_aggregate:
            raise only_for_groups(self.name)
        return self._with(args)

    def expression(self, request: Request) -> Expr:
        """The body over the arguments of an aggregate.

        Raises:
            SqlError: the arguments do not fit. UnsupportedError: DISTINCT or ORDER BY.
        """
        args = request.require_plain(self.name)
        expr = self._with(args, request.where)
        if expr is None:
            raise does_not_take(self.name, args, self.forms[0])
        return expr

    def _with(self, args: tuple[Expr, ...], where: Expr | None = None) -> Expr | None:
        if len(args) != len(self.parameters):
            return None
        values = [implicit(a, p.type) for a, p in zip(args, self.parameters, strict=True)]
        if any(v is None for v in values):
            return None

        def change(expr: Expr) -> Expr | None:
            if isinstance(expr, ColumnRef):
                return values[expr.index]
            if isinstance(expr, AggregateCall):
                return _over(expr, change, where)
            return None

        return rewrite(self.body, change)


def _over(
    call: AggregateCall, change: Callable[[Expr], Expr | None], where: Expr | None
) -> AggregateCall:
    """An aggregate of the body over the arguments, of the rows that FILTER accepts."""
    inner = call.aggregate
    argument = None if inner.argument is None else rewrite(inner.argument, change)
    terms = [] if inner.where is None else [rewrite(inner.where, change)]
    terms += [] if where is None else [where]
    conditions = tuple(map(condition_of, terms))
    both = Call(pa.bool_(), "and", conditions) if len(terms) == 2 else None
    filtered = both or (terms[0] if terms else None)
    return replace(call, aggregate=replace(inner, argument=argument, where=filtered))
