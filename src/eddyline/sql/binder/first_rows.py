"""The clauses behind the groups of a SELECT: OVER in its expressions, QUALIFY, DISTINCT, and ORDER
BY with LIMIT, FETCH FIRST or DISTINCT ON.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from sqlglot import exp

from eddyline.algebra.expressions import ColumnRef, Expr, walk
from eddyline.algebra.functions import Ordering
from eddyline.algebra.patterns import Pattern
from eddyline.algebra.plan import Distinct, Plan, Project, filtered
from eddyline.errors import UnsupportedError
from eddyline.sql.binder.context import Context, OpenStream, require_windows
from eddyline.sql.binder.final import NoWindowEnd
from eddyline.sql.binder.final_streams import final_stream, has_final_rows, in_order_of_windows
from eddyline.sql.binder.outer_interval_joins import is_for_an_instant
from eddyline.sql.binder.over import FirstPlaces, Placed, first_rows
from eddyline.sql.binder.over_calls import (
    OverCall,
    OverFrame,
    is_over,
    require_order,
    written_calls,
)
from eddyline.sql.binder.ranks import can_be_limited
from eddyline.sql.binder.running import why_not_running
from eddyline.sql.binder.scalars import Scalars
from eddyline.sql.binder.session_groups import NoSessionGroups
from eddyline.sql.binder.sub_query_joins import Reading
from eddyline.sql.numbers import whole_number

#: The arguments of a SELECT's node that are bound here alone.
CLAUSES: Final = ("qualify", "order", "limit", "offset")
_BAG: Final = "the answer of a standing query is a bag of rows: sort it when you read it"
_MOST: Final = 1 << 31

_INSTANT: Final = (
    "OVER is over rows that are there together, and here some are there for a microsecond, when it "
    "is certain which rows they match: put a window over them, as in FROM TUMBLE((SELECT ...), "
    "_ts, INTERVAL '1' MINUTE)"
)


@dataclass(frozen=True)
class SelectedRows:
    """The rows of a SELECT before the clauses of this module.

    Attributes:
        plan: the rows. reading: joins them with sub-queries.
        exprs, names: the select list over them.
        condition: of QUALIFY. partition: of DISTINCT ON. order: of ORDER BY.
        scalars: the binder of expressions over the rows.
    """

    plan: Plan
    reading: Reading
    exprs: tuple[Expr, ...]
    names: tuple[str, ...]
    condition: Expr | None
    partition: tuple[Expr, ...]
    order: tuple[Ordering, ...]
    scalars: Scalars


class FirstRows:
    """What a SELECT says of the rows that are chosen by their places.

    Raises:
        SqlError, UnsupportedError: clauses are missing, or do not go together.
    """

    def __init__(self, select: exp.Select, context: Context) -> None:
        self._select, self._context = select, context
        distinct = select.args.get("distinct")
        self._distinct = distinct is not None
        self._on: list[exp.Expr] = []
        if distinct is not None:
            context.require_only(distinct, "on")
            on = distinct.args.get("on")
            if on is not None:
                self._on = list(on.expressions) if isinstance(on, exp.Tuple) else [on.unnest()]
        qualify = select.args.get("qualify")
        self.qualify: exp.Expr | None = None if qualify is None else qualify.this
        order = select.args.get("order")
        self._order: list[exp.Expr] = [] if order is None else list(order.expressions)
        self._limit, self._with_ties = self._read_limit(select.args.get("limit"))
        self._skipped = self._read_offset(select.args.get("offset"))
        self._check(order)

    def _read_limit(self, node: exp.Expr | None) -> tuple[int, bool]:
        """The rows of LIMIT or FETCH FIRST, and whether those that tie with the last count too."""
        if node is None:
            return 0, False
        with_ties = False
        options = node.args.get("limit_options")
        if options is not None:
            self._context.require_only(options, "rows", "with_ties")
            with_ties = bool(options.args.get("with_ties"))
        if isinstance(node, exp.Fetch):
            count = node.args.get("count")
        else:
            self._context.require_only(node, "this", "expression", "limit_options")
            count = node.expression
        if count is None:
            return 1, with_ties
        return self._number(count, "LIMIT", 1), with_ties

    def _read_offset(self, node: exp.Expr | None) -> int:
        """The rows of OFFSET."""
        if node is None:
            return 0
        self._context.require_only(node, "expression")
        if not self._limit:
            raise self._context.error(
                node, f"OFFSET without LIMIT is not supported: {_BAG}", UnsupportedError
            )
        if self._with_ties:
            message = "OFFSET beside WITH TIES: write QUALIFY with RANK() and its bounds"
            raise self._context.error(node, message, UnsupportedError)
        return self._number(node.expression, "OFFSET", 0)

    def _number(self, node: exp.Expr, clause: str, least: int) -> int:
        plain = isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit()
        number = whole_number(node.name, _MOST) if plain else None
        if number is None or number < least:
            raise self._context.error(
                node, f"{clause} takes a constant whole number from {least} on"
            )
        return number

    def _check(self, order: exp.Expr | None) -> None:
        context, select = self._context, self._select
        limit = select.args.get("limit")
        if limit is not None and order is None:
            raise context.error(limit, "LIMIT needs ORDER BY: which rows are the first ones?")
        if self._on and limit is not None:
            message = "LIMIT beside DISTINCT ON: put one of them into a sub-query of FROM"
            raise context.error(limit, message, UnsupportedError)
        if self._on and order is None:
            raise context.error(select, "DISTINCT ON needs ORDER BY: which row is the first one?")
        if order is not None and limit is None and not self._on:
            raise context.error(
                order, f"ORDER BY without LIMIT is not supported: {_BAG}", UnsupportedError
            )
        if self.qualify is not None:
            listed = [*select.expressions, self.qualify]
            if not written_calls(listed):
                raise context.error(self.qualify, "QUALIFY needs a value with OVER: write WHERE")

    def bound(
        self, scalars: Scalars, over: Callable[[Expr], Expr], listed: Sequence[Expr]
    ) -> tuple[tuple[Expr, ...], tuple[Ordering, ...]]:
        """The expressions of DISTINCT ON, and of ORDER BY.

        Args:
            scalars: binds them. over: what to make of each.
            listed: the select list, which numbers stand for.
        """

        def bind(node: exp.Expr) -> Expr:
            if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit():
                return self._listed(node, listed)
            return over(scalars.bind(node))

        order = []
        for node in self._order:
            descending, nulls_first = scalars.direction(node)
            order.append(Ordering(bind(node.this), descending, nulls_first))
            require_order(order[-1], node, self._context)
        return tuple(map(bind, self._on)), tuple(order)

    def _listed(self, node: exp.Expr, listed: Sequence[Expr]) -> Expr:
        place = whole_number(node.name, len(listed) + 1)
        if not place:
            message = f"the select list has columns 1 to {len(listed)}"
            raise self._context.error(node, f"ORDER BY {node.name}: {message}")
        return listed[place - 1]

    def of(self, rows: SelectedRows, streams: Iterable[OpenStream]) -> Plan:
        """The rows of the SELECT.

        Args:
            streams: those that have no window.
        """
        conditions = [] if rows.condition is None else [rows.condition]
        exprs = [*rows.exprs, *conditions, *rows.partition, *(o.value for o in rows.order)]
        rows = self._in_order_of_windows(exprs, rows)
        self._require_windows(exprs, rows, streams)
        plan, read = rows.reading.joined(rows.plan, tuple(exprs))
        placed = Placed(plan)
        above = bool(rows.partition or (self._limit and not self._distinct))
        placed.compute(read, rows.scalars, above=above)
        over = [placed.over(e) for e in read]
        listed, over = over[: len(rows.exprs)], over[len(rows.exprs) :]
        plan = filtered(placed.plan, over[: len(conditions)])
        over = over[len(conditions) :]
        partition, values = tuple(over[: len(rows.partition)]), over[len(rows.partition) :]
        outputs = list(zip(listed, rows.names, strict=True))
        order = tuple(replace(o, value=v) for o, v in zip(rows.order, values, strict=True))
        if partition or (self._limit and not self._distinct):
            return self._first(plan, partition, order, outputs, placed.ties)
        plan = Project(plan, tuple(e for e, _ in outputs), rows.names)
        if not self._distinct:
            return plan
        return self._limited(Distinct(plan), [e for e, _ in outputs], order)

    def _in_order_of_windows(self, exprs: list[Expr], rows: SelectedRows) -> SelectedRows:
        """The rows; final results of windows where OVER is about one window after the other."""
        calls = [e for expr in exprs for e in walk(expr) if is_over(e)]
        if not in_order_of_windows(rows.plan, calls):
            return rows
        try:
            return replace(rows, plan=final_stream(rows.plan, in_window=False))
        except (NoWindowEnd, NoSessionGroups):
            return rows

    def _limited(self, plan: Distinct, outputs: list[Expr], order: tuple[Ordering, ...]) -> Plan:
        """The first of distinct rows."""
        if not self._limit:
            return plan
        columns = [ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema)]
        own = []
        for written, ordering in zip(self._order, order, strict=True):
            if ordering.value not in outputs:
                message = "ORDER BY of SELECT DISTINCT takes columns of the select list"
                raise self._context.error(written, message)
            column = columns[outputs.index(ordering.value)]
            own.append(Ordering(column, ordering.descending, ordering.nulls_first))
        return self._first(plan, (), tuple(own), [(c, c.name) for c in columns])

    def _first(
        self,
        plan: Plan,
        partition: tuple[Expr, ...],
        order: tuple[Ordering, ...],
        outputs: Sequence[tuple[Expr, str]],
        ties: tuple[Ordering, ...] | None = None,
    ) -> Plan:
        places = FirstPlaces(self._skipped, self._limit or 1, self._with_ties)
        return first_rows(plan, partition, order, places, outputs, ties)

    def _require_windows(
        self, exprs: list[Expr], rows: SelectedRows, streams: Iterable[OpenStream]
    ) -> None:
        calls = [e for expr in exprs for e in walk(expr) if is_over(e)]
        if self._distinct and not self._on:
            require_windows(streams, "DISTINCT")
        elif (self._limit or self._on) and not can_be_limited((), rows.plan):
            require_windows(streams, "DISTINCT ON" if self._on else "ORDER BY with LIMIT")
        if not calls:
            return
        if is_for_an_instant(rows.plan):
            raise self._context.error(self._written()[0], _INSTANT, UnsupportedError)
        reason = why_not_running(calls, rows.plan, self._context)
        if reason is None:
            return
        if rows.plan.pattern is Pattern.MONOTONIC and not rows.plan.takes_back:
            self._refuse_frames(calls, rows, reason)
        if not can_be_limited(calls, rows.plan):
            require_windows(streams, "OVER")

    def _refuse_frames(self, calls: Sequence[Expr], rows: SelectedRows, reason: str) -> None:
        """Refuse parts of partitions of rows that never leave."""
        frame = next((c for c in calls if isinstance(c, OverFrame)), None)
        if frame is not None:
            message = f"an aggregate over a part of a partition is not supported here: {reason}"
            raise self._context.error(frame.node or self._written()[0], message, UnsupportedError)
        if has_final_rows(rows.plan):
            message = f"OVER across windows is not supported here: {reason}"
            raise self._context.error(self._written()[0], message, UnsupportedError)
        if any(isinstance(c, OverCall) and c.ignores_nulls for c in calls):
            message = f"IGNORE NULLS with OVER is not supported here: {reason}"
            raise self._context.error(self._written()[0], message, UnsupportedError)

    def _written(self) -> list[exp.Window]:
        """The calls with OVER in the select list and in QUALIFY."""
        return written_calls([*self._select.expressions, *filter(None, [self.qualify])])
