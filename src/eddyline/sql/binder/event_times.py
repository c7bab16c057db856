"""The event time of the rows of a FROM clause, for aggregates that need an order."""

from __future__ import annotations

from eddyline.algebra import functions
from eddyline.algebra.expressions import ColumnRef, Expr
from eddyline.algebra.plan import Filter, Plan, Project, StreamScan
from eddyline.sql.binder.from_clause import FromClause
from eddyline.sql.catalog import Catalog


def event_time(source: FromClause, catalog: Catalog) -> Expr | None:
    """The latest event time of the streams of each row; None: one of them is not a column."""
    times: list[Expr] = []
    for item in source.items:
        if not item.bound.changes:  # a static table
            continue
        place = _time_column(item.bound.plan, catalog)
        relation = next((r for r in source.scope.relations if r.name == item.name), None)
        if place is None or relation is None:
            return None
        times.append(relation.column(place, len(source.items) > 1))
    if not times:
        return None
    if len(times) == 1:
        return times[0]
    return functions.resolve("greatest", tuple(times))


def _time_column(plan: Plan, catalog: Catalog) -> int | None:
    """The place of the event time in the columns of a plan."""
    if isinstance(plan, StreamScan):
        timestamp = catalog.streams[plan.stream].timestamp.lower()
        names = [f.name.lower() for f in plan.schema]
        return names.index(timestamp) if timestamp in names else None
    if isinstance(plan, Filter):
        return _time_column(plan.input, catalog)
    if isinstance(plan, Project):
        place = _time_column(plan.input, catalog)
        for i, expr in enumerate(plan.exprs):
            if isinstance(expr, ColumnRef) and expr.index == place:
                return i
    return None
