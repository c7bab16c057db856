"""Aggregates over frames of rows that are in windows: each row is joined with the aggregates of the
rows of its frame, which are found by sort keys of ORDER BY between two others.

::

    SUM(v) OVER (PARTITION BY k ORDER BY ts      Join  k <=> k, key <=> key
      RANGE INTERVAL '5' MINUTE PRECEDING)         ...
                                                   GroupBy  k, key: SUM(v) FILTER (in frame)
                                                     Join  k <=> k   low <= key AND key <= high
                                                       Distinct  k, key, low, high
                                                       ...

Frames of ROWS compare places, in which rows that tie are numbered: low and high are the places of
the first and the last row of the frame; those of GROUPS are frames of RANGE over dense ranks. The
current row is always joined, so that each row has a group, also if its frame is empty.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa

from eddyline.algebra import functions
from eddyline.algebra.expressions import AggregateCall, ColumnRef, Expr, rewrite, shift_columns
from eddyline.algebra.functions import Ordering
from eddyline.algebra.functions.sort_keys import sort_key
from eddyline.algebra.nodes.over import RowFunction
from eddyline.algebra.plan import Distinct, Over, Plan, Product, Project, filtered, join
from eddyline.errors import SqlError
from eddyline.sql.binder.frames import Bounds
from eddyline.sql.binder.grouping import GroupRewriter
from eddyline.sql.binder.over_calls import OverFrame, RowPlace, with_arguments
from eddyline.sql.binder.scalars import Scalars
from eddyline.sql.binder.set_operations import null_safe
from eddyline.types import sql_type

_NAME: Final = "ORDER BY"
#: The first and the last key of a frame.
_ENDS: Final = ("low", "high")


def needs_place(call: OverFrame) -> bool:
    """Whether rows that tie have different values, or their order matters."""
    bounds = call.frame.bounds
    return bounds.unit == "rows" or bounds.exclude in ("CURRENT ROW", "TIES")


def is_of_groups(call: OverFrame) -> bool:
    """Whether the frame is of groups of rows that tie."""
    return call.frame.bounds.unit == "groups"


def by_rank(call: OverFrame, rank: Expr) -> OverFrame:
    """The same with a frame of groups as one of dense ranks, which a column has."""
    bounds = call.frame.bounds._replace(unit="range")
    return replace(
        call,
        arguments=(*call.partition, rank),
        frame=call.frame._replace(bounds=bounds),
        descending=(False,),
        nulls_first=(True,),
    )


def place_key(rows: Plan, column: int, order: tuple[Ordering, ...]) -> Expr:
    """The sort key of a row's place; a column has its number among those that tie."""
    return sort_key(_NAME, *order, Ordering(_column(rows, column)))


