"""Temporal filters: comparisons of the query's clock with the event time of a stream.

At an instant t, ``now()`` is t. So a row satisfies ``ts > now() - INTERVAL '5' MINUTE`` in the
instants ``[ts, ts + 5 minutes)``: the filter is the window ``[RANGE 5 MINUTES]`` of its stream, and
with ``>=`` it lasts a microsecond longer. A window that is there is cut.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final

import pyarrow.types as pt
from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import ColumnRef, Literal
from eddyline.algebra.functions.alternatives import CLOCKS
from eddyline.algebra.plan import (
    AntiJoin,
    Distinct,
    Filter,
    Join,
    Plan,
    Product,
    Project,
    SemiJoin,
    Sessions,
    StreamScan,
    Union,
    Unnest,
    Windowed,
)
from eddyline.algebra.windows import Range, Unbounded
from eddyline.errors import SqlError, UnsupportedError
from eddyline.sql.binder.context import BoundPlan, Context
from eddyline.sql.binder.from_clause import FromClause
from eddyline.sql.binder.scalars import Scalars
from eddyline.sql.catalog import Catalog
from eddyline.sql.nodes import own_nodes
from eddyline.types import sql_type

_WRITE: Final = (
    "compare it in WHERE, between ANDs, with the event time of a stream and a constant INTERVAL, "
    "as in ts > now() - INTERVAL '5' MINUTE"
)
_MIRRORED: Final[dict[type[exp.Expr], type[exp.Expr]]] = {
    exp.LT: exp.GT,
    exp.LTE: exp.GTE,
    exp.GT: exp.LT,
    exp.GTE: exp.LTE,
    exp.EQ: exp.EQ,
}


def is_clock(node: exp.Expr) -> bool:
    """Whether a node is the query's clock."""
    if isinstance(node, exp.CurrentTimestamp):
        return node.this is None
    return isinstance(node, exp.Anonymous) and node.name.lower() in CLOCKS and not node.expressions


def has_clock(node: exp.Expr) -> bool:
    """Whether an expression reads the query's clock outside of its sub-queries."""
    return any(map(is_clock, own_nodes(node)))


@dataclass
class _Sum:
    """A sum of the clock, a column and a constant: how often each is in it."""

    clock: int = 0
    column: ColumnRef | None = None
    columns: int = 0
    us: int = 0


