"""The FROM clause of a SELECT, with the windows that the clock in WHERE gives to its streams."""

from __future__ import annotations

from sqlglot import exp

from eddyline.sql.binder.clauses import written_terms
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
    clocked = [t for t in written_terms(select) if has_clock(t)]
    if clocked:
        TemporalFilters(source, context).apply(clocked)
    return source


def plain_terms(select: exp.Select) -> list[exp.Expr]:
    """The conjuncts of WHERE that do not read the clock."""
    return [t for t in written_terms(select) if not has_clock(t)]
