"""Statements that a job executes for what a program asks of it."""

from __future__ import annotations

from typing import Literal

from eddyline.engine.query import Query
from eddyline.spark.sinks.secrets import public_options
from eddyline.sql.naming import quoted, quoted_text


def drop_statement(name: str, kind: Literal["QUERY", "VIEW"] = "QUERY") -> str:
    """The statement that drops a query, or a view."""
    return f"DROP {kind} {quoted(name)}"


def reset_statement(stream: str) -> str:
    """The statement that resets the watermark of a stream's group."""
    return f"ALTER STREAM {quoted(stream)} RESET WATERMARK"


def create_statement(query: Query) -> str:
    """The CREATE QUERY statement of a query that was added by its SELECT and options."""
    create = f"CREATE QUERY {quoted(query.name)} AS {query.sql}"
    if not query.options:
        return create
    given = public_options(query.options).items()
    options = (f"{quoted(k)} = {quoted_text(v)}" for k, v in given)
    return f"{create} WITH ({', '.join(options)})"
