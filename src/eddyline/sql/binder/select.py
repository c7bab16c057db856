"""One SELECT: FROM and WHERE, GROUP BY and HAVING, the select list, DISTINCT."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from eddyline.algebra.expressions import conjuncts, walk
from eddyline.algebra.plan import Over, Plan, RunningOver, filtered
from eddyline.errors import UnsupportedError
from eddyline.sql.binder.context import BoundPlan, Context, OpenStream, require_windows
from eddyline.sql.binder.event_times import event_time
from eddyline.sql.binder.existence import split_where, with_existences
from eddyline.sql.binder.final_streams import has_final_rows
from eddyline.sql.binder.first_rows import CLAUSES, FirstRows, SelectedRows
from eddyline.sql.binder.from_clause import FromClause
from eddyline.sql.binder.group_windows import find_group_window
from eddyline.sql.binder.grouping import GroupRewriter, bind_keys, is_grouped, listed
from eddyline.sql.binder.kept import Kept
from eddyline.sql.binder.live_tables import check_tables
from eddyline.sql.binder.over_calls import is_over
from eddyline.sql.binder.relations import BindQuery
from eddyline.sql.binder.scalars import Scalars
from eddyline.sql.binder.scope import Scope
from eddyline.sql.binder.select_list import aliases, select_items, unaliased
from eddyline.sql.binder.sources import bind_source
from eddyline.sql.binder.sub_query_calls import has_sub_query
from eddyline.sql.binder.sub_query_joins import Reading
from eddyline.sql.binder.sub_query_values import SubQueryBinder


def bind_select(select: exp.Select, context: Context, bind_query: BindQuery) -> BoundPlan:
    """The plan of one SELECT: Filter(Product) below GroupBy below Filter below Project.

    EXISTS and IN become semi-joins and anti-joins directly above the Filter of WHERE.
    """
    context = replace(context, sub_queries=SubQueryBinder(bind_query))
    source = bind_source(select, context, bind_query, CLAUSES)
    for part in source.parts:
        context.checked(part, select)
    check_tables(source.items, source.parts, context)
    plan, streams = _chosen(select, source, context, bind_query), source.open_streams
    chosen = FirstRows(select, context)
    if is_grouped(select, context.catalog):
        rows, streams = _grouped(select, plan, source, chosen, context)
        require_windows(streams, "GROUP BY" if select.args.get("group") else "an aggregate")
    else:
        rows = _ungrouped(select, plan, source, chosen, context)
    bound = context.checked(chosen.of(rows, streams), select)
    if streams and not source.open_streams:  # those of sub-queries in the select list have windows
        streams = ()
    return BoundPlan(bound, _made(bound, rows.plan, streams, select, context))


def _made(
    plan: Plan,
    rows: Plan,
    streams: tuple[OpenStream, ...],
    select: exp.Select,
    context: Context,
) -> tuple[OpenStream, ...]:
    """The streams without a window, whose rows have got values with OVER in a plan above: final
    results of windows become one by this.
    """
    while plan is not rows:
        if isinstance(plan, (Over, RunningOver)):
            made, ranked = "rows with values of OVER", isinstance(plan, Over)
            if isinstance(plan, RunningOver) and not streams and has_final_rows(plan):
                streams = (OpenStream("results of windows", select, context),)
            return tuple(replace(s, made=made, ranked=ranked) for s in streams)
        if len(plan.inputs) != 1:
            break
        plan = plan.inputs[0]
    return streams


def _chosen(
    select: exp.Select, source: FromClause, context: Context, bind_query: BindQuery
) -> Plan:
    """The rows of FROM that satisfy WHERE."""
    terms, existences = split_where(select, context)
    scalars = Scalars(source.scope, context, clause="WHERE")
    source.conditions += [scalars.condition(t) for t in terms]
    return with_existences(source, existences, context, bind_query)


def _with_own_values(source: FromClause, context: Context) -> Scope:
    """The scope of a select list: with the event time and ``_kept`` of the rows."""
    time = event_time(source, context)
    return replace(source.scope, time=time, kept=Kept(source, context))


def _ungrouped(
    select: exp.Select, plan: Plan, source: FromClause, chosen: FirstRows, context: Context
) -> SelectedRows:
    scope = _with_own_values(source, context)
    items = select_items(select, scope, context)
    named = aliases(select.expressions)
    condition = None
    if chosen.qualify is not None:
        condition = Scalars(scope, context, aliases=named).condition(chosen.qualify)
    scalars = Scalars(scope, context, aliases=named, keys=())
    exprs, names = tuple(i.expr for i in items), tuple(i.name for i in items)
    places = chosen.bound(scalars, lambda e: e, exprs)
    return SelectedRows(plan, source.reading(context), exprs, names, condition, *places, scalars)


def _grouped(
    select: exp.Select, plan: Plan, source: FromClause, chosen: FirstRows, context: Context
) -> tuple[SelectedRows, tuple[OpenStream, ...]]:
    """The groups, and the streams below that have no window."""
    known = aliases(select.expressions)
    projections = [unaliased(e) for e in select.expressions]
    group = listed(select.args.get("group"), projections, context.catalog)
    streams = source.open_streams
    scope = _with_own_values(source, context)
    window = find_group_window(group, projections, known, scope, context)
    if window is not None and source.clock is not None:
        message = "now() beside a window in GROUP BY is not supported: the rows of a window stay"
        raise context.error(source.clock, f"{message} until it ends", UnsupportedError)
    if window is not None:
        scope, streams = window.scope, ()
    keys = bind_keys(group, projections, known, scope, context)
    groups = GroupRewriter(keys, context)
    if window is not None:
        plan = window.rows(plan, groups.keys, source, context)
    items = select_items(select, scope, context)
    exprs = tuple(groups.over(i.expr, i.scalars) for i in items)
    having = select.args.get("having")
    condition = None
    if having is not None:
        scalars = Scalars(scope, context, aliases=known, keys=groups.keys)
        condition = groups.over(scalars.condition(having.this), scalars)
        if any(map(is_over, walk(condition))):
            message = "OVER is not allowed in HAVING: write QUALIFY"
            raise context.error(having.this, message)
    scalars = Scalars(scope, context, aliases=known, keys=groups.keys)
    qualify = None
    if chosen.qualify is not None:
        qualify = groups.over(scalars.condition(chosen.qualify), scalars)
    places = chosen.bound(scalars, lambda e: groups.over(e, scalars), exprs)
    plan, reading = groups.plan(plan, source.reading(context)), Reading(context, streams)
    terms = conjuncts(condition)
    plan = filtered(plan, (t for t in terms if not has_sub_query(t)))
    plan = reading.filtered(plan, [t for t in terms if has_sub_query(t)])
    names = tuple(i.name for i in items)
    rows = SelectedRows(plan, reading, exprs, names, qualify, *places, scalars)
    return rows, streams