class TemporalFilters:
    """The windows that the clock in WHERE gives to the streams of a FROM clause.

    Args:
        source: the FROM clause; :meth:`apply` changes its plans.
        context: for errors.
    """

    def __init__(self, source: FromClause, context: Context) -> None:
        self._source = source
        self._context = context
        self._scalars = Scalars(source.scope, context, clause="WHERE")

    def apply(self, terms: Iterable[exp.Expr]) -> None:
        """Cut the windows by those terms of WHERE that read the clock.

        Raises:
            SqlError, UnsupportedError: a term is not a bound of the event time by the clock.
        """
        for term in terms:
            for comparison, left, right in self._comparisons(term):
                self._bound(term, comparison, left, right)

    def _comparisons(self, term: exp.Expr) -> list[tuple[type[exp.Expr], exp.Expr, exp.Expr]]:
        node = term.unnest()
        if isinstance(node, exp.Between):
            self._context.require_only(node, "this", "low", "high")
            low, high = node.args["low"], node.args["high"]
            return [(exp.GTE, node.this, low), (exp.LTE, node.this, high)]
        if type(node) in _MIRRORED:
            return [(type(node), node.this, node.expression)]
        raise self._refused(term, "now() here")

    def _refused(self, node: exp.Expr, what: str) -> SqlError:
        message = f"{what} is not supported: {_WRITE}"
        return self._context.error(node, message, UnsupportedError)

    def _bound(
        self, term: exp.Expr, comparison: type[exp.Expr], left: exp.Expr, right: exp.Expr
    ) -> None:
        """Cut by the comparison of two sums: the clock minus the event time, and a length."""
        total = _Sum()
        self._add(left, 1, total, term)
        self._add(right, -1, total, term)
        column = total.column
        if column is None or total.clock + total.columns or abs(total.clock) != 1:
            raise self._refused(term, "now() without one event time")
        self._traced(term, column, _Cut(1, self._context.catalog))
        if total.clock < 0:
            comparison, total.us = _MIRRORED[comparison], -total.us
        us = -total.us  # now comparison ts + us
        if comparison in (exp.GT, exp.GTE, exp.EQ):
            self._check_visible(term, us + (comparison is exp.GT))
        if comparison in (exp.LT, exp.LTE, exp.EQ):
            self._cut(term, column, us + (comparison is not exp.LT))

    def _check_visible(self, term: exp.Expr, delay_us: int) -> None:
        """A row is visible from its event time on, so the clock is never before it."""
        if delay_us > 0:
            raise self._context.error(
                term,
                "a row is visible from its event time on, and not later: the upper bound of the "
                "event time is now() or later, as in ts <= now(); for what has had no row for a "
                "while write NOT EXISTS over a window",
                UnsupportedError,
            )

    def _add(self, node: exp.Expr, sign: int, total: _Sum, term: exp.Expr) -> None:
        """Add the terms of a sum."""
        node = node.unnest()
        if isinstance(node, (exp.Add, exp.Sub)):
            self._add(node.this, sign, total, term)
            self._add(node.expression, -sign if isinstance(node, exp.Sub) else sign, total, term)
        elif is_clock(node):
            total.clock += sign
        elif has_clock(node):
            raise self._refused(node, "now() in an expression")
        else:
            self._add_value(node, sign, total, term)

    def _add_value(self, node: exp.Expr, sign: int, total: _Sum, term: exp.Expr) -> None:
        value = self._scalars.bind(node)
        if isinstance(value, Literal) and isinstance(value.value, timedelta):
            total.us += sign * (value.value // timedelta(microseconds=1))
        elif isinstance(value, ColumnRef) and pt.is_timestamp(value.type):
            if total.column not in (None, value):
                raise self._refused(term, "now() with two columns")
            total.column = value
            total.columns += sign
        else:
            shown = f"{sql_type(value.type)} beside now()"
            raise self._refused(node, shown)

    # -- windows -------------------------------------------------------

    def _cut(self, term: exp.Expr, column: ColumnRef, us: int) -> None:
        """Let the rows of the column's stream live for ``us`` at most."""
        if us <= 0:
            message = "no row satisfies this: a row is visible from its event time on"
            raise self._context.error(term, message)
        source, cut = self._source, _Cut(us, self._context.catalog)
        source.clock = source.clock or term
        place, plan = self._traced(term, column, cut)
        before, source.parts[place] = source.parts[place], plan
        self._cut_item(before, plan, column, cut)
        if cut.meets_null:  # a row of an outer join without a match
            source.conditions.append(functions.resolve("is_not_null", (column,)))

    def _traced(self, term: exp.Expr, column: ColumnRef, cut: _Cut) -> tuple[int, Plan]:
        """The part that has a column, and its plan after a cut."""
        parts, place, start = self._source.parts, 0, 0
        while column.index >= start + len(parts[place].schema):
            start += len(parts[place].schema)
            place += 1
        try:
            return place, cut.of(parts[place], column.index - start)
        except _NotCut as e:
            raise self._context.error(term, f"{column.name}: {e}", UnsupportedError) from None

    def _cut_item(self, before: Plan, after: Plan, column: ColumnRef, cut: _Cut) -> None:
        """The same in the item of the FROM clause that has the column."""
        source = self._source
        relations = source.scope.relations
        relation = next(r for r in reversed(relations) if r.offset <= column.index)
        name, offset = relation.name, relation.offset
        for place, item in enumerate(source.items):
            if item.name != name:
                continue
            plan = item.bound.plan
            plan = after if plan == before else cut.of(plan, column.index - offset)
            left = {scan.stream for scan in _open_scans(plan)}
            streams = tuple(s for s in item.bound.open_streams if s.name in left)
            source.items[place] = replace(item, bound=BoundPlan(plan, streams))


class _NotCut(Exception):
    """Why the rows of a plan cannot be cut by a column."""


@dataclass
class _Cut:
    """Lets rows live until a time after the event time in a column.

    Attributes:
        us: the time.
        meets_null: whether the column is NULL in some rows, those of an outer join.
    """

    us: int
    catalog: Catalog
    meets_null: bool = False

    def of(self, plan: Plan, column: int) -> Plan:
        """The plan whose rows with a column live until its time and ``us`` at most.

        Raises:
            _NotCut: the column is not the event time of a stream, or windows cannot be cut.
        """
        match plan:
            case StreamScan():
                return self._scan(plan, column)
            case Filter() | Unnest() | Distinct():
                if column < len(plan.input.schema):
                    return plan.with_inputs(self.of(plan.input, column))
            case Project():
                expr = plan.exprs[column]
                if isinstance(expr, Literal) and expr.value is None:
                    self.meets_null = True
                    return plan
                if isinstance(expr, ColumnRef):
                    return plan.with_inputs(self.of(plan.input, expr.index))
            case Product() | Join():
                return self._one_input(plan, column)
            case SemiJoin() | AntiJoin():
                return plan.with_inputs(self.of(plan.left, column), plan.right)
            case Windowed() | Sessions():
                raise _NotCut("a window between fixed instants cannot be cut; leave now() out")
            case Union():
                return plan.with_inputs(*(self.of(part, column) for part in plan.parts))
        raise _NotCut("it is not the event time of a stream; now() is compared with that only")

    def _one_input(self, plan: Plan, column: int) -> Plan:
        inputs, start = list(plan.inputs), 0
        for place, part in enumerate(inputs):
            if column < start + len(part.schema):
                inputs[place] = self.of(part, column - start)
                break
            start += len(part.schema)
        return plan.with_inputs(*inputs)

    def _scan(self, scan: StreamScan, column: int) -> StreamScan:
        timestamp = self.catalog.streams[scan.stream].timestamp
        if scan.schema[column].name != timestamp:
            raise _NotCut(
                f"the event time of '{scan.stream}' is {timestamp}; now() is compared "
                "with that only"
            )
        if isinstance(scan.window, Unbounded):
            return replace(scan, window=Range(self.us))
        if isinstance(scan.window, Range):
            window = replace(scan.window, us=min(scan.window.us, self.us))
            return replace(scan, window=window)
        raise _NotCut(
            f"the window {scan.window} has no length in time: read the stream without it, or leave "
            "now() out"
        )


def _open_scans(plan: Plan) -> list[StreamScan]:
    """The streams of a plan that have no window."""
    if isinstance(plan, StreamScan):
        window = plan.window
        return [plan] if isinstance(window, Unbounded) and not window.explicit else []
    return [scan for part in plan.inputs for scan in _open_scans(part)]
