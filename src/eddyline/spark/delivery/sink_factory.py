"""The sinks of a job, created from the options of its queries and streams."""

from __future__ import annotations

import logging
import re
import uuid
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Final, NamedTuple

from pyspark.sql import SparkSession

from eddyline.engine.execution.bad_rows import BAD_ROWS
from eddyline.engine.query import Query
from eddyline.errors import DataError, did_you_mean
from eddyline.spark.delivery.roller import Roller
from eddyline.spark.delivery.sink_uses import Key, SinkUse, place_of
from eddyline.spark.formats.format_options import is_missing, package_of, sink_format
from eddyline.spark.root_cause import root_cause
from eddyline.spark.sinks.failure_policy import FailurePolicy, UnavailableError
from eddyline.spark.sinks.output_routes import route_of
from eddyline.spark.sinks.postgres.postgres_options import has_password
from eddyline.spark.sinks.printing import print_omitted, print_rows
from eddyline.spark.sinks.python_sink import SinkFunction
from eddyline.spark.sinks.secrets import secret_of_catalog
from eddyline.spark.sinks.sequence import has_seq
from eddyline.spark.sinks.sink_bases import (
    OF_QUERIES,
    DiscardSink,
    DriverSink,
    Sink,
    SparkSink,
    Target,
)
from eddyline.spark.sinks.sinks import (
    OTHER_SINK,
    SINKS,
    FileSink,
    MemorySink,
    Printer,
    PrintSink,
    SinkContext,
    file_sink,
    preview_rows,
)
from eddyline.spark.sinks.table_sink import TableSink
from eddyline.spark.sources.format_check import check_sink
from eddyline.spark.sources.sources import resolve_path
from eddyline.spark.storage.directory import Directory

#: Sinks whose rows name their query if it is not the only one.
_SHARABLE: Final = (SparkSink, TableSink)
#: A class of the format cannot be loaded; other errors of reading without options mean nothing.
_NOT_LOADED: Final = re.compile(
    r"_DATA_SOURCE_NOT_ENABLED|NoClassDefFoundError|ServiceConfigurationError"
    r"|IncompatibleClassChangeError|NoSuchMethodError|NoSuchFieldError|AbstractMethodError"
)
#: The bad rows of all queries.
BAD_ROWS_KEY: Final = ("bad", OF_QUERIES)
_log = logging.getLogger(__name__)


class SinkBinding(NamedTuple):
    """A query or side output with the key of its packed batches and its sink."""

    target: Target
    key: Key
    sink: Sink


