"""``ON OVERLOAD SHED BY``: by stream, the value by which rows are dropped, lowest first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pyarrow.types as pt
from sqlglot import exp

from eddyline.algebra.catalog import StreamDef
from eddyline.algebra.expressions import Expr, columns_of, shift_columns, without_names
from eddyline.errors import did_you_mean
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.scalars import Scalars
from eddyline.sql.binder.scope import Scope
from eddyline.sql.catalog import Catalog
from eddyline.sql.nodes import all_nodes
from eddyline.sql.statements import Select
from eddyline.types import sql_type

_CLAUSE = "SHED BY"


def bind_utilities(
    by: Sequence[exp.Expr], select: Select, streams: Iterable[str], catalog: Catalog
) -> dict[str, Expr]:
    """By stream, the expression over its columns by which its rows are ranked.

    Args:
        by: of a statement, see ``CreateQuery``. streams: that its query reads.

    Raises:
        SqlError: an expression is wrong, or reads no stream or several, or two read the same one.
    """
    known = [catalog.streams[name] for name in sorted(streams)]
    found: dict[str, Expr] = {}
    for node in by:
        stream, utility = _bound(
            node, known, _aliases(select, known), Context(Catalog(), select.source)
        )
        if stream in found:
            message = f"the rows of {stream} are ranked twice: write one expression for a stream"
            raise select.source.error(node, message)
        found[stream] = utility
    return found


def _bound(
    node: exp.Expr, streams: Sequence[StreamDef], aliases: Mapping[str, str], context: Context
) -> tuple[str, Expr]:
    scope = Scope()
    for stream in streams:
        scope = scope.joined_with(stream.name, stream.schema)
    for column in (n for n in all_nodes(node) if isinstance(n, exp.Column)):
        qualifier = column.parts[0]
        if len(column.parts) == 1 or qualifier.name.lower() not in aliases:
            continue
        if any(qualifier.name.lower() == s.name.lower() for s in streams):
            message = f"'{qualifier.name}' is a stream, and the name of another one in FROM"
            raise context.error(qualifier, f"{message}: give that one another name")
        qualifier.set("this", aliases[qualifier.name.lower()])
    expr = Scalars(scope, context, clause=_CLAUSE).bind(node)
    read = columns_of(expr)
    owners = [
        r for r in scope.relations if any(r.offset <= i < r.offset + len(r.fields) for i in read)
    ]
    if len(owners) != 1:
        names = did_you_mean("", [s.name for s in streams])
        what = (
            "columns of several streams: write one for each, with commas"
            if owners
            else (f"no column of a stream that the query reads; {names}")
        )
        raise context.error(node, f"{_CLAUSE} ranks the rows of one stream, and this has {what}")
    if not _has_order(expr):
        raise context.error(
            node,
            f"{_CLAUSE} needs a number, BOOLEAN, DATE or TIMESTAMP, not {sql_type(expr.type)}",
        )
    return owners[0].name, shift_columns(expr, -owners[0].offset)


def _has_order(expr: Expr) -> bool:
    kinds = pt.is_integer, pt.is_floating, pt.is_decimal, pt.is_boolean, pt.is_date, pt.is_timestamp
    return any(is_kind(expr.type) for is_kind in kinds)


def _aliases(select: Select, streams: Sequence[StreamDef]) -> dict[str, str]:
    """Names of streams by lower-case alias in a SELECT."""
    names = {s.name.lower(): s.name for s in streams}
    tables = (n for n in all_nodes(select.ast) if isinstance(n, exp.Table))
    found = {
        t.alias.lower(): names[t.name.lower()]
        for t in tables
        if t.alias and t.name.lower() in names
    }
    return {alias: name for alias, name in found.items() if alias != name.lower()}


def alike(ours: Expr | None, theirs: Expr | None) -> bool:
    """Whether two queries rank the rows of a stream alike; None: they do not rank them."""
    if ours is None or theirs is None:
        return ours is theirs
    return without_names(ours) == without_names(theirs)


def ranking(utility: Expr | None) -> str:
    """In words, which rows are dropped."""
    return "at random" if utility is None else f"BY {utility}"


def require_no_estimates(select: Select, functions: Iterable[str]) -> None:
    """Check that a query with SHED BY does not estimate what all rows would give.

    Args:
        functions: lower-case names of those that it may call, also in its views.

    Raises:
        SqlError: it does.
    """
    estimates = sorted(f for f in functions if f.startswith("scaled_"))
    if not estimates:
        return
    called = [
        n
        for n in all_nodes(select.ast)
        if isinstance(n, exp.Anonymous) and n.name.lower() in estimates
    ]
    message = (
        f"{estimates[0]} takes the kept rows for a sample of all, and SHED BY keeps those of the "
        "highest values: leave out BY, or the estimate"
    )
    raise select.source.error(called[0] if called else select.ast, message) from None
