"""EMIT FINAL over sessions: GROUP BY whose groups are of one session each.

::

    Filter  n > 1                            Filter  n > 1
      GroupBy  k, window_end: COUNT(*)         Project  k, window_end, COUNT(*)
        Filter  x > 0                    ->      SessionGroups  SESSION 30 SECONDS BY k WHERE x > 0
          Sessions  SESSION 30 SECONDS BY k        s
            s

Single rows are elements of the lists of their sessions::

    Project  k, x, window_end                Project  k, x, window_end
      Sessions  SESSION 30 SECONDS BY k        Unnest  rows: x
        s                              ->        SessionGroups  SESSION 30 SECONDS BY k: rows
                                                   s
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa

from eddyline.algebra import functions
from eddyline.algebra.expressions import (
    Aggregate,
    ColumnRef,
    Expr,
    columns_of,
    conjunction,
    conjuncts,
    rewrite,
)
from eddyline.algebra.functions import Ordering
from eddyline.algebra.functions.sort_keys import all_values, has_order, sort_key
from eddyline.algebra.nodes.sessions import SessionGroups, Sessions
from eddyline.algebra.plan import Distinct, Filter, GroupBy, Plan, Project, Union, Unnest, filtered
from eddyline.algebra.reads import nodes
from eddyline.types import sql_type


class NoSessionGroups(Exception):
    """The reason why a plan over sessions has no final results."""


_FORM: Final = (
    "write SELECT k, window_start, window_end, COUNT(*) FROM s [SESSION 30 SECONDS BY k] GROUP BY "
    "k, window_start, window_end"
)
_EARLY: Final = "EMIT CHANGES for early results"
_ROWS: Final = "leave the column out, take its parts, or write EMIT CHANGES"
_KEYS: Final = pa.list_(pa.binary())
_TRUE: Final = functions.literal(True, pa.bool_())
#: What cannot be done with sessions, by the kind of node.
_WORDS: Final = {
    "Product": "a join",
    "Join": "a join",
    "SemiJoin": "EXISTS",
    "AntiJoin": "NOT EXISTS, or an outer join,",
    "Negation": "EXCEPT ALL",
    "Unnest": "UNNEST, ROLLUP, CUBE or GROUPING SETS",
    "Union": "UNION ALL with other rows",
}
_UNKNOWN: Final = (
    "window_start and window_end of a session are known when it has ended: they are keys of GROUP "
    "BY, and can be read in HAVING and in the select list; EMIT CHANGES has early ones"
)


def has_sessions(plan: Plan) -> bool:
    """Whether a plan reads sessions."""
    return any(isinstance(node, Sessions) for node in nodes(plan))


def with_session_groups(plan: Plan) -> Plan:
    """The plan of the final results of sessions.

    Raises:
        NoSessionGroups: it does more with sessions than to group them, and to filter, project and
            unite the groups.
    """
    if _are_rows(plan):
        return _rows(rows_of_sessions(plan), plan)
    match plan:
        case Filter() | Project():
            return plan.with_inputs(with_session_groups(plan.input))
        case Union() if all(map(has_sessions, plan.parts)):
            return plan.with_inputs(*map(with_session_groups, plan.parts))
        case GroupBy():
            return _grouped(plan, rows_of_sessions(plan.input))
        case Distinct():
            rows = rows_of_sessions(plan.input)
            columns = columns_of_plan(plan)
            names = tuple(c.name for c in columns)
            return _grouped(GroupBy(plan.input, columns, (), names), rows)
    what = _WORDS.get(type(plan).__name__, "more than GROUP BY")
    raise NoSessionGroups(f"{what} of sessions is not supported: {_FORM}, or {_EARLY}")


@dataclass(frozen=True)
class GroupedRows:
    """Rows of sessions.

    Attributes:
        columns: what they are, over the columns of the sessions. terms: hold of them.
    """

    sessions: Sessions
    columns: tuple[Expr, ...]
    terms: tuple[Expr, ...]


def rows_of_sessions(plan: Plan) -> GroupedRows:
    """Rows of sessions that are filtered and projected.

    Raises:
        NoSessionGroups: more is done with them.
    """
    match plan:
        case Sessions():
            return GroupedRows(plan, columns_of_plan(plan), ())
        case Filter():
            below = rows_of_sessions(plan.input)
            terms = (over(t, below.columns) for t in conjuncts(plan.predicate))
            return replace(below, terms=(*below.terms, *terms))
        case Project():
            below = rows_of_sessions(plan.input)
            return replace(below, columns=tuple(over(e, below.columns) for e in plan.exprs))
    words = _WORDS | {
        "GroupBy": "a second GROUP BY",
        "Union": "UNION ALL below GROUP BY, or a join,",
    }
    what = words.get(type(plan).__name__, "this")
    raise NoSessionGroups(
        f"{what} of sessions is not supported: they are grouped alone, {_FORM}; for more "
        f"put a window over these groups, as in FROM TUMBLE((SELECT ...), _ts, INTERVAL '1' HOUR), "
        f"or write {_EARLY}"
    )


def _are_rows(plan: Plan) -> bool:
    """Whether a plan has rows of sessions one by one."""
    while isinstance(plan, (Filter, Project)):
        plan = plan.input
    return isinstance(plan, Sessions)


def _rows(rows: GroupedRows, plan: Plan) -> Project:
    """The rows of sessions that have ended: those of a session are a list, then rows again."""
    sessions, start = rows.sessions, rows.sessions.start
    partition = sessions.partition
    columns = columns_of_plan(sessions)
    read = {i for e in (*rows.columns, *rows.terms) for i in columns_of(e) if i < start}
    others = [i for i in sorted(read) if columns[i] not in partition]
    for i in others:
        if not has_order(columns[i].type):
            shown = f"'{columns[i].name}', a {sql_type(columns[i].type)}"
            raise NoSessionGroups(f"rows of sessions with {shown}, are not supported: {_ROWS}")
    ordered = [Ordering(columns[i]) for i in others] or [Ordering(_TRUE)]
    keys = Aggregate("sorted_list", sort_key("SESSION", *ordered), _KEYS)
    own = (*map(_name, partition), str(keys))
    groups = SessionGroups(sessions.input, partition, sessions.gap_us, None, (), (keys,), own)
    *known, made = columns_of_plan(groups)
    lists = (all_values(made, ordered[: n + 1], empty=True) for n in range(len(ordered)))
    zipped = functions.resolve("arrays_zip", tuple(lists))
    below = Project(groups, (*known, zipped), (*(c.name for c in known), "rows"))
    fields = tuple(f.name for f in zipped.type.value_type)
    named = tuple(columns[i].name for i in others) or fields
    unnested = Unnest(below, columns_of_plan(below)[-1], fields, named)
    found = columns_of_plan(unnested)
    at = {columns[start + i]: found[len(partition) + i] for i in range(2)}
    at |= {k: found[i] for i, k in enumerate(partition) if isinstance(k, ColumnRef)}
    at |= {columns[i]: found[len(known) + 1 + place] for place, i in enumerate(others)}
    definitions = [at.get(c, c) for c in columns]
    kept = filtered(unnested, (over(t, definitions) for t in rows.terms))
    exprs = tuple(over(e, definitions) for e in rows.columns)
    return Project(kept, exprs, tuple(f.name for f in plan.schema))


def _grouped(plan: GroupBy, rows: GroupedRows) -> Project:
    sessions = rows.sessions
    partition = sessions.partition
    keys = [over(k, rows.columns) for k in plan.keys]
    missing = [p for p in partition if p not in keys]
    if missing:
        raise NoSessionGroups(
            f"GROUP BY lacks {', '.join(map(str, missing))}, which sessions are of: {_FORM}"
        )
    aggregates = tuple(aggregate_over(a, rows.columns) for a in plan.aggregates)
    start = sessions.start
    window = [is_column(k, start) or is_column(k, start + 1) for k in keys]
    further = tuple(
        dict.fromkeys(
            k
            for k, is_window in zip(keys, window, strict=True)
            if not is_window and k not in partition
        )
    )
    for expr in (*further, *rows.terms, *(e for a in aggregates for e in (a.argument, a.where))):
        if expr is not None and max(columns_of(expr), default=-1) >= start:
            raise NoSessionGroups(_UNKNOWN)
    by = (*partition, *further)
    names = (*map(_name, by), *map(str, aggregates))
    where = conjunction(rows.terms)
    groups = SessionGroups(
        sessions.input, partition, sessions.gap_us, where, further, aggregates, names
    )
    places = [
        len(by) + int(is_column(k, start + 1)) if is_window else by.index(k)
        for k, is_window in zip(keys, window, strict=True)
    ]
    places += range(len(by) + 2, len(groups.schema))
    shown = columns_of_plan(groups)
    return Project(groups, tuple(shown[p] for p in places), plan.names)


def is_column(expr: Expr, index: int) -> bool:
    """Whether an expression is a column of this number."""
    return isinstance(expr, ColumnRef) and expr.index == index


def _name(expr: Expr) -> str:
    return expr.name.split(".")[-1] if isinstance(expr, ColumnRef) else str(expr)


def columns_of_plan(plan: Plan) -> tuple[ColumnRef, ...]:
    """All columns of a plan."""
    return tuple(ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema))


def over(expr: Expr, columns: Sequence[Expr]) -> Expr:
    """The expression with each column replaced by its definition."""
    return rewrite(expr, lambda e: columns[e.index] if isinstance(e, ColumnRef) else None)


def aggregate_over(aggregate: Aggregate, columns: Sequence[Expr]) -> Aggregate:
    """The aggregate with each column replaced by its definition."""

    def moved(expr: Expr | None) -> Expr | None:
        return None if expr is None else over(expr, columns)

    return replace(aggregate, argument=moved(aggregate.argument), where=moved(aggregate.where))