class SinkFactory:
    """Creates the sinks of a job. Queries with equal sinks and equal columns share one.

    Whether a sink is shared affects the written columns, so it is fixed when the job starts: by the
    number of its queries then, or by the option ``shared``.

    Args:
        base: directory of relative paths. job: identifies the job, for tables.
        memory: keeps the rows of the sink ``memory``, also those of earlier jobs of the session.
        pending: where rows wait for files of several batches; None: there are none.
        functions: for sinks ``python``, by name.

    Attributes:
        by_key: sinks by key of the packed batches.
        uses: by sink, who uses it; without sinks that discard rows.
        before: by sink, the queries that had another one, with that.
        roller: writes the files of several batches.
    """

    def __init__(
        self,
        spark: SparkSession,
        base: Path | None,
        printer: Printer,
        job: str,
        memory: MemorySink | None = None,
        pending: Directory | None = None,
        functions: Mapping[str, SinkFunction] = MappingProxyType({}),
    ) -> None:
        self.roller = Roller()
        self._pending = pending
        self.by_key: dict[Key, Sink] = {}
        self.uses: dict[DriverSink | SparkSink, SinkUse] = {}
        self.before: dict[DriverSink | SparkSink, list[tuple[DriverSink | SparkSink, str]]] = {}
        self._former: dict[str, list[SinkBinding]] = {}
        self._spark = spark
        self._base = base
        printed = PrintSink(printer, print_omitted if printer is print_rows else _omit)
        session = uuid.uuid4().hex
        self._context = SinkContext(
            spark, job, printed, memory or MemorySink(), session, {}, {}, {}, functions
        )
        self._by_path: dict[str, FileSink] = {}
        self._found: set[str] = set()  # formats that Spark has found
        self._bindings: dict[str, SinkBinding] = {}  # by label in lower case

    def open_first(self, queries: Iterable[Query]) -> None:
        """Open the sinks of the queries with which a job starts.

        Raises:
            DataError: an option is missing or wrong, or queries with different columns or formats
                write files to the same path.
        """
        for query in queries:
            sink = self._open(query)
            if isinstance(sink, _SHARABLE):
                sink.shared |= sink.owner.name != query.name or _is_shared(query)

    def open(self, query: Query, *, again: bool = False, instead_of: Query | None = None) -> None:
        """Open the sink of a query that is added to the job, or that gets another sink, and prepare
        it.

        Args:
            again: that was before this start, so the sink may be unavailable.
            instead_of: the query with its former sink, which gets what it emits until the shards
                know of the other one.

        Raises:
            DataError: as of :meth:`open_first` and :meth:`prepare`; or the sink belongs to another
                query and is not shared; or a password would be written to the checkpoint.
        """
        if has_password(query.options):
            raise DataError(
                f"'{query.name}': the url has a password, which would be written to the checkpoint "
                "with the request: name an environment variable of the job in password_env"
            )
        if (secret := secret_of_catalog(query.options)) is not None:
            raise DataError(
                f"'{query.name}': {secret} is secret, and would be written to the checkpoint with "
                "the request: set it in the job's environment, as PYICEBERG_CATALOG__NAME__..., or "
                "in .pyiceberg.yaml, and name the catalog in catalog_name"
            )
        former = None if instead_of is None else self._bindings[query.name.lower()]
        sink = self._open(query)
        with self._closed_after_errors(query, sink, former):
            if isinstance(sink, _SHARABLE) and not sink.shared:
                self._share(sink, query)
            if isinstance(sink, TableSink):
                _prepare(sink, again=again, continues=former is not None)
        if former is not None and former.sink is not sink:
            self._replace(query.name, former, sink)

    @contextmanager
    def _closed_after_errors(
        self, query: Query, sink: Sink, former: SinkBinding | None
    ) -> Iterator[None]:
        """Forget that a query has a sink, if what follows fails."""
        try:
            yield
        except Exception:
            binding = self._bindings.pop(query.name.lower())
            if former is not None:
                self._bindings[query.name.lower()] = former
            if former is None or former.sink is not sink:
                self._forget(query.name, sink)
                if all(other.sink is not sink for other in self._bindings.values()):
                    del self.by_key[binding.key]
            raise

    def _forget(self, query: str, sink: Sink) -> None:
        if isinstance(sink, TableSink):
            sink.reads.pop(query)
        if not isinstance(sink, DiscardSink):
            self.uses[sink].labels.remove(query)

    def _replace(self, query: str, former: SinkBinding, sink: Sink) -> None:
        """Note that a query has another sink."""
        self._former.setdefault(query.lower(), []).append(former)
        old = former.sink
        self._forget(query, old)
        if isinstance(old, DiscardSink):
            return
        self.uses[old].former.append(query)
        if not isinstance(sink, DiscardSink):
            self.before[old] = [b for b in self.before.get(old, []) if b != (sink, query)]
            self.before.setdefault(sink, []).append((old, query))

    def _share(self, sink: SparkSink | TableSink, query: Query) -> None:
        """Let an added query use a sink that is not shared so far."""
        if sink.owner.name == query.name:
            sink.shared = _is_shared(query)
        else:
            raise DataError(
                f"'{query.name}': query '{sink.owner.name}' has the same sink, and its rows do not "
                "name their query; choose another path, or start the job with both queries, or "
                "with the option shared = 'true'"
            )

    def prepare(self, *, again: bool = False) -> None:
        """Prepare the tables of the sinks with which a job starts.

        Args:
            again: it has run before, so a table may be unavailable.

        Raises:
            DataError: a table cannot be reached, or does not fit. StateError: a table
                has not what the job has written.
        """
        for sink in self._tables():
            if self.uses[sink].labels:
                _prepare(sink, again=again)

    def emptied(self, streams: frozenset[str]) -> dict[DriverSink | SparkSink, list[str]]:
        """The queries whose answers are empty if the windows over streams have been emptied, by
        sink: it has to be told so, even in a batch without rows.
        """
        found: dict[DriverSink | SparkSink, list[str]] = {}
        for sink in self._tables() if streams else ():
            if queries := sink.readers(streams):
                found[sink] = queries
        return found

    def close(self, *, roll: bool = True) -> None:
        """Write the files of rows that wait for them, and close connections; they are opened again
        when they are needed.

        Args:
            roll: whether the job still has its checkpoint.
        """
        self.roller.close(roll=roll)
        for database in list(self._context.databases.values()):
            database.close()
        for catalog in list(self._context.catalogs.values()):
            catalog.close()

    def _tables(self) -> list[TableSink]:
        sinks = dict.fromkeys(list(self.by_key.values()))
        return [sink for sink in sinks if isinstance(sink, TableSink)]

    def open_side(self, target: Target, options: Mapping[str, str]) -> None:
        """Open the sink of a side output.

        Raises:
            DataError: an option is missing or wrong, or another target has the path.
        """
        self._check(target, options)
        self._bind((target.kind, target.name), target, self._create(target, options), options)

    def open_bad_rows(self, path: str) -> None:
        """Open the common sink of the bad rows of all queries.

        Args:
            path: a directory of no other sink.
        """
        target = Target("bad", OF_QUERIES, BAD_ROWS)
        sink = file_sink(self._spark, target, "parquet", {}, path)
        sink.shared = True
        self.by_key[BAD_ROWS_KEY] = sink
        policy = FailurePolicy("fail")  # where it is the batches would wait, too
        self.uses[sink] = SinkUse(sink.format, "bad", policy, ["bad rows of queries"])

    def find(self, label: str) -> SinkBinding | None:
        """The binding of a query or side output; None if there is none of this name."""
        found = self._bindings.get(label.lower())
        kind, colon, name = label.partition(":")
        query = self._bindings.get(name.lower())
        if found is None and kind == "bad" and colon and query is not None:
            target = Target("bad", query.target.name, BAD_ROWS)
            return SinkBinding(target, BAD_ROWS_KEY, self.by_key[BAD_ROWS_KEY])
        return found

    def bindings(self, query: str) -> list[SinkBinding]:
        """The present binding of a query, and those of its former sinks."""
        found = self._bindings.get(query.lower())
        return [] if found is None else [found, *self._former.get(query.lower(), [])]

    def labels(self) -> list[str]:
        """The names of all queries and side outputs."""
        return [binding.target.label for binding in list(self._bindings.values())]

    def _open(self, query: Query) -> Sink:
        target = Target(
            "changes",
            query.name,
            query.change_schema,
            query.replace_key,
            has_seq(query.options),
        )
        self._check(target, query.options)
        key = ("changes", route_of(query).key)
        sink = self.by_key.get(key)
        if sink is None:
            sink = self._create(target, resolve_path(query.options, self._base))
        if isinstance(sink, PrintSink):
            sink.rows[target.label] = preview_rows(query.options)
        if isinstance(sink, TableSink):
            if sink.owner.replace_key != target.replace_key:
                raise DataError(
                    f"'{target.label}': query '{sink.owner.name}' has the same table, and another "
                    "EMIT or GROUP BY; choose another table"
                )
            sink.reads[query.name] = query.reads
        self._bind(key, target, sink, query.options)
        return sink

    def _bind(self, key: Key, target: Target, sink: Sink, options: Mapping[str, str]) -> None:
        """Note that a target has a sink.

        Raises:
            DataError: others with this sink have other options for failures.
        """
        if not isinstance(sink, DiscardSink):
            policy, place = FailurePolicy.of(target.label, options), place_of(key, sink)
            use = self.uses.setdefault(sink, SinkUse(sink_format(options), place, policy))
            if use.all in ([], [target.label]):
                use.policy = policy
            if use.policy != policy:
                raise DataError(
                    f"'{target.label}': {use.described} has the same sink, and another on_failure "
                    "or max_waiting_bytes"
                )
            if target.label not in use.labels:
                use.labels.append(target.label)
            if target.label in use.former:  # it has this sink again
                use.former.remove(target.label)
        self.by_key[key] = sink
        self._bindings[target.label.lower()] = SinkBinding(target, key, sink)

    def _create(self, target: Target, options: Mapping[str, str]) -> Sink:
        type_ = SINKS.get(sink_format(options), OTHER_SINK)
        sink = type_.create(target, options, self._context)
        return self._of_path(sink) if isinstance(sink, FileSink) else sink

    def _of_path(self, sink: FileSink) -> FileSink:
        """The sink of the path, if there is one already.

        Raises:
            DataError: its target, format, options or columns do not allow to share it.
        """
        first = self._by_path.setdefault(sink.path, sink)
        owner, target = first.owner, sink.owner
        conflict = f"'{target.label}': the path '{sink.path}' belongs to '{owner.label}'"
        same = (first.format, first.options, first.limits)
        if same != (sink.format, sink.options, sink.limits):
            raise DataError(f"{conflict}, whose sink has another format or other options")
        if owner != target:
            if owner.kind != "changes" or target.kind != "changes":
                raise DataError(conflict)
            if owner.columns != target.columns:
                raise DataError(f"{conflict}, which has other columns; choose another path")
        if self._pending is not None:
            first.begin_rolling(self._pending)
            if first.rolling is not None:
                self.roller.add(first.rolling)
        return first

    def _check(self, target: Target, options: Mapping[str, str]) -> None:
        """Check the options, and that Spark finds the format."""
        check_sink(target.label, options, of_query=target.kind == "changes")
        format_ = sink_format(options)
        if SINKS.get(format_, OTHER_SINK).in_spark and format_ not in self._found:
            _check_format(self._spark, target, format_)
            self._found.add(format_)


def _prepare(sink: TableSink, *, again: bool, continues: bool = False) -> None:
    try:
        sink.prepare(again=again, continues=continues)
    except UnavailableError as e:
        if not again:
            raise
        _log.warning("%s; the job goes on, and the results wait", e)


def _is_shared(query: Query) -> bool:
    return query.options.get("shared", "false").lower() == "true"


def _omit(targets: int, rows: int) -> None:
    """A printer of the user does not report omitted rows."""


def _check_format(spark: SparkSession, target: Target, format_: str) -> None:
    """Check that Spark finds a format before the job starts."""
    try:
        spark.read.format(format_).load()  # fails for all formats but finds their classes first
    except Exception as e:  # of Java, in several types
        if is_missing(e):
            raise DataError(
                f"'{target.label}': Spark knows no sink '{format_}' ({package_of(format_)}); "
                f"{did_you_mean(format_, SINKS)}"
            ) from None
        if _NOT_LOADED.search(str(e)):
            raise DataError(f"'{target.label}': sink '{format_}': {root_cause(e)}") from e
