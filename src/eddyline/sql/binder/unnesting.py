"""Lists in FROM, whose elements become rows."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.types as pt

from eddyline.algebra import functions
from eddyline.algebra.expressions import Expr
from eddyline.algebra.plan import Plan, Unnest
from eddyline.errors import SqlError
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.scalars import Scalars
from eddyline.sql.binder.scope import Scope
from eddyline.sql.unnest_syntax import TABLE_FUNCTION, Unnesting
from eddyline.types import Field, Schema, element_type, is_list, sql_type


def bind_list(node: Unnesting, scope: Scope, context: Context) -> Expr:
    """The list, over the items in front of it.

    Raises:
        SqlError: it is neither a list nor a map.
    """
    if node.args["function"] == "VALUES":
        return _rows(node, scope, context)
    listed = Scalars(scope, context, clause=node.args["function"]).bind(node.this)
    if not is_list(listed.type):
        function = node.args["function"]
        name = "LATERAL" if function == TABLE_FUNCTION else function
        message = f"{name} needs an ARRAY or a MAP, not {sql_type(listed.type)}"
        raise context.error(node.this, message)
    return listed


def _rows(node: Unnesting, scope: Scope, context: Context) -> Expr:
    """The list of the rows of VALUES, structures whose fields are col1, col2, ..."""
    rows = node.this.expressions
    width = len(rows[0].expressions)
    wrong = next((r for r in rows if len(r.expressions) != width), None)
    if wrong is not None:
        message = f"this row of VALUES has {len(wrong.expressions)} columns, the first has {width}"
        raise context.error(wrong, message)
    scalars = Scalars(scope, context, clause="VALUES")
    try:
        columns = [
            functions.unify(tuple(scalars.bind(r.expressions[i]) for r in rows))
            for i in range(width)
        ]
    except SqlError as e:
        raise context.placed(e, node) from None
    names = [functions.literal(f"col{i + 1}", pa.string()) for i in range(width)]
    made = (
        tuple(part for pair in zip(names, row, strict=True) for part in pair)
        for row in zip(*columns, strict=True)
    )
    return functions.resolve("array", tuple(functions.resolve("named_struct", m) for m in made))


def unnested(node: Unnesting, plan: Plan, listed: Expr, outer: bool, context: Context) -> Unnest:
    """The rows of a plan, one per element of the list, which is over the plan's columns."""
    element = element_type(listed.type)
    numbered = bool(node.args.get("numbered"))
    alias = node.args.get("alias")
    given = [c.name for c in alias.args.get("columns") or ()] if alias is not None else []
    fields = _fields(node, listed.type, element, len(given) - numbered)
    names = [f.name for f in fields] if fields else [node.alias or "col"]
    names += ["ordinality"] * numbered
    if given and len(given) != len(names):
        raise context.error(
            alias or node,
            f"{len(given)} column aliases for {len(names)} columns: {', '.join(names)}",
        )
    columns = None if fields is None else tuple(f.name for f in fields)
    return Unnest(plan, listed, columns, tuple(given or names), outer, numbered)


def new_columns(plan: Unnest) -> Schema:
    """The columns that the elements have."""
    return tuple(Field(f.name, f.type) for f in plan.schema[len(plan.input.schema) :])


def _fields(
    node: Unnesting, type_: pa.DataType, element: pa.DataType, aliases: int
) -> list[pa.Field] | None:
    """The fields of elements, if they are the columns: key and value of maps, and of structures
    unless one name is given for them.
    """
    if pt.is_map(type_) or node.args["function"] == "VALUES":
        return list(element)
    explodes = node.args["function"].startswith("EXPLODE")
    if not pt.is_struct(element) or explodes or aliases == 1 < element.num_fields:
        return None
    return list(element)
