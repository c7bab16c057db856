"""Interval joins: the windows of streams without one, derived from conditions on event times.

``a.ts BETWEEN b.ts - INTERVAL '5' MINUTE AND b.ts + INTERVAL '1' MINUTE`` says how much later than
a row of one stream a row of the other can be::

    b.ts - a.ts <= 5 MINUTES       a [RANGE 5 MINUTES + 1 us]: for so long a row can be joined
    a.ts - b.ts <= 1 MINUTE        b [RANGE 1 MINUTE + 1 us]

Over more streams the differences add up: the longest wait for a stream is a shortest path.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Final

import pyarrow as pa

from eddyline.algebra.expressions import Call, ColumnRef, Expr, Literal, conjuncts
from eddyline.algebra.plan import Plan
from eddyline.errors import SqlError
from eddyline.sql.binder.context import BoundPlan, Context, no_window_on_made
from eddyline.sql.binder.relations import Item
from eddyline.sql.binder.scope import Scope
from eddyline.sql.binder.time_columns import time_column
from eddyline.sql.binder.time_windows import with_range
from eddyline.sql.window_syntax import WINDOW_FORMS

#: Longer waits are as good as none: a sum of two of them is still an int64.
_MAX_US: Final = 1 << 61
_STRICT: Final = {"<": 1, "<=": 0, ">": 1, ">=": 0, "=": 0}


@dataclass(frozen=True)
class Bound:
    """``later - earlier <= us``, of two columns with event times."""

    earlier: int
    later: int
    us: int


@dataclass
class Member:
    """A FROM item whose rows change: its event time is a column, or unknown (None).

    ``lives_us``: the longest that its rows can be joined; None: as the conditions say.
    """

    number: int
    item: Item
    time: ColumnRef | None
    lives_us: int | None
    waits: dict[int, int] = field(default_factory=dict)  #: the longest, by number of other members

    @property
    def is_open(self) -> bool:
        return bool(self.item.bound.open_streams)


@dataclass(frozen=True)
class Waits:
    """How much later than a row of the one input a row of the other can be."""

    ahead_us: int | None
    back_us: int | None


@dataclass(frozen=True)
class Derived:
    """A FROM clause whose streams all have windows."""

    items: list[Item]
    parts: list[Plan]
    conditions: list[Expr]


def with_derived_windows(
    items: Sequence[Item],
    parts: Sequence[Plan],
    conditions: Sequence[Expr],
    scope: Scope,
    context: Context,
) -> Derived:
    """The items and parts with windows on the streams that have none, and the conditions that
    these do not imply.

    Args:
        items: of FROM, in the order of their columns.
        parts: the factors of the product.
        conditions: over the columns of all parts.
        scope: of these columns.

    Raises:
        SqlError: the conditions do not say for how long a row of a stream can be joined.
    """
    members = list(members_of(items, parts, scope, context))
    bounds = [b for c in conditions for t in conjuncts(c) for b in time_bounds(t)]
    _set_waits(members, bounds)
    items, parts = list(items), list(parts)
    windows: dict[int, int] = {}  # by column of the event time
    for member in members:
        if not member.is_open:
            continue
        us = _window_us(member, members)
        assert member.time is not None, "checked with the waits"
        windows[member.time.index] = us
        bound = member.item.bound
        place = _part_of(member.time.index, parts)
        parts[place] = with_range(parts[place], bound.open_streams, us)
        plan = with_range(bound.plan, bound.open_streams, us)
        items[member.number] = replace(member.item, bound=BoundPlan(plan))
    kept = [t for c in conditions for t in conjuncts(c) if not _is_implied(t, windows)]
    return Derived(items, parts, kept)


def time_bounds(term: Expr) -> tuple[Bound, ...]:
    """What a condition says of the difference of two timestamps; empty for other conditions."""
    if not isinstance(term, Call):
        return ()
    if term.function in ("and", "between"):
        parts = term.arguments
        if term.function == "between":
            value, low, high = parts
            parts = tuple(Call(pa.bool_(), "<=", pair) for pair in ((low, value), (value, high)))
        return tuple(b for part in parts for b in time_bounds(part))
    if term.function not in _STRICT:
        return ()
    left, right = term.arguments
    if term.function in (">", ">="):
        left, right = right, left
    found = [_bound(left, right, _STRICT[term.function])]
    if term.function == "=":
        found.append(_bound(right, left, 0))
    return tuple(b for b in found if b is not None)


def _bound(smaller: Expr, larger: Expr, strict: int) -> Bound | None:
    """``smaller <= larger``, or ``<`` if strict."""
    try:
        times, us = _difference(smaller, larger)
    except _NotLinear:
        return None
    later = [i for i, n in times.items() if n == 1]
    earlier = [i for i, n in times.items() if n == -1]
    if len(times) != 2 or len(later) != 1 or len(earlier) != 1 or abs(us) > _MAX_US:
        return None
    return Bound(earlier[0], later[0], -us - strict)


class _NotLinear(Exception):
    """An expression is no sum of timestamps and constant intervals."""


def _difference(left: Expr, right: Expr) -> tuple[dict[int, int], int]:
    """How often each column of timestamps is in ``left - right``, and the constant in us."""
    times: dict[int, int] = {}
    us = 0
    for expr, sign in ((left, 1), (right, -1)):
        for factor, term in _summands(expr, sign):
            if isinstance(term, ColumnRef):
                times[term.index] = times.get(term.index, 0) + factor
            else:
                assert isinstance(term, Literal)
                us += factor * (term.value // timedelta(microseconds=1))
    return {i: n for i, n in times.items() if n}, us


def _is_length(expr: Expr) -> bool:
    """Whether an expression is a constant interval."""
    return isinstance(expr, Literal) and pa.types.is_duration(expr.type) and not expr.is_null


def _summands(expr: Expr, sign: int) -> Iterator[tuple[int, ColumnRef | Literal]]:
    is_time = isinstance(expr, ColumnRef) and pa.types.is_timestamp(expr.type)
    if is_time or _is_length(expr):
        assert isinstance(expr, ColumnRef | Literal)
        yield sign, expr
    elif isinstance(expr, Call) and expr.function in ("+", "-") and len(expr.arguments) == 2:
        left, right = expr.arguments
        yield from _summands(left, sign)
        yield from _summands(right, sign if expr.function == "+" else -sign)
    elif isinstance(expr, Call) and expr.function == "negative":
        yield from _summands(expr.arguments[0], -sign)
    elif isinstance(expr, Call) and expr.function == "cast" and expr.type == expr.args[0].type:
        yield from _summands(expr.arguments[0], sign)
    else:
        raise _NotLinear


def members_of(
    items: Sequence[Item], parts: Sequence[Plan], scope: Scope, context: Context
) -> Iterator[Member]:
    """The items of the parts whose rows change."""
    width = sum(len(p.schema) for p in parts)
    for number, item in enumerate(items):
        if not item.bound.changes:
            continue
        found = [r for r in scope.relations if r.name == item.name and r.fields == item.fields]
        place = time_column(item.bound.plan, context)
        if len(found) != 1 or place is None or found[0].offset >= width:
            yield Member(number, item, None, None)
            continue
        lives_us = None if item.bound.open_streams else item.bound.plan.lifespan_us
        yield Member(number, item, found[0].column(place, True), lives_us)


def waits_between(
    member: Member, plan: Plan, width: int, terms: Sequence[Expr], context: Context
) -> Waits:
    """How much later than a row of a FROM item a row of a plan can be, and the reverse.

    Args:
        width: of the outer rows. terms: over their columns and those of the plan.
    """
    place = time_column(plan, context)
    if place is None or member.time is None:
        return Waits(None, None)
    left, right = member.time.index, width + place
    bounds = [b for t in terms for b in time_bounds(t)]
    return Waits(_least(bounds, left, right), _least(bounds, right, left))


def _least(bounds: Sequence[Bound], earlier: int, later: int) -> int | None:
    found = (b.us for b in bounds if (b.earlier, b.later) == (earlier, later))
    return min(found, default=None)


def _set_waits(members: Sequence[Member], bounds: Iterable[Bound]) -> None:
    """For each pair of members, how much later than a row of the one a row of the other can be."""
    by_time = {m.time.index: m for m in members if m.time is not None}
    for bound in bounds:
        earlier, later = by_time.get(bound.earlier), by_time.get(bound.later)
        if earlier is not None and later is not None:
            known = earlier.waits.get(later.number, bound.us)
            earlier.waits[later.number] = min(known, bound.us)
    for member in members:
        if member.lives_us is not None:  # its rows are gone then
            for other in members:
                known = member.waits.get(other.number, member.lives_us - 1)
                member.waits[other.number] = min(known, member.lives_us - 1)
    for over in members:
        for member in members:
            first = member.waits.get(over.number)
            for number, second in over.waits.items() if first is not None else ():
                assert first is not None
                known = member.waits.get(number, first + second)
                member.waits[number] = min(known, first + second)


def _window_us(member: Member, members: Sequence[Member]) -> int:
    """For how long a row of a member can be joined."""
    longest = 0
    for other in members:
        if other is member:
            continue
        wait = member.waits.get(other.number)
        if wait is None or member.time is None or wait > _MAX_US:
            raise _no_bound(member, other)
        longest = max(longest, wait)
    return longest + 1


def _no_bound(member: Member, other: Member) -> SqlError:
    stream = member.item.bound.open_streams[0]
    if stream.made:
        return no_window_on_made(stream, "a join")
    message = (
        f"a join needs a window on stream '{stream.name}'; write {stream.name} {WINDOW_FORMS}, or "
        "end the SELECT with WINDOW 10 SECONDS"
    )
    if member.time is not None and other.time is not None:
        bounded = f"{other.time.name} <= {member.time.name} + INTERVAL '10' SECOND"
        back = (
            ""
            if member.number in other.waits
            else (f" AND {other.time.name} >= {member.time.name} - INTERVAL '10' SECOND")
        )
        message += f". Or bound the times of the rows that are joined, as in {bounded}{back}"
    return stream.context.error(stream.node, message)


def _part_of(column: int, parts: Sequence[Plan]) -> int:
    """The number of the part that has a column."""
    end = 0
    for number, part in enumerate(parts):
        end += len(part.schema)
        if column < end:
            return number
    raise AssertionError("a column of the parts")


def _is_implied(term: Expr, windows: dict[int, int]) -> bool:
    """Whether a term holds for all rows that are in the windows together; equalities, by which
    rows are found, are not.
    """
    bounds = time_bounds(term)
    if not bounds or (isinstance(term, Call) and term.function == "="):
        return False
    return all(windows.get(b.earlier, b.us + 2) - 1 <= b.us for b in bounds)