@dataclass(frozen=True)
class FrameJoin:
    """Adds the aggregates of calls with one partition, order and frame to rows.

    Attributes:
        rows: which the frames are of; they are the first columns of the plan that gets the values.
        place: the sort key of places; None: rows that tie have one value.
        scalars: binds the calls.
    """

    rows: Plan
    calls: Sequence[OverFrame]
    place: Expr | None
    scalars: Scalars

    def beside(self, plan: Plan) -> tuple[Plan, dict[Expr, Expr]]:
        """The plan with the values in further columns, and by call its value over them.

        Raises:
            SqlError: ORDER BY is not one number or time, of which RANGE has a distance.
        """
        identity = (*self._call.partition, self._value(0) if self.place is None else self.place)
        current = self._current(identity)
        count, width = len(identity), len(plan.schema)
        start = len(current.schema)
        inside = self._inside(current)
        same = functions.resolve(
            "=", (_column(current, count - 1), shift_columns(identity[-1], start))
        )
        pairs = self._pairs(current, functions.resolve("or", (inside, same)))
        keys = tuple(_column(current, i) for i in range(count))
        rewriter = GroupRewriter(keys, self.scalars.context)
        of_pairs = (self._of_pairs(c.aggregated, start, inside) for c in self.calls)
        values = [rewriter.over(v, self.scalars) for v in of_pairs]
        *by, place = ((k, ColumnRef(k.type, i, str(k))) for i, k in enumerate(identity))
        plan = join(plan, rewriter.plan(pairs), (*null_safe(tuple(by)), place))
        shifted = (shift_columns(v, width) for v in values)
        return plan, dict(zip(self.calls, shifted, strict=True))

    def _pairs(self, current: Plan, condition: Expr) -> Plan:
        """Each row with others of its partition, which satisfy a condition."""
        on = tuple((_column(current, i), k) for i, k in enumerate(self._call.partition))
        if on:
            return join(current, self.rows, null_safe(on), condition)
        return filtered(Product((current, self.rows)), [condition])

    @property
    def _call(self) -> OverFrame:
        return self.calls[0]

    @property
    def _bounds(self) -> Bounds:
        return self._call.frame.bounds

    def _current(self, identity: tuple[Expr, ...]) -> Plan:
        """The identity, the first and the last key of the frame, and the value of each row."""
        rows, bounds = self.rows, self._bounds
        offsets = (bounds.start or 0, bounds.end or 0)
        if bounds.unit == "range":
            ends = tuple(map(self._value, offsets))
        else:
            assert self.place is not None, "places of ROWS"
            far = tuple(
                RowFunction("lag" if n <= 0 else "lead", self.place, abs(n)) for n in offsets
            )
            width = len(rows.schema)
            rows = Over(rows, self._call.partition, (Ordering(self.place),), (), far, _ENDS)
            ends = tuple(
                ColumnRef(f.type, width + i, n)
                for i, (f, n) in enumerate(zip(far, _ENDS, strict=True))
            )
        names = (*map(str, identity[:-1]), "place", *_ENDS, "value")
        current = Project(rows, (*identity, *ends, self._value(0)), names)
        return Distinct(current) if self.place is None else current

    def _value(self, distance: int) -> Expr:
        """The sort key of ORDER BY, or of a value at a distance behind it."""
        bounds, order = self._bounds, self._call.order
        if bounds.unit == "rows" or not (bounds.start or bounds.end):
            return sort_key(_NAME, *order)
        if len(order) != 1:
            message = "RANGE with a distance needs one value in ORDER BY"
            raise self._error(message)
        by = order[0]
        far = functions.literal(-distance if by.descending else distance, self._distance_type)
        try:
            moved = functions.resolve("+", (by.value, far))
            if not distance:  # of the type of the others
                moved = functions.cast(by.value, moved.type)
        except SqlError:
            wanted = "a time" if bounds.of_time else "a number"
            message = f"this RANGE needs {wanted} in ORDER BY, not {sql_type(by.value.type)}"
            raise self._error(message) from None
        return sort_key(_NAME, replace(by, value=moved))

    def _error(self, message: str) -> SqlError:
        node = self._call.node
        assert node is not None, "a frame as written"
        return self.scalars.context.error(node, message)

    @property
    def _distance_type(self) -> pa.DataType:
        return pa.duration("us") if self._bounds.of_time else pa.int64()

    def _inside(self, current: Plan) -> Expr:
        """Whether a row behind the current one in a pair is in its frame."""
        bounds, start = self._bounds, len(current.schema)
        of_rows = bounds.unit == "rows"
        low, high, value = (_column(current, start - n) for n in (3, 2, 1))
        own = self._value(0) if self.place is None or bounds.unit == "range" else self.place
        other = shift_columns(own, start)
        terms = []
        if bounds.start is not None:
            after = functions.resolve(">=", (other, low))
            terms.append(_or_none(low, after) if of_rows and bounds.start < 0 else after)
        if bounds.end is not None:
            before = functions.resolve("<=", (other, high))
            terms.append(_or_none(high, before) if of_rows and bounds.end > 0 else before)
        if bounds.exclude in ("GROUP", "TIES"):
            terms.append(functions.resolve("<>", (shift_columns(self._value(0), start), value)))
        if self.place is not None and bounds.exclude in ("CURRENT ROW", "TIES"):
            place = _column(current, start - 4)
            kind = "<>" if bounds.exclude == "CURRENT ROW" else "="
            here = functions.resolve(kind, (shift_columns(self.place, start), place))
            if kind == "=":
                here = functions.resolve("or", (terms.pop(), here))
            terms.append(here)
        if len(terms) < 2:
            return terms[0] if terms else functions.literal(True, pa.bool_())
        return functions.resolve("and", tuple(terms))

    def _of_pairs(self, aggregated: Expr, start: int, inside: Expr) -> Expr:
        """An expression over aggregates of the rows that are in the frame."""

        def move(e: Expr) -> Expr | None:
            if isinstance(e, RowPlace):
                assert self.place is not None, "places of rows"
                return shift_columns(self.place, start)
            return replace(e, index=e.index + start) if isinstance(e, ColumnRef) else None

        def within(e: Expr) -> Expr | None:
            if not isinstance(e, AggregateCall):
                return None
            where = e.aggregate.where
            both = inside if where is None else functions.resolve("and", (inside, where))
            return replace(e, aggregate=replace(e.aggregate, where=both))

        return rewrite(with_arguments(aggregated, move), within)


def _or_none(bound: Expr, condition: Expr) -> Expr:
    """Of a row that is not there, as there are fewer, the frame has no end."""
    return functions.resolve("or", (functions.resolve("is_null", (bound,)), condition))


def _column(plan: Plan, index: int) -> ColumnRef:
    field = plan.schema[index]
    return ColumnRef(field.type, index, field.name)
