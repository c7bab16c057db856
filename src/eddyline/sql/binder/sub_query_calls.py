"""Sub-queries as values of expressions.

A sub-query in an expression is a :class:`SubQueryCall` until all expressions over some rows are
bound. Then these rows are joined with it (``sub_query_joins.py``), and each call is a column of the
join::

    a.v > (SELECT MAX(b.v) FROM b WHERE b.k = a.k)      Filter  (a.v > MAX(b.v))
                                                          a LEFT JOIN (b GROUP BY b.k)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal as OneOf

import pyarrow as pa
from sqlglot import exp

from eddyline.algebra.expressions import Call, ColumnRef, Expr, Literal, rewrite, walk
from eddyline.algebra.plan import Plan, Project, Union, anti_join, join, semi_join
from eddyline.sql.binder.context import BoundPlan
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
        residual = None if self.residual is None else self.over(plan, arguments, self.residual)
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

    def over(self, plan: Plan, arguments: tuple[Expr, ...], condition: Expr) -> Expr:
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
