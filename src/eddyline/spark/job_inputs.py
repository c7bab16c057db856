"""The inputs of a job: for each stream and table a supplied DataFrame, or its declared source."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from eddyline.algebra.catalog import StreamDef
from eddyline.engine.ingest.table_changes import changes_of, is_live
from eddyline.errors import DataError
from eddyline.spark.formats.parquet import Reader
from eddyline.spark.history.options import History, declared_history, file_history
from eddyline.spark.script import QueryGroup, Script
from eddyline.spark.sources.sources import (
    change_source,
    declared_changes,
    declared_columns,
    history_rows,
    resolve_path,
    stream_source,
    table_source,
)
from eddyline.sql.definitions import SIDE_PREFIXES
from eddyline.types import arrow_schema


class JobInputs:
    """Rows of streams, changes of tables, and initial contents of tables.

    Args:
        base: directory of relative paths; None: the working directory.

    Attributes:
        period: read histories only, and of these the rows in [from, to), in us; None: read
            histories and then the live sources.
    """

    def __init__(self, spark: SparkSession, script: Script, base: Path | None) -> None:
        self._spark = spark
        self._script = script
        self.base = base
        self._frames: dict[str, DataFrame] = {}
        self._contents: dict[str, pa.Table] = {}
        self._histories: dict[str, DataFrame] = {}
        self.period: tuple[int, int] | None = None

    def set_frame(self, name: str, df: DataFrame) -> None:
        """Supply the rows of a stream, or the changes of a table, as a streaming DataFrame."""
        self._frames[name.lower()] = df

    def set_content(self, table: str, content: pa.Table) -> None:
        """Supply the initial content of a table."""
        self._contents[table.lower()] = content

    def set_history(self, name: str, df: DataFrame) -> None:
        """Supply the history of a stream as a static DataFrame."""
        self._histories[name.lower()] = df

    def history(self, name: str) -> History | None:
        """The history of a stream; with a period, that of every stream: without one of its own, its
        files. None for others, and for tables.

        Raises:
            DataError: an option is wrong; or there is a period, and nothing to read in it.
        """
        stream = self._script.streams.get(name)
        if stream is None:
            return None
        options = resolve_path(stream.options, self.base)
        found = declared_history(options)
        if name.lower() in self._histories:
            found = found or History(None)
        elif found is not None and found.options is None:
            raise DataError(f"stream '{name}': its history has no rows: set the option 'history'")
        if self.period is None:
            return found
        if found is None and name.lower() not in self._frames:
            found = file_history(options)
        if found is None:
            raise DataError(
                f"stream '{name}' has no history, and its source is not one of files: declare it "
                "WITH (history = 'parquet', history_path = '...')"
            )
        since, to = self.period
        until = to if found.until_us is None else min(to, found.until_us)
        return replace(found, from_us=since, until_us=until)

    def history_rows(self, name: str) -> DataFrame:
        """The rows of a stream's history, as a static DataFrame.

        Raises:
            DataError: they, or a column, cannot be read.
        """
        stream = self._script.streams[name]
        supplied = self._histories.get(name.lower())
        if supplied is not None:
            return declared_columns(supplied, stream)
        history = self.history(name)
        assert history is not None, "the stream has a history"
        return history_rows(self._spark, history.source(stream))

    def names(self, group: QueryGroup) -> tuple[str, ...]:
        """The inputs of a group: its streams, and its changing tables, without those of which only
        the initial content was supplied.
        """
        constant = self._contents.keys() - self._frames.keys()
        return (*group.streams, *(t for t in group.live if t.lower() not in constant))

    def definition(self, name: str) -> StreamDef:
        """The definition of a stream, or of a table's changes as a stream. With a period, without
        sinks of side outputs.
        """
        if name in self._script.streams:
            stream = self._script.streams[name]
            if self.period is None:
                return stream
            own = stream.options.items()
            return replace(
                stream, options={k: v for k, v in own if not k.startswith(SIDE_PREFIXES)}
            )
        return changes_of(self._script.tables[name])

    def source(self, name: str) -> tuple[DataFrame, Reader | None]:
        """The rows of a stream, or the changes of a table, and their reader (see ``sources``).

        Raises:
            DataError: the source, or a column of it, is missing or does not fit.
        """
        supplied = self._frames.get(name.lower())
        if name in self._script.streams:
            stream = self._script.streams[name]
            if supplied is not None:
                return declared_columns(supplied, stream), None
            options = resolve_path(stream.options, self.base)
            return stream_source(self._spark, replace(stream, options=options))
        table = self._script.tables[name]
        if supplied is not None:
            changes = declared_changes(table, supplied.columns)
            return declared_columns(supplied, changes, "table"), None
        options = resolve_path(table.options, self.base)
        return change_source(self._spark, replace(table, options=options))

    def content(self, name: str) -> pa.Table:
        """The initial content of a table; empty for a changing table without a supplied one.

        Raises:
            DataError: it cannot be read.
        """
        supplied = self._contents.get(name.lower())
        if supplied is not None:
            return supplied
        table = self._script.tables[name]
        if is_live(table):
            return arrow_schema(table.schema).empty_table()
        options = resolve_path(table.options, self.base)
        return table_source(self._spark, replace(table, options=options))
