"""``LATERAL (SELECT MAX(x) AS m FROM b WHERE b.k = a.k)``: columns of a sub-query with one row."""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from eddyline.algebra.expressions import ColumnRef
from eddyline.algebra.plan import Plan, Project
from eddyline.errors import UnsupportedError
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.grouping import is_grouped
from eddyline.sql.binder.relations import renamed
from eddyline.sql.binder.scope import Scope
from eddyline.sql.binder.sub_query_joins import Reading
from eddyline.types import Field, Schema


def is_lateral(node: exp.Expr) -> bool:
    """Whether a FROM item can read the items before it."""
    return bool(node.args.get("lateral"))


def with_lateral(
    join: exp.Join, plan: Plan, reading: Reading, scope: Scope, context: Context
) -> tuple[Plan, Schema]:
    """The rows of FROM so far with the columns of a LATERAL sub-query behind, and these columns.

    Args:
        scope: of the rows.

    Raises:
        SqlError, UnsupportedError: the sub-query may have several rows, or none; or as in
            expressions.
    """
    node = join.this
    context.require_only(node, "this", "alias", "lateral", "joins")
    query = node.this
    while isinstance(query, exp.Subquery) and query.is_wrapper:
        query = query.this
    grouped = isinstance(query, exp.Select) and is_grouped(query, context.catalog)
    if not grouped or query.args.get("group") or query.args.get("having"):
        raise context.error(
            node,
            "LATERAL takes a SELECT of aggregates without GROUP BY and HAVING, which has one row "
            "for each row in front of it: write a JOIN for others, ASOF JOIN for the latest row",
            UnsupportedError,
        )
    binder = context.sub_queries
    assert binder is not None, "of a SELECT"
    row = binder.row(query, replace(scope, named=True), context)
    wide, values = reading.joined(plan, tuple(value for _, value in row))
    fields: Schema = tuple(Field(name, value.type) for name, value in row)
    alias = node.args.get("alias")
    columns = alias.args.get("columns") if isinstance(alias, exp.TableAlias) else None
    if columns:
        fields = renamed(fields, columns, context)
    own = tuple(ColumnRef(f.type, i, f.name) for i, f in enumerate(plan.schema))
    names = (*(f.name for f in plan.schema), *(f.name for f in fields))
    return Project(wide, (*own, *values), names), fields
