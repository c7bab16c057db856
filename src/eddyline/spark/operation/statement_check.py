"""Statements for a running job, checked without any effect."""

from __future__ import annotations

from collections.abc import Callable, Collection

from eddyline.engine.query import Query
from eddyline.errors import CatalogError, SqlError, UnsupportedError
from eddyline.spark.operation.script_delta import ScriptDelta
from eddyline.spark.script import positioned
from eddyline.sql.parser import parse
from eddyline.sql.statements import AlterQuery, CreateQuery, Drop, ResetWatermark, Statement


def check_statements(
    text: str,
    script: ScriptDelta,
    dropped: Collection[str],
    require_fit: Callable[[Query], object],
) -> None:
    """Check the statements of a text, each by itself.

    Args:
        script: of the job; it is the same afterwards.
        dropped: names of queries that were dropped, in lower case.
        require_fit: raises an error if the job cannot run a query.

    Raises:
        SqlError: one is wrong. CatalogError: a name is or was taken, or missing; or a query does
            not fit the job. DataError: a sink is wrong.
    """
    for statement in parse(text):
        try:
            _check(statement, script, dropped, require_fit)
        except SqlError as e:
            raise positioned(e, statement, text) from None


def _check(
    statement: Statement,
    script: ScriptDelta,
    dropped: Collection[str],
    require_fit: Callable[[Query], object],
) -> None:
    match statement:
        case CreateQuery():
            require_new_name(statement.name, dropped)
            query = script.run(statement)
            try:
                require_fit(query)
            finally:
                script.drop(query.name)
        case Drop(kind="query"):
            script.require_unread(script.named(statement.name))
        case AlterQuery():
            script.alter(statement.name, statement.options)
        case ResetWatermark():
            pass
        case _:
            raise unsupported()


def require_new_name(name: str, dropped: Collection[str]) -> None:
    """Check that no query of the job had this name.

    Raises:
        CatalogError: one had.
    """
    if name.lower() in dropped:
        raise CatalogError(
            f"'{name}' is the name of a dropped query of this job, whose delivered rows "
            "can still be read; choose another name"
        )


def unsupported() -> UnsupportedError:
    """The error for statements that a running job does not accept."""
    return UnsupportedError(
        "a running job accepts CREATE QUERY, ALTER QUERY, DROP QUERY and ALTER STREAM ... "
        "RESET WATERMARK; add other statements to the session and start from a new checkpoint",
        line=1,
        column=1,
    )
