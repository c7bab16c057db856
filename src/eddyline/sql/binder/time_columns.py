"""Which column has the event time of the rows of a plan."""

from __future__ import annotations

from sqlglot import exp

from eddyline.algebra.expressions import ColumnRef
from eddyline.algebra.plan import (
    AntiJoin,
    AsofJoin,
    Filter,
    Join,
    Plan,
    Product,
    Project,
    RunningOver,
    SemiJoin,
    Sessions,
    StreamScan,
    Union,
    Unnest,
    Windowed,
)
from eddyline.algebra.reads import streams_read
from eddyline.sql.binder.context import Context


def time_column(plan: Plan, context: Context) -> int | None:
    """The column that has the event time of a plan's rows: that of their only stream."""
    match plan:
        case StreamScan():
            timestamp = context.catalog.streams[plan.stream].timestamp
            found = (i for i, f in enumerate(plan.schema) if f.name == timestamp)
            return next(found, None)
        case Filter() | Windowed() | Sessions() | Unnest():
            return time_column(plan.input, context)
        case Project():
            below = time_column(plan.input, context)
            columns = (
                i for i, e in enumerate(plan.exprs) if isinstance(e, ColumnRef) and e.index == below
            )
            return None if below is None else next(columns, None)
        case Product() | Join():
            return _of_only_stream(plan, context)
        case RunningOver():
            return None if plan.waits_us else time_column(plan.input, context)
        case AsofJoin():
            return None if plan.lag_us else time_column(plan.left, context)
        case SemiJoin() | AntiJoin():
            return None if streams_read(plan.right) else time_column(plan.left, context)
        case Union():
            times = {time_column(p, context) for p in plan.parts}
            return times.pop() if len(times) == 1 else None
    return None


def is_time_column(index: int, plan: Plan, context: Context) -> bool:
    """Whether a column has the event time of a plan's rows, which may be there several times."""
    if isinstance(plan, Project):
        expr = plan.exprs[index]
        return isinstance(expr, ColumnRef) and is_time_column(expr.index, plan.input, context)
    if isinstance(plan, (Filter, Windowed, Sessions, Unnest)):
        return index < len(plan.input.schema) and is_time_column(index, plan.input, context)
    return index == joined_time_column(plan, context)


def joined_time_column(plan: Plan, context: Context) -> int | None:
    """As :func:`time_column`, also of rows of an ASOF join, which come later than their time."""
    if isinstance(plan, AsofJoin):
        return joined_time_column(plan.left, context)
    if isinstance(plan, Filter):
        return joined_time_column(plan.input, context)
    if isinstance(plan, Project):
        below = joined_time_column(plan.input, context)
        refs = ((i, e.index) for i, e in enumerate(plan.exprs) if isinstance(e, ColumnRef))
        return next((i for i, index in refs if index == below), None)
    return time_column(plan, context)


def _of_only_stream(plan: Product | Join, context: Context) -> int | None:
    """The time of a stream that is joined with tables."""
    start, found = 0, []
    for part in plan.inputs:
        if streams_read(part):
            time = time_column(part, context)
            found.append(None if time is None else start + time)
        start += len(part.schema)
    return found[0] if len(found) == 1 else None


def check_event_time(index: int, column: exp.Expr, plan: Plan, context: Context) -> None:
    """Check that a column of a plan, named by a node, is the event time of its rows."""
    time = time_column(plan, context)
    if time is not None and is_time_column(index, plan, context):
        return
    shown = "_ts" if time is None else plan.schema[time].name
    message = f"windows are over the event time, {shown}, not over '{column.name}'"
    if time is None:
        message += ": a row of a join, or of a sub-query without it, has its time in _ts"
    raise context.error(column, message)
