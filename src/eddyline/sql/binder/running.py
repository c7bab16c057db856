"""OVER on rows that only come, in the order of their event times: values of a row are known when it
comes, need no window, and never change.

::

    v - LAG(v) OVER (PARTITION BY k ORDER BY ts)       Project  v - lag(v, 1)
                                                         RunningOver  PARTITION BY k: lag(v, 1)
    AVG(v) OVER (PARTITION BY k ORDER BY ts            Project  AVG(v)
      RANGE INTERVAL '5' MINUTE PRECEDING)               RunningOver  PARTITION BY k: AVG(v) RANGE
                                                                      5 minutes PRECEDING
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import pyarrow as pa

from eddyline.algebra import functions
from eddyline.algebra.expressions import (
    Aggregate,
    AggregateCall,
    Call,
    ColumnRef,
    Expr,
    rewrite,
    walk,
)
from eddyline.algebra.functions import Ordering
from eddyline.algebra.functions.sort_keys import sort_key
from eddyline.algebra.nodes.over import Bounds, RowFunction
from eddyline.algebra.nodes.running_over import (
    EarlierValue,
    Frame,
    FrameAggregate,
    KnownValue,
    NthValue,
    RunningValue,
)
from eddyline.algebra.patterns import Pattern
from eddyline.algebra.plan import Plan, RunningOver
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.final import has_windows
from eddyline.sql.binder.final_streams import has_final_rows, is_in_time, ties_are_ordered
from eddyline.sql.binder.over_calls import PLACE, OverCall, OverFrame
from eddyline.sql.binder.session_groups import has_sessions
from eddyline.sql.binder.time_columns import time_column

#: Functions that ignore NULLs.
_KNOWN: Final[Mapping[str, Literal["first", "last", "before"]]] = {
    "first_known": "first",
    "last_known": "last",
    "known_before": "before",
}
#: What a row and those before it decide; others read rows behind it.
_RUNNING: Final = ("row_number", "lag", "first_value", "nth_value", "nth_known", "from", *_KNOWN)
_ALL_ROWS: Final = Frame("rows", None)
_TRUE: Final = functions.literal(True, pa.bool_())
_WINDOW: Final = "or write a window, as in s [RANGE 5 MINUTES]"
_TIES: Final = (
    "results of one window have no order: PARTITION BY all keys of GROUP BY but those of the "
    "window, or write RANGE"
)
#: A call that can run.
RunningCall = OverCall | OverFrame


def why_not_running(calls: Sequence[Expr], plan: Plan, context: Context) -> str | None:
    """Why values of calls with OVER over the rows of a plan are not known when a row comes; None if
    they are.
    """
    if has_sessions(plan) or has_windows(plan):
        return (
            "it is over the rows of a stream, or over final results of windows with ORDER BY "
            "window_end"
        )
    if plan.takes_back or plan.pattern is not Pattern.MONOTONIC:
        return "it is over the rows of a stream, from its beginning on: leave the window out"
    time = time_column(plan, context)
    if time is None and not has_final_rows(plan):
        return "the rows have no event time"
    for call in calls:
        if not isinstance(call, (OverCall, OverFrame)):
            return "OVER without ORDER BY is over all rows of a partition"
        if isinstance(call, OverCall) and call.computed.function not in _RUNNING:
            return f"{call.computed.function} is about rows that come later"
        if isinstance(call, OverFrame) and call.frame.frame is None:
            return _why_no_frame(call.frame.bounds)
        if time is None:
            if not is_in_time(plan, call.order, by_place=_is_by_place(call)):
                return "the order is that in which windows end: write ORDER BY window_end"
            if _is_by_place(call) and not ties_are_ordered(plan, call.partition):
                return _TIES
        elif not _in_time(call.order, time):
            return f"the order is that in which rows come: write ORDER BY {plan.schema[time].name}"
    return None


def _why_no_frame(bounds: Bounds) -> str:
    """Why a frame is not known some time after its row has come."""
    if bounds.end is None:
        return (
            "without a window rows come for ever, so no frame has all that follow: end it at "
            f"CURRENT ROW, with RANGE also at INTERVAL '1' MINUTE FOLLOWING, {_WINDOW}"
        )
    if bounds.unit == "range":
        return "RANGE is over times: write INTERVAL '5' MINUTE PRECEDING, or ROWS 5 PRECEDING"
    unit = bounds.unit.upper()
    return (
        f"without a window {unit} that follow may never come: end the frame at CURRENT ROW, wait "
        f"for a length of time by RANGE BETWEEN .. AND INTERVAL '1' MINUTE FOLLOWING, {_WINDOW}"
    )


def _is_by_place(call: OverCall | OverFrame) -> bool:
    """Whether the order of rows that tie matters."""
    if isinstance(call, OverFrame):
        return call.frame.bounds.unit == "rows"
    return True


def _in_time(order: Sequence[Ordering], time: int) -> bool:
    if len(order) != 1 or order[0].descending:
        return False
    value = order[0].value
    return isinstance(value, ColumnRef) and value.index == time


@dataclass
class RunningRows:
    """Rows, to which the values of calls with OVER are added.

    Attributes:
        plan: the rows. columns: by call, its value over them.
    """

    plan: Plan
    columns: dict[Expr, Expr] = field(default_factory=dict)

    def add(self, calls: Sequence[RunningCall]) -> None:
        """Add the values of calls with the same partition."""
        shifted = _Values(self.plan)
        arguments = {c: _shifted(c, shifted) for c in calls if isinstance(c, OverFrame)}
        partition = calls[0].partition
        plan = shifted.over(partition)
        values = _Values(plan)
        for call in calls:
            if isinstance(call, OverFrame):
                self.columns[call] = _aggregated(call, arguments[call], values)
            else:
                self.columns[call] = _placed(call.row_function, values)
        self.plan = values.over(partition)


class _Values:
    """Values that one node adds to the rows of a plan."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._values: dict[RunningValue, int] = {}

    def column(self, value: RunningValue) -> ColumnRef:
        """The column of a value."""
        place = self._values.setdefault(value, len(self._values))
        return ColumnRef(value.type, len(self._plan.schema) + place, str(value))

    def over(self, partition: tuple[Expr, ...]) -> Plan:
        """The rows with the values."""
        if not self._values:
            return self._plan
        return RunningOver(
            self._plan, partition, tuple(self._values), tuple(map(str, self._values))
        )


