"""Sinks: destinations of the rows of queries and side outputs.

A sink is added here: its class, if it needs one, and its record in :data:`SINKS`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from eddyline.engine.query import Query
from eddyline.errors import DataError
from eddyline.spark.exchange.query_rows import QueryRows
from eddyline.spark.formats.file_encoders import file_encoder
from eddyline.spark.formats.format_options import (
    OF_ROLLING,
    WRITERS,
    Format,
    OptionError,
)
from eddyline.spark.sinks.delta.delta_sink import check_delta, check_delta_query, delta_sink
from eddyline.spark.sinks.driver_files import DriverFiles, batch_directory
from eddyline.spark.sinks.file_checks import (
    check_files,
    check_text,
    only_spark,
    spark_options,
)
from eddyline.spark.sinks.iceberg.iceberg_options import check_iceberg, check_iceberg_query
from eddyline.spark.sinks.iceberg.iceberg_sink import Catalogs, iceberg_sink
from eddyline.spark.sinks.kafka_sink import (
    KafkaSink,
    check_messages,
    check_messages_of,
    kafka_sink,
)
from eddyline.spark.sinks.lake_sink import TableOwners
from eddyline.spark.sinks.postgres.postgres_options import check_query, check_values
from eddyline.spark.sinks.postgres.postgres_sink import Databases, PostgresSink, postgres_sink
from eddyline.spark.sinks.python_sink import (
    PythonSink,
    SinkFunction,
    check_function,
    python_sink,
)
from eddyline.spark.sinks.rolling_files import RollingFiles, RollLimits, roll_limits
from eddyline.spark.sinks.sink_bases import DiscardSink, DriverSink, Sink, SparkSink, Target
from eddyline.spark.sinks.table_sink import TableSink
from eddyline.spark.sinks.webhook_sink import (
    WebhookSink,
    check_webhook,
    check_webhook_query,
    webhook_sink,
)
from eddyline.spark.storage import files
from eddyline.spark.storage.directory import Directory

#: Called with a target's label, the first rows of a batch, and the number of its rows.
Printer = Callable[[str, pa.Table, int], None]
#: Called with the number of targets whose rows of a batch are not printed, and of these rows.
OmittedPrinter = Callable[[int, int], None]

#: Maximum number of targets whose rows of a batch are printed.
PRINTED_TARGETS: Final = 20
#: Number of rows that are printed by default of each target and batch.
PREVIEW_ROWS: Final = 10


@dataclass(eq=False)
class PrintSink(DriverSink):
    """Calls a printer with the first rows of each batch.

    Attributes:
        rows: maximum number of printed rows by target label.
    """

    waits = False
    printer: Printer
    omitted: OmittedPrinter
    rows: dict[str, int] = field(default_factory=dict)

    def deliver(
        self,
        batch_id: int,
        parts: Sequence[QueryRows],
        counts: Mapping[str, int],
        emptied: Sequence[str] = (),
    ) -> None:
        """Print rows of the first targets."""
        by_label: dict[str, list[QueryRows]] = {}
        for part in parts:
            for label in part.names:
                by_label.setdefault(label, []).append(part)
        labels = list(by_label)
        for label in labels[:PRINTED_TARGETS]:
            rows = pa.concat_tables([part.only(label) for part in by_label[label]])
            self.printer(label, rows.slice(0, self.rows.get(label, PREVIEW_ROWS)), counts[label])
        others = labels[PRINTED_TARGETS:]
        if others:
            self.omitted(len(others), sum(counts[label] for label in others))


@dataclass(eq=False)
class MemorySink(DriverSink):
    """Keeps all rows in the driver, by batch: a repeated batch replaces itself."""

    waits = False
    batches: dict[int, list[QueryRows]] = field(default_factory=dict)

    def deliver(
        self,
        batch_id: int,
        parts: Sequence[QueryRows],
        counts: Mapping[str, int],
        emptied: Sequence[str] = (),
    ) -> None:
        self.batches[batch_id] = list(parts)

    def table(self, target: Target) -> pa.Table:
        """All rows of a target so far, in the order of the batches, in at most one chunk.

        Spark's ``createDataFrame`` loses rows behind an empty first chunk.
        """
        parts = (p for b in sorted(self.batches) for p in self.batches[b])
        tables = [p.only(target.label) for p in parts if target.label in p.names]
        return pa.concat_tables([target.schema.empty_table(), *tables]).combine_chunks()


@dataclass(eq=False)
class FileSink(SparkSink):
    """Files below ``path``: batch N is the directory ``eddyline_batch=N``; a repeat overwrites it.

    Readers see the directories as a partition column ``eddyline_batch``.

    Attributes:
        here: writes small batches in the driver; None: Spark writes all batches.
        limits: when a file of several batches is due; None: each batch has its own.
        rolling: the rows that wait for such a file.
    """

    path: str
    here: DriverFiles | None = None
    limits: RollLimits | None = None
    rolling: RollingFiles | None = None

    def write(self, batch_id: int, rows: DataFrame) -> None:
        if self.rolling is not None and not self.rolling.make_way(batch_id):
            return
        writer = rows.write.format(self.format).options(**self.options).mode("overwrite")
        writer.save(f"{self.path}/{batch_directory(batch_id)}")

    def write_here(self, batch_id: int, rows: pa.Table) -> None:
        """Write the rows of a batch, with the columns of ``schema``, in the driver."""
        assert self.here is not None, "the caller has checked it"
        if self.rolling is not None:
            self.rolling.add(batch_id, rows)
        else:
            self.here.write(batch_directory(batch_id), rows)

    def begin_rolling(self, pending: Directory) -> None:
        """Let rows wait in a directory of the checkpoint, if files of several batches are wanted.

        Args:
            pending: with a directory for each sink.
        """
        if self.limits is not None and self.rolling is None:
            assert self.here is not None, "checked"
            place = pending.below(hashlib.sha256(self.path.encode()).hexdigest()[:16])
            self.rolling = RollingFiles(self.here, place, self.limits)


class FormatSink(SparkSink):
    """Another batch format of Spark; batches are appended."""

    def write(self, batch_id: int, rows: DataFrame) -> None:
        rows.write.format(self.format).options(**self.options).mode("append").save()


class SinkContext(NamedTuple):
    """What the sinks of a job are created from.

    Attributes:
        job: identifies the job. printed, memory: its sinks ``print`` and ``memory``.
        session: new at each start. databases, catalogs: of its sinks. owners: of its tables of
        Delta and Iceberg. functions: for its sinks ``python``, by name.
    """

    spark: SparkSession
    job: str
    printed: PrintSink
    memory: MemorySink
    session: str
    databases: Databases
    catalogs: Catalogs
    owners: TableOwners
    functions: Mapping[str, SinkFunction]


def _no_check(label: str, options: Mapping[str, str]) -> None:
    """Accepts all values."""


def _any_query(query: Query) -> None:
    """Accepts all queries."""


def _all_rows(options: Mapping[str, str]) -> None:
    """No limit."""


@dataclass(frozen=True)
class SinkType:
    """A type of sinks, the value of the option ``sink``.

    Attributes:
        options: names of its options.
        create: makes the sink of a target from its options.
        guarantee: delivery guarantee after a failure, in words, as in docs/sources-and-sinks.md.
        sharable: whether the option ``shared`` applies.
        in_spark: whether Spark has to find a data source of this name.
        collected: whether the driver uses the rows of small batches, which are then collected.
        check: raises OptionError for wrong values of options; called with a target's label.
        check_query: raises OptionError for a query whose rows do not fit the options.
        preview: number of rows of a query and batch that are sent to it; None: all.
    """

    options: Format
    create: Callable[[Target, Mapping[str, str], SinkContext], Sink]
    guarantee: str
    sharable: bool = True
    in_spark: bool = False
    collected: bool = True
    check: Callable[[str, Mapping[str, str]], None] = _no_check
    check_query: Callable[[Query], None] = _any_query
    preview: Callable[[Mapping[str, str]], int | None] = _all_rows


def _check_rows(label: str, options: Mapping[str, str]) -> None:
    text = options.get("rows", "1")
    if not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise OptionError(
            f"'{label}': rows = '{text}' is not a number of rows to print", "rows", "value"
        )


def _check_rolling(label: str, options: Mapping[str, str]) -> None:
    roll_limits(label, options)


def preview_rows(options: Mapping[str, str]) -> int:
    """Number of rows of a query and batch that the sink ``print`` prints."""
    return int(options.get("rows", PREVIEW_ROWS))


def _print_sink(target: Target, options: Mapping[str, str], context: SinkContext) -> PrintSink:
    printed = context.printed
    if target.kind == "changes":
        return printed
    return PrintSink(printed.printer, printed.omitted, {target.label: preview_rows(options)})


def _memory_sink(target: Target, options: Mapping[str, str], context: SinkContext) -> MemorySink:
    return context.memory


def _file_sink(target: Target, options: Mapping[str, str], context: SinkContext) -> FileSink:
    format_, rest = spark_options(options)
    path = files.qualified(context.spark, rest.pop("path"))
    limits = roll_limits(target.label, rest)
    rest = {name: value for name, value in rest.items() if name.lower() not in OF_ROLLING}
    sink = file_sink(context.spark, target, format_, rest, path)
    sink.limits = limits
    if limits is not None and sink.here is None:
        raise DataError(f"'{target.label}': {only_spark(format_)}")
    return sink


def file_sink(
    spark: SparkSession, target: Target, format_: str, options: Mapping[str, str], path: str
) -> FileSink:
    """The sink of files below a qualified path."""

    def setting(name: str) -> str:
        return str(spark.conf.get(name))

    encode = file_encoder(format_, options, target.columns, setting)
    here = None
    if encode is not None:
        here = DriverFiles(files.directory(spark, path, private=False), encode, format_)
    return FileSink(target, format_, options, path, here)


def _noop_sink(target: Target, options: Mapping[str, str], context: SinkContext) -> DiscardSink:
    return DiscardSink()


def _format_sink(target: Target, options: Mapping[str, str], context: SinkContext) -> FormatSink:
    return FormatSink(target, *spark_options(options))


def _delta_sink(target: Target, options: Mapping[str, str], context: SinkContext) -> TableSink:
    return delta_sink(target, options, context.job, context.owners)


def _iceberg_sink(target: Target, options: Mapping[str, str], context: SinkContext) -> TableSink:
    return iceberg_sink(target, options, context.job, context.owners, context.catalogs)


def _kafka_sink(target: Target, options: Mapping[str, str], context: SinkContext) -> KafkaSink:
    return kafka_sink(context.spark, target, options, f"eddyline-{context.job}-{target.label}")


def _postgres_sink(
    target: Target, options: Mapping[str, str], context: SinkContext
) -> PostgresSink:
    return postgres_sink(target, options, context.job, context.session, context.databases)


def _webhook_sink(target: Target, options: Mapping[str, str], context: SinkContext) -> WebhookSink:
    return webhook_sink(target, options, context.job)


def _python_sink(target: Target, options: Mapping[str, str], context: SinkContext) -> PythonSink:
    return python_sink(target, options, context.functions)


_ONCE: Final = "exactly once"
_AT_LEAST_ONCE: Final = "at least once"

#: Sinks by name in lower case.
SINKS: Final[Mapping[str, SinkType]] = {
    "print": SinkType(
        Format(frozenset(["rows"])),
        _print_sink,
        _AT_LEAST_ONCE,
        sharable=False,
        check=_check_rows,
        preview=preview_rows,
    ),
    "memory": SinkType(Format(frozenset()), _memory_sink, _ONCE, sharable=False),
    **{
        name: SinkType(f, _file_sink, _ONCE, check=_check_rolling, check_query=check_files)
        for name, f in WRITERS.items()
        if f.files
    },
    "text": SinkType(WRITERS["text"], _file_sink, "refused", check=check_text),
    "postgres": SinkType(
        WRITERS["postgres"], _postgres_sink, _ONCE, check=check_values, check_query=check_query
    ),
    "webhook": SinkType(
        WRITERS["webhook"],
        _webhook_sink,
        _AT_LEAST_ONCE,
        check=check_webhook,
        check_query=check_webhook_query,
    ),
    "python": SinkType(WRITERS["python"], _python_sink, _AT_LEAST_ONCE, check=check_function),
    "noop": SinkType(WRITERS["noop"], _noop_sink, "discards rows", collected=False),
    "jdbc": SinkType(WRITERS["jdbc"], _format_sink, _AT_LEAST_ONCE, in_spark=True, collected=False),
    "kafka": SinkType(
        WRITERS["kafka"],
        _kafka_sink,
        _AT_LEAST_ONCE,
        in_spark=True,
        collected=False,
        check=check_messages,
        check_query=check_messages_of,
    ),
    "delta": SinkType(
        WRITERS["delta"], _delta_sink, _ONCE, check=check_delta, check_query=check_delta_query
    ),
    "iceberg": SinkType(
        WRITERS["iceberg"],
        _iceberg_sink,
        _ONCE,
        check=check_iceberg,
        check_query=check_iceberg_query,
    ),
}
#: Any other data source of Spark, by the name of its class or its short name.
OTHER_SINK: Final = SinkType(
    Format(frozenset(), open=True),
    _format_sink,
    _AT_LEAST_ONCE,
    in_spark=True,
    collected=False,
)
