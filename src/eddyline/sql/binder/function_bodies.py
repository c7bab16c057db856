"""Bodies of functions in SQL: expressions over the parameters."""

from __future__ import annotations

from eddyline.algebra.expressions import AggregateCall, ColumnRef, Expr, rewrite, walk
from eddyline.algebra.functions.coercion import implicit
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.scalars import Scalars
from eddyline.sql.binder.scope import Scope
from eddyline.sql.catalog import Catalog
from eddyline.sql.statements import CreateFunction
from eddyline.types import sql_type


def bind_body(statement: CreateFunction, catalog: Catalog) -> Expr:
    """The body over the parameters, as the type of the result.

    Raises:
        SqlError: a name or type is wrong, or a parameter is beside aggregates.
    """
    body, context = statement.body, Context(catalog, statement.source)
    assert body is not None, "the statement has a body of SQL"
    scope = Scope().joined_with("", statement.parameters)
    scalars = Scalars(scope, context)
    expr = scalars.bind(body)
    typed = implicit(expr, statement.result)
    if typed is None:
        wanted = sql_type(statement.result)
        message = f"the body of '{statement.name}' is {sql_type(expr.type)}, not {wanted}"
        raise context.error(body, f"{message}; write CAST(... AS {wanted})")
    if any(isinstance(e, AggregateCall) for e in walk(typed)):

        def outside(e: Expr) -> Expr | None:
            if isinstance(e, ColumnRef):
                message = f"parameter '{e.name}' is neither in an aggregate nor is it a constant"
                raise context.error(scalars.origins[e.index], message)
            return e if isinstance(e, AggregateCall) else None

        rewrite(typed, outside)
    return typed
