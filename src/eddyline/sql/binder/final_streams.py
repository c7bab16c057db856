"""Final results of windows as rows of FROM: a window over them, and OVER across windows.

::

    FROM TUMBLE((SELECT window_time AS t, COUNT(*) ...     Windowed  TUMBLE 1 HOUR
           GROUP BY window_start, window_end,                FinalRows  just before window_end
             window_time), t, INTERVAL '1' HOUR)               GroupBy  window_start, ...
    LAG(n) OVER (PARTITION BY k ORDER BY window_end)       RunningOver  PARTITION BY k: lag(n, 1)
                                                             FinalRows  at window_end
                                                               GroupBy  k, window_end: ...
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final, Literal

import pyarrow as pa

from eddyline.algebra import functions
from eddyline.algebra.expressions import Call, ColumnRef, Expr
from eddyline.algebra.functions import Ordering
from eddyline.algebra.nodes.windowed import is_window
from eddyline.algebra.plan import (
    Distinct,
    Filter,
    FinalRows,
    GroupBy,
    Over,
    Plan,
    Project,
    RunningOver,
    SessionGroups,
    Unnest,
    Windowed,
)
from eddyline.algebra.reads import nodes
from eddyline.sql.binder.final import final_rows, is_final_by_default
from eddyline.sql.binder.over_calls import OverCall, OverFrame
from eddyline.sql.binder.session_groups import has_sessions, with_session_groups

#: A column of a window; ``time`` is its last instant.
WindowPart = Literal["start", "end", "time"]
_INSTANT: Final = functions.literal(timedelta(microseconds=1), pa.duration("us"))


def last_instant(end: Expr) -> Expr:
    """The last instant of a window, its window_time."""
    return functions.resolve("-", (end, _INSTANT))


def has_finals(plan: Plan) -> bool:
    """Whether rows of a plan are results of windows, which are final when these end."""
    return has_sessions(plan) or is_final_by_default(plan)


def final_stream(plan: Plan, *, in_window: bool) -> Plan:
    """The final results of a plan as rows that are not taken back.

    Args:
        in_window: whether they come in the last instant of their window, and leave when it ends, so
            that they belong to the larger window that contains it. Those of sessions come at its
            end, as they are not known before.

    Raises:
        NoWindowEnd, NoSessionGroups: the plan has none.
    """
    if has_sessions(plan):
        return with_session_groups(plan)
    return final_rows(plan, in_window=in_window)


def has_final_rows(plan: Plan) -> bool:
    """Whether a plan has final results as rows."""
    return any(isinstance(n, (FinalRows, SessionGroups)) for n in nodes(plan))


def in_order_of_windows(plan: Plan, calls: Sequence[Expr]) -> bool:
    """Whether calls with OVER are about results of one window after the other: they are ordered by
    its time, and are not of one window each.
    """
    if not calls or not has_finals(plan):
        return False
    for call in calls:
        if not isinstance(call, (OverCall, OverFrame)):
            return False
        if not _by_window(plan, call.order) or any(_is_part(plan, e) for e in call.partition):
            return False
    return True


def is_in_time(plan: Plan, order: Sequence[Ordering], *, by_place: bool) -> bool:
    """Whether an order is that in which final results of windows come. Those of one key are in the
    order in which its sessions begin, too, but not as far apart.
    """
    if not (has_final_rows(plan) and _by_window(plan, order)):
        return False
    found = part_of_window(plan, order[0].value)
    of_start = found is not None and found[0] == "start" and not isinstance(found[1], Windowed)
    return by_place or not of_start


def ties_are_ordered(plan: Plan, partition: Sequence[Expr]) -> bool:
    """Whether final results of one window are in different partitions, so that none tie."""
    columns = {e.index for e in partition if isinstance(e, ColumnRef)}
    while not isinstance(plan, (GroupBy, SessionGroups)):
        if isinstance(plan, Project):
            refs = [(i, e) for i, e in enumerate(plan.exprs) if isinstance(e, ColumnRef)]
            columns = {e.index for i, e in refs if i in columns}
        elif not isinstance(plan, (Filter, FinalRows, RunningOver)):
            return False
        plan = plan.inputs[0]
    if isinstance(plan, SessionGroups):  # of one key one after the other
        return set(range(len(plan.by))) <= columns
    own = {i for i, k in enumerate(plan.keys) if not _is_part(plan.input, k)}
    return own <= columns


def _by_window(plan: Plan, order: Sequence[Ordering]) -> bool:
    return (
        len(order) == 1 and not order[0].descending and _is_part(plan, order[0].value, timed=True)
    )


def _is_part(plan: Plan, expr: Expr, *, timed: bool = False) -> bool:
    """Whether an expression is a column of a window; ``timed``: one that ascends with its end."""
    found = part_of_window(plan, expr)
    if found is None or not timed:
        return found is not None
    part, node = found
    if part != "start":
        return True
    if not isinstance(node, Windowed):
        return True
    return node.windows.start_decides and node.windows.months is None


def part_of_window(plan: Plan, expr: Expr) -> tuple[WindowPart, Plan] | None:
    """Which column of a window an expression over a plan is, and the node of the windows."""
    if isinstance(expr, Call):
        if expr.function != "-" or expr.args[1:] != (_INSTANT,):
            return None
        found = part_of_window(plan, expr.args[0])
        return ("time", found[1]) if found is not None and found[0] == "end" else None
    if not isinstance(expr, ColumnRef):
        return None
    return _part(plan, expr.index)


def _part(plan: Plan, index: int) -> tuple[WindowPart, Plan] | None:
    match plan:
        case Project():
            return part_of_window(plan.input, plan.exprs[index])
        case GroupBy():
            return part_of_window(plan.input, plan.keys[index]) if index < len(plan.keys) else None
        case Windowed() if is_window(plan) and index >= plan.start:
            return "end" if index > plan.start else "start", plan
        case SessionGroups():
            part = index - len(plan.by)
            return ("end" if part else "start", plan) if part in (0, 1) else None
        case Filter() | FinalRows() | Distinct() | Over() | RunningOver() | Unnest():
            below = plan.inputs[0]
            return _part(below, index) if index < len(below.schema) else None
    return _of_sessions(plan, index)


def _of_sessions(plan: Plan, index: int) -> tuple[WindowPart, Plan] | None:
    """Of rows of sessions, whose ends are known above their groups."""
    start = getattr(plan, "start", None)
    if start is None or not has_sessions(plan) or index not in (start, start + 1):
        return None
    return ("end" if index > start else "start", plan)
