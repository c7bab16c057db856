"""How long a plan still has results after its last row."""

from __future__ import annotations

from typing import NamedTuple

from eddyline.algebra.plan import (
    AsofJoin,
    Filter,
    Join,
    LookupJoin,
    MatchRecognize,
    Plan,
    Product,
    Project,
    RunningOver,
    SessionGroups,
    SessionRows,
    StreamScan,
    Union,
    Unnest,
    Windowed,
)
from eddyline.algebra.windows import Range


def drain_us(plan: Plan) -> int:
    """The event time after the last row of the streams, in microseconds, from which on nothing
    changes any more: all rows have left their windows, and all windows and sessions have ended.
    """
    return _drain(plan).ends_us


class _Drain(NamedTuple):
    """Both in microseconds after the last row of the streams.

    Attributes:
        comes_us: up to when rows may come out of a node. ends_us: up to when these may leave.
    """

    comes_us: int
    ends_us: int


def _drain(plan: Plan) -> _Drain:
    inputs = [_drain(node) for node in plan.inputs]
    comes = max((i.comes_us for i in inputs), default=0)
    ends = max((i.ends_us for i in inputs), default=0)
    match plan:
        case StreamScan():
            return _Drain(0, plan.window.us if isinstance(plan.window, Range) else 0)
        case Windowed():
            return _Drain(comes, max(ends, comes + plan.windows.size_us))
        case SessionRows():
            return _Drain(comes, max(ends, comes + plan.gap_us + 1))
        case SessionGroups():
            comes += plan.gap_us
            return _Drain(comes, max(ends, comes))
        case MatchRecognize():  # a row at the end of WITHIN is still in it
            comes += 0 if plan.within_us is None else plan.within_us + 1
            return _Drain(comes, max(ends, comes))
        case AsofJoin() | RunningOver():  # a row may wait for those of its time
            return _Drain(comes + 1, ends + 1)
        case Filter() | Project() | Unnest() | Join() | LookupJoin() | Product() | Union():
            return _Drain(comes, ends)
        case _:  # what leaves changes the results
            return _Drain(ends, ends)
