"""Names to columns, syntax to typed plans: ``bind()``."""

from __future__ import annotations

from eddyline.algebra.catalog import BoundQuery, Emit
from eddyline.errors import UnsupportedError
from eddyline.sql.binder.context import Context
from eddyline.sql.binder.output import checked_output
from eddyline.sql.binder.query import bind_query
from eddyline.sql.catalog import Catalog
from eddyline.sql.statements import Select

__all__ = ["bind"]


def bind(select: Select, emit: Emit, catalog: Catalog) -> BoundQuery:
    """The typed plan of a SELECT, not yet optimized.

    Output columns have unique names: of equal ones the second is called ``x_1`` and so on.

    Raises:
        SqlError: a name or type is wrong; with line, column and valid choices.
        UnsupportedError: something is valid SQL that this engine does not run.
    """
    context = Context(catalog, select.source)
    bound = bind_query(select.ast, context)
    if not bound.reads_stream:
        raise context.error(
            select.ast,
            "a query over tables alone is not supported: a standing query reads a stream",
            UnsupportedError,
        )
    return BoundQuery(checked_output(bound.plan, select, context), emit)
