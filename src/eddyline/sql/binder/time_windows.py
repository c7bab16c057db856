"""Streams and queries in windows between fixed instants, and in sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Final

from sqlglot import exp

from eddyline.algebra.catalog import StreamDef
from eddyline.algebra.expressions import ColumnRef, Expr
from eddyline.algebra.nodes.windowed import WINDOW_COLUMNS
from eddyline.algebra.plan import (
    AsofJoin,
    MatchRecognize,
    Plan,
    RunningOver,
    SessionGroups,
    Sessions,
    StreamScan,
    Windowed,
)
from eddyline.algebra.reads import streams_read
from eddyline.algebra.time_windows import TimeWindows
from eddyline.algebra.windows import Range, Unbounded
from eddyline.errors import UnsupportedError, did_you_mean
from eddyline.sql.binder.context import BoundPlan, Context, OpenStream
from eddyline.sql.binder.final import NoWindowEnd
from eddyline.sql.binder.final_streams import final_stream, has_finals, part_of_window
from eddyline.sql.binder.session_groups import NoSessionGroups
from eddyline.sql.binder.time_columns import check_event_time, time_column
from eddyline.sql.time_window_syntax import FixedWindow, SessionWindow

#: Their rows come once, and no row below is needed for longer.
_EMITTING: Final = (MatchRecognize, RunningOver)


def windowed_stream(
    node: exp.Expr,
    window: FixedWindow | SessionWindow,
    stream: StreamDef,
    context: Context,
    place: Context,
) -> BoundPlan:
    """The rows of a stream in their windows. No row is needed for longer than a window is open.

    Args:
        place: where the window is written.
    """
    scan = StreamScan(stream.name, Range(window.args["size"]), stream.schema)
    return BoundPlan(_in(node, scan, window, stream.name, context, place))


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
    bound = bind(context)
    if not streams_read(bound.plan):
        kind = window.args["kind"]
        raise context.error(node, f"{kind} needs a stream: tables have no event time")
    plan = with_range(bound.plan, bound.open_streams, window.args["size"])
    if plan.takes_back and has_finals(plan):
        plan = _final(node, plan, context)
    name = node.alias_or_name or (node.name if isinstance(node, exp.Table) else "")
    _check_time(window.args["column"], plan, name, context)
    return BoundPlan(_in(node, plan, window, name or "the query", context, context))


def _final(node: exp.Expr, plan: Plan, context: Context) -> Plan:
    """The final results of windows, as rows that windows get."""
    try:
        return context.checked(final_stream(plan, in_window=True), node)
    except (NoWindowEnd, NoSessionGroups) as e:
        raise context.error(node, str(e), UnsupportedError) from None


def _in(
    node: exp.Expr,
    plan: Plan,
    window: FixedWindow | SessionWindow,
    name: str,
    context: Context,
    place: Context,
) -> Plan:
    """The rows of a plan in the windows that are written."""
    if isinstance(window, FixedWindow):
        return in_windows(node, plan, window.args["windows"], name, context)
    keys = tuple(_column(k, plan, name, place) for k in window.expressions)
    return in_sessions(node, plan, keys, window.args["size"], name, context)


def in_windows(
    node: exp.Expr, plan: Plan, windows: TimeWindows, name: str, context: Context
) -> Plan:
    """The rows of a plan in windows.

    Raises:
        SqlError: it has columns of windows already, or its rows are taken back.
    """
    _check_rows(node, plan, windows.kind, name, context)
    return context.checked(Windowed(plan, windows), node)


def in_sessions(
    node: exp.Expr, plan: Plan, keys: Sequence[Expr], gap_us: int, name: str, context: Context
) -> Plan:
    """The rows of a plan in sessions of keys; raises as :func:`in_windows`."""
    _check_rows(node, plan, "SESSION", name, context)
    return context.checked(Sessions(plan, tuple(dict.fromkeys(keys)), gap_us), node)


def _check_rows(node: exp.Expr, plan: Plan, kind: str, name: str, context: Context) -> None:
    taken = {f.name.lower() for f in plan.schema}
    for field in WINDOW_COLUMNS:
        if field.name in taken:
            message = f"'{name}' has a column {field.name} already: rename it in a sub-query"
            raise context.error(node, message)
    if plan.takes_back:
        raise context.error(
            node,
            f"{kind} over rows that are taken back is not supported (GROUP BY, windows of "
            "rows, NOT EXISTS, tables that change): put the window on the streams below, and group "
            "by window_start and window_end",
            UnsupportedError,
        )


def with_range(plan: Plan, streams: Iterable[OpenStream], us: int) -> Plan:
    """The plan whose streams without a window have one of a length.

    Raises:
        SqlError: one of them is UNBOUNDED.
    """
    for stream in streams:
        plan = _ranged(plan, us)
        if any(isinstance(scan.window, Unbounded) for scan in _windowed_scans(plan)):
            raise stream.context.error(
                stream.node,
                f"the stream '{stream.name}' needs a window here: write {stream.name} "
                "[RANGE 5 MINUTES]",
            )
    return plan


def _windowed_scans(plan: Plan) -> Iterator[StreamScan]:
    """The scans of streams of which each row of a plan has a row in its window."""
    while isinstance(plan, AsofJoin):
        plan = plan.left
    if isinstance(plan, _EMITTING):
        return
    if isinstance(plan, StreamScan):
        yield plan
    for below in plan.inputs:
        yield from _windowed_scans(below)


def _ranged(plan: Plan, us: int) -> Plan:
    if isinstance(plan, AsofJoin):  # the latest row of a key needs no window
        return plan.with_inputs(_ranged(plan.left, us), plan.right)
    if isinstance(plan, _EMITTING):
        return plan
    if isinstance(plan, StreamScan) and isinstance(plan.window, Unbounded):
        return plan if plan.window.explicit else replace(plan, window=Range(us))
    return plan.with_inputs(*(_ranged(p, us) for p in plan.inputs))


def _check_time(column: exp.Expr, plan: Plan, name: str, context: Context) -> None:
    """Check that a column is the event time of a plan's rows; ``_ts`` is that of any."""
    if column.name.lower() == "_ts":
        return
    index = _position(column, plan)
    if index is None:
        time = time_column(plan, context)
        shown = "_ts" if time is None else plan.schema[time].name
        of = f"in '{name}'" if name else "here"
        raise context.error(
            column, f"there is no column '{column.name}' {of}; the event time is {shown}"
        )
    part = part_of_window(plan, ColumnRef(plan.schema[index].type, index, column.name))
    if part is not None and _times_final(*part):
        return
    check_event_time(index, column, plan, context)


def _times_final(part: str, of: Plan) -> bool:
    """Whether final results come at the time of this column of their window."""
    return part == ("end" if isinstance(of, SessionGroups) else "time")


def _position(column: exp.Expr, plan: Plan) -> int | None:
    names = [f.name.lower() for f in plan.schema]
    return names.index(column.name.lower()) if column.name.lower() in names else None


def _column(column: exp.Expr, plan: Plan, name: str, context: Context) -> ColumnRef:
    """The column by which sessions are kept apart."""
    index = _position(column, plan)
    if index is None:
        hint = did_you_mean(column.name, [f.name for f in plan.schema])
        raise context.error(column, f"there is no column '{column.name}' in '{name}'; {hint}")
    field = plan.schema[index]
    return ColumnRef(field.type, index, field.name)
