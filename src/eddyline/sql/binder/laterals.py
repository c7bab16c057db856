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


def unwrapped(node: exp.Expr) -> exp.Select:
    """The SELECT of a LATERAL item."""
    query = node.this
    while isinstance(query, exp.Subquery) and query.is_wrapper:
        query = query.this
    assert isinstance(query, exp.Select), "checked before"
    return query


def has_one_row(node: exp.Expr, context: Context) -> bool:
    """Whether a LATERAL sub-query has one row for each row in front of it: aggregates of all.

    Raises:
        UnsupportedError: it is no SELECT, or HAVING may leave its row out.
    """
    query = node.this
    while isinstance(query, exp.Subquery) and query.is_wrapper:
        query = query.this
    grouped = isinstance(query, exp.Select) and is_grouped(query, context.catalog)
    alone = grouped and not query.args.get("group")
    if not isinstance(query, exp.Select) or (alone and query.args.get("having")):
        what = "HAVING without GROUP BY" if isinstance(query, exp.Select) else query.key.upper()
        message = f"LATERAL with {what} is not supported: write a SELECT, and its conditions in "
        raise context.error(node, f"{message}WHERE of the whole", UnsupportedError)
    return alone


def with_lateral(
    join: exp.Join, plan: Plan, reading: Reading, scope: Scope, context: Context
) -> tuple[Plan, Schema]:
    """The rows of FROM so far with the columns of a LATERAL sub-query behind, and these columns.

    Args:
        scope: of the rows.

    Raises:
        SqlError, UnsupportedError: as in expressions.
    """
    node = join.this
    context.require_only(node, "this", "alias", "lateral", "joins")
    query = unwrapped(node)
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
