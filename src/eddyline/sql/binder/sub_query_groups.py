"""The groups of a scalar sub-query, one for each value of what it compares with
the rows that read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import pyarrow as pa
from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import (
    Aggregate,
    AggregateCall,
    ColumnRef,
    Expr,
    Literal,
    columns_of,
    conjunction,
    rewrite,
    shift_columns,
)
from eddyline.algebra.plan import GroupBy, Plan
from eddyline.errors import UnsupportedError
from eddyline.sql.binder.context import BoundPlan, Context
from eddyline.sql.binder.matching import Match
from eddyline.sql.binder.scalars import Scalars
from eddyline.sql.binder.scope import Scope
from eddyline.sql.binder.sub_query_calls import SubQuery, call, has_sub_query
from eddyline.sql.binder.sub_query_joins import unsupported


@dataclass(frozen=True)
class SubQueryGroups:
    """The groups of a sub-query, one for each value of its keys.

    Attributes:
        query, outer: the sub-query, and the columns that it can read.
        counts: whether a row without a group has COUNT 0.
    """

    query: exp.Select
    outer: Scope
    match: Match
    bound: BoundPlan
    context: Context
    counts: bool

    def values(self, exprs: Sequence[tuple[Expr, Scalars]]) -> list[Expr]:
        """Expressions over rows of ``outer`` and groups, as values for rows of ``outer``."""
        width, keys = self.match.width, self.match.keys
        aggregates: dict[Aggregate, int] = {}

        def collect(e: Expr) -> Expr | None:
            if isinstance(e, AggregateCall):
                aggregates.setdefault(self._inner(e.aggregate), len(aggregates))
            return None

        for expr, _ in exprs:
            rewrite(expr, collect)
        right = tuple(b for _, b in keys)
        names = (*(f"key_{i}" for i in range(len(right))), *map(str, aggregates))
        plan = GroupBy(self.bound.plan, right, tuple(aggregates), names)
        query = self._rows(plan, len(right))
        arguments = self._arguments()

        def change(e: Expr, scalars: Scalars) -> Expr | None:
            if isinstance(e, AggregateCall):
                aggregate = self._inner(e.aggregate)
                value = call(query, arguments, len(right) + aggregates[aggregate])
                if not self.counts or query.kind == "one" or aggregate.function != "count":
                    return value
                return functions.resolve("coalesce", (value, Literal(pa.int64(), 0)))
            if isinstance(e, ColumnRef) and e.index >= width:
                return self._key(e, scalars)
            return None

        found = [rewrite(e, partial(change, scalars=s)) for e, s in exprs]
        if self.counts:
            return found
        there = functions.resolve("is_not_null", (call(query, arguments),))
        return [functions.resolve("case", (there, v, Literal(v.type, None))) for v in found]

    def _rows(self, plan: Plan, keys: int) -> SubQuery:
        """The groups, which rows find by keys; conditions on the rows alone are the residual."""
        left, bound = self.match.left, replace(self.bound, plan=plan)
        if not keys and not left:
            return SubQuery("one", plan, (), None, bound, self.query)
        columns = tuple(ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema))[:keys]
        condition = conjunction(left)
        if condition is not None:
            places = {column: keys + n for n, column in enumerate(self._read())}
            condition = rewrite(
                condition,
                lambda e: replace(e, index=places[e.index]) if isinstance(e, ColumnRef) else None,
            )
        return SubQuery("optional", plan, columns, condition, bound, self.query)

    def _arguments(self) -> tuple[Expr, ...]:
        columns = (self.outer.column_at(i) for i in self._read())
        return (*(a for a, _ in self.match.keys), *columns)

    def _read(self) -> list[int]:
        """The columns of conditions on the row of ``outer`` alone."""
        return sorted({i for e in self.match.left for i in columns_of(e)})

    def _inner(self, aggregate: Aggregate) -> Aggregate:
        """An aggregate over the sub-query's own columns."""
        width = self.match.width
        parts = [e for e in (aggregate.argument, aggregate.where) if e is not None]
        if any(min(columns_of(e), default=width) < width for e in parts):
            raise self.context.error(
                self.query,
                f"{aggregate}: an aggregate of a sub-query that reads columns of the enclosing "
                "SELECT is not supported: join the two in FROM",
                UnsupportedError,
            )
        if any(map(has_sub_query, parts)):
            raise unsupported("an aggregate of a sub-query", self.query, self.context)
        argument, where = (
            None if e is None else shift_columns(e, -width)
            for e in (aggregate.argument, aggregate.where)
        )
        return replace(aggregate, argument=argument, where=where)

    def _key(self, column: ColumnRef, scalars: Scalars) -> Expr:
        """The value of the row of ``outer`` that equals a column of the sub-query."""
        for left, right in self.match.keys:
            if shift_columns(right, self.match.width) == column and not self.counts:
                return left
        raise self.context.error(
            scalars.origins.get(column.index, self.query),
            f"column '{column.name}' is neither in GROUP BY nor inside an aggregate",
        )
