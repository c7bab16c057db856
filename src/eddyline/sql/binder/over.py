"""OVER, QUALIFY, ORDER BY with LIMIT, and DISTINCT ON, as nodes that order rows in partitions.

::

    SELECT k, LAG(v) OVER (PARTITION BY k ORDER BY ts)      Project  k, before(v, 1)
                                                              Over  PARTITION BY k ORDER BY ts
    SELECT SUM(v) OVER (ORDER BY ts ROWS 3 PRECEDING)       Project  SUM(v)
                                                              Over  ORDER BY ts: SUM(v) ROWS ..
    SELECT v - AVG(v) OVER (PARTITION BY k)                 Project  v - AVG(v)
                                                              Join  k <=> k
                                                                ...
                                                                GroupBy  k: AVG(v)
                                                                  ...
    ORDER BY v DESC LIMIT 3                                 Over  ORDER BY v DESC: row_number <= 3
    SELECT DISTINCT ON (k) ... ORDER BY k, ts               Over  PARTITION BY k ORDER BY k, ts:
                                                                  row_number <= 1
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from eddyline.algebra import functions
from eddyline.algebra.expressions import (
    ColumnRef,
    Expr,
    rewrite,
    shift_columns,
    walk,
)
from eddyline.algebra.functions import Ordering
from eddyline.algebra.functions.sort_keys import has_order
from eddyline.algebra.nodes.over import ARRIVAL, FramedAggregate, RowFunction
from eddyline.algebra.plan import (
    Filter,
    Lookup,
    Over,
    Plan,
    Product,
    Project,
    StreamScan,
    Unnest,
    Windowed,
    filtered,
    join,
)
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.framed_calls import framed_aggregates
from eddyline.sql.binder.grouping import GroupRewriter
from eddyline.sql.binder.over_calls import OverCall, OverFrame, OverGroup, as_frame, is_over
from eddyline.sql.binder.running import RunningCall, RunningRows, why_not_running
from eddyline.sql.binder.scalars import Scalars
from eddyline.sql.binder.set_operations import null_safe

_NUMBER: Final = RowFunction("row_number")
_ARRIVAL: Final = RowFunction(ARRIVAL)


@dataclass
class Placed:
    """Rows, with expressions over them whose calls with OVER have become columns."""

    plan: Plan
    _columns: dict[Expr, Expr] = field(default_factory=dict)
    _ties: tuple[Ordering, ...] | None = None
    _several: bool = False

    def compute(self, exprs: Sequence[Expr], scalars: Scalars, *, above: bool = False) -> None:
        """Let there be columns for all calls with OVER in expressions over the rows.

        Args:
            above: whether the rows are ordered once more above.
        """
        called = dict.fromkeys(e for expr in exprs for e in walk(expr) if is_over(e))
        if called and why_not_running([*called], self.plan, scalars.context) is None:
            self._run([c for c in called if isinstance(c, (OverCall, OverFrame))])
            return
        calls = [c for c in called if isinstance(c, OverCall) and not c.ignores_nulls]
        groups = dict.fromkeys(e for expr in exprs for e in walk(expr) if isinstance(e, OverGroup))
        rows = self.plan
        frames = {c: as_frame(c) for c in called if isinstance(c, (OverCall, OverFrame))}
        framed = {c: f for c, f in frames.items() if f is not None}
        of_frames = dict.fromkeys(f.place for f in framed.values())
        of_places = dict.fromkeys(c.place for c in calls)
        self._several = len(of_places) + len(of_frames) + above > 1
        for place in of_frames:
            own = {c: f for c, f in framed.items() if f.place == place}
            self._aggregate(own, scalars.context)
        for place in of_places:
            self._order([c for c in calls if c.place == place])
        for keys in dict.fromkeys(g.arguments for g in groups):
            self._group([g for g in groups if g.arguments == keys], rows, scalars)

    def over(self, expr: Expr) -> Expr:
        """The expression over the rows with these columns."""
        return rewrite(expr, self._columns.get)

    def _run(self, calls: Sequence[RunningCall]) -> None:
        rows = RunningRows(self.plan)
        for partition in dict.fromkeys(c.partition for c in calls):
            rows.add([c for c in calls if c.partition == partition])
        self.plan = rows.plan
        self._columns |= rows.columns

    def _aggregate(self, calls: Mapping[RunningCall, OverFrame], context: Context) -> None:
        """Add the aggregates of frames with one partition and order."""
        frames = list(dict.fromkeys(calls.values()))
        width = len(self.plan.schema)
        order, aggregates, values = framed_aggregates(frames, width, context)
        names = tuple(map(str, aggregates))
        self.plan = self._with_values(frames[0].partition, order, (), names, aggregates)
        self._columns |= {call: values[f] for call, f in calls.items()}

    def _with_values(
        self,
        partition: tuple[Expr, ...],
        order: tuple[Ordering, ...],
        computed: tuple[RowFunction, ...],
        names: tuple[str, ...],
        frames: tuple[FramedAggregate, ...] = (),
    ) -> Plan:
        """The rows with values of their places. Where rows of a stream tie, they are in the order
        of arrival, which the first node adds as a column for others above: there rows come again
        when their values change.
        """
        if self._ties is None:
            self._ties = ties_of(self.plan)
        if self._ties or not self._several:
            return Over(self.plan, partition, order, self._ties, computed, names, frames=frames)
        with_arrival = (*computed, _ARRIVAL)
        added = (*names, ARRIVAL)
        found = Over(self.plan, partition, order, (), with_arrival, added, frames=frames)
        last = len(found.schema) - 1
        self._ties = (Ordering(ColumnRef(_ARRIVAL.type, last, ARRIVAL)),)
        return found

    @property
    def ties(self) -> tuple[Ordering, ...]:
        """The order of rows that tie in what is above."""
        return ties_of(self.plan) if self._ties is None else self._ties

    def _order(self, calls: Sequence[OverCall]) -> None:
        computed = tuple(dict.fromkeys(c.row_function for c in calls))
        partition, order = calls[0].place
        width = len(self.plan.schema)
        names = tuple(map(str, computed))
        self.plan = self._with_values(partition, order, computed, names)
        for call in calls:
            number = computed.index(call.row_function)
            self._columns[call] = ColumnRef(call.type, width + number, names[number])

    def _group(self, groups: Sequence[OverGroup], rows: Plan, scalars: Scalars) -> None:
        """Join rows with the aggregates of their partition."""
        keys = groups[0].arguments
        width = len(self.plan.schema)
        rewriter = GroupRewriter(keys, scalars.context)
        values = [rewriter.over(g.aggregated, scalars) for g in groups]
        partitions = rewriter.plan(rows)
        if keys:
            on = ((k, ColumnRef(k.type, i, str(k))) for i, k in enumerate(keys))
            self.plan = join(self.plan, partitions, null_safe(tuple(on)))
        else:
            self.plan = Product((self.plan, partitions))
        for group, value in zip(groups, values, strict=True):
            self._columns[group] = shift_columns(value, width)


def ties_of(rows: Plan) -> tuple[Ordering, ...]:
    """The order of rows that ORDER BY leaves open: none for the rows of a stream, also in windows
    between fixed instants, which are then in the order of arrival, and one row in that of its
    windows; of others that of their columns, so that it does not depend on how they came about.
    """
    below = rows
    while isinstance(below, (Filter, Project, Unnest, Lookup, Windowed)):
        below = below.inputs[0]
    if isinstance(below, StreamScan):
        return ()
    columns = (ColumnRef(f.type, i, f.name) for i, f in enumerate(rows.schema))
    return tuple(Ordering(c) for c in columns if has_order(c.type))


@dataclass(frozen=True)
class FirstPlaces:
    """Which rows of a partition are chosen: so many behind those that are skipped, and, with ties,
    all that have the rank of the last one.
    """

    skipped: int
    count: int
    with_ties: bool


def first_rows(
    plan: Plan,
    partition: tuple[Expr, ...],
    order: tuple[Ordering, ...],
    places: FirstPlaces,
    outputs: Sequence[tuple[Expr, str]],
    ties: tuple[Ordering, ...] | None = None,
) -> Plan:
    """The first rows of each partition, projected.

    Args:
        ties: the order of rows that tie; None: :func:`ties_of` the plan.
    """
    function = RowFunction("rank") if places.with_ties else _NUMBER
    limit, silent = places.skipped + places.count, not places.skipped
    ordered: Plan = Over(
        plan,
        partition,
        order,
        ties_of(plan) if ties is None else ties,
        (function,),
        (str(function),),
        limit,
        silent,
    )
    if places.skipped:
        rank = ColumnRef(function.type, len(plan.schema), str(function))
        skipped = functions.literal(places.skipped, function.type)
        ordered = filtered(ordered, [functions.resolve(">", (rank, skipped))])
    return Project(ordered, tuple(e for e, _ in outputs), tuple(n for _, n in outputs))
