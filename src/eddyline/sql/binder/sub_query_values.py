"""Sub-queries in expressions: ``(SELECT MAX(v) FROM ...)``, EXISTS and IN (SELECT ...) as values.

A scalar sub-query has one row for each row that reads it: it has aggregates and no GROUP BY.
Equalities with columns of the enclosing SELECT become the keys of its groups; for a row whose group
has no rows COUNT is 0 and all else NULL. Source: Seshadri, Pirahesh and Leung 1996.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import pyarrow as pa
from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import (
    AggregateCall,
    ColumnRef,
    Expr,
    Literal,
    columns_of,
    conjunction,
    rewrite,
    shift_columns,
    walk,
)
from eddyline.algebra.plan import Filter, GroupBy, Plan, Project
from eddyline.errors import SqlError, UnsupportedError
from eddyline.sql.binder.clauses import in_clauses
from eddyline.sql.binder.context import BoundPlan, Context, OuterColumns, require_windows
from eddyline.sql.binder.existence import (
    ROWS,
    ExistenceTerm,
    Row,
    bind_sub_query,
    outer_names,
    split_where,
    unwrapped,
    with_existences,
)
from eddyline.sql.binder.first_values import with_first_values
from eddyline.sql.binder.grouping import bind_keys, is_grouped
from eddyline.sql.binder.live_tables import check_tables
from eddyline.sql.binder.matching import Match, matched
from eddyline.sql.binder.relations import BindQuery
from eddyline.sql.binder.scalars import Scalars
from eddyline.sql.binder.scope import Scope
from eddyline.sql.binder.select_list import SelectItem, aliases, select_items, unaliased
from eddyline.sql.binder.sources import bind_source
from eddyline.sql.binder.sub_query_calls import Kind, SubQuery, call
from eddyline.sql.binder.sub_query_groups import SubQueryGroups
from eddyline.sql.binder.sub_query_joins import split_values, unsupported
from eddyline.sql.rewrites import COMPARED

_SEVERAL: Final = (
    "a sub-query in an expression must have one row, and this one may have several: write an "
    "aggregate, as in (SELECT MAX(x) FROM ...), or join it in FROM"
)


@dataclass(frozen=True)
class SubQueryBinder:
    """Binds sub-queries in expressions.

    Args:
        bind_query: binds what has no columns of the enclosing SELECT.
    """

    bind_query: BindQuery

    def __call__(
        self, node: exp.Expr, needle: tuple[Expr, ...] | None, scope: Scope, context: Context
    ) -> Expr:
        """The value of a scalar sub-query, of EXISTS, or of IN (SELECT ...).

        Args:
            needle: the x and y of ``(x, y) IN (SELECT ...)``.
            scope: the columns that the sub-query can read.
        """
        around = scope.outer
        if around is None:
            return self._value(node, needle, replace(scope, named=True), context)
        if needle is not None:
            needle = tuple(shift_columns(e, -around.width) for e in needle)
            if min((c for e in needle for c in columns_of(e)), default=0) < 0:
                raise unsupported("a condition on columns of the enclosing SELECT", node, context)
        own = scope.without_outer()
        return shift_columns(self._value(node, needle, own, context), around.width)

    def _value(
        self, node: exp.Expr, needle: tuple[Expr, ...] | None, outer: Scope, context: Context
    ) -> Expr:
        if isinstance(node, exp.Exists):
            return self._exists(ExistenceTerm(node, node.this, False, None), None, outer, context)
        if isinstance(node, exp.In):
            assert needle is not None, "of IN"
            return self._in(node, needle, outer, context)
        query = unwrapped(node)
        items = self.row(query, outer, context)
        if len(items) != 1:
            message = f"a sub-query in an expression has one column, this one has {len(items)}"
            raise context.error(node, message)
        return items[0][1]

    # -- whether there is a row ----------------------------------------

    def _exists(
        self, term: ExistenceTerm, needle: tuple[Expr, ...] | None, outer: Scope, context: Context
    ) -> Expr:
        found = bind_sub_query(term, outer, context, self.bind_query, needle)
        match, width = found.match, outer.width
        others = match.left + match.both
        read = list(dict.fromkeys(e for other in others for e in _outer_parts(other, width)))
        first = len(match.keys)
        places = {e: first + n for n, e in enumerate(read)}
        arguments = (*(a for a, _ in match.keys), *read)

        def change(e: Expr) -> Expr | None:
            if e in places:
                return ColumnRef(e.type, places[e], str(e))
            if isinstance(e, ColumnRef):
                return replace(e, index=e.index - width + len(arguments))
            return None

        condition = conjunction(others)
        residual = None if condition is None else rewrite(condition, change)
        keys = tuple(b for _, b in match.keys)
        bound = found.bound
        query = SubQuery("exists", bound.plan, keys, residual, bound, term.node, found.table)
        return call(query, arguments)

    def _in(self, node: exp.In, needle: tuple[Expr, ...], outer: Scope, context: Context) -> Expr:
        """TRUE if a y equals x; else NULL if a y may equal it but for NULLs; else FALSE."""
        context.require_only(node, "this", "query", COMPARED)
        equal = ExistenceTerm(node, node.args["query"], False, node.this, "equal")
        compared = node.args.get(COMPARED)
        if compared is not None:
            sign, word = compared.split()
            return self._compared(equal, needle, sign, word == "ALL", outer, context)
        if _is_filter(node):
            return self._exists(equal, needle, outer, context)
        found = [self._exists(replace(equal, row=row), needle, outer, context) for row in ROWS]
        true, unknown, false = (Literal(pa.bool_(), value) for value in (True, None, False))
        cases = (found[0], true, found[1], unknown, found[2], unknown, false)
        return functions.resolve("case", cases)

    def _compared(
        self,
        term: ExistenceTerm,
        needle: tuple[Expr, ...],
        sign: str,
        is_all: bool,
        outer: Scope,
        context: Context,
    ) -> Expr:
        """``x > ANY (SELECT y ...)``: TRUE if a y is less than x; else NULL if a comparison is;
        else FALSE. With ALL: FALSE if a y is not, else NULL if a comparison is, else TRUE.
        """

        def there(row: Row) -> Expr:
            return self._exists(replace(term, row=row, sign=sign), needle, outer, context)

        if _is_filter(term.node):
            if not is_all:
                return there("compared")
            return functions.resolve("not", (there("untrue"),))
        decided, otherwise = (Literal(pa.bool_(), value) for value in (not is_all, is_all))
        cases = (
            there("failed" if is_all else "compared"),
            decided,
            there("unknown"),
            Literal(pa.bool_(), None),
            otherwise,
        )
        return functions.resolve("case", cases)

    # -- rows of values ------------------------------------------------

    def row(self, query: exp.Expr, outer: Scope, context: Context) -> list[tuple[str, Expr]]:
        """The names and values of the columns of a sub-query that has one row, or none."""
        query = with_first_values(query, context)
        select = (
            query if isinstance(query, exp.Select) and is_grouped(query, context.catalog) else None
        )
        reader = "FROM of a sub-query" if select else "a sub-query that may have several rows"
        advice = (
            "its WHERE can read it"
            if select
            else "write an aggregate, as in (SELECT MAX(x) FROM ...), or join it in FROM"
        )
        far = OuterColumns(outer_names(outer, context.far), reader, advice)
        inner = replace(context, far=far)
        if select is not None:
            binder = _AggregateBinder(select, outer, self.bind_query)
            return in_clauses(query, inner, binder.bind)
        bound = self.bind_query(query, inner)
        most = _rows_at_most(bound.plan)
        if most is None:
            raise context.error(query, _SEVERAL, UnsupportedError)
        found = SubQuery(most, bound.plan, (), None, bound, query)
        return [(f.name, call(found, (), i)) for i, f in enumerate(bound.plan.schema)]


def _outer_parts(expr: Expr, width: int) -> Iterator[Expr]:
    """The columns and aggregates of the enclosing SELECT in an expression."""
    for part in walk(expr):
        if isinstance(part, AggregateCall) or (isinstance(part, ColumnRef) and part.index < width):
            yield part


def _is_filter(node: exp.Expr) -> bool:
    """Whether it is the same if a condition is FALSE or NULL."""
    parent = node.parent
    while isinstance(parent, (exp.And, exp.Or, exp.Paren)):
        parent = parent.parent
    return isinstance(parent, (exp.Where, exp.Having, exp.Join))


def _rows_at_most(plan: Plan) -> Kind | None:
    """``one`` if a plan always has one row, ``optional`` if it may have none, else None."""
    match plan:
        case GroupBy() if not plan.keys:
            return "one"
        case Project():
            return _rows_at_most(plan.input)
        case Filter():
            return "optional" if _rows_at_most(plan.input) else None
    return None


@dataclass(frozen=True)
class _AggregateBinder:
    """Binds a SELECT of aggregates: its WHERE can read the columns of ``outer``."""

    query: exp.Select
    outer: Scope
    bind_query: BindQuery

    def bind(self, context: Context) -> list[tuple[str, Expr]]:
        """The names and values of the columns, for a row of ``outer``."""
        source = bind_source(self.query, context, self.bind_query)
        scope = source.scope.inside(self.outer)
        assert context.far is not None, "inside a sub-query"
        context = replace(
            context,
            far=replace(context.far, reader="a sub-query inside it", advice="join it in FROM"),
        )
        terms, existences = split_where(self.query, context)
        scalars = Scalars(scope, context, clause="WHERE")
        width = self.outer.width
        conditions = [scalars.condition(t) for t in terms]
        conditions, own = split_values(conditions, width, self.query, context)
        match = matched(conditions, width)
        if match.both:
            raise self._not_equal(match, context)
        source.conditions += [*match.on_right, *own]
        check_tables(source.items, source.parts, context)
        plan = with_existences(source, existences, context, self.bind_query)
        require_windows(source.open_streams, "an aggregate")
        return self._values(BoundPlan(plan), match, scope, context)

    def _values(
        self, bound: BoundPlan, match: Match, scope: Scope, context: Context
    ) -> list[tuple[str, Expr]]:
        items = select_items(self.query, scope, context)
        known = aliases(self.query.expressions)
        grouped = self._grouped_by(match, known, scope, context)
        having = self.query.args.get("having")
        condition = None
        if having is not None:
            scalars = Scalars(scope, context, aliases=known, keys=())
            condition = SelectItem("", scalars.condition(having.this), scalars)
        groups = SubQueryGroups(self.query, self.outer, match, bound, context, counts=not grouped)
        wanted = [*items, *([condition] if condition else [])]
        values = groups.values([(i.expr, i.scalars) for i in wanted])
        if condition is not None:
            *values, holds = values
            values = [functions.resolve("case", (holds, v, Literal(v.type, None))) for v in values]
        return [(i.name, v) for i, v in zip(items, values, strict=True)]

    def _grouped_by(
        self, match: Match, known: dict[str, exp.Expr], scope: Scope, context: Context
    ) -> bool:
        """Whether there is a GROUP BY; its keys have one value for each row of ``outer``."""
        group = self.query.args.get("group")
        if group is None:
            return False
        projections = [unaliased(e) for e in self.query.expressions]
        keys = bind_keys(group, projections, known, scope, context)
        equal = {shift_columns(b, self.outer.width) for _, b in match.keys}
        if not isinstance(keys, tuple) or not keys or not set(keys) <= equal:
            raise context.error(group, _SEVERAL, UnsupportedError)
        return True

    def _not_equal(self, match: Match, context: Context) -> SqlError:
        return context.error(
            self.query,
            f"{match.both[0]}: a sub-query with an aggregate can read columns of the enclosing "
            "SELECT in equalities only, as in WHERE b.k = a.k: join the two in FROM, and GROUP BY "
            "the columns of the row",
            UnsupportedError,
        )
