"""FROM items: streams with their windows, tables, views, queries, WITH entries, sub-queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from sqlglot import exp

from eddyline.algebra.catalog import StreamDef
from eddyline.algebra.expressions import ColumnRef
from eddyline.algebra.functions.coercion import is_number
from eddyline.algebra.plan import Plan, Project, StreamScan, TableScan
from eddyline.algebra.windows import PartitionRows, Range, RowLength, Rows, Unbounded, Window
from eddyline.errors import SqlError, UnsupportedError, did_you_mean
from eddyline.sql.binder.clauses import with_own_window
from eddyline.sql.binder.context import BoundPlan, Context, OpenStream
from eddyline.sql.binder.match_recognize import bind_matches
from eddyline.sql.binder.output import unique_names
from eddyline.sql.binder.parameters import names_row, parameter
from eddyline.sql.binder.time_windows import windowed_item, windowed_stream
from eddyline.sql.statements import Select
from eddyline.sql.time_window_syntax import FixedWindow, SessionWindow
from eddyline.sql.window_syntax import LengthColumn, StreamWindow
from eddyline.types import Field, Schema, sql_type

#: Binds the query inside a FROM item.
BindQuery = Callable[[exp.Expr, Context], BoundPlan]


@dataclass(frozen=True)
class Item:
    """A FROM item: its node, its name ('' for a sub-query without alias), its columns."""

    node: exp.Expr
    name: str
    fields: Schema
    bound: BoundPlan


def bind_relation(node: exp.Expr, context: Context, bind_query: BindQuery) -> Item:
    """Bind a FROM item, without the joins behind it."""
    match = node.args.get("match")
    if match is None:
        return _item(node, context, bind_query)
    item = _item(node, replace(context, window=None), bind_query)
    bound = bind_matches(replace(item.bound, plan=named(item)), item.name, match, context)
    alias = match.args.get("alias")
    columns = alias.args.get("columns") if alias is not None else None
    fields = renamed(bound.plan.schema, columns, context) if columns else bound.plan.schema
    return Item(node, match.alias, fields, bound)


def _item(node: exp.Expr, context: Context, bind_query: BindQuery) -> Item:
    if node.args.get("windowed") is not None:
        outside = replace(context, window=None)  # a trailing WINDOW is not for what has a window
        bound = windowed_item(node, outside, lambda inner: _bound(node, inner, bind_query))
    else:
        bound = _bound(node, context, bind_query)
    fields, alias = bound.plan.schema, node.args.get("alias")
    columns = alias.args.get("columns") if isinstance(alias, exp.TableAlias) else None
    if columns:  # AS t (a, b)
        fields = renamed(fields, columns, context)
    return Item(node, node.alias_or_name, fields, bound)


def _bound(node: exp.Expr, context: Context, bind_query: BindQuery) -> BoundPlan:
    if isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier):
        context.require_only(
            node, "this", "alias", "window", "windowed", "joins", "match", "version"
        )
        return _named(node, context, bind_query)
    if isinstance(node, exp.Subquery) and isinstance(node.this, exp.Query):
        context.require_only(node, "this", "alias", "window", "windowed", "joins", "match")
        return with_own_window(node, context, lambda inner: bind_query(node.this, inner))
    raise context.error(
        node, "this is not supported in FROM: name a stream or table", UnsupportedError
    )


def named(item: Item) -> Plan:
    """The plan of an item, whose columns have the names of its alias."""
    plan = item.bound.plan
    if item.fields == plan.schema:
        return plan
    columns = tuple(ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema))
    return Project(plan, columns, tuple(f.name for f in item.fields))


def renamed(schema: Schema, columns: list[exp.Expr], context: Context) -> Schema:
    """The schema with the names of a column alias list."""
    if len(columns) != len(schema):
        raise context.error(columns[0], f"{len(columns)} column aliases for {len(schema)} columns")
    return tuple(Field(c.name, f.type) for c, f in zip(columns, schema, strict=True))


def _named(node: exp.Table, context: Context, bind_query: BindQuery) -> BoundPlan:
    name, catalog = node.name, context.catalog
    cte = context.ctes.get(name.lower())
    if cte is not None:
        inner = replace(cte.context, window=context.window, depth=context.depth)
        return with_own_window(node, inner, lambda ctx: bind_query(cte.node, ctx))
    if name in catalog.streams:
        return _stream(node, catalog.streams[name], context)
    if name in catalog.tables:
        _refuse_window(node, "table", context)
        table = catalog.tables[name]
        return BoundPlan(TableScan(table.name, table.schema, table.updates))
    for views in (catalog.views, catalog.queries):
        if name in views:
            return _view(node, views[name], context, bind_query)
    choices = [*catalog.names(), *(c.node.alias for c in context.ctes.values())]
    message = f"there is no stream, table, view or query '{name}'; {did_you_mean(name, choices)}"
    raise context.error(node, message)


def _view(node: exp.Table, select: Select, context: Context, bind_query: BindQuery) -> BoundPlan:
    if select.for_each is not None:
        raise context.error(
            node,
            f"'{node.name}' is one query for each row of '{select.for_each.table}', which other "
            "queries cannot read: write its SELECT here, with the table in FROM",
            UnsupportedError,
        )
    if node.name.lower() in context.reading:
        chain = " -> ".join((*context.reading, node.name))
        raise context.error(node, f"'{node.name}' reads itself: {chain}")

    def expand(window: Context) -> BoundPlan:
        reading = (*context.reading, node.name.lower())
        inner = Context(
            context.catalog,
            select.source,
            window=window.window,
            reading=reading,
            depth=context.depth,
            sizes=context.sizes,
        )
        bound = bind_query(select.ast, inner)
        return replace(bound, plan=unique_names(bound.plan))

    return with_own_window(node, context, expand)


def _stream(node: exp.Table, stream: StreamDef, context: Context) -> BoundPlan:
    own, default = node.args.get("window"), context.window
    written, place = own, context
    if own is None and default is not None:
        default.used = True
        written, place = default.node, default.context
    if written is None:
        scan = StreamScan(stream.name, Unbounded(explicit=False), stream.schema)
        return BoundPlan(scan, (OpenStream(stream.name, node, context),))
    if isinstance(written, (FixedWindow, SessionWindow)):
        return windowed_stream(node, written, stream, context, place)
    window = _window(written, stream, place)
    return BoundPlan(StreamScan(stream.name, window, stream.schema))


def _window(node: StreamWindow, stream: StreamDef, context: Context) -> Window:
    kind: str = node.args["kind"]
    if kind == "UNBOUNDED":
        return Unbounded(explicit=True)
    size: int = node.args["size"]
    if kind == "RANGE":
        return Range(size, _row_length(node, context))
    if not node.expressions:
        return Rows(size)
    columns = tuple(_partition_column(c, stream, context) for c in node.expressions)
    return PartitionRows(columns, tuple(stream.schema[c].name for c in columns), size)


def _row_length(node: StreamWindow, context: Context) -> RowLength | None:
    """The length of a window that is in the row of FOR EACH ROW OF; None: it is written."""
    written: LengthColumn | None = node.args.get("row_length")
    if written is None:
        return None
    column, unit, us = written
    if not names_row(column, context):
        raise context.error(
            column.args["table"],
            f"'{column.table}' is no row of FOR EACH: the length of a window is a duration such as "
            "10 SECONDS, or in CREATE QUERY ... FOR EACH ROW OF rules a column of it",
        )
    length = parameter(column, context)
    if not is_number(length.type):
        raise context.error(
            column.this,
            f"the length of a window is a number of {unit}S, and {length} is "
            f"{sql_type(length.type)}",
        )
    return RowLength(length, unit, us)


def _partition_column(node: exp.Expr, stream: StreamDef, context: Context) -> int:
    names = [f.name for f in stream.schema]
    for i, name in enumerate(names):
        if name.lower() == node.name.lower():
            return i
    raise _no_column(node, stream.name, names, context)


def _no_column(node: exp.Expr, stream: str, names: list[str], context: Context) -> SqlError:
    hint = did_you_mean(node.name, names)
    return context.error(node, f"there is no column '{node.name}' in '{stream}'; {hint}")


def _refuse_window(node: exp.Table, kind: str, context: Context) -> None:
    window = node.args.get("window")
    if window is not None:
        raise context.error(window, f"'{node.name}' is a {kind}: only streams have windows")
