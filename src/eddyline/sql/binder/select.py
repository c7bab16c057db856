"""One SELECT: FROM and WHERE, GROUP BY and HAVING, the select list, DISTINCT."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import ColumnRef, Expr, conjuncts
from eddyline.algebra.plan import Distinct, Filter, Plan, Product, Project
from eddyline.errors import UnsupportedError
from eddyline.sql.binder.context import Bound, Context, OpenStream, require_windows
from eddyline.sql.binder.grouping import Groups, bind_keys, is_grouped
from eddyline.sql.binder.relations import BindQuery, bind_relation, relation_fields
from eddyline.sql.binder.scalars import Scalars
from eddyline.sql.binder.scope import Scope
from eddyline.sql.dialect import Eddyline

_HANDLED = ("with_", "expressions", "distinct", "from_", "joins", "where", "group", "having")


def bind_select(select: exp.Select, context: Context, bind_query: BindQuery) -> Bound:
    """The plan of one SELECT: Filter(Product) below GroupBy below Filter below Project."""
    context.require_only(select, *_HANDLED, "windows")
    if select.args.get("from_") is None:
        raise context.error(
            select, "SELECT without FROM is not supported: read a stream", UnsupportedError
        )
    source = _bind_from(select, context, bind_query)
    _add_where(select, source, context)
    plan, streams = source.plan(), source.open_streams
    if is_grouped(select):
        require_windows(streams, "GROUP BY" if select.args.get("group") else "an aggregate")
        plan = _grouped(select, plan, source.scope, context)
    else:
        plan = _projected(select, plan, source.scope, context)
    distinct = select.args.get("distinct")
    if distinct is not None:
        context.require_only(distinct)
        require_windows(streams, "DISTINCT")
        plan = Distinct(plan)
    return Bound(plan, streams)


# -- FROM and WHERE -----------------------------------------------------------------------------


@dataclass
class _From:
    """The FROM clause so far: its items, their scope, and the conditions on them."""

    parts: list[Bound]
    scope: Scope
    conditions: list[Expr]

    @property
    def open_streams(self) -> tuple[OpenStream, ...]:
        return tuple(s for p in self.parts for s in p.open_streams)

    def plan(self) -> Plan:
        plans = tuple(p.plan for p in self.parts)
        plan = plans[0] if len(plans) == 1 else Product(plans)
        terms = tuple(t for c in self.conditions for t in conjuncts(c))
        if not terms:
            return plan
        return Filter(plan, terms[0] if len(terms) == 1 else functions.resolve("and", terms))


def _bind_from(select: exp.Select, context: Context, bind_query: BindQuery) -> _From:
    from_ = select.args["from_"]
    context.require_only(from_, "this")
    source = _From([], Scope(), [])
    _add_item(source, from_.this, context, bind_query)
    for join in select.args.get("joins") or ():
        _add_join(source, join, context, bind_query)
    if sum(p.reads_stream for p in source.parts) > 1:
        require_windows(source.open_streams, "a join")
    return source


def _add_item(source: _From, node: exp.Expr, context: Context, bind_query: BindQuery) -> None:
    name, bound = bind_relation(node, context, bind_query)
    if name and any(r.name.lower() == name.lower() for r in source.scope.relations):
        raise context.error(node, f"two FROM items are named '{name}'; rename one with AS")
    source.parts.append(bound)
    source.scope = source.scope.joined_with(name, relation_fields(node, bound, context))


def _add_join(source: _From, join: exp.Join, context: Context, bind_query: BindQuery) -> None:
    context.require_only(join, "this", "kind", "on", "using")
    kind = str(join.args.get("kind") or "INNER")
    if kind not in ("INNER", "CROSS"):
        raise context.error(
            join, f"{kind} JOIN is not supported: only inner joins are run", UnsupportedError
        )
    before = source.scope
    _add_item(source, join.this, context, bind_query)
    for column in join.args.get("using") or ():
        _add_using(source, column, before, context)
    on = join.args.get("on")
    if on is not None:
        source.conditions.append(Scalars(source.scope, context, clause="ON").condition(on))


def _add_using(source: _From, column: exp.Expr, before: Scope, context: Context) -> None:
    added = source.scope.relations[-1]
    node = exp.Column(this=column)
    left = before.resolve(node, context)
    right = Scope((added,)).resolve(node, context)
    if left is None or right is None:
        missing = before if left is None else Scope((added,))
        raise missing.unknown(node, context)
    sides = (source.scope.at(left.index), source.scope.at(right.index))
    source.conditions.append(functions.resolve("=", sides))
    source.scope = source.scope.merging(right.index)


def _add_where(select: exp.Select, source: _From, context: Context) -> None:
    where = select.args.get("where")
    if where is not None:
        scalars = Scalars(source.scope, context, clause="WHERE")
        source.conditions.append(scalars.condition(where.this))


# -- select list ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Item:
    """One output column: its name and its expression over the rows of FROM."""

    name: str
    expr: Expr
    scalars: Scalars


def _projected(select: exp.Select, plan: Plan, scope: Scope, context: Context) -> Plan:
    items = [i for node in select.expressions for i in _items(node, scope, context)]
    return Project(plan, tuple(i.expr for i in items), tuple(i.name for i in items))


def _grouped(select: exp.Select, plan: Plan, scope: Scope, context: Context) -> Plan:
    aliases = _aliases(select.expressions)
    projections = [_unaliased(e) for e in select.expressions]
    keys = bind_keys(select.args.get("group"), projections, aliases, scope, context)
    groups = Groups(keys, context)
    items = [i for node in select.expressions for i in _items(node, scope, context)]
    exprs = tuple(groups.over(i.expr, i.scalars) for i in items)
    having = select.args.get("having")
    condition = None
    if having is not None:
        scalars = Scalars(scope, context, aliases=aliases, keys=keys)
        condition = groups.over(scalars.condition(having.this), scalars)
    plan = groups.plan(plan)
    if condition is not None:
        plan = Filter(plan, condition)
    return Project(plan, exprs, tuple(i.name for i in items))


def _items(node: exp.Expr, scope: Scope, context: Context) -> Iterable[_Item]:
    """The output columns of a select-list entry: one, or many for a star."""
    if isinstance(node, exp.Star) or (
        isinstance(node, exp.Column) and isinstance(node.this, exp.Star)
    ):
        return _star(node, scope, context)
    scalars = Scalars(scope, context)
    return [_Item(_output_name(node, context), scalars.bind(_unaliased(node)), scalars)]


def _star(node: exp.Expr, scope: Scope, context: Context) -> list[_Item]:
    star = node.this if isinstance(node, exp.Column) else node
    context.require_only(star)
    if isinstance(node, exp.Column):
        columns = scope.columns_of(scope.relation(node, context))
    else:
        columns = scope.star()
    return [_Item(_plain_name(c), c, _origin(c, node, scope, context)) for c in columns]


def _origin(column: ColumnRef, node: exp.Expr, scope: Scope, context: Context) -> Scalars:
    scalars = Scalars(scope, context)
    scalars.origins[column.index] = node
    return scalars


def _plain_name(column: ColumnRef) -> str:
    return column.name.split(".", 1)[-1]


def _output_name(node: exp.Expr, context: Context) -> str:
    if isinstance(node, exp.Alias):
        if not isinstance(node.args["alias"], exp.Identifier):
            raise context.error(node, "expected a name behind AS")
        return str(node.alias)
    if isinstance(node, exp.Column):
        return str(node.name)
    return str(node.sql(dialect=Eddyline, normalize_functions=False))


def _unaliased(node: exp.Expr) -> exp.Expr:
    return node.this if isinstance(node, exp.Alias) else node


def _aliases(nodes: Iterable[exp.Expr]) -> dict[str, exp.Expr]:
    return {n.alias.lower(): n.this for n in nodes if isinstance(n, exp.Alias)}
