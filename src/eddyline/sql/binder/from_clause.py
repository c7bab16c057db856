"""FROM: its items, the joins between them, and the columns that the rest of the SELECT can name.

A join in parentheses, ``a JOIN (b JOIN c ON ...) ON ...``, becomes one part of the enclosing FROM;
its items keep their names. So plans have the shape of the text.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast

from sqlglot import exp

from eddyline.algebra import functions
from eddyline.algebra.expressions import Expr, columns_of, conjuncts, shift_columns
from eddyline.algebra.plan import Plan, Product, filtered
from eddyline.errors import UnsupportedError
from eddyline.sql.binder.asof_joins import (
    FORM,
    as_of_time,
    asof_join,
    check_version,
    check_versions,
    is_asof,
    is_looked_up,
    version_of,
)
from eddyline.sql.binder.clauses import with_own_window
from eddyline.sql.binder.context import Context, OpenStream, changes, require_windows
from eddyline.sql.binder.interval_joins import with_derived_windows
from eddyline.sql.binder.interval_values import FromParts
from eddyline.sql.binder.joins import OuterSide
from eddyline.sql.binder.lateral_joins import lateral_join, name_columns
from eddyline.sql.binder.laterals import has_one_row, is_lateral, unwrapped, with_lateral
from eddyline.sql.binder.live_tables import check_outer_join, check_tables, is_non_retroactive
from eddyline.sql.binder.outer_interval_joins import outer_interval_join
from eddyline.sql.binder.outer_join_values import outer_join_with_values
from eddyline.sql.binder.relations import BindQuery, Item, bind_relation
from eddyline.sql.binder.scalars import Scalars
from eddyline.sql.binder.scope import Scope
from eddyline.sql.binder.sub_query_calls import has_sub_query
from eddyline.sql.binder.sub_query_joins import Reading, refuse_sub_queries
from eddyline.sql.binder.unnesting import bind_list, new_columns, unnested
from eddyline.sql.binder.using import common_columns, equal_columns
from eddyline.sql.unnest_syntax import Unnesting

#: The arguments of a SELECT's node that are bound wherever there is a FROM clause.
_CLAUSES: Final = (
    *("with_", "windows", "expressions", "distinct"),
    *("from_", "joins", "laterals", "where", "group", "having"),
)


@dataclass
class FromClause:
    """A FROM clause that is being bound.

    Attributes:
        items: all items, in the order of the text.
        parts: factors of the product: items, joins in parentheses, and outer joins of everything
            before them.
        conditions: terms of ON, USING and WHERE, over the columns of all parts.
        scope: the columns of all items, in the order of the parts' columns.
        clock: the first term of WHERE by which the clock has cut windows.
    """

    items: list[Item] = field(default_factory=list)
    parts: list[Plan] = field(default_factory=list)
    conditions: list[Expr] = field(default_factory=list)
    scope: Scope = field(default_factory=Scope)
    clock: exp.Expr | None = None

    @property
    def open_streams(self) -> tuple[OpenStream, ...]:
        """The streams without a window."""
        return tuple(s for i in self.items for s in i.bound.open_streams)

    def plan(self, context: Context) -> Plan:
        """The product of the parts, below a Filter with the conditions.

        Streams without a window get one from the conditions on event times.

        Raises:
            SqlError: several items change, and a stream has no window.
        """
        if self.open_streams and sum(map(changes, self.parts)) > 1:
            derived = with_derived_windows(
                self.items, self.parts, self.conditions, self.scope, context
            )
            self.items, self.parts = derived.items, derived.parts
            self.conditions = derived.conditions
        product = self.parts[0] if len(self.parts) == 1 else Product(tuple(self.parts))
        terms = [t for c in self.conditions for t in conjuncts(c)]
        plan = filtered(product, (t for t in terms if not has_sub_query(t)))
        return self.reading(context).filtered(plan, [t for t in terms if has_sub_query(t)])

    def reading(self, context: Context) -> Reading:
        """The rows, which can read sub-queries."""
        parts = FromParts(self.items, self.parts, self.scope, context)
        return Reading(context, self.open_streams, parts)


def bind_from(
    select: exp.Select, context: Context, bind_query: BindQuery, others: tuple[str, ...] = ()
) -> FromClause:
    """The FROM clause of a SELECT; whether its streams have windows is to be checked.

    Args:
        others: further arguments of the node that are bound elsewhere.

    Raises:
        SqlError, UnsupportedError: there is no FROM, or a clause is not supported.
    """
    context.require_only(select, *_CLAUSES, *others)
    from_ = select.args.get("from_")
    if from_ is None:
        raise context.error(
            select, "SELECT without FROM is not supported: read a stream", UnsupportedError
        )
    context.require_only(from_, "this")
    source = _joined(from_.this, context, bind_query, select.args.get("joins") or ())
    for node in select.args.get("laterals") or ():
        _add_unnesting(source, node, False, context)
    check_versions(source.items, context)
    return source


def _joined(
    first: exp.Expr, context: Context, bind_query: BindQuery, joins: Sequence[exp.Join] = ()
) -> FromClause:
    """An item with its joins."""
    source = FromClause()
    if version_of(first) is not None:
        message = "FOR SYSTEM_TIME AS OF is not supported for the first item of FROM: there are no "
        raise context.error(first, f"{message}rows in front whose time it is", UnsupportedError)
    _add_alone(source, first, context, bind_query)
    for join in (*(first.args.get("joins") or ()), *joins):
        _add_join(source, join, context, bind_query)
    return source


def _add(source: FromClause, node: exp.Expr, context: Context, bind_query: BindQuery) -> None:
    """Add the operand of a JOIN: an item, or (``a JOIN b JOIN c ON ... ON ...``) a whole join."""
    if node.args.get("joins"):
        _add_joined(source, _joined(node, context, bind_query), context)
    else:
        _add_alone(source, node, context, bind_query)


def _add_alone(source: FromClause, node: exp.Expr, context: Context, bind_query: BindQuery) -> None:
    """Add an item or the content of parentheses, without the joins behind it."""
    if isinstance(node, Unnesting):
        _add_unnesting(source, node, False, context)
        return
    if not _in_parentheses(node):
        _add_item(source, bind_relation(node, context, bind_query), context)
        return
    alias = node.args.get("alias")
    if alias is not None:
        advice = "use the names of its items, or write (SELECT ... FROM ...) AS name"
        message = f"an alias of a join in parentheses is not supported: {advice}"
        raise context.error(alias, message, UnsupportedError)
    context.require_only(node, "this", "window", "joins")
    inside = with_own_window(node, context, lambda inner: _joined(node.this, inner, bind_query))
    _add_joined(source, inside, context)


def _in_parentheses(node: exp.Expr) -> bool:
    """Whether this is a FROM item in parentheses, alone or joined, rather than a query."""
    if not isinstance(node, exp.Subquery):
        return False
    inner = node.this
    if isinstance(inner, exp.Subquery):
        return bool(inner.args.get("joins")) or _in_parentheses(inner)
    return isinstance(inner, exp.Table)


def _add_item(source: FromClause, item: Item, context: Context) -> None:
    _check_name(source, item, context)
    source.items.append(item)
    source.parts.append(item.bound.plan)
    source.scope = source.scope.joined_with(item.name, item.fields)


def _check_name(source: FromClause, item: Item, context: Context) -> None:
    name, row = item.name, context.row
    if name and any(r.name.lower() == name.lower() for r in source.scope.relations):
        raise context.error(item.node, f"two FROM items are named '{name}'; rename one with AS")
    if row is not None and name.lower() == row.name.lower():
        message = f"'{name}' is the row of FOR EACH; rename it there, or here, with AS"
        raise context.error(item.node, message)


def _add_joined(source: FromClause, inside: FromClause, context: Context) -> None:
    """Add a join as one part. If it has non-retroactive tables, its parts are added one by one: a
    result of the whole FROM looks them up at its own instant. So are streams without a window: this
    may follow from the conditions of the whole FROM.
    """
    for item in inside.items:
        _check_name(source, item, context)
    looked_up = any(is_non_retroactive(i) and i.bound.plan in inside.parts for i in inside.items)
    if looked_up or inside.open_streams:
        source.parts += inside.parts
        source.conditions += [shift_columns(c, source.scope.width) for c in inside.conditions]
    else:
        check_tables(inside.items, inside.parts, context)
        source.parts.append(inside.plan(context))
    source.items += inside.items
    source.scope = source.scope.beside(inside.scope)


def _add_join(source: FromClause, join: exp.Join, context: Context, bind_query: BindQuery) -> None:
    context.require_only(join, "this", "kind", "side", "on", "using", "method", "match_condition")
    kind = join.args.get("kind") or "INNER"
    if kind not in ("INNER", "CROSS", "OUTER"):
        raise context.error(join, f"{kind} JOIN is not supported: use ON", UnsupportedError)
    if isinstance(join.this, Unnesting):
        _join_unnesting(source, join, context)
        return
    if is_lateral(join.this):
        _join_lateral(source, join, context, bind_query)
        return
    before, left = source.scope, len(source.items)
    _add(source, join.this, context, bind_query)
    side = str(join.args.get("side") or "")
    is_natural = str(join.args.get("method") or "").upper() == "NATURAL"
    columns = common_columns(before, source.scope) if is_natural else join.args.get("using") or ()
    using = []
    for column in columns:
        equal, source.scope = equal_columns(source.scope, column, before, side, context)
        using.append(equal)
    if is_asof(join) and using:  # of USING (k, ts) the last one is compared
        equal = using[-1]
        using[-1] = functions.resolve(">=", equal.args)
    conditions = using
    for on in (join.args.get("on"), join.args.get("match_condition")):
        if on is not None:
            conditions.append(Scalars(source.scope, context, clause="ON").condition(on))
    version = version_of(join.this)
    if is_asof(join) or version is not None:
        refuse_sub_queries(conditions, "ON of an ASOF JOIN", join, context)
        if _join_asof(source, join, version, conditions, context):
            return
    if side:
        _join_outer(source, left, cast(OuterSide, side), conditions, join, context)
        context.checked(source.parts[0], join)
    else:
        source.conditions += conditions


def _join_lateral(
    source: FromClause, join: exp.Join, context: Context, bind_query: BindQuery
) -> None:
    on, side = join.args.get("on"), join.args.get("side")
    is_true = isinstance(on, exp.Boolean) and bool(on.this)
    plain = not (join.args.get("using") or join.args.get("method"))
    if not plain or side not in (None, "", "LEFT") or (side and on is not None and not is_true):
        message = (
            "write CROSS JOIN LATERAL (SELECT ...) AS x, or LEFT JOIN LATERAL (...) AS x ON TRUE"
        )
        raise context.error(join, message, UnsupportedError)
    name = join.this.alias
    if name and any(r.name.lower() == name.lower() for r in source.scope.relations):
        raise context.error(join.this, f"two FROM items are named '{name}'; rename one with AS")
    if not has_one_row(join.this, context):
        _join_rows(source, join, context, bind_query)
        return
    check_tables(source.items, source.parts, context)
    plan, reading = source.plan(context), source.reading(context)
    wide, fields = with_lateral(join, plan, reading, source.scope, context)
    source.parts, source.conditions = [context.checked(wide, join)], []
    source.scope = source.scope.joined_with(name, fields)
    if on is not None and not is_true:
        source.conditions.append(Scalars(source.scope, context, clause="ON").condition(on))


def _join_rows(source: FromClause, join: exp.Join, context: Context, bind_query: BindQuery) -> None:
    """Join a LATERAL sub-query that may have several rows."""
    node = join.this
    context.require_only(node, "this", "alias", "lateral", "joins")
    made = lateral_join(unwrapped(node), source.scope, len(source.items), context)
    plain = exp.Subquery(this=made.query, alias=node.args.get("alias"))
    plain.meta.update(node.meta)
    name_columns(plain, made.keys)
    on = [*made.on, *filter(None, [join.args.get("on")])]
    condition = exp.and_(*on, copy=False) if on else None
    joined = exp.Join(this=plain, side=join.args.get("side"), on=condition)
    joined.meta.update(join.meta)
    _add_join(source, joined, context, bind_query)
    columns = source.scope.relations[-1]
    hidden = (columns.offset + p for key in made.keys for p in columns.positions(key))
    source.scope = replace(source.scope, hidden=source.scope.hidden | frozenset(hidden))


def _join_asof(
    source: FromClause,
    join: exp.Join,
    version: exp.Version | None,
    conditions: list[Expr],
    context: Context,
) -> bool:
    """Join the last item as of the time of the rows before it; False: it is a table, which is
    joined in this way anyway.
    """
    item, part, scope = source.items.pop(), source.parts.pop(), source.scope
    check_tables(source.items, source.parts, context)
    left = source.plan(context)
    source.items.append(item)
    if version is not None:
        time = check_version(version, left, scope, context)
        if is_looked_up(item, join.this, context):
            source.parts.append(part)
            return False
        conditions = [*conditions, as_of_time(time, item, scope, context)]
    if part != item.bound.plan:
        message = "ASOF JOIN takes a stream, view or sub-query behind it, not a join"
        raise context.error(join, message, UnsupportedError)
    if not any(join.args.get(clause) for clause in ("on", "using", "match_condition")):
        raise context.error(join.this, f"how do its rows match? {FORM}")
    made, source.items[-1] = asof_join(join, left, item, conditions, context)
    source.parts, source.conditions = [context.checked(made, join)], []
    return True


def _join_unnesting(source: FromClause, join: exp.Join, context: Context) -> None:
    on, side = join.args.get("on"), join.args.get("side")
    is_true = isinstance(on, exp.Boolean) and bool(on.this)
    if (
        join.args.get("using")
        or join.args.get("method")
        or side not in (None, "", "LEFT")
        or (side and on is not None and not is_true)
    ):
        message = "write CROSS JOIN UNNEST(list), or LEFT JOIN UNNEST(list) ON TRUE"
        if join.this.args["function"] == "VALUES":
            message = "write JOIN (VALUES ...) AS t (x, y) ON ...; for LEFT JOIN make a table"
        raise context.error(join, message, UnsupportedError)
    _add_unnesting(source, join.this, bool(side), context)
    if on is not None and not is_true:
        source.conditions.append(Scalars(source.scope, context, clause="ON").condition(on))


def _add_unnesting(source: FromClause, node: Unnesting, outer: bool, context: Context) -> None:
    """Add the elements of a list of the items before it: to the last part, if this has the list,
    else to the join of all parts.
    """
    if not source.parts:
        word = node.args["function"]
        if word == "VALUES":
            message = "VALUES needs a stream in front of it: FROM s, (VALUES (1, 'a')) AS t (x, y)"
            raise context.error(node, message)
        raise context.error(node, f"{word} needs a stream in front of it: FROM s, {word}(s.list)")
    listed = bind_list(node, source.scope, context)
    start = source.scope.width - len(source.parts[-1].schema)
    last = source.items[-1]
    is_table = is_non_retroactive(last) and last.bound.plan == source.parts[-1]
    if is_table or min(columns_of(listed), default=0) < start:
        check_tables(source.items, source.parts, context)
        source.parts, source.conditions = [source.plan(context)], []
        start = 0
    is_outer = outer or node.is_outer
    plan = unnested(node, source.parts[-1], shift_columns(listed, -start), is_outer, context)
    name = node.alias
    if name and any(r.name.lower() == name.lower() for r in source.scope.relations):
        raise context.error(node, f"two FROM items are named '{name}'; rename one with AS")
    source.parts[-1] = context.checked(plan, node)
    source.scope = source.scope.joined_with(name, new_columns(plan))


def _join_outer(
    source: FromClause,
    before: int,
    side: OuterSide,
    conditions: list[Expr],
    join: exp.Join,
    context: Context,
) -> None:
    """Join the items in front of the last part, ``before`` in number, with that part."""
    left, right = source.items[:before], source.items[before:]
    check_outer_join(side, left, right, source.parts, context)
    found = None
    if not any(map(has_sub_query, conditions)):
        found = outer_interval_join(side, source.items, conditions, source.scope, context)
    if found is not None:
        made, source.items = found
        source.parts, source.conditions = [made], []
        return
    counted = {"LEFT": right, "RIGHT": left, "FULL": source.items}[side]
    if any(i.bound.changes for i in counted):
        require_windows(source.open_streams, f"{side} JOIN")
    part = source.parts.pop()
    inputs = source.plan(context), part
    sides = ((left, source.parts), (right, [part]))
    readings = tuple(
        Reading(context, source.open_streams, FromParts(*of, Scope(), context)) for of in sides
    )
    made = outer_join_with_values(side, inputs, readings, conditions, source.scope, join, context)
    source.parts, source.conditions = [made], []
