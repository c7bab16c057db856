"""Sub-queries as values of expressions, and the joins that bring them to the rows that read them.

A sub-query in an expression is a :class:`SubQueryCall` until all expressions over some rows are
bound. Then these rows are joined with it, and each call is a column of the join::

    a.v > (SELECT MAX(b.v) FROM b WHERE b.k = a.k)      Filter  (a.v > MAX(b.v))
                                                          a LEFT JOIN (b GROUP BY b.k)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal as OneOf

import pyarrow as pa
from sqlglot import exp

from eddyline.algebra.expressions import (
    Call,
    ColumnRef,
    Expr,
    Literal,
    columns_of,
    conjuncts,
    rewrite,
    shift_columns,
    walk,
)
from eddyline.algebra.plan import Plan, Project, Union, anti_join, filtered, join, semi_join
from eddyline.errors import SqlError, UnsupportedError
from eddyline.sql.binder.context import BoundPlan, Context, OpenStream, require_windows
from eddyline.sql.binder.live_tables import check_lookup
from eddyline.sql.binder.relations import Item

#: How a sub-query is joined: there is always one row; one at most; or only whether there is one.
Kind = OneOf["one", "optional", "exists"]
_BOOL = pa.bool_()


@dataclass(frozen=True)
class SubQuery:
    """A sub-query apart from the rows that read it.

    Attributes:
        kind: how many rows it has for each of them.
        plan: its rows.
        keys: over its rows; each equals one of the first arguments of the calls.
        residual: another condition, over all arguments and then the columns of its rows.
        bound: with its streams without a window.
        table: the non-retroactive table that it is.
        node: its text.
    """

    kind: Kind
    plan: Plan
    keys: tuple[Expr, ...]
    residual: Expr | None
    bound: BoundPlan = field(compare=False)
    node: exp.Expr = field(compare=False)
    table: Item | None = field(default=None, compare=False)

    def beside(self, plan: Plan, arguments: tuple[Expr, ...]) -> Plan:
        """The rows of a plan with the columns of the sub-query, or whether it has a row, behind.

        Args:
            arguments: over the plan's columns.
        """
        keys = tuple(zip(arguments, self.keys, strict=False))
        residual = None if self.residual is None else self._over(plan, arguments, self.residual)
        columns = tuple(ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema))
        names = tuple(f.name for f in plan.schema)
        if self.kind == "exists":
            found = semi_join(plan, self.plan, keys, residual)
            others = anti_join(plan, self.plan, keys, residual)
            parts = [
                Project(part, (*columns, Literal(_BOOL, value)), (*names, "exists"))
                for part, value in ((found, True), (others, False))
            ]
            return Union(tuple(parts))
        pairs = join(plan, self.plan, keys, residual)
        if self.kind == "one":
            return pairs
        alone = anti_join(plan, self.plan, keys, residual)
        nulls = tuple(Literal(f.type, None) for f in self.plan.schema)
        own = tuple(f.name for f in self.plan.schema)
        return Union((pairs, Project(alone, (*columns, *nulls), (*names, *own))))

    def _over(self, plan: Plan, arguments: tuple[Expr, ...], condition: Expr) -> Expr:
        """A condition on arguments and rows of the sub-query, over a plan and these rows."""
        width = len(plan.schema) - len(arguments)

        def change(e: Expr) -> Expr | None:
            if not isinstance(e, ColumnRef):
                return None
            if e.index < len(arguments):
                return arguments[e.index]
            return ColumnRef(e.type, e.index + width, e.name)

        return rewrite(condition, change)


@dataclass(frozen=True, slots=True)
class SubQueryCall(Call):
    """A column of a sub-query for a row: ``arguments`` are what the sub-query reads of the row."""

    query: SubQuery
    column: int

    def __str__(self) -> str:
        if self.query.kind == "exists":
            return "EXISTS (...)"
        return f"(SELECT {self.query.plan.schema[self.column].name} ...)"


def call(query: SubQuery, arguments: tuple[Expr, ...], column: int = 0) -> SubQueryCall:
    """The value of a column, or whether there is a row."""
    type_ = _BOOL if query.kind == "exists" else query.plan.schema[column].type
    return SubQueryCall(type_, "sub-query", arguments, query, column)


def sub_query_calls(expr: Expr) -> Iterator[SubQueryCall]:
    """The sub-queries in an expression."""
    return (e for e in walk(expr) if isinstance(e, SubQueryCall))


def has_sub_query(expr: Expr) -> bool:
    """Whether an expression has a sub-query."""
    return any(True for _ in sub_query_calls(expr))


@dataclass(frozen=True)
class Reading:
    """The rows that read sub-queries: a FROM clause, or groups of it.

    Attributes:
        streams: those without a window.
        items, parts: of FROM; empty for groups.
    """

    context: Context
    streams: Sequence[OpenStream]
    items: Sequence[Item] = ()
    parts: Sequence[Plan] = ()

    def joined(self, plan: Plan, exprs: tuple[Expr, ...]) -> tuple[Plan, tuple[Expr, ...]]:
        """A plan with what the sub-queries of expressions give for its rows in further columns,
        and the expressions over it.

        Raises:
            SqlError, UnsupportedError: a stream has no window, or a table cannot be looked up.
        """
        while True:
            calls = [c for e in exprs for c in sub_query_calls(e)]
            inner = next((c for c in calls if not any(map(has_sub_query, c.arguments))), None)
            if inner is None:
                return plan, exprs
            self._check(inner.query)
            start = len(plan.schema)
            plan = self.context.checked(inner.query.beside(plan, inner.arguments), inner.query.node)
            exprs = tuple(_resolved(e, inner, start) for e in exprs)

    def filtered(self, plan: Plan, conditions: Sequence[Expr]) -> Plan:
        """The rows of a plan that satisfy conditions with sub-queries."""
        if not conditions:
            return plan
        columns = tuple(ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema))
        names = tuple(f.name for f in plan.schema)
        wide, terms = self.joined(plan, tuple(conditions))
        return Project(filtered(wide, terms), columns, names)

    def _check(self, query: SubQuery) -> None:
        if query.bound.changes:
            require_windows((*self.streams, *query.bound.open_streams), "a sub-query")
        if query.table is None:
            return
        if not self.items:
            message = "a sub-query of a non-retroactive table is not supported here: groups"
            raise self.context.error(query.node, f"{message} have no instant", UnsupportedError)
        check_lookup(query.table, self.items, self.parts, self.context)


def split_values(
    conditions: Sequence[Expr], width: int, node: exp.Expr, context: Context
) -> tuple[list[Expr], list[Expr]]:
    """The terms without sub-queries, and those with some, over the inner columns.

    Args:
        conditions: of a sub-query, over the columns of the enclosing SELECT, ``width`` in number,
            and its own.

    Raises:
        UnsupportedError: a term compares a sub-query with columns of the enclosing SELECT.
    """
    plain: list[Expr] = []
    valued: list[Expr] = []
    for term in (t for c in conditions for t in conjuncts(c)):
        if not has_sub_query(term):
            plain.append(term)
            continue
        if min(columns_of(term), default=width) < width:
            raise context.error(
                node,
                f"{term}: a condition of a sub-query that has a sub-query can read no columns of "
                "the enclosing SELECT: compute the inner one in FROM",
                UnsupportedError,
            )
        valued.append(shift_columns(term, -width))
    return plain, valued


def refuse_sub_queries(exprs: Sequence[Expr], where: str, node: exp.Expr, context: Context) -> None:
    """Raise an error if expressions have sub-queries."""
    if any(map(has_sub_query, exprs)):
        raise unsupported(where, node, context)


def unsupported(where: str, node: exp.Expr, context: Context) -> SqlError:
    """The error for a sub-query in a place that can have none."""
    message = f"a sub-query in {where} is not supported: compute it in a query in FROM"
    return context.error(node, message, UnsupportedError)


def _resolved(expr: Expr, found: SubQueryCall, start: int) -> Expr:
    def change(e: Expr) -> Expr | None:
        if isinstance(e, SubQueryCall) and (e.query, e.arguments) == (found.query, found.arguments):
            return ColumnRef(e.type, start + e.column, str(e))
        return None

    return rewrite(expr, change)
