"""Streams and queries in windows between fixed instants."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from sqlglot import exp

from eddyline.algebra.catalog import StreamDef
from eddyline.algebra.nodes.windowed import WINDOW_COLUMNS
from eddyline.algebra.plan import Plan, StreamScan, Windowed
from eddyline.algebra.reads import stream_scans, streams_read
from eddyline.algebra.time_windows import TimeWindows
from eddyline.algebra.windows import Range, Unbounded
from eddyline.errors import UnsupportedError
from eddyline.sql.binder.context import BoundPlan, Context, OpenStream
from eddyline.sql.binder.event_times import check_event_time, event_time
from eddyline.sql.time_window_syntax import FixedWindow


def windowed_stream(
    node: exp.Expr, window: FixedWindow, stream: StreamDef, context: Context
) -> BoundPlan:
    """The rows of a stream in their windows. No row is needed for longer than a window is open."""
    windows = _windows(window)
    scan = StreamScan(stream.name, Range(windows.size_us), stream.schema)
    return BoundPlan(in_windows(node, scan, windows, stream.name, context))


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
    if not streams_read(bound.plan):
        raise context.error(node, f"{windows.kind} needs a stream: tables have no event time")
    plan = with_range(bound.plan, bound.open_streams, windows.size_us)
    name = node.alias_or_name or (node.name if isinstance(node, exp.Table) else "")
    _check_time(window.args["column"], plan, name, context)
    return BoundPlan(in_windows(node, plan, windows, name or "the query", context))


def _windows(window: FixedWindow) -> TimeWindows:
    kind, size, step, offset = (window.args[n] for n in ("kind", "size", "step", "offset"))
    return TimeWindows(kind, size, step, offset % step)


def in_windows(node: exp.Expr, plan: Plan, windows: TimeWindows, name: str, context: Context) -> Plan:
    """The rows of a plan in windows.

    Raises:
        SqlError: it has columns of windows already, or its rows are taken back.
    """
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


def with_range(plan: Plan, streams: Iterable[OpenStream], us: int) -> Plan:
    """The plan whose streams without a window have one of a length.

    Raises:
        SqlError: one of them is UNBOUNDED.
    """
    for stream in streams:
        plan = _ranged(plan, us)
        if any(isinstance(scan.window, Unbounded) for scan in stream_scans(plan)):
            raise stream.context.error(
                stream.node,
                f"the stream '{stream.name}' needs a window here: write {stream.name} "
                "[RANGE 5 MINUTES]",
            )
    return plan


def _ranged(plan: Plan, us: int) -> Plan:
    if isinstance(plan, StreamScan) and isinstance(plan.window, Unbounded):
        return plan if plan.window.explicit else replace(plan, window=Range(us))
    return plan.with_inputs(*(_ranged(p, us) for p in plan.inputs))


def _check_time(column: exp.Expr, plan: Plan, name: str, context: Context) -> None:
    """Check that a column is the event time of a plan's rows; ``_ts`` is that of any."""
    if column.name.lower() == "_ts":
        return
    index = next(
        (i for i, f in enumerate(plan.schema) if f.name.lower() == column.name.lower()), None
    )
    if index is None:
        time = event_time(plan, context)
        shown = "_ts" if time is None else plan.schema[time].name
        of = f"in '{name}'" if name else "here"
        raise context.error(
            column, f"there is no column '{column.name}' {of}; the event time is {shown}"
        )
    check_event_time(index, column, plan, context)
