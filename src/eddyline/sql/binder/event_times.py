"""The event time of the rows of a FROM clause, for aggregates that need an order."""

from __future__ import annotations

from eddyline.algebra import functions
from eddyline.algebra.expressions import Expr
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.from_clause import FromClause
from eddyline.sql.binder.time_columns import time_column


def event_time(source: FromClause, context: Context) -> Expr | None:
    """The latest event time of the streams of each row; None: one of them is not a column."""
    times: list[Expr] = []
    for item in source.items:
        if not item.bound.changes:  # a static table
            continue
        place = time_column(item.bound.plan, context)
        relation = next((r for r in source.scope.relations if r.name == item.name), None)
        if place is None or relation is None:
            return None
        times.append(relation.column(place, len(source.items) > 1))
    if not times:
        return None
    if len(times) == 1:
        return times[0]
    return functions.resolve("greatest", tuple(times))
