"""The joins that bring the values of sub-queries to the rows that read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from eddyline.algebra.expressions import (
    ColumnRef,
    Expr,
    columns_of,
    conjuncts,
    rewrite,
    shift_columns,
)
from eddyline.algebra.plan import Plan, Project, filtered
from eddyline.errors import SqlError, UnsupportedError
from eddyline.sql.binder.context import Context, OpenStream, require_windows
from eddyline.sql.binder.interval_values import BOUNDED, FromParts, with_times
from eddyline.sql.binder.live_tables import check_lookup
from eddyline.sql.binder.sub_query_calls import (
    SubQuery,
    SubQueryCall,
    has_sub_query,
    sub_query_calls,
)


@dataclass(frozen=True)
class Reading:
    """The rows that read sub-queries: a FROM clause, or groups of it.

    Attributes:
        streams: those without a window.
        source: of FROM; None for groups.
    """

    context: Context
    streams: Sequence[OpenStream]
    source: FromParts | None = None

    def joined(self, plan: Plan, exprs: tuple[Expr, ...]) -> tuple[Plan, tuple[Expr, ...]]:
        """A plan with what the sub-queries of expressions give for its rows in further columns,
        and the expressions over it.

        Raises:
            SqlError, UnsupportedError: a stream has no window, or a table cannot be looked up.
        """
        calls = [c for e in exprs for c in sub_query_calls(e)]
        timed = None if self.source is None else with_times(self.source, plan, exprs, calls)
        if timed is None:
            return self._joined(plan, exprs)
        reading = self if timed.time is None else replace(self, streams=())
        plan, exprs = reading._joined(timed.plan, tuple(map(timed.over, exprs)))
        return timed.emitted(plan), exprs

    def _joined(self, plan: Plan, exprs: tuple[Expr, ...]) -> tuple[Plan, tuple[Expr, ...]]:
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
            streams = (*self.streams, *query.bound.open_streams)
            advice = BOUNDED if query.kind == "exists" and self.source is not None else ""
            require_windows(streams, "a sub-query", advice)
        if query.table is None:
            return
        if self.source is None:
            message = "a sub-query of a non-retroactive table is not supported here: groups"
            raise self.context.error(query.node, f"{message} have no instant", UnsupportedError)
        check_lookup(query.table, self.source.items, self.source.parts, self.context)


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
