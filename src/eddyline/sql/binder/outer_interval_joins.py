"""LEFT, RIGHT and FULL JOIN of two streams without windows, by conditions on their event times.

A row has no match for certain when no row that matches it can come any more: that is when it leaves
its derived window. The rows that are unmatched then come, once, and stay for a microsecond::

    a LEFT JOIN b                         Union
      ON a.k = b.k                          Join  a.k = b.k, b.ts - a.ts between -y and x
      AND b.ts >= a.ts - y                    a [RANGE x]  b [RANGE y]
      AND b.ts <= a.ts + x                  Project  a.k, ..., NULL, ...
                                              Windowed  TUMBLE 1 us
                                                FinalRows  at left_at, ts + x
                                                  AntiJoin  a.k = b.k, ...
                                                    a [RANGE x]  b [RANGE x + y]

The windows are a microsecond longer than these lengths. In the second part rows of b stay until
those of a that they match have left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

import pyarrow as pa

from eddyline.algebra import functions
from eddyline.algebra.expressions import ColumnRef, Expr, conjunction, conjuncts
from eddyline.algebra.plan import (
    Distinct,
    Filter,
    FinalRows,
    Join,
    Plan,
    Product,
    Project,
    Union,
    Windowed,
    anti_join,
    join,
)
from eddyline.algebra.time_windows import TimeWindows
from eddyline.sql.binder.context import BoundPlan, Context
from eddyline.sql.binder.interval_joins import time_bounds
from eddyline.sql.binder.joins import OuterSide, beside_nulls, swapped
from eddyline.sql.binder.matching import matched
from eddyline.sql.binder.relations import Item
from eddyline.sql.binder.scope import Scope
from eddyline.sql.binder.time_columns import time_column
from eddyline.sql.binder.time_windows import with_range

_INSTANT: Final = TimeWindows("TUMBLE", 1, 1)


@dataclass(frozen=True)
class _Input:
    """A stream without a window, alone or in a sub-query: the column of its event time, and how
    much later than one of its rows a row of the other input can be.
    """

    item: Item
    time: int
    wait_us: int

    @property
    def window_us(self) -> int:
        """For how long a row can be joined."""
        return max(self.wait_us, 0) + 1

    def over(self, us: int) -> Plan:
        """The rows in a window."""
        bound = self.item.bound
        return with_range(bound.plan, bound.open_streams, us)


def outer_interval_join(
    side: OuterSide,
    items: Sequence[Item],
    conditions: Iterable[Expr],
    scope: Scope,
    context: Context,
) -> tuple[Plan, list[Item]] | None:
    """The join of two items, and the items without open streams; None if they are not two streams
    without windows, or no conditions bound how far apart their times are.

    Args:
        conditions: over the columns of both items. scope: of these columns.
    """
    terms = [t for c in conditions for t in conjuncts(c)]
    inputs = _inputs(items, terms, context)
    if inputs is None:
        return None
    left, right = inputs
    width = len(left.item.bound.plan.schema)
    match = matched(terms, width)
    on = conjunction(match.left + match.right + match.both)
    pairs = join(left.over(left.window_us), right.over(right.window_us), match.keys, on)
    parts: list[Plan] = [pairs]
    if side != "RIGHT":
        kept = right.over(_matching_us(left, right))
        alone = anti_join(left.over(left.window_us), kept, match.keys, on)
        parts.append(beside_nulls(final_rows(alone, left.time, left.window_us), 0, scope))
    if side != "LEFT":
        kept = left.over(_matching_us(right, left))
        keys = swapped(match.keys, on, *(i.item.bound.plan for i in inputs))
        alone = anti_join(right.over(right.window_us), kept, *keys)
        parts.append(beside_nulls(final_rows(alone, right.time, right.window_us), width, scope))
    # the times of rows are not known from their columns: rows without a match come later
    bound = [BoundPlan(Distinct(i.over(i.window_us))) for i in inputs]
    closed = [replace(i, bound=b) for i, b in zip(items, bound, strict=True)]
    return Union(tuple(parts)), closed


def _inputs(
    items: Sequence[Item], terms: Sequence[Expr], context: Context
) -> tuple[_Input, _Input] | None:
    if len(items) != 2 or any(len(i.bound.open_streams) != 1 for i in items):
        return None
    if any(s.made for i in items for s in i.bound.open_streams):
        return None
    left, right = (time_column(i.bound.plan, context) for i in items)
    if left is None or right is None:
        return None
    width = len(items[0].bound.plan.schema)
    waits: dict[bool, list[int]] = {True: [], False: []}  # by whether the left row is earlier
    for term in terms:
        for bound in time_bounds(term):
            if {bound.earlier, bound.later} == {left, width + right}:
                waits[bound.earlier == left].append(bound.us)
    if not waits[True] or not waits[False]:
        return None
    return _Input(items[0], left, min(waits[True])), _Input(items[1], right, min(waits[False]))


def _matching_us(row: _Input, other: _Input) -> int:
    """For how long rows of the other input are matches of rows that have not left."""
    return max(row.window_us + other.wait_us, 1)


def final_rows(plan: Plan, time: int, us: int) -> Plan:
    """The rows that are in a plan when they leave their windows, whose length is ``us`` from the
    time in a column on; its columns are kept.
    """
    columns = [ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema)]
    length = functions.literal(timedelta(microseconds=us), pa.duration("us"))
    end = functions.resolve("+", (columns[time], length))
    names = tuple(c.name for c in columns)
    final = FinalRows(Project(plan, (*columns, end), (*names, "left_at")), len(columns))
    return Project(Windowed(final, _INSTANT), tuple(columns), names)


def is_for_an_instant(plan: Plan) -> bool:
    """Whether some rows of a plan are there for a microsecond only, when they are certain."""
    if isinstance(plan, Windowed):
        return plan.windows == _INSTANT
    parts = plan.inputs if isinstance(plan, (Filter, Project, Union, Join, Product)) else ()
    return any(map(is_for_an_instant, parts))
