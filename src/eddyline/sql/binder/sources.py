"""The FROM clause of a SELECT, with the windows that the clock in WHERE gives to its streams."""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot import exp

from eddyline.sql.binder.context import Context
from eddyline.sql.binder.from_clause import FromClause, bind_from
from eddyline.sql.binder.relations import BindQuery
from eddyline.sql.binder.temporal_filters import TemporalFilters, has_clock


def bind_source(
    select: exp.Select, context: Context, bind_query: BindQuery, others: tuple[str, ...] = ()
) -> FromClause:
    """The FROM clause, without the conditions of WHERE.

    Args:
        others: see ``bind_from``.

    Raises:
        SqlError, UnsupportedError: a part is wrong.
    """
    source = bind_from(select, context, bind_query, others)
    clocked = [t for t in _where(select) if has_clock(t)]
    if clocked:
        TemporalFilters(source, context).apply(clocked)
    return source


def plain_terms(select: exp.Select) -> list[exp.Expr]:
    """The conjuncts of WHERE that do not read the clock."""
    return [t for t in _where(select) if not has_clock(t)]


def _where(select: exp.Select) -> Iterable[exp.Expr]:
    where = select.args.get("where")
    return () if where is None else _terms(where.this)


def _terms(node: exp.Expr) -> Iterable[exp.Expr]:
    inner = node.unnest()
    if isinstance(inner, exp.And):
        yield from _terms(inner.this)
        yield from _terms(inner.expression)
    else:
        yield node
