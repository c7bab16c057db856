"""EXISTS and IN (SELECT ...), and NOT of them, as terms of WHERE: semi-joins and anti-joins.

The WHERE of a sub-query that is a plain SELECT may read columns of the enclosing SELECT: equalities
between the two become keys, terms on its own columns filter it, the others are the residual::

    SemiJoin  t.symbol = q.symbol AND (q.bid > t.price)
      trades t
      Filter  (q.size > 3)
        quotes q
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final
from typing import Literal as OneOf

import pyarrow as pa
from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import ColumnRef, Expr, Literal, conjunction
from eddyline.algebra.plan import Plan, anti_join, filtered, semi_join
from eddyline.errors import SqlError
from eddyline.sql.binder.clauses import in_clauses
from eddyline.sql.binder.context import BoundPlan, Context, OuterColumns, require_windows
from eddyline.sql.binder.from_clause import FromClause
from eddyline.sql.binder.grouping import is_grouped
from eddyline.sql.binder.interval_existence import with_times
from eddyline.sql.binder.interval_values import BOUNDED
from eddyline.sql.binder.live_tables import check_lookup, check_tables, is_non_retroactive
from eddyline.sql.binder.matching import Match, matched
from eddyline.sql.binder.predicates import needles
from eddyline.sql.binder.relations import BindQuery, Item
from eddyline.sql.binder.scalars import Scalars
from eddyline.sql.binder.scope import Scope
from eddyline.sql.binder.select_list import select_items
from eddyline.sql.binder.sources import bind_source, plain_terms
from eddyline.sql.binder.sub_query_joins import refuse_sub_queries, split_values
from eddyline.sql.catalog import Catalog
from eddyline.sql.rewrites import COMPARED

#: Which rows of a sub-query count.
Row = OneOf[
    "any", "equal", "null", "missing", "compared", "failed", "unknown", "untrue", "possible"
]
#: The rows because of which ``x NOT IN (SELECT y ...)`` is not true.
ROWS: Final[tuple[Row, ...]] = ("equal", "null", "missing")


@dataclass(frozen=True)
class ExistenceTerm:
    """A term of WHERE with a sub-query: ``needle`` is the x of ``x IN (SELECT y ...)``, or a tuple.

    ``row``: which rows of the sub-query count: all; those with ``y = x``; those where y, or a part
    of it, is NULL and the others equal those of x; or all such if x, or a part of it, is NULL. Of
    ``x > ANY (SELECT y ...)``: those for which the comparison ``sign`` is TRUE, FALSE, NULL, not
    TRUE, or not FALSE.
    """

    node: exp.Expr
    query: exp.Expr
    negated: bool
    needle: exp.Expr | None
    row: Row = "any"
    sign: str = "="

    @property
    def name(self) -> str:
        """The name in messages."""
        return "EXISTS" if self.needle is None else "IN"


def split_where(select: exp.Select, context: Context) -> tuple[list[exp.Expr], list[ExistenceTerm]]:
    """The conjuncts of WHERE that do not read the clock: plain ones, and those with sub-queries."""
    terms = plain_terms(select)
    found = {id(t): e for t in terms if (e := _existence(t, context))}
    plain = [t for t in terms if id(t) not in found]
    return plain, [e for several in found.values() for e in several]


def _existence(term: exp.Expr, context: Context) -> tuple[ExistenceTerm, ...]:
    """The terms that hold together if a term does. ``x NOT IN (SELECT y ...)`` holds if no y equals
    x, no y is NULL, and x is not NULL unless there is no y.
    """
    node = term.unnest()
    negated = isinstance(node, exp.Not)
    inner = node.this.unnest() if negated else node
    if isinstance(inner, exp.Exists):
        return (ExistenceTerm(node, inner.this, negated, None),)
    if isinstance(inner, exp.In) and inner.args.get("query"):
        context.require_only(inner, "this", "query", COMPARED)
        equal = ExistenceTerm(node, inner.args["query"], negated, inner.this, "equal")
        compared = inner.args.get(COMPARED)
        if compared is not None:
            return (_compared(equal, *compared.split()),)
        return tuple(replace(equal, row=row) for row in ROWS) if negated else (equal,)
    return ()


def _compared(term: ExistenceTerm, sign: str, word: str) -> ExistenceTerm:
    """``x > ANY (SELECT ...)`` or ALL, or NOT of it, by whether there are rows."""
    rows: tuple[Row, Row] = ("untrue", "failed") if word == "ALL" else ("compared", "possible")
    row = rows[term.negated]
    return replace(term, row=row, sign=sign, negated=row in ("untrue", "possible"))


@dataclass(frozen=True)
class BoundSubQuery:
    """A bound sub-query, and the conditions that match its rows with the outer rows."""

    bound: BoundPlan
    match: Match
    table: Item | None = None  #: the non-retroactive table, if the outer rows look it up


def with_existences(
    source: FromClause, terms: list[ExistenceTerm], context: Context, bind_query: BindQuery
) -> Plan:
    """The rows of FROM that satisfy its conditions and all the terms."""
    bound = [(t, bind_sub_query(t, source.scope, context, bind_query)) for t in terms]
    timed = with_times(source, [(t.negated, sub) for t, sub in bound], context)
    if timed is not None:
        pairs = zip(bound, timed.plans, strict=True)
        bound = [(t, replace(sub, bound=BoundPlan(p))) for (t, sub), p in pairs]
    source.conditions += [c for t, sub in bound if not t.negated for c in sub.match.left]
    plan = source.plan(context)
    # look-ups run below the other terms, whose outcome later rows can change
    for term, sub in sorted(bound, key=lambda b: b[1].table is None):
        if sub.table is not None:
            check_lookup(sub.table, source.items, source.parts, context)
        if sub.bound.changes:
            streams = (*source.open_streams, *sub.bound.open_streams)
            require_windows(streams, term.name, BOUNDED)
        match, right = sub.match, sub.bound.plan
        if term.negated:
            plan = anti_join(plan, right, match.keys, conjunction(match.left + match.both))
        else:
            plan = semi_join(plan, right, match.keys, conjunction(match.both))
    return plan if timed is None else timed.emitted(plan)


def bind_sub_query(
    term: ExistenceTerm,
    scope: Scope,
    context: Context,
    bind_query: BindQuery,
    needle: tuple[Expr, ...] | None = None,
) -> BoundSubQuery:
    """The sub-query of a term.

    Args:
        scope: the columns that the needle and the sub-query's WHERE can read.
        needle: that of the term, if it is bound.
    """
    query, outer = unwrapped(term.query), replace(scope, named=True)
    if term.row == "any":
        query = _without_limit(query)
    if term.needle is not None and needle is None:
        needle = Scalars(outer, context, clause="WHERE").bind_all(needles(_tested(term)))
    if needle is not None:
        refuse_sub_queries(needle, "the value before IN", term.node, context)
    far = OuterColumns(
        outer_names(outer, context.far), why_not_plain(query, context.catalog) or "FROM"
    )
    inner = replace(context, far=far)
    if isinstance(query, exp.Select) and why_not_plain(query, context.catalog) is None:
        binder = _PlainBinder(term, query, outer, needle, bind_query)
        found = in_clauses(query, inner, binder.bind)
    else:
        bound = bind_query(query, inner)
        fields = enumerate(bound.plan.schema)
        columns = [ColumnRef(f.type, outer.width + i, f.name) for i, f in fields]
        match = matched(_found(term, needle, columns, context), outer.width)
        plan = filtered(bound.plan, match.on_right)
        found = BoundSubQuery(replace(bound, plan=plan), match)
    if term.row != "missing":
        return found
    assert needle is not None, "of IN"
    is_missing = _any_null(needle), Literal(pa.bool_(), True)
    match = replace(found.match, keys=(*found.match.keys, is_missing))
    return replace(found, match=match)


def _tested(term: ExistenceTerm) -> exp.Expr:
    """The IN of a term."""
    node = term.node
    return node.this.unnest() if isinstance(node, exp.Not) else node


def unwrapped(query: exp.Expr) -> exp.Expr:
    """The query inside parentheses."""
    while isinstance(query, exp.Subquery) and query.is_wrapper:
        query = query.this
    return query


def _without_limit(query: exp.Expr) -> exp.Expr:
    """The query of EXISTS without a LIMIT of some rows, which does not matter."""
    limit = query.args.get("limit")
    if not isinstance(limit, exp.Limit) or query.args.get("offset"):
        return query
    if not limit.expression.name.isdigit() or int(limit.expression.name) == 0:
        return query
    found = query.copy()
    for clause in ("limit", "order"):
        found.set(clause, None)
    return found


@dataclass(frozen=True)
class _PlainBinder:
    """Binds a sub-query that is a plain SELECT: its WHERE can read the columns of ``outer``."""

    term: ExistenceTerm
    query: exp.Select
    outer: Scope
    needle: tuple[Expr, ...] | None
    bind_query: BindQuery

    def bind(self, context: Context) -> BoundSubQuery:
        """The candidate rows of the sub-query, and the conditions of a match."""
        source = bind_source(self.query, context, self.bind_query)
        scope = source.scope.inside(self.outer)
        if context.far is not None:
            context = replace(context, far=replace(context.far, reader="a sub-query inside it"))
        terms, existences = split_where(self.query, context)
        scalars = Scalars(scope, context, clause="WHERE")
        conditions = [scalars.condition(t) for t in terms]
        conditions, own = split_values(conditions, self.outer.width, self.query, context)
        distinct = self.query.args.get("distinct")
        if distinct is not None:  # duplicates do not affect existence
            context.require_only(distinct)
        selected = [i.expr for i in select_items(self.query, scope, context)]
        conditions += _found(self.term, self.needle, selected, context)
        match = matched(conditions, self.outer.width)
        source.conditions += [*match.on_right, *own]
        table = None
        if _is_looked_up(source, match) and not existences:
            table = source.items[0]
        else:
            check_tables(source.items, source.parts, context)
        plan = with_existences(source, existences, context, self.bind_query)
        return BoundSubQuery(BoundPlan(plan, source.open_streams), match, table)


def _found(
    term: ExistenceTerm,
    needle: tuple[Expr, ...] | None,
    selected: Sequence[Expr],
    context: Context,
) -> list[Expr]:
    """IN as equalities of the needle and the sub-query's columns. Empty for EXISTS."""
    if needle is None:
        return []
    if len(selected) != len(needle):
        wanted = "one column" if len(needle) == 1 else f"{len(needle)} columns"
        message = f"IN takes a sub-query with {wanted}, this one has {len(selected)}"
        raise context.error(term.query, message)
    if term.row in ("compared", "failed", "unknown", "untrue", "possible"):
        return [_comparison(term, needle, selected, context)]
    try:
        pairs = list(zip(needle, selected, strict=True))
        equal = [functions.resolve("=", pair) for pair in pairs]
    except SqlError as e:
        raise context.placed(e, term.node) from None
    if term.row == "equal":
        return equal
    nulls = [_any_null(selected)] if term.row == "null" else []
    if len(needle) == 1:
        return nulls
    return [*nulls, *(_or(e, _any_null(pair)) for e, pair in zip(equal, pairs, strict=True))]