def _shifted(call: OverFrame, values: _Values) -> dict[Aggregate, Aggregate]:
    """The aggregates of a call over columns in which rows come as many rows later as the frame ends
    before the current row.
    """
    before = call.frame.before

    def earlier(e: Expr) -> Expr:
        return values.column(EarlierValue(e, before)) if before else e

    def later(aggregate: Aggregate) -> Aggregate:
        argument = aggregate.argument
        if argument is not None and any(map(_is_by_places, walk(argument))):
            return _by_place(aggregate, earlier, _number(values))
        if not before:
            return aggregate
        value = _TRUE if aggregate.value is None else aggregate.value
        return replace(aggregate, argument=earlier(value), where=None)

    found: dict[Aggregate, Aggregate] = {}

    def collect(e: Expr) -> Expr | None:
        if isinstance(e, AggregateCall):
            found[e.aggregate] = later(e.aggregate)
        return None

    rewrite(call.aggregated, collect)
    return found


def _is_by_places(e: Expr) -> bool:
    """Whether an expression is a sort key that begins with the place of a row."""
    return isinstance(e, Call) and PLACE in e.args


def _by_place(aggregate: Aggregate, earlier: Callable[[Expr], Expr], number: Expr) -> Aggregate:
    """An aggregate of sort keys that begin with the place of a row, for which any numbers do that
    ascend with it.
    """

    def later(e: Expr) -> Expr | None:
        if isinstance(e, ColumnRef):
            return earlier(e)
        if not isinstance(e, Call) or not _is_by_places(e):
            return None
        letters, first, *values = e.args
        assert first == PLACE, "a sort key by places"
        place = sort_key("ORDER BY", Ordering(number))
        return replace(e, arguments=(letters, place, *map(earlier, values)))

    where = earlier(_TRUE if aggregate.where is None else aggregate.where)
    assert aggregate.argument is not None, "sort keys"
    return replace(aggregate, argument=rewrite(aggregate.argument, later), where=where)


def _aggregated(call: OverFrame, of: dict[Aggregate, Aggregate], values: _Values) -> Expr:
    def change(e: Expr) -> Expr | None:
        if not isinstance(e, AggregateCall):
            return None
        assert call.frame.frame is not None, "a frame of rows that have come"
        return values.column(FrameAggregate(of[e.aggregate], call.frame.frame))

    return rewrite(call.aggregated, change)


def _placed(function: RowFunction, values: _Values) -> Expr:
    """The value of a function of a row's place."""
    if function.function == "row_number":
        return functions.cast(_number(values), pa.int32())
    argument, offset = function.argument, function.offset
    assert argument is not None, "it takes the value of a row"
    if function.function == "nth_known":
        return values.column(NthValue(argument, offset, known=True))
    if function.function == "known_before" and offset:
        return values.column(EarlierValue(argument, offset, known=True))
    if function.function in _KNOWN:
        return values.column(KnownValue(argument, _KNOWN[function.function]))
    if function.function == "first_value":
        return values.column(NthValue(argument, 1))
    if function.function == "nth_value":
        return values.column(NthValue(argument, offset))
    if offset == 0:
        return argument
    earlier = values.column(EarlierValue(argument, offset))
    if function.function == "lag":
        return earlier
    there = functions.resolve(">", (_number(values), functions.literal(offset, pa.int64())))
    return functions.resolve("case", (there, earlier, values.column(NthValue(argument, 1))))


def _number(values: _Values) -> ColumnRef:
    count = Aggregate("count", None, pa.int64())
    return values.column(FrameAggregate(count, _ALL_ROWS))
