"""CREATE statements for streams and tables that are supplied as DataFrames."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Final

from pyspark.sql import DataFrame

from eddyline.algebra.catalog import DeclaredSizes
from eddyline.algebra.plan import Updates
from eddyline.engine.ingest.sampled import as_options
from eddyline.engine.ingest.table_changes import INSTANT, OPERATION
from eddyline.errors import DataError
from eddyline.spark.formats.format_options import HISTORY
from eddyline.spark.sources.sources import arrow_fields
from eddyline.sql.durations import parse_duration
from eddyline.sql.naming import quoted, quoted_text
from eddyline.types import TIMESTAMP, Schema, sql_type

_CHANGE_COLUMNS: Final = (INSTANT.name, OPERATION.name)


def create_stream(
    name: str,
    df: DataFrame,
    timestamp: str,
    clauses: Mapping[str, str | None],
    options: Mapping[str, str],
    known: DeclaredSizes,
) -> str:
    """The CREATE STREAM of a streaming DataFrame.

    Args:
        clauses: lengths of time by the words in front of them (LATENESS ...); None: left out.
        options: those of WITH besides sizes.

    Raises:
        DataError: the DataFrame is static, or a column has a type that streams cannot have.
    """
    what = f"stream '{name}'"
    if not df.isStreaming:
        raise DataError(f"{what}: the DataFrame is static; make it with spark.readStream")
    fields = arrow_fields(what, df)
    if "ts_unit" in options:
        fields = tuple(
            replace(f, type=TIMESTAMP) if f.name.lower() == timestamp.lower() else f for f in fields
        )
    more = [f"{word} = {quoted_text(value)}" for word, value in options.items()]
    times = "".join(
        f" {words} {parse_duration(length)} MICROSECONDS"
        for words, length in clauses.items()
        if length is not None
    )
    return (
        f"CREATE STREAM {quoted(name)} ({_columns(fields)}) TIMESTAMP BY {quoted(timestamp)}"
        f"{times}{_with(known, *more)}"
    )


def history_texts(
    name: str,
    history: DataFrame | Mapping[str, str] | None,
    until: str | datetime | None,
    batch_rows: int | None,
) -> dict[str, str]:
    """The options of a stream's history as those of WITH.

    Raises:
        DataError: the history is a stream, or there is none for the other options.
    """
    if history is None:
        if until is not None or batch_rows is not None:
            raise DataError(f"stream '{name}': history_until and history_batch_rows need history")
        return {}
    texts = {} if isinstance(history, DataFrame) else dict(history)
    if isinstance(history, DataFrame) and history.isStreaming:
        raise DataError(f"stream '{name}': its history is a stream; make it with spark.read")
    options = {f"{HISTORY}_{k}" if k != "source" else HISTORY: v for k, v in texts.items()}
    if until is not None:
        options["history_until"] = until if isinstance(until, str) else until.isoformat()
    if batch_rows is not None:
        options["history_batch_rows"] = str(batch_rows)
    return {quoted(option): value for option, value in options.items()}


def create_table(
    name: str, df: DataFrame, updates: Updates, changes: DataFrame | None, known: DeclaredSizes
) -> str:
    """The CREATE TABLE of a DataFrame with a table's content, or of a streaming one with changes.

    Args:
        changes: the changes of a table whose initial content is ``df``.

    Raises:
        DataError: a DataFrame is streaming where it must be static or vice versa, or a column has a
            type that tables cannot have.
    """
    what = f"table '{name}'"
    if updates == "static" and (df.isStreaming or changes is not None):
        raise DataError(
            f"{what}: the DataFrame is a stream; declare it with stream(), or set "
            "updates='retroactive' or 'non-retroactive' for the changes of a table"
        )
    if changes is not None and (df.isStreaming or not changes.isStreaming):
        raise DataError(f"{what}: df (the initial content) must be static, changes streaming")
    fields = tuple(
        f for f in arrow_fields(what, df) if not (df.isStreaming and f.name in _CHANGE_COLUMNS)
    )
    options = _with(known, f"updates = '{updates}'")
    return f"CREATE TABLE {quoted(name)} ({_columns(fields)}){options}"


def _columns(fields: Schema) -> str:
    return ", ".join(f"{quoted(f.name)} {sql_type(f.type)}" for f in fields)


def _with(known: DeclaredSizes, *options: str) -> str:
    """A WITH clause of options and known statistics; "" if there are none."""
    declared = [*options, *filter(None, [as_options(known, digits=15)])]
    return f" WITH ({', '.join(declared)})" if declared else ""
