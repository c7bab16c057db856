"""The sinks of a job, made from the options of its queries and streams: who has one in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from eddyline.engine.execution.bad_rows import BAD_ROWS
from eddyline.engine.query import Query
from eddyline.errors import DataError, did_you_mean
from eddyline.spark import files
from eddyline.spark.format_options import FILE_FORMATS, SINKS
from eddyline.spark.formats import OF_SINKS, check_sink, sink_format
from eddyline.spark.output_routes import PREVIEW_ROWS, route_of
from eddyline.spark.printing import print_more, print_rows
from eddyline.spark.root_cause import cause
from eddyline.spark.sinks import (
    OF_QUERIES,
    FileSink,
    FormatSink,
    MemorySink,
    Printer,
    PrintSink,
    Sink,
    SparkSink,
    Target,
)
from eddyline.spark.sources import resolve_path

#: What leaves a shard together: kind and name of fat rows.
Key = tuple[str, str]


class SinkBinding(NamedTuple):
    """A query or side output, how its rows come, and where they go."""

    target: Target
    key: Key
    sink: Sink


class SinkFactory:
    """The sinks of a job. Queries with equal sinks and equal columns have one together.

    Whether it is shared shows in what is written, so it is settled when the job starts: by how many
    have it then, or by the option ``shared``.

    Args:
        base: directory from which relative paths count. job: names the job, for Delta.
        memory: has the rows of the sink ``memory``, also those of earlier runs of the session.

    Attributes:
        by_key: where goes what leaves a shard.
    """

    def __init__(
        self,
        spark: SparkSession,
        base: Path | None,
        printer: Printer,
        job: str,
        memory: MemorySink | None = None,
    ) -> None:
        self.by_key: dict[Key, Sink] = {}
        self._spark = spark
        self._base = base
        self._job = job
        self._printer = printer
        self._print = self._print_sink(None)
        self._memory = MemorySink() if memory is None else memory
        self._by_path: dict[str, FileSink] = {}
        self._formats = {"print", "memory", *FILE_FORMATS}  # which need not be asked for
        self._opened: dict[str, SinkBinding] = {}  # by label in lower case

    def open_first(self, queries: Iterable[Query]) -> None:
        """Open the sinks of the queries that a job starts with.

        Raises:
            DataError: an option is missing or wrong, or queries that differ in columns or format
                write files to one path.
        """
        for query in queries:
            sink = self._open(query)
            if isinstance(sink, FileSink | FormatSink):
                sink.shared |= sink.owner.name != query.name or _says_shared(query)

    def open(self, query: Query) -> None:
        """Open the sink of a query that comes later.

        Raises:
            DataError: also if it is another query's whose rows do not say whose they are.
        """
        sink = self._open(query)
        if not isinstance(sink, FileSink | FormatSink) or sink.shared:
            return
        if sink.owner.name == query.name:
            sink.shared = _says_shared(query)
        elif sink.format == "noop":
            sink.shared = True
        else:
            raise DataError(
                f"'{query.name}': its sink is that of query '{sink.owner.name}', whose rows do not "
                "say whose they are; choose another path, or start the job with both queries, or "
                "with the option shared = 'true'"
            )

    def open_side(self, target: Target, options: Mapping[str, str]) -> None:
        """Open the sink of a side output.

        Raises:
            DataError: an option is missing or wrong, or the path is another's.
        """
        self._check(target, options)
        match sink_format(options):
            case "print":
                sink: Sink = self._print_sink(int(options.get("rows", PREVIEW_ROWS)))
            case "memory":
                sink = self._memory
            case _:
                sink = self._spark_sink(target, options)
        self._put((target.kind, target.name), target, sink)

    def open_bad_rows(self, path: str) -> None:
        """Open the sink of the rows that queries cannot take: one for all of them.

        Args:
            path: a directory that is no other sink's.
        """
        target = Target("bad", OF_QUERIES, BAD_ROWS)
        sink = FileSink(target, "parquet", {}, path, shared=True)
        self.by_key["bad", OF_QUERIES] = sink

    def find(self, label: str) -> SinkBinding | None:
        """A query or side output with its sink; None if there is none of this name."""
        found = self._opened.get(label.lower())
        kind, colon, name = label.partition(":")
        query = self._opened.get(name.lower())
        if found is None and kind == "bad" and colon and query is not None:
            key = ("bad", OF_QUERIES)
            return SinkBinding(Target("bad", query.target.name, BAD_ROWS), key, self.by_key[key])
        return found

    def labels(self) -> list[str]:
        """The names of all queries and side outputs."""
        return [opened.target.label for opened in list(self._opened.values())]

    def _open(self, query: Query) -> Sink:
        target = Target("changes", query.name, query.change_schema)
        self._check(target, query.options)
        key = ("changes", route_of(query).key)
        sink = self.by_key.get(key)
        if sink is None:
            sink = self._query_sink(target, query.options)
        self._put(key, target, sink)
        return sink

    def _put(self, key: Key, target: Target, sink: Sink) -> None:
        self.by_key[key] = sink
        self._opened[target.label.lower()] = SinkBinding(target, key, sink)

    def _query_sink(self, target: Target, options: Mapping[str, str]) -> Sink:
        match sink_format(options):
            case "print":
                return self._print
            case "memory":
                return self._memory
            case _:
                return self._spark_sink(target, resolve_path(options, self._base))

    def _print_sink(self, rows: int | None) -> PrintSink:
        untold = print_more if self._printer is print_rows else _say_nothing
        return PrintSink(self._printer, untold, rows)

    def _spark_sink(self, target: Target, options: Mapping[str, str]) -> SparkSink:
        format_ = sink_format(options)
        rest = {k: v for k, v in options.items() if k not in OF_SINKS}
        if format_ not in FILE_FORMATS:
            return FormatSink(target, format_, rest, f"eddyline-{self._job}-{target.label}")
        path = files.qualified(self._spark, rest.pop("path"))
        sink = self._by_path.setdefault(path, FileSink(target, format_, rest, path))
        owner = sink.owner
        if owner != target:
            whose = f"'{target.label}': the path '{path}' is that of '{owner.label}'"
            if owner.kind != "changes" or target.kind != "changes":
                raise DataError(whose)
            if (sink.format, sink.options) != (format_, rest):
                raise DataError(f"{whose}, whose sink has another format or other options")
            if owner.schema != target.schema:
                raise DataError(f"{whose}, whose columns are others; choose another path")
        return sink

    def _check(self, target: Target, options: Mapping[str, str]) -> None:
        """Check the options as far as we know them, and ask Spark for what only it can know."""
        check_sink(target.label, options, of_query=target.kind == "changes")
        format_ = sink_format(options)
        if format_ not in self._formats:
            _check_format(self._spark, target, format_)
            self._formats.add(format_)


def _says_shared(query: Query) -> bool:
    return query.options.get("shared", "false").lower() == "true"


def _say_nothing(targets: int, rows: int) -> None:
    """Whoever prints for himself has what is printed."""


def _check_format(spark: SparkSession, target: Target, format_: str) -> None:
    """Ask Spark whether it knows the format, rather than find out after the first batch."""
    jvm = files.jvm_of(spark)
    data_source = jvm.org.apache.spark.sql.execution.datasources.DataSource
    try:
        data_source.lookupDataSource(format_, spark._jsparkSession.sessionState().conf())
    except (PySparkException, Py4JJavaError) as e:
        if "DATA_SOURCE_NOT_FOUND" not in str(e):
            raise DataError(f"'{target.label}': sink '{format_}': {cause(e)}") from e
        raise DataError(
            f"'{target.label}': Spark knows no sink '{format_}' (is its package on the class "
            f"path?); {did_you_mean(format_, SINKS)}"
        ) from None
