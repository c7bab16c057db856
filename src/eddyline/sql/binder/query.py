"""Plans of queries: SELECT, set operations, parentheses, WITH entries."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from eddyline.algebra.expressions import ColumnRef
from eddyline.algebra.plan import Project
from eddyline.errors import UnsupportedError
from eddyline.sql.binder.clauses import in_clauses, with_own_window
from eddyline.sql.binder.context import BoundPlan, Context
from eddyline.sql.binder.relations import renamed
from eddyline.sql.binder.select import bind_select
from eddyline.sql.binder.set_operations import bind_set_operation


def bind_query(node: exp.Expr, context: Context) -> BoundPlan:
    """A SELECT, a set operation, either in parentheses, or a WITH entry; with WITH and WINDOW."""
    return in_clauses(node, context, lambda inner: _bind_body(node, inner))


def _bind_body(node: exp.Expr, context: Context) -> BoundPlan:
    if isinstance(node, exp.Select):
        return bind_select(node, context.inside(node), bind_query)
    if isinstance(node, exp.SetOperation):
        return bind_set_operation(node, context.inside(node), bind_query)
    if isinstance(node, exp.CTE):
        return _bind_cte(node, context)
    if isinstance(node, exp.Subquery):
        context.require_only(node, "this", "with_", "window")
        return with_own_window(node, context, lambda inner: bind_query(node.this, inner))
    raise context.error(node, f"{node.key.upper()} is not supported: use SELECT", UnsupportedError)


def _bind_cte(cte: exp.CTE, context: Context) -> BoundPlan:
    """The body of a WITH entry, with the column names of ``WITH x (a, b)``."""
    bound = bind_query(cte.this, context)
    columns = cte.args["alias"].args.get("columns")
    if not columns:
        return bound
    schema = renamed(bound.plan.schema, columns, context)
    refs = tuple(ColumnRef(f.type, i, f.name) for i, f in enumerate(bound.plan.schema))
    return replace(bound, plan=Project(bound.plan, refs, tuple(f.name for f in schema)))
