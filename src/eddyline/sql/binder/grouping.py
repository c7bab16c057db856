"""GROUP BY: keys, aggregates, and expressions over groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from eddyline.algebra.expressions import Aggregate, AggregateCall, ColumnRef, Expr, rewrite
from eddyline.algebra.plan import GroupBy, Plan
from eddyline.errors import SqlError, UnsupportedError
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.grouping_sets import GroupingCall, GroupingSets, bind_sets, has_sets
from eddyline.sql.binder.over_calls import OverFrame, OverGroup
from eddyline.sql.binder.scalars import Scalars, has_aggregate
from eddyline.sql.binder.scope import KEPT, Scope
from eddyline.sql.binder.sub_query_calls import has_sub_query, sub_query_calls
from eddyline.sql.binder.sub_query_joins import Reading, unsupported
from eddyline.sql.catalog import Catalog
from eddyline.sql.numbers import shortened, whole_number


def bind_keys(
    group: exp.Group | None,
    projections: list[exp.Expr],
    aliases: Mapping[str, exp.Expr],
    scope: Scope,
    context: Context,
) -> tuple[Expr, ...] | GroupingSets:
    """The keys of GROUP BY: expressions, ordinals of the select list, or its aliases."""
    if group is None:
        return ()
    if group.args.get("totals"):
        message = "GROUP BY TOTALS is not supported: list the keys"
        raise context.error(group, message, UnsupportedError)

    def bind(node: exp.Expr) -> tuple[Expr, ...]:
        plain = node.this if isinstance(node, exp.Alias) else node
        scalars = Scalars(scope, context, clause="GROUP BY", aliases=aliases)
        key = scalars.bind(chosen(plain, projections, context))
        window = scope.window
        return window.columns if window and key == window.both else (key,)

    if has_sets(group):
        return bind_sets(group, bind, context)
    return tuple(dict.fromkeys(key for node in group.expressions for key in bind(node)))


def listed(
    group: exp.Group | None, projections: Sequence[exp.Expr], catalog: Catalog
) -> exp.Group | None:
    """GROUP BY ALL with the keys that it stands for: what is selected without an aggregate."""
    if group is None or not group.args.get("all"):
        return group
    keys = [p.copy() for p in projections if not has_aggregate(p, catalog)]
    found = exp.Group(expressions=keys)
    found.meta.update(group.meta)
    return found


def chosen(node: exp.Expr, projections: Sequence[exp.Expr], context: Context) -> exp.Expr:
    """The select-list entry of an ordinal; other nodes unchanged."""
    if not (isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit()):
        return node
    ordinal = whole_number(node.name, len(projections) + 1)
    if not ordinal:
        shown = shortened(node.name)
        raise context.error(
            node, f"GROUP BY {shown}: the select list has columns 1 to {len(projections)}"
        )
    return projections[ordinal - 1]


class GroupRewriter:
    """Collects the aggregates of a grouped SELECT and rewrites expressions over its groups."""

    def __init__(self, keys: tuple[Expr, ...] | GroupingSets, context: Context) -> None:
        self._sets = keys if isinstance(keys, GroupingSets) else None
        keys = keys.keys if isinstance(keys, GroupingSets) else keys
        self._keys = keys
        self._positions = {key: position for position, key in enumerate(keys)}
        self._context = context
        self._aggregates: dict[Aggregate, int] = {}

    @property
    def keys(self) -> tuple[Expr, ...]:
        """All keys, over the rows that are grouped."""
        return self._keys

    def over(self, expr: Expr, scalars: Scalars) -> Expr:
        """The expression over GROUP BY's output: keys, then aggregates.

        Args:
            expr: an expression over the rows that are grouped.
            scalars: its binder, which has recorded the origin of each column.

        Raises:
            SqlError: the expression reads a column that is neither a key nor in an aggregate.
        """

        def change(e: Expr) -> Expr | None:
            position = self._positions.get(e)
            if position is not None:
                return ColumnRef(e.type, position, _key_name(e))
            if isinstance(e, GroupingCall):
                return self._bits(e)
            if isinstance(e, AggregateCall):
                return self._aggregate(e.aggregate)
            if isinstance(e, (OverFrame, OverGroup)):
                return e.rewritten(change)
            if isinstance(e, ColumnRef):
                raise self._not_a_key(e, scalars)
            return None

        return rewrite(expr, change)

    def plan(self, input_: Plan, reading: Reading | None = None) -> GroupBy:
        """The GROUP BY, after all expressions over it have been rewritten.

        Args:
            reading: the rows that are grouped, if sub-queries can be in keys and aggregates.

        Raises:
            UnsupportedError: there are sub-queries elsewhere.
        """
        names = (*map(_key_name, self._keys), *map(str, self._aggregates))
        parts = [*self._keys, *(e for a in self._aggregates for e in (a.argument, a.where) if e)]
        if any(map(has_sub_query, parts)):
            if reading is None or self._sets is not None:
                raise unsupported(
                    "GROUPING SETS, or an aggregate here,", self._node(parts), self._context
                )
            input_, read = reading.joined(input_, tuple(parts))
            of = dict(zip(parts, read, strict=True))
            keys = tuple(of[k] for k in self._keys)
            aggregates = tuple(
                replace(a, argument=a.argument and of[a.argument], where=a.where and of[a.where])
                for a in self._aggregates
            )
            return GroupBy(input_, keys, aggregates, names)
        keys = self._keys
        if self._sets is not None:
            input_, keys = self._sets.grouped_input(input_)
        named = (*self._keys, *keys[len(self._keys) :])
        names = (*map(_key_name, named), *map(str, self._aggregates))
        return GroupBy(input_, keys, tuple(self._aggregates), names)

    def _node(self, parts: Sequence[Expr]) -> exp.Expr:
        return next(c.query.node for e in parts for c in sub_query_calls(e))

    def _bits(self, call: GroupingCall) -> Expr:
        if self._sets is None:
            message = f"{call.name} needs GROUP BY with GROUPING SETS, ROLLUP or CUBE"
            raise self._context.error(call.node, message)
        try:
            return self._sets.bits(call)
        except SqlError as e:
            raise self._context.placed(e, call.node) from None

    def _aggregate(self, aggregate: Aggregate) -> ColumnRef:
        position = self._aggregates.setdefault(aggregate, len(self._aggregates))
        index = len(self._keys) + (self._sets is not None) + position
        return ColumnRef(aggregate.type, index, str(aggregate))

    def _not_a_key(self, column: ColumnRef, scalars: Scalars) -> Exception:
        keys = ", ".join(map(str, self._keys)) or "nothing"
        origin = scalars.origins[column.index]
        if isinstance(origin, exp.Column) and origin.name.lower() == KEPT:
            message = f"{KEPT} is of single rows: of a group write COUNT(*) / SUM(1 / {KEPT})"
            return self._context.error(origin, message)
        return self._context.error(
            origin,
            f"column '{column.name}' is neither in GROUP BY nor inside an aggregate: add it to "
            f"GROUP BY, or write MAX({column.name}) or the like; grouped by: {keys}",
        )


def is_grouped(select: exp.Select, catalog: Catalog) -> bool:
    """Whether a SELECT forms groups: it has GROUP BY, HAVING, or an aggregate without OVER."""
    if select.args.get("group") or select.args.get("having"):
        return True
    computed = [*select.expressions, *filter(None, map(select.args.get, ("qualify", "order")))]
    return any(has_aggregate(e, catalog) for e in computed)


def _key_name(key: Expr) -> str:
    return key.name.split(".")[-1] if isinstance(key, ColumnRef) else str(key)