def _comparison(
    term: ExistenceTerm, needle: tuple[Expr, ...], selected: Sequence[Expr], context: Context
) -> Expr:
    """Whether a comparison of the needle and the sub-query's column is as the term wants it."""
    if len(needle) > 1:
        raise context.error(term.node, "ANY and ALL compare one value, not several")
    try:
        holds = functions.resolve(term.sign, (needle[0], selected[0]))
    except SqlError as e:
        raise context.placed(e, term.node) from None
    unknown, fails = functions.resolve("is_null", (holds,)), functions.resolve("not", (holds,))
    return {
        "compared": holds,
        "failed": fails,
        "unknown": unknown,
        "untrue": _or(unknown, fails),
        "possible": _or(unknown, holds),
    }[term.row]


def _any_null(values: Sequence[Expr]) -> Expr:
    """Whether one of some values is NULL."""
    return _or(*(functions.resolve("is_null", (v,)) for v in values))


def _or(*terms: Expr) -> Expr:
    return functions.resolve("or", terms) if len(terms) > 1 else terms[0]


def _is_looked_up(source: FromClause, match: Match) -> bool:
    """Whether the sub-query reads only a non-retroactive table, by a condition on outer columns."""
    alone = len(source.items) == 1 and is_non_retroactive(source.items[0])
    return alone and bool(match.keys or match.both)


def why_not_plain(query: exp.Expr, catalog: Catalog) -> str | None:
    """The clause that makes a query more than FROM and WHERE; None for a plain SELECT."""
    if not isinstance(query, exp.Select):
        return f"a sub-query with {query.key.upper()}"
    if not is_grouped(query, catalog):
        return None
    clause = next((c for c in ("group", "having") if query.args.get(c)), "")
    what = {"group": "GROUP BY", "having": "HAVING"}.get(clause, "an aggregate")
    return f"a sub-query with {what}"


def outer_names(scope: Scope, far: OuterColumns | None) -> Callable[[exp.Column], bool]:
    """Whether a column is one of a scope or of the scopes around it."""
    return lambda node: scope.names(node) or (far is not None and far.names(node))
