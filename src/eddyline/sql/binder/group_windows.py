"""Windows in GROUP BY: ``window(ts, '10 minutes')``, ``session_window(ts, '30 seconds')``.

They are windows over the rows of FROM and WHERE, whose start and end are keys::

    SELECT k, window.end, COUNT(*)        Project  k, window_end, COUNT(*)
    FROM s WHERE x > 0                      GroupBy  k, window_start, window_end: COUNT(*)
    GROUP BY k, window(ts, '1 minute')        Windowed  TUMBLE 1 MINUTE
                                                Filter  x > 0
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import pyarrow as pa
from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import ColumnRef, Expr, columns_of
from eddyline.algebra.nodes.windowed import WINDOW_COLUMNS
from eddyline.algebra.plan import Plan
from eddyline.algebra.reads import streams_read
from eddyline.algebra.time_windows import TimeWindows
from eddyline.errors import SqlError, UnsupportedError
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.final import has_windows
from eddyline.sql.binder.from_clause import FromClause
from eddyline.sql.binder.grouping import chosen
from eddyline.sql.binder.intervals import interval_of
from eddyline.sql.binder.scalars import Scalars
from eddyline.sql.binder.scope import Scope, WindowKeys
from eddyline.sql.binder.session_groups import has_sessions
from eddyline.sql.binder.time_columns import check_event_time
from eddyline.sql.binder.time_windows import in_sessions, in_windows, with_range
from eddyline.sql.durations import Interval, parse_interval
from eddyline.sql.group_window_syntax import group_call
from eddyline.sql.window_lengths import windows_of
from eddyline.types import Field

#: The least and the largest number of durations, by kind of call.
_LENGTHS: Final = {"WINDOW": (1, 3), "TUMBLE": (1, 1), "HOP": (2, 2), "SESSION": (1, 1)}


@dataclass(frozen=True)
class Gap:
    """The gap of sessions, in us."""

    size_us: int


class _Spec(NamedTuple):
    """What a call says: the windows, and the column of the event time (None: ``_ts``)."""

    windows: TimeWindows | Gap
    time: ColumnRef | None


@dataclass(frozen=True)
class GroupWindow:
    """The window of GROUP BY.

    Attributes:
        node: its call.
        scope: the columns of FROM and, behind them, the start and end of the window.
    """

    node: exp.Expr
    spec: _Spec
    scope: Scope

    def rows(self, plan: Plan, keys: Sequence[Expr], source: FromClause, context: Context) -> Plan:
        """The rows of FROM and WHERE in the windows.

        Args:
            keys: of GROUP BY. Sessions are of those beside the window.

        Raises:
            SqlError: they have windows already, no event time, or are taken back.
        """
        self._check(plan, source, context)
        windows, time = self.spec
        plan = with_range(plan, source.open_streams, windows.size_us)
        if time is not None:
            check_event_time(time.index, self.node.expressions[0], plan, context)
        if isinstance(windows, TimeWindows):
            return in_windows(self.node, plan, windows, "the query", context)
        start = len(plan.schema)
        by = [k for k in keys if not (isinstance(k, ColumnRef) and k.index >= start)]
        if any(max(columns_of(k), default=0) >= start for k in by):
            message = "a key cannot be computed from the session of its rows: use the select list"
            raise context.error(self.node, message, UnsupportedError)
        return in_sessions(self.node, plan, by, windows.size_us, "the query", context)

    def _check(self, plan: Plan, source: FromClause, context: Context) -> None:
        call = f"{self.node.name}(...)"
        if not streams_read(plan):
            raise context.error(self.node, f"{call} needs a stream: tables have no event time")
        if has_sessions(plan) or has_windows(plan):
            raise context.error(
                self.node,
                f"the rows are in windows already, beside {call}: GROUP BY window_start, "
                "window_end instead, or read the stream without its window",
                UnsupportedError,
            )
        changing = [i for i in source.items if i.bound.changes]
        if len(changing) > 1 or changing[0].node.name not in context.catalog.streams:
            return
        stream = changing[0].node
        own, default = stream.args.get("window"), context.window
        message = f"'{stream.name}' has a window beside {call}, which is one: remove this"
        if own is not None:
            raise context.error(own, message)
        if default is not None:
            raise default.context.error(default.node, message)


def find_group_window(
    group: exp.Group | None,
    projections: Sequence[exp.Expr],
    aliases: Mapping[str, exp.Expr],
    scope: Scope,
    context: Context,
) -> GroupWindow | None:
    """The window that is a key of GROUP BY, there or as an entry of the select list; None without.

    Raises:
        SqlError: its arguments are wrong, or there are several windows.
    """
    found: dict[_Spec, tuple[exp.Expr, str]] = {}
    for key in () if group is None else group.expressions:
        node = key.this if isinstance(key, exp.Alias) else chosen(key, projections, context)
        if isinstance(node, exp.Column) and not node.table and not scope.names(node):
            node = aliases.get(node.name.lower(), node)
        call = group_call(node)
        if call is None:
            continue
        if call.part != "both":
            message = f"{node.name}(...) is a column of a window: write GROUP BY {call.form}"
            raise context.error(node, message)
        name = key.alias if isinstance(key, exp.Alias) else node.name.lower()
        found.setdefault(_spec(node, scope, context), (node, name))
        if len(found) > 1:
            raise context.error(node, "GROUP BY has one window, not two", UnsupportedError)
    if not found:
        return None
    (((spec, (node, name))),) = found.items()
    return GroupWindow(node, spec, _with_columns(spec, node, name, scope, context))


def _spec(node: exp.Expr, scope: Scope, context: Context) -> _Spec:
    """What the call of a window says.

    Raises:
        SqlError: a number, type or value of its arguments is wrong.
    """
    call = group_call(node)
    assert call is not None, "it has been found"
    least, most = _LENGTHS[call.kind]
    if not least <= len(node.expressions) - 1 <= most:
        raise context.error(node, f"write {call.form}")
    time = _time(node.expressions[0], scope, context)
    lengths = [_length(e, context) for e in node.expressions[1:]]
    if call.kind == "HOP":
        lengths.reverse()
    size, slide = lengths[0], lengths[min(1, len(lengths) - 1)]
    start = lengths[2] if len(lengths) == 3 else Interval()
    if not (size.is_positive and slide.is_positive):
        raise context.error(node, f"a length of {node.name} must be longer than zero")
    try:
        if call.kind == "SESSION":
            return _Spec(Gap(size.fixed_us(node.expressions[1].sql("spark"))), time)
        single = call.kind != "HOP" and slide == size
        windows = windows_of("TUMBLE" if single else "HOP", size, slide, start)
    except ValueError as e:
        raise context.error(node, str(e)) from None
    if call.kind == "WINDOW" and (
        windows.step_us > windows.size_us or abs(start.us) >= windows.step_us
    ):
        message = "the size of window(...) is at least its slide, and its start less than that"
        raise context.error(node, f"{message}; HOP takes size and slide as they are")
    return _Spec(windows, time)


def _time(node: exp.Expr, scope: Scope, context: Context) -> ColumnRef | None:
    """The column of the event time; None for ``_ts``, which rows of joins have, too."""
    if isinstance(node, exp.Column) and not node.table and node.name.lower() == "_ts":
        return None
    expr = Scalars(scope, context, clause="GROUP BY").bind(node)
    if not isinstance(expr, ColumnRef):
        raise context.error(node, "windows are over the event time, a column, or over _ts")
    return expr


def _length(node: exp.Expr, context: Context) -> Interval:
    """The length of a constant, ``'5 minutes'`` or an INTERVAL."""
    try:
        length = interval_of(node)
        if length is not None:
            return length
        if isinstance(node, exp.Literal) and node.is_string:
            return parse_interval(node.name)
        raise context.error(node, "expected a duration, such as '10 minutes'")
    except ValueError as e:
        raise context.error(node, str(e)) from None
    except SqlError as e:
        raise context.placed(e, node) from None


def _with_columns(spec: _Spec, node: exp.Expr, name: str, scope: Scope, context: Context) -> Scope:
    """The scope with the window's start and end, which need its name in front; its name alone is
    a structure of both.
    """
    if any(r.name.lower() == name.lower() for r in scope.relations):
        message = f"a FROM item is named '{name}', as the window: write {name} AS another, or"
        raise context.error(node, f"{message} GROUP BY {node.name}(...) AS w")
    start, end = (ColumnRef(f.type, scope.width + i, f.name) for i, f in enumerate(WINDOW_COLUMNS))
    text = functions.literal
    both = functions.resolve(
        "named_struct", (text("start", pa.string()), start, text("end", pa.string()), end)
    )

    def value(call: exp.Expr) -> Expr:
        found = group_call(call)
        assert found is not None, "Scalars pass calls of windows"
        if _spec(call, scope, context) != spec:
            raise context.error(call, f"{call.name}(...) differs from the window of GROUP BY")
        return {"both": both, "start": start, "end": end}[found.part]

    fields = (Field("start", start.type), Field("end", end.type))
    wide = scope.joined_with(name, fields).joined_with("", (Field(name, both.type),))
    return replace(
        wide,
        hidden=wide.hidden | {start.index, end.index},
        merged={**wide.merged, end.index + 1: both},
        window=WindowKeys((start, end), both, value),
    )
