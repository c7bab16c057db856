"""The sinks of a job, made from the options of its queries and streams: who has one in common."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from eddyline.errors import DataError, did_you_mean
from eddyline.session.bad_rows import BAD_ROWS
from eddyline.session.query import Query
from eddyline.spark import files
from eddyline.spark.causes import cause
from eddyline.spark.outlets import PREVIEW_ROWS, outlet_of
from eddyline.spark.printing import print_more, print_rows
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

_FILE_FORMATS: Final = ("csv", "json", "orc", "parquet", "text", "xml")
_KNOWN: Final = ("print", "memory", "noop", *_FILE_FORMATS, "jdbc", "kafka", "delta")

#: Options that are not for Spark.
_OURS: Final = ("sink", "shared")

#: What leaves a shard together: kind and name of fat rows.
Key = tuple[str, str]


class Opened(NamedTuple):
    """A query or side output, how its rows come, and where they go."""

    target: Target
    key: Key
    sink: Sink


class OpenSinks:
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
        self._formats = set(_FILE_FORMATS)  # which Spark knows
        self._opened: dict[str, Opened] = {}  # by label in lower case

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
        self._check(target, options, ())
        match _format(options):
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

    def find(self, label: str) -> Opened | None:
        """A query or side output with its sink; None if there is none of this name."""
        found = self._opened.get(label.lower())
        kind, colon, name = label.partition(":")
        query = self._opened.get(name.lower())
        if found is None and kind == "bad" and colon and query is not None:
            key = ("bad", OF_QUERIES)
            return Opened(Target("bad", query.target.name, BAD_ROWS), key, self.by_key[key])
        return found

    def labels(self) -> list[str]:
        """The names of all queries and side outputs."""
        return [opened.target.label for opened in list(self._opened.values())]

    def _open(self, query: Query) -> Sink:
        target = Target("changes", query.name, query.change_schema)
        self._check(target, query.options, ("shared",))
        key = ("changes", outlet_of(query).key)
        sink = self.by_key.get(key)
        if sink is None:
            sink = self._query_sink(target, query.options)
        self._put(key, target, sink)
        return sink

    def _put(self, key: Key, target: Target, sink: Sink) -> None:
        self.by_key[key] = sink
        self._opened[target.label.lower()] = Opened(target, key, sink)

    def _query_sink(self, target: Target, options: Mapping[str, str]) -> Sink:
        match _format(options):
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
        format_ = _format(options)
        rest = {k: v for k, v in options.items() if k not in _OURS}
        if format_ not in _FILE_FORMATS:
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

    def _check(
        self, target: Target, options: Mapping[str, str], for_queries: tuple[str, ...]
    ) -> None:
        """Check the options as far as we know them."""
        format_ = _format(options)
        rest = [word for word in options if word != "sink"]
        if format_ == "print":
            _only(target, format_, rest, ("rows",))
            _positive(target, options.get("rows", "1"))
        elif format_ == "memory":
            _only(target, format_, rest, ())
        elif format_ in _FILE_FORMATS and "path" not in options:
            hint = f"; {did_you_mean(rest[0], ('path', *for_queries))}" if rest else ""
            raise DataError(f"'{target.label}': sink '{format_}' needs the option 'path'{hint}")
        elif format_ not in self._formats:
            _check_format(self._spark, target, format_)
            self._formats.add(format_)
        if for_queries and options.get("shared", "true").lower() not in ("true", "false"):
            raise DataError(
                f"'{target.label}': shared = '{options['shared']}' is neither 'true' nor 'false'"
            )


def _format(options: Mapping[str, str]) -> str:
    return options.get("sink", "print").lower()


def _says_shared(query: Query) -> bool:
    return query.options.get("shared", "false").lower() == "true"


def _say_nothing(targets: int, rows: int) -> None:
    """Whoever prints for himself has what is printed."""


def _only(target: Target, format_: str, options: Iterable[str], known: tuple[str, ...]) -> None:
    for word in options:
        if word not in known:
            raise DataError(
                f"'{target.label}': the sink '{format_}' has no option '{word}'; "
                f"{did_you_mean(word, (*known, 'sink'))}"
            )


def _positive(target: Target, text: str) -> None:
    if not text.isdigit() or int(text) < 1:
        raise DataError(f"'{target.label}': rows = '{text}' is not a number of rows to print")


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
            f"path?); {did_you_mean(format_, _KNOWN)}"
        ) from None
