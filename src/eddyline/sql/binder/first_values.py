"""``(SELECT x FROM b WHERE .. ORDER BY y DESC LIMIT 1)`` as the aggregate of which it is the value.

::

    SELECT x + 1 FROM b ORDER BY y DESC LIMIT 1     SELECT first(x + 1 ORDER BY y DESC) FROM b
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from eddyline.sql.binder.context import Context
from eddyline.sql.binder.grouping import is_grouped
from eddyline.sql.binder.select_list import unaliased

#: Clauses of a SELECT whose first row is the first of what FROM and WHERE give.
_PLAIN = ("distinct", "group", "having", "qualify", "offset", "windows", "with_")


def with_first_values(query: exp.Expr, context: Context) -> exp.Expr:
    """The query; one of the first row in an order as one of aggregates, of which WHERE can read the
    columns of the enclosing SELECT. Of rows that tie it is the smallest value.
    """
    if not isinstance(query, exp.Select) or not _has_one_row(query):
        return query
    order = query.args.get("order")
    if order is None or any(query.args.get(c) for c in _PLAIN):
        return query
    if is_grouped(query, context.catalog) or any(e.is_star for e in query.expressions):
        return query
    found = query.copy()
    listed = found.expressions
    ordered = [_ordered(o, listed) for o in found.args["order"].expressions]
    for entry in listed:
        value = unaliased(entry)
        name = entry.alias_or_name
        within = exp.Order(this=value.copy(), expressions=[o.copy() for o in ordered])
        call = exp.Anonymous(this="first", expressions=[within])
        call.meta.update(value.meta)
        entry.replace(exp.alias_(call, name) if name else call)
    for clause in ("order", "limit"):
        found.set(clause, None)
    return found


def _has_one_row(query: exp.Select) -> bool:
    limit = query.args.get("limit")
    if isinstance(limit, exp.Fetch):
        count, options = limit.args.get("count"), limit.args.get("limit_options")
        if options is not None and (options.args.get("with_ties") or options.args.get("percent")):
            return False
        return count is None or count.name == "1"
    return isinstance(limit, exp.Limit) and limit.expression.name == "1"


def _ordered(node: exp.Expr, listed: Sequence[exp.Expr]) -> exp.Expr:
    """A value of ORDER BY, in which a number or an alias stands for an entry of the select list."""
    value = node.this
    if isinstance(value, exp.Literal) and not value.is_string and value.name.isdigit():
        place = int(value.name) - 1
        if place in range(len(listed)):
            value = unaliased(listed[place])
    elif isinstance(value, exp.Column) and not value.table:
        named = (e for e in listed if isinstance(e, exp.Alias))
        value = next((e.this for e in named if e.alias.lower() == value.name.lower()), value)
    found = node.copy()
    found.set("this", value.copy())
    return found
