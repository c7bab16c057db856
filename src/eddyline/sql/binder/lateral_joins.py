"""LATERAL sub-queries of several rows, as joins: what compares their rows with those in front
becomes ON, the columns of equalities further keys of the sub-query.

::

    FROM s, LATERAL (SELECT x FROM b     FROM s JOIN (SELECT x, b.k AS key FROM b QUALIFY
      WHERE b.k = s.k                      ROW_NUMBER() OVER (PARTITION BY b.k ORDER BY x DESC)
      ORDER BY x DESC LIMIT 3) AS q        <= 3) AS q ON key = s.k
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from sqlglot import exp

from eddyline.errors import SqlError, UnsupportedError
from eddyline.sql.binder.clauses import written_terms
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.grouping import is_grouped
from eddyline.sql.binder.scope import Scope

_REFUSED: Final = ("offset", "qualify", "with_", "windows")


@dataclass(frozen=True)
class LateralJoin:
    """A sub-query with columns in front, and how it is joined.

    Attributes:
        query: the SELECT, with further columns. keys: their names.
        on: the conditions over the rows in front and these columns.
    """

    query: exp.Select
    keys: tuple[str, ...]
    on: tuple[exp.Expr, ...]


def lateral_join(query: exp.Select, scope: Scope, number: int, context: Context) -> LateralJoin:
    """The join of a LATERAL sub-query.

    Args:
        scope: of the rows in front. number: makes names unique.

    Raises:
        UnsupportedError: it reads rows in front elsewhere than in WHERE, or in other conditions
            than equalities where it groups or limits its rows.
    """
    found = query.copy()
    outer = _Outer(found, scope)
    for clause in _REFUSED:
        if found.args.get(clause):
            name = clause.upper().strip("_")
            raise _refused(query, f"LATERAL with {name} is not supported", context)
    is_plain = not (
        found.args.get("limit") or found.args.get("distinct") or is_grouped(found, context.catalog)
    )
    own: list[exp.Expr] = []
    on: list[exp.Expr] = []
    keys: dict[exp.Expr, str] = {}

    def key(node: exp.Expr) -> exp.Column:
        name = keys.setdefault(node.copy(), f"__lateral_{number}_{len(keys)}")
        return exp.column(name)

    for term in written_terms(found):
        if not outer.reads(term):
            own.append(term)
            continue
        equal = outer.equality(term)
        if equal is not None:
            inside, outside = equal
            on.append(exp.EQ(this=key(inside), expression=outside.copy()))
        elif is_plain and term.find(exp.Query) is None:
            on.append(outer.with_keys(term, key))
        else:
            message = "LATERAL with LIMIT, DISTINCT or GROUP BY takes equalities, as b.k = a.k"
            raise _refused(term, message, context)
    for made, term in zip(on, (t for t in written_terms(found) if outer.reads(t)), strict=True):
        made.meta.update(term.meta)
    found.set("where", exp.Where(this=exp.and_(*own, copy=False)) if own else None)
    rest = [found.args.get(c) for c in ("group", "having", "order", "from_", "limit")]
    for node in (*found.expressions, *found.args.get("joins", ()), *filter(None, rest)):
        if outer.reads(node):
            message = "LATERAL can read the items in front of it in its WHERE only"
            raise _refused(node, f"{message}: compute the rest in the select list", context)
    _with_keys(found, list(keys), list(keys.values()))
    return LateralJoin(found, tuple(keys.values()), tuple(on))


def name_columns(node: exp.Subquery, keys: Sequence[str]) -> None:
    """Name further columns, if the item has names for its own."""
    alias = node.args.get("alias")
    if isinstance(alias, exp.TableAlias) and alias.args.get("columns"):
        names = [*alias.args["columns"], *map(exp.to_identifier, keys)]
        node.set("alias", exp.TableAlias(this=alias.this.copy(), columns=names))


def _with_keys(query: exp.Select, keys: list[exp.Expr], names: list[str]) -> None:
    """Add keys to what a SELECT groups and limits by, and to its columns."""
    group, distinct = query.args.get("group"), query.args.get("distinct")
    if group is not None:
        group.set("expressions", [*group.expressions, *(k.copy() for k in keys)])
    order, limit = query.args.get("order"), query.args.get("limit")
    on = distinct.args.get("on") if distinct is not None else None
    if on is not None:
        on.set("expressions", [*(k.copy() for k in keys), *on.expressions])
        if order is not None:
            ordered = [exp.Ordered(this=k.copy()) for k in keys]
            order.set("expressions", [*ordered, *order.expressions])
    elif limit is not None:
        rank = exp.Window(
            this=exp.Anonymous(this=_rank(limit), expressions=[]),
            partition_by=[k.copy() for k in keys],
            order=order,
        )
        count = limit.args.get("count") or limit.args.get("expression") or exp.Literal.number(1)
        query.set("qualify", exp.Qualify(this=exp.LTE(this=rank, expression=count.copy())))
        query.set("order", None)
        query.set("limit", None)
    listed = [exp.alias_(k.copy(), n) for k, n in zip(keys, names, strict=True)]
    query.set("expressions", [*query.expressions, *listed])


def _rank(limit: exp.Expr) -> str:
    options = limit.args.get("limit_options")
    return "rank" if options is not None and options.args.get("with_ties") else "row_number"


@dataclass(frozen=True)
class _Outer:
    """Tells columns of the rows in front from a sub-query's own."""

    query: exp.Select
    scope: Scope

    def is_outer(self, column: exp.Column) -> bool:
        """Whether a column has the name of an item in front, which no own item has."""
        name = column.table.lower()
        own = {t.alias_or_name.lower() for t in self.query.find_all(exp.Table, exp.Subquery)}
        return bool(name) and name not in own and self.scope.names(column)

    def reads(self, node: exp.Expr) -> bool:
        """Whether a node reads the rows in front."""
        return any(map(self.is_outer, node.find_all(exp.Column)))

    def equality(self, term: exp.Expr) -> tuple[exp.Expr, exp.Expr] | None:
        """The own side and the other one of an equality of the two; None for other terms."""
        node = term.unnest()
        if not isinstance(node, exp.EQ):
            return None
        for inside, outside in ((node.this, node.expression), (node.expression, node.this)):
            columns = list(outside.find_all(exp.Column))
            if columns and all(map(self.is_outer, columns)) and not self.reads(inside):
                return inside, outside
        return None

    def with_keys(self, term: exp.Expr, key: Callable[[exp.Expr], exp.Expr]) -> exp.Expr:
        """A term with its own columns as keys."""

        def change(node: exp.Expr) -> exp.Expr:
            if isinstance(node, exp.Column) and not self.is_outer(node):
                return key(node)
            return node

        return term.copy().transform(change)


def _refused(node: exp.Expr, message: str, context: Context) -> SqlError:
    return context.error(node, message, UnsupportedError)
