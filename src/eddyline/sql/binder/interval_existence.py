"""EXISTS and NOT EXISTS of streams without windows, by conditions on their event times.

How much later than a row a match can be, says when it has none for certain. The rows without a
match then come, once, and stay for a microsecond, as those of a LEFT JOIN do
(``outer_interval_joins.py``)::

    a WHERE NOT EXISTS (SELECT * FROM b        Windowed  TUMBLE 1 us
      WHERE b.k = a.k                            FinalRows  at left_at, ts + x
      AND b.ts >= a.ts - y                         AntiJoin  a.k = b.k, b.ts - a.ts between -y and x
      AND b.ts <= a.ts + x)                          a [RANGE x]  b [RANGE x + y]

So do those with a match that cannot be later. If it can, EXISTS does not wait: its rows come with
the first match and leave with their window, the semi-join being over the same windows::

    a WHERE EXISTS (... AND b.ts <= a.ts + x)      SemiJoin  a.k = b.k, ...
                                                     a [RANGE x]  b [RANGE x + y]

The windows are a microsecond longer than these lengths. A window on the outer rows counts: then
the answer is that over windows, and rows of b are kept while a row of a that they match is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import pyarrow as pa

from eddyline.algebra.expressions import Call, Expr, shift_columns
from eddyline.algebra.plan import Distinct, Plan
from eddyline.sql.binder.context import BoundPlan, Context
from eddyline.sql.binder.from_clause import FromClause
from eddyline.sql.binder.interval_joins import Member, Waits, members_of, waits_between
from eddyline.sql.binder.matching import Match
from eddyline.sql.binder.outer_interval_joins import final_rows
from eddyline.sql.binder.time_windows import with_range


class SubQueryOfTerm(Protocol):
    """A bound sub-query, and the conditions that match its rows with the outer rows."""

    @property
    def bound(self) -> BoundPlan: ...

    @property
    def match(self) -> Match: ...


@dataclass(frozen=True)
class TimedExistence:
    """Sub-queries with windows that follow from times.

    Attributes:
        plans: of the sub-queries, in their order.
        time: the column with the time of the outer rows that come when they leave their window of
            ``us`` microseconds; None: they come at once.
    """

    plans: tuple[Plan, ...]
    time: int | None = None
    us: int = 0

    def emitted(self, plan: Plan) -> Plan:
        """The rows that satisfy all terms, when this is certain."""
        return plan if self.time is None else final_rows(plan, self.time, self.us)


def with_times(
    source: FromClause, terms: Sequence[tuple[bool, SubQueryOfTerm]], context: Context
) -> TimedExistence | None:
    """The sub-queries of terms with windows; None if the conditions do not say for how long rows
    can match. Streams of the source get windows, too.

    Args:
        terms: whether each is negated, and its sub-query.
    """
    changing = [(negated, s) for negated, s in terms if s.bound.changes]
    if not changing or not any(s.bound.open_streams for _, s in changing):
        return None
    if any(len(s.bound.open_streams) > 1 for _, s in changing):
        return None
    below = [o for _, s in changing for o in s.bound.open_streams]
    if any(o.made for o in (*source.open_streams, *below)):
        return None
    members = list(members_of(source.items, source.parts, source.scope, context))
    if not source.open_streams:
        return _beside_windows(members, [s for _, s in terms], context)
    return _without_windows(source, members, terms, context)


def _beside_windows(
    members: Sequence[Member], sub_queries: Sequence[SubQueryOfTerm], context: Context
) -> TimedExistence | None:
    """Sub-queries of outer rows that have windows."""
    plans = []
    for sub in sub_queries:
        plan = sub.bound.plan
        if sub.bound.open_streams:
            ends = []
            for member in members:
                back = _waits(member, sub, context).back_us
                if back is not None and member.lives_us is not None:
                    ends.append(max(back + member.lives_us, 1))
            if not ends:
                return None
            plan = with_range(plan, sub.bound.open_streams, min(ends))
        plans.append(plan)
    return TimedExistence(tuple(plans))


def _without_windows(
    source: FromClause,
    members: Sequence[Member],
    terms: Sequence[tuple[bool, SubQueryOfTerm]],
    context: Context,
) -> TimedExistence | None:
    """Sub-queries of rows of a stream without a window."""
    member, time = members[0], members[0].time
    if len(members) != 1 or time is None:
        return None
    waits = [_waits(member, s, context) if s.bound.changes else Waits(0, 0) for _, s in terms]
    us, kept = 1, []
    for (_, sub), wait in zip(terms, waits, strict=True):
        if wait.ahead_us is None or wait.back_us is None:
            return None
        if sub.bound.changes and not sub.bound.open_streams:
            return None
        us = max(us, wait.ahead_us + 1)
        kept.append((sub, wait.back_us))
    place = next(i for i, p in enumerate(source.parts) if p == member.item.bound.plan)
    window = with_range(source.parts[place], member.item.bound.open_streams, us)
    source.parts[place] = window
    final = us == 1 or any(negated for negated, _ in terms)
    # the time of a row is not known from its columns: it comes later
    bound = BoundPlan(Distinct(window) if final else window)
    source.items[member.number] = replace(member.item, bound=bound)
    plans = tuple(
        with_range(sub.bound.plan, sub.bound.open_streams, max(us + back, 1)) for sub, back in kept
    )
    return TimedExistence(plans, time.index if final else None, us)


def _waits(member: Member, sub: SubQueryOfTerm, context: Context) -> Waits:
    """How much later than a row of a FROM item a row of the sub-query can be, and the reverse."""
    return waits_between(member, sub.bound.plan, sub.match.width, _terms(sub.match), context)


def _terms(match: Match) -> Sequence[Expr]:
    keys = (Call(pa.bool_(), "=", (a, shift_columns(b, match.width))) for a, b in match.keys)
    return (*match.both, *keys)
