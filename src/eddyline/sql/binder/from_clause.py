"""FROM: its items, the joins between them, and what the rest of the SELECT can name."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, cast

from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import Expr, conjuncts
from eddyline.algebra.plan import Plan, Product
from eddyline.errors import SqlError, UnsupportedError
from eddyline.sql.binder.context import Context, OpenStream, require_windows
from eddyline.sql.binder.joins import Side, filtered, outer_join
from eddyline.sql.binder.live_tables import check_outer_join
from eddyline.sql.binder.relations import BindQuery, Item, bind_relation
from eddyline.sql.binder.scalars import Scalars
from eddyline.sql.binder.scope import Scope

#: The arguments of a SELECT's node that somebody here binds.
_CLAUSES: Final = (
    *("with_", "windows", "expressions", "distinct"),
    *("from_", "joins", "where", "group", "having"),
)


@dataclass
class Source:
    """A FROM clause so far.

    Attributes:
        items: all items, as written.
        parts: what is to be multiplied: items, and outer joins of all that stood before them.
        conditions: terms over the columns of all parts, from ON, USING and WHERE.
        scope: the columns of all items, in the order of the parts' columns.
    """

    items: list[Item] = field(default_factory=list)
    parts: list[Plan] = field(default_factory=list)
    conditions: list[Expr] = field(default_factory=list)
    scope: Scope = field(default_factory=Scope)

    @property
    def open_streams(self) -> tuple[OpenStream, ...]:
        """The streams without a window."""
        return tuple(s for i in self.items for s in i.bound.open_streams)

    def plan(self) -> Plan:
        """The product of the parts, below a Filter with the conditions."""
        product = self.parts[0] if len(self.parts) == 1 else Product(tuple(self.parts))
        return filtered(product, (t for c in self.conditions for t in conjuncts(c)))


def bind_from(select: exp.Select, context: Context, bind_query: BindQuery) -> Source:
    """The FROM clause of a SELECT.

    Raises:
        SqlError, UnsupportedError: it has none, or has clauses that are not run.
    """
    context.require_only(select, *_CLAUSES)
    from_ = select.args.get("from_")
    if from_ is None:
        raise context.error(
            select, "SELECT without FROM is not supported: read a stream", UnsupportedError
        )
    context.require_only(from_, "this")
    source = Source()
    _add_item(source, from_.this, context, bind_query)
    for join in select.args.get("joins") or ():
        _add_join(source, join, context, bind_query)
    if sum(i.bound.changes for i in source.items) > 1:
        require_windows(source.open_streams, "a join")
    return source


def _add_item(source: Source, node: exp.Expr, context: Context, bind_query: BindQuery) -> None:
    item = bind_relation(node, context, bind_query)
    if item.name and any(r.name.lower() == item.name.lower() for r in source.scope.relations):
        raise context.error(node, f"two FROM items are named '{item.name}'; rename one with AS")
    row = context.row
    if row is not None and item.name.lower() == row.name.lower():
        message = f"'{item.name}' is the row of FOR EACH; rename it there, or here, with AS"
        raise context.error(node, message)
    source.items.append(item)
    source.parts.append(item.bound.plan)
    source.scope = source.scope.joined_with(item.name, item.fields)


def _add_join(source: Source, join: exp.Join, context: Context, bind_query: BindQuery) -> None:
    context.require_only(join, "this", "kind", "side", "on", "using")
    kind = join.args.get("kind") or "INNER"
    if kind not in ("INNER", "CROSS", "OUTER"):
        raise context.error(join, f"{kind} JOIN is not supported: use ON", UnsupportedError)
    before = source.scope
    _add_item(source, join.this, context, bind_query)
    side = str(join.args.get("side") or "")
    conditions = [
        _using(source, column, before, side, context) for column in join.args.get("using") or ()
    ]
    on = join.args.get("on")
    if on is not None:
        conditions.append(Scalars(source.scope, context, clause="ON").condition(on))
    if side:
        _join_outer(source, cast(Side, side), conditions, context)
    else:
        source.conditions += conditions


def _using(source: Source, column: exp.Expr, before: Scope, side: str, context: Context) -> Expr:
    """The equality that USING stands for; the columns become one in the scope."""
    added = Scope(source.scope.relations[-1:])
    node = exp.Column(this=column)
    left, right = before.column(node, context), added.column(node, context)
    if left is None or right is None:
        raise (before if left is None else added).unknown(node, context)
    columns = source.scope.columns()
    pair = (source.scope.merged.get(left.index, columns[left.index]), columns[right.index])
    try:
        equal = functions.resolve("=", pair)
        # of a row without a match on the left only the right column has a value
        merged = functions.resolve("coalesce", pair) if side in ("RIGHT", "FULL") else None
    except SqlError as e:
        raise context.placed(e, column) from None
    source.scope = source.scope.merging(left.index, right.index, merged)
    return equal


def _join_outer(source: Source, side: Side, conditions: list[Expr], context: Context) -> None:
    """Make one part of all items: those before the last one, joined with it."""
    *left, right = source.items
    check_outer_join(side, source.items, source.parts, context)
    counted = {"LEFT": [right], "RIGHT": left, "FULL": source.items}[side]
    if any(i.bound.changes for i in counted):
        require_windows(source.open_streams, f"{side} JOIN")
    part = source.parts.pop()
    source.parts = [outer_join(side, source.plan(), part, conditions, source.scope)]
    source.conditions = []
