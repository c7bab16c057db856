"""EXISTS and IN (SELECT ...) of streams without windows as values: below OR, in CASE, in the select
list.

As for terms of WHERE (``interval_existence.py``), conditions on event times say when a row can have
no other match. Then it comes, once, with its values, which are computed over derived windows::

    SELECT a.k, EXISTS (SELECT * FROM b        Windowed  TUMBLE 1 us
      WHERE b.k = a.k                            FinalRows  at left_at, ts + x
      AND b.ts >= a.ts - y                         Union
      AND b.ts <= a.ts + x) FROM a                   SemiJoin ... TRUE
                                                       a [RANGE x]  b [RANGE x + y]
                                                     AntiJoin ... FALSE

The windows are a microsecond longer than these lengths. A window on the outer rows counts: then
only the windows of b are derived, as long as a row of a that they match is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa

from eddyline.algebra.expressions import Call, Expr, conjuncts, rewrite, shift_columns, walk
from eddyline.algebra.plan import Distinct, Plan
from eddyline.errors import UnsupportedError
from eddyline.sql.binder.context import BoundPlan, Context
from eddyline.sql.binder.interval_joins import Member, Waits, members_of, waits_between
from eddyline.sql.binder.outer_interval_joins import final_rows
from eddyline.sql.binder.over_calls import is_over
from eddyline.sql.binder.relations import Item
from eddyline.sql.binder.scope import Scope
from eddyline.sql.binder.sub_query_calls import SubQuery, SubQueryCall
from eddyline.sql.binder.time_windows import with_range

#: What streams without windows need in a sub-query.
BOUNDED: Final = (
    "bound the times of the rows that match on both sides, as in WHERE b.k = a.k AND b.ts BETWEEN "
    "a.ts - INTERVAL '5' MINUTE AND a.ts"
)
_OVER: Final = (
    "OVER beside a sub-query whose rows are found by times is not supported: its value is known "
    "later than the row; compute it in FROM TUMBLE((SELECT ...), _ts, INTERVAL '1' MINUTE)"
)


@dataclass(frozen=True)
class FromParts:
    """A FROM clause, whose streams get windows if these follow from times.

    Attributes:
        items, parts, scope: as of ``from_clause.FromClause``.
    """

    items: list[Item]
    parts: list[Plan]
    scope: Scope
    context: Context


@dataclass(frozen=True)
class TimedValues:
    """Rows that read sub-queries, all with windows.

    Attributes:
        plan: the rows. queries: by sub-query, that with a window.
        time: the column with the time of the rows, which come when they leave their window of
            ``us`` microseconds; None: they come at once.
    """

    plan: Plan
    queries: dict[SubQuery, SubQuery]
    time: int | None = None
    us: int = 0

    def over(self, expr: Expr) -> Expr:
        """An expression that reads the sub-queries with windows."""

        def change(e: Expr) -> Expr | None:
            if not isinstance(e, SubQueryCall) or e.query not in self.queries:
                return None
            return replace(e, query=self.queries[e.query])

        return rewrite(expr, change)

    def emitted(self, plan: Plan) -> Plan:
        """The rows with their values, when these are certain."""
        return plan if self.time is None else final_rows(plan, self.time, self.us)


def with_times(
    source: FromParts, plan: Plan, exprs: Sequence[Expr], calls: Sequence[SubQueryCall]
) -> TimedValues | None:
    """The rows and sub-queries with windows; None if all have some, or the conditions do not say
    for how long rows can match. The streams of FROM get theirs, too.

    Args:
        plan: the rows of FROM. exprs: what reads the calls.

    Raises:
        UnsupportedError: there is OVER, too, of streams without windows.
    """
    changing = [c for c in calls if c.query.bound.changes]
    opened = [s for c in changing for s in c.query.bound.open_streams]
    own = [s for i in source.items for s in i.bound.open_streams]
    if not opened or any(s.made for s in (*own, *opened)):
        return None
    if any(len(c.query.bound.open_streams) > 1 for c in changing):
        return None
    members = list(members_of(source.items, source.parts, source.scope, source.context))
    if not own:
        return _beside_windows(source, plan, members, changing)
    if any(is_over(e) for expr in exprs for e in walk(expr)):
        raise source.context.error(calls[0].query.node, _OVER, UnsupportedError)
    return _without_windows(source, plan, members, changing)


def _beside_windows(
    source: FromParts, plan: Plan, members: Sequence[Member], calls: Sequence[SubQueryCall]
) -> TimedValues | None:
    """Sub-queries of rows that have windows."""
    queries = {}
    for call in calls:
        if not call.query.bound.open_streams:
            continue
        ends = []
        for member in members:
            back = _waits(source, plan, member, call).back_us
            if back is not None and member.lives_us is not None:
                ends.append(max(back + member.lives_us, 1))
        if not ends:
            return None
        queries[call.query] = _ranged(call.query, min(ends))
    return TimedValues(plan, queries)


def _without_windows(
    source: FromParts, plan: Plan, members: Sequence[Member], calls: Sequence[SubQueryCall]
) -> TimedValues | None:
    """Sub-queries of rows of a stream without a window."""
    if len(members) != 1 or members[0].time is None:
        return None
    (member,), us = members, 1
    found = []
    for call in calls:
        wait = _waits(source, plan, member, call)
        if wait.ahead_us is None or wait.back_us is None or not call.query.bound.open_streams:
            return None
        us = max(us, wait.ahead_us + 1)
        found.append((call.query, wait.back_us))
    streams = member.item.bound.open_streams
    place = next(i for i, p in enumerate(source.parts) if p == member.item.bound.plan)
    source.parts[place] = with_range(source.parts[place], streams, us)
    # the time of a row is not known from its columns: it comes later
    bound = BoundPlan(Distinct(source.parts[place]))
    source.items[member.number] = replace(member.item, bound=bound)
    queries = {query: _ranged(query, max(us + back, 1)) for query, back in found}
    assert member.time is not None, "checked above"
    return TimedValues(with_range(plan, streams, us), queries, member.time.index, us)


def _waits(source: FromParts, plan: Plan, member: Member, call: SubQueryCall) -> Waits:
    """How much later than a row of a FROM item a row of the sub-query can be, and the reverse."""
    query, width = call.query, len(plan.schema)
    terms: list[Expr] = [
        Call(pa.bool_(), "=", (a, shift_columns(b, width)))
        for a, b in zip(call.arguments, query.keys, strict=False)
    ]
    if query.residual is not None:
        terms += conjuncts(query.over(plan, call.arguments, query.residual))
    return waits_between(member, query.bound.plan, width, terms, source.context)


def _ranged(query: SubQuery, us: int) -> SubQuery:
    plan = with_range(query.plan, query.bound.open_streams, us)
    return replace(query, plan=plan, bound=BoundPlan(plan))
