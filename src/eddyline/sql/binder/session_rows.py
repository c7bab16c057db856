"""Sessions as far as they have come, for all EMIT forms but FINAL.

SessionRows have the start of their session; its end is the latest instant up to which one of its
rows keeps it open. Groups of one session each compute it beside their aggregates. ::

    GroupBy  k, window_end: SUM(x)           Project  k, MAX(until), SUM(x)
      Filter  x > 0                            Filter  COUNT(*) > 0
        Sessions  SESSION 30 SECONDS BY k  ->    GroupBy  k, window_start: SUM(x) FILTER (x > 0),
          s                                               COUNT(*) FILTER (x > 0), MAX(until)
                                                   SessionRows  SESSION 30 SECONDS BY k
                                                     s

Other groups of sessions are joined with the ends; single rows get it by OVER.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

import pyarrow as pa

from eddyline.algebra import functions
from eddyline.algebra.expressions import Aggregate, ColumnRef, Expr, columns_of, conjunction
from eddyline.algebra.functions import Ordering
from eddyline.algebra.functions.fallibility import can_fail
from eddyline.algebra.nodes.over import RowFunction
from eddyline.algebra.nodes.sessions import SessionRows, Sessions
from eddyline.algebra.per_node import per_node
from eddyline.algebra.plan import (
    Distinct,
    GroupBy,
    Over,
    Plan,
    Project,
    filtered,
    join,
)
from eddyline.sql.binder.session_groups import (
    GroupedRows,
    NoSessionGroups,
    aggregate_over,
    columns_of_plan,
    is_column,
    over,
    rows_of_sessions,
)
from eddyline.sql.binder.set_operations import null_safe
from eddyline.types import TIMESTAMP


@per_node
def with_session_rows(plan: Plan) -> Plan:
    """The plan over SessionRows."""
    if isinstance(plan, Sessions):
        return _with_ends(plan)
    if isinstance(plan, Distinct):
        columns = columns_of_plan(plan)
        grouped = _grouped(GroupBy(plan.input, columns, (), tuple(c.name for c in columns)))
    else:
        grouped = _grouped(plan) if isinstance(plan, GroupBy) else None
    return grouped or plan.with_inputs(*map(with_session_rows, plan.inputs))


def _with_ends(sessions: Sessions) -> Plan:
    """Rows with the start and the end of their session."""
    rows = _session_rows(sessions)
    end = columns_of_plan(rows)[sessions.start + 1]
    latest = RowFunction("first_value", end)
    order = (Ordering(end, descending=True),)
    placed = Over(rows, _session(rows), order, (), (latest,), (end.name,))
    *columns, _, found = columns_of_plan(placed)
    return _projected(placed, (*columns, found))


def _session_rows(sessions: Sessions) -> SessionRows:
    return SessionRows(sessions.input, sessions.partition, sessions.gap_us)


def _session(rows: SessionRows) -> tuple[Expr, ...]:
    """What rows of a session agree on, and no others."""
    return (*rows.partition, columns_of_plan(rows)[rows.start])


def _grouped(plan: GroupBy) -> Plan | None:
    """Groups of which each is of one session; None: others."""
    try:
        found = rows_of_sessions(plan.input)
    except NoSessionGroups:
        return None
    end = found.sessions.start + 1
    keys = [over(k, found.columns) for k in plan.keys]
    aggregates = [aggregate_over(a, found.columns) for a in plan.aggregates]
    others = [k for k in keys if not is_column(k, end)]
    if _reads(end, (*others, *found.terms, *_computed(aggregates))):
        return None
    if len(others) == len(keys):
        return plan.with_inputs(_over_rows(plan.input))
    if not set(found.sessions.partition) <= set(keys):
        return None
    fails = any(map(can_fail, (*found.terms, *_computed(aggregates))))
    further = set(others) - {*_session(_session_rows(found.sessions))}
    made = _joined if further or fails else _beside
    groups, ends = made(found, others, aggregates)
    columns = columns_of_plan(groups)
    places = iter(columns)
    of_keys = [ends if is_column(k, end) else next(places) for k in keys]
    values = columns[len(others) :][: len(aggregates)]
    return Project(groups, (*of_keys, *values), plan.names)


def _reads(column: int, exprs: Iterable[Expr]) -> bool:
    return any(column in columns_of(e) for e in exprs)


def _computed(aggregates: Sequence[Aggregate]) -> list[Expr]:
    return [e for a in aggregates for e in (a.argument, a.where) if e is not None]


def _over_rows(plan: Plan) -> Plan:
    """Filters and projections that do not read the end of sessions."""
    if isinstance(plan, Sessions):
        return _session_rows(plan)
    return plan.with_inputs(*map(_over_rows, plan.inputs))


def _beside(
    found: GroupedRows, keys: Sequence[Expr], aggregates: Sequence[Aggregate]
) -> tuple[Plan, Expr]:
    """Groups with these keys, of the session alone, and their aggregates; and the end of their
    session.
    """
    rows = _session_rows(found.sessions)
    by = (*keys, *(e for e in _session(rows) if e not in keys))
    where = conjunction(found.terms)
    computed = [_where(a, where) for a in aggregates]
    computed += [_latest(rows), _where(Aggregate("count", None, pa.int64()), where)]
    # the keys of GROUP BY, the aggregates, and the others
    groups = GroupBy(rows, by, tuple(computed), tuple(map(str, (*by, *computed))))
    columns = columns_of_plan(groups)
    end, count = columns[-2], columns[-1]
    counted: Plan = groups
    if where is not None:
        zero = functions.literal(0, count.type)
        counted = filtered(groups, [functions.resolve(">", (count, zero))])
    chosen = (*columns[: len(keys)], *columns[len(by) :])
    return _projected(counted, chosen), replace(end, index=len(chosen) - 2)


def _joined(
    found: GroupedRows, keys: Sequence[Expr], aggregates: Sequence[Aggregate]
) -> tuple[Plan, Expr]:
    """The same of groups with further keys, or of which not every row has one."""
    rows = _session_rows(found.sessions)
    session = _session(rows)
    by = (*keys, *(e for e in session if e not in keys))
    groups = GroupBy(
        filtered(rows, found.terms), by, tuple(aggregates), tuple(map(str, (*by, *aggregates)))
    )
    latest = _latest(rows)
    ends = GroupBy(rows, session, (latest,), tuple(map(str, (*session, latest))))
    places = [columns_of_plan(groups)[by.index(e)] for e in session]
    pairs = null_safe(tuple(zip(places, columns_of_plan(ends), strict=False)))
    joined = join(groups, ends, pairs)
    columns = columns_of_plan(joined)
    chosen = (*columns[: len(keys)], *columns[len(by) : len(groups.schema)], columns[-1])
    return _projected(joined, chosen), replace(columns[-1], index=len(chosen) - 1)


def _latest(rows: SessionRows) -> Aggregate:
    return Aggregate("max", columns_of_plan(rows)[rows.start + 1], TIMESTAMP)


def _where(aggregate: Aggregate, where: Expr | None) -> Aggregate:
    both = (e for e in (where, aggregate.where) if e is not None)
    return replace(aggregate, where=conjunction(tuple(both)))


def _projected(plan: Plan, columns: Sequence[ColumnRef]) -> Project:
    return Project(plan, tuple(columns), tuple(c.name for c in columns))
