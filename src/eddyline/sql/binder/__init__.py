"""The binder: typed plans from syntax trees and the catalog (``bind()``, ``check_view()``)."""

from __future__ import annotations

from dataclasses import replace

from eddyline.algebra.catalog import BoundQuery, Emit
from eddyline.errors import SqlError, UnsupportedError
from eddyline.sql.binder.context import Context, DefaultWindow, require_windows
from eddyline.sql.binder.final import NoWindowEnd, final_plan, is_final_by_default
from eddyline.sql.binder.output import checked_output, unique_names
from eddyline.sql.binder.parameters import parameter_row
from eddyline.sql.binder.query import bind_query
from eddyline.sql.binder.ranks import require_limits
from eddyline.sql.binder.session_groups import (
    NoSessionGroups,
    has_sessions,
    with_session_groups,
)
from eddyline.sql.binder.session_rows import with_session_rows
from eddyline.sql.catalog import Catalog
from eddyline.sql.idioms import with_advice
from eddyline.sql.stack import with_stack
from eddyline.sql.statements import Select
from eddyline.sql.window_syntax import StreamWindow
from eddyline.types import Schema

__all__ = ["bind", "check_view", "view_schema"]


def bind(select: Select, emit: Emit, catalog: Catalog) -> BoundQuery:
    """The typed plan of a SELECT, not yet optimized.

    Output columns have unique names: of equal ones the second is named ``x_1`` and so on.

    With FOR EACH ROW OF, columns of the row are Parameters of the plan;
    :func:`eddyline.algebra.parameters.substitute` replaces them by the values of a row.

    Raises:
        SqlError: a name or type is wrong; with line, column and valid choices.
        UnsupportedError: the text is valid SQL that this engine does not run.
    """
    try:
        return with_stack(lambda: _bind(select, emit, catalog))
    except SqlError as e:
        raise with_advice(e, select.source.text) from None


def _bind(select: Select, emit: Emit, catalog: Catalog) -> BoundQuery:
    row = parameter_row(select, catalog)
    context = Context(catalog, select.source, row=row)
    bound = bind_query(select.ast, context)
    if row is not None and row.table.updates == "retroactive":
        require_windows(bound.open_streams, "FOR EACH ROW OF a retroactive table")
    if not bound.changes:
        raise context.error(
            select.ast,
            "a query over static tables only is not supported: a standing query reads a stream "
            "or a table that changes",
            UnsupportedError,
        )
    require_limits(bound)
    plan = checked_output(bound.plan, select, context)
    sessions = has_sessions(plan)
    if sessions and emit.stated and emit.mode != "final":
        plan = context.checked(with_session_rows(plan), select.ast)
    elif sessions or emit.mode == "final" or (not emit.stated and is_final_by_default(plan)):
        try:
            final = with_session_groups(plan) if sessions else final_plan(plan)
        except (NoWindowEnd, NoSessionGroups) as e:
            raise context.error(select.ast, str(e), UnsupportedError) from None
        plan, emit = context.checked(final, select.ast), Emit("final")
    return BoundQuery(plan, emit, row.table.name if row else None)


def check_view(select: Select, catalog: Catalog) -> None:
    """Check the body of a view when it is created: names, types, and unsupported syntax.

    Unlike a query, a view may read tables only, and may leave windows to its readers.

    Raises:
        SqlError, UnsupportedError: as :func:`bind`.
    """
    view_schema(select, catalog)


def view_schema(select: Select, catalog: Catalog) -> Schema:
    """The columns of a view; raises as :func:`check_view`."""
    context = Context(catalog, select.source)
    unbounded = DefaultWindow(StreamWindow(kind="UNBOUNDED"), context)
    inner = replace(context, window=unbounded)
    return unique_names(with_stack(lambda: bind_query(select.ast, inner)).plan).schema
