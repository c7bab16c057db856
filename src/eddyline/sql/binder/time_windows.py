"""Streams and queries in windows between fixed instants."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sqlglot import exp

from eddyline.algebra.catalog import StreamDef
from eddyline.algebra.expressions import ColumnRef
from eddyline.algebra.nodes.windowed import WINDOW_COLUMNS
from eddyline.algebra.plan import Filter, Plan, Project, StreamScan, Windowed
from eddyline.algebra.reads import streams_read
from eddyline.algebra.time_windows import TimeWindows
from eddyline.algebra.windows import Range, Unbounded
from eddyline.errors import UnsupportedError
from eddyline.sql.binder.context import BoundPlan, Context
from eddyline.sql.time_window_syntax import FixedWindow


def windowed_stream(
    node: exp.Expr, window: FixedWindow, stream: StreamDef, context: Context
) -> BoundPlan:
    """The rows of a stream in their windows. No row is needed for longer than a window is open."""
    windows = _windows(window)
    scan = StreamScan(stream.name, Range(windows.size_us), stream.schema)
    return BoundPlan(_windowed(node, scan, windows, stream.name, context))


def windowed_item(
    node: exp.Expr, context: Context, bind: Callable[[Context], BoundPlan]
) -> BoundPlan:
    """The FROM item of a window function: its rows in the function's windows.

    Args:
        bind: binds the item without the windows.

    Raises:
        SqlError: the column of times is not the event time, or rows of the input are taken back.
    """
    window = node.args["windowed"]
    windows = _windows(window)
    bound = bind(context)
    plan = bound.plan
    if not streams_read(plan):
        raise context.error(node, f"{windows.kind} needs a stream: tables have no event time")
    for stream in bound.open_streams:
        plan = _with_range(plan, windows.size_us)
        if any(isinstance(w, Unbounded) for w in _windows_of(plan)):
            raise stream.context.error(
                stream.node,
                f"the stream '{stream.name}' needs a window here: write {stream.name} "
                "[RANGE 5 MINUTES]",
            )
    name = node.alias_or_name or (node.name if isinstance(node, exp.Table) else "")
    _check_time(window.args["column"], plan, name, context)
    return BoundPlan(_windowed(node, plan, windows, name or "the query", context))


def _windows(window: FixedWindow) -> TimeWindows:
    kind, size, step, offset = (window.args[n] for n in ("kind", "size", "step", "offset"))
    return TimeWindows(kind, size, step, offset % step)


def _windowed(
    node: exp.Expr, plan: Plan, windows: TimeWindows, name: str, context: Context
) -> Plan:
    taken = {f.name.lower() for f in plan.schema}
    for field in WINDOW_COLUMNS:
        if field.name in taken:
            message = f"'{name}' has a column {field.name} already: rename it in a sub-query"
            raise context.error(node, message)
    if plan.takes_back:
        raise context.error(
            node,
            f"{windows.kind} over rows that are taken back is not supported (GROUP BY, windows of "
            "rows, NOT EXISTS, tables that change): put the window on the streams below, and group "
            "by window_start and window_end",
            UnsupportedError,
        )
    return context.checked(Windowed(plan, windows), node)


def _with_range(plan: Plan, us: int) -> Plan:
    """Filters and projections of a stream without a window, with one of a length."""
    if isinstance(plan, StreamScan) and isinstance(plan.window, Unbounded):
        return plan if plan.window.explicit else replace(plan, window=Range(us))
    if isinstance(plan, (Filter, Project)):
        return plan.with_inputs(_with_range(plan.input, us))
    return plan


def _windows_of(plan: Plan) -> list[object]:
    found: list[object] = [w for p in plan.inputs for w in _windows_of(p)]
    return [plan.window] if isinstance(plan, StreamScan) else found


def _check_time(column: exp.Expr, plan: Plan, name: str, context: Context) -> None:
    """Check that a column is the event time of a plan's rows; ``_ts`` is that of any."""
    if column.name.lower() == "_ts":
        return
    index = next(
        (i for i, f in enumerate(plan.schema) if f.name.lower() == column.name.lower()), None
    )
    time = event_time(plan, context)
    shown = "_ts" if time is None else plan.schema[time].name
    if index is None:
        of = f"in '{name}'" if name else "here"
        raise context.error(
            column, f"there is no column '{column.name}' {of}; the event time is {shown}"
        )
    if index != time:
        message = f"windows are over the event time, {shown}, not over '{column.name}'"
        if time is None:
            message += ": a row of a join, or of a sub-query without it, has its time in _ts"
        raise context.error(column, message)


def event_time(plan: Plan, context: Context) -> int | None:
    """The column that has the event time of the rows of one stream."""
    if isinstance(plan, StreamScan):
        timestamp = context.catalog.streams[plan.stream].timestamp
        found = (i for i, f in enumerate(plan.schema) if f.name == timestamp)
        return next(found, None)
    if isinstance(plan, (Filter, Windowed)):
        return event_time(plan.input, context)
    if isinstance(plan, Project):
        below = event_time(plan.input, context)
        columns = (
            i for i, e in enumerate(plan.exprs) if isinstance(e, ColumnRef) and e.index == below
        )
        return None if below is None else next(columns, None)
    return None
