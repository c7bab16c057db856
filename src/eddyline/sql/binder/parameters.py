"""``FOR EACH ROW OF table``: the columns of the table's row as parameters of the SELECT."""

from __future__ import annotations

from sqlglot import exp

from eddyline.algebra.expressions import Parameter
from eddyline.errors import did_you_mean
from eddyline.sql.binder.context import Context, ParameterRow
from eddyline.sql.catalog import Catalog
from eddyline.sql.statements import Select


def parameter_row(select: Select, catalog: Catalog) -> ParameterRow | None:
    """The row for which a SELECT runs; None without FOR EACH.

    Raises:
        SqlError: FOR EACH does not name a table.
    """
    for_each = select.for_each
    if for_each is None:
        return None
    name = for_each.table
    if name in catalog.tables:
        return ParameterRow(for_each.name, catalog.tables[name])
    if name in catalog.names():
        message = f"'{name}' is not a table: FOR EACH ROW OF needs a table"
    else:
        message = f"there is no table '{name}'; {did_you_mean(name, catalog.tables)}"
    raise select.source.error(for_each.at, message)


def names_row(node: exp.Column, context: Context) -> bool:
    """Whether a qualified name (or ``name.*``) is one of the row's columns."""
    return context.row is not None and node.table.lower() == context.row.name.lower()


def parameter(node: exp.Column, context: Context) -> Parameter:
    """The parameter for a column of the row.

    Raises:
        SqlError: the table has no such column.
    """
    context.require_only(node, "this", "table")
    named = parameters(context)
    for name, found in named:
        if name.lower() == node.name.lower():
            return found
    hint = did_you_mean(node.name, [name for name, _ in named])
    message = f"there is no column '{node.name}' in '{node.table}', the row of FOR EACH; {hint}"
    raise context.error(node.this, message)


def parameters(context: Context) -> list[tuple[str, Parameter]]:
    """All columns of the row as parameters, with their names; empty without FOR EACH."""
    row = context.row
    if row is None:
        return []
    return [
        (f.name, Parameter(f.type, i, f"{row.name}.{f.name}"))
        for i, f in enumerate(row.table.schema)
    ]
