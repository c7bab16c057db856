"""Sinks: where the rows of a query or side output go. What each guarantees: docs/spark.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from eddyline.errors import DataError, did_you_mean
from eddyline.spark import files

#: What rows a target has: changes of a query, or the late or bad rows of a stream.
Kind = Literal["changes", "late", "bad"]
#: Called with the target's label, the first rows of a batch, and how many rows there were.
Printer = Callable[[str, pa.Table, int], None]

PREVIEW_ROWS: Final = 10
_FILE_FORMATS: Final = ("csv", "json", "orc", "parquet", "text", "xml")
_KNOWN: Final = ("print", "memory", "noop", *_FILE_FORMATS, "jdbc", "kafka", "delta")


@dataclass(frozen=True)
class Target:
    """What a sink is attached to."""

    kind: Kind
    name: str
    schema: pa.Schema

    @property
    def label(self) -> str:
        """How people and :meth:`Session.results` call it: the query, or ``late:stream``."""
        return self.name if self.kind == "changes" else f"{self.kind}:{self.name}"


@dataclass
class PrintSink:
    """Hands the first rows of each batch to a printer. Restarting may print a batch again."""

    target: Target
    printer: Printer
    rows: int = PREVIEW_ROWS

    def deliver(self, batch_id: int, rows: pa.Table, n: int) -> None:
        """Print the first of the ``n`` rows of a batch."""
        if n:
            self.printer(self.target.label, rows, n)


@dataclass
class MemorySink:
    """Keeps all rows in the driver, by batch: a replayed batch replaces itself."""

    target: Target
    batches: dict[int, pa.Table] = field(default_factory=dict)

    def deliver(self, batch_id: int, rows: pa.Table, n: int) -> None:
        """Keep the rows of a batch."""
        self.batches[batch_id] = rows

    def table(self) -> pa.Table:
        """All rows so far, in the order of the batches; no chunk of it is empty.

        Where a table starts with empty chunks, ``createDataFrame`` loses the rows behind them.
        """
        tables = [self.batches[b] for b in sorted(self.batches)]
        return pa.concat_tables([self.target.schema.empty_table(), *tables]).combine_chunks()


@dataclass(frozen=True)
class FileSink:
    """Files below ``path``: batch N is the directory ``eddyline_batch=N``; a replay overwrites it.

    No name with an underscore in front: readers other than Spark's would skip it. All readers take
    the directories for a partition column ``eddyline_batch``.
    """

    target: Target
    format: str
    path: str
    options: Mapping[str, str]

    def write(self, batch_id: int, rows: DataFrame) -> None:
        """Write the rows of a batch."""
        writer = rows.write.format(self.format).options(**self.options).mode("overwrite")
        writer.save(f"{self.path}/eddyline_batch={batch_id}")


@dataclass(frozen=True)
class FormatSink:
    """Any other batch format of Spark, appended to. Delta takes a replayed batch only once."""

    target: Target
    format: str
    options: Mapping[str, str]
    job: str

    def write(self, batch_id: int, rows: DataFrame) -> None:
        """Append the rows of a batch."""
        options = dict(self.options)
        if self.format == "delta":  # Delta skips a transaction that it has seen
            app = f"eddyline-{self.job}-{self.target.label}"
            options |= {"txnAppId": app, "txnVersion": str(batch_id)}
        rows.write.format(self.format).options(**options).mode("append").save()


DriverSink = PrintSink | MemorySink
SparkSink = FileSink | FormatSink
Sink = DriverSink | SparkSink


def preview_rows(options: Mapping[str, str]) -> int | None:
    """How many rows of a batch the sink with these (valid) options takes; None for all."""
    if options.get("sink", "print").lower() != "print":
        return None
    return int(options.get("rows", PREVIEW_ROWS))


def make_sink(
    spark: SparkSession, target: Target, options: Mapping[str, str], printer: Printer, job: str
) -> Sink:
    """The sink that a query's or stream's options name; ``print`` if they name none.

    Raises:
        DataError: an option is missing or unknown.
    """
    rest = {k: v for k, v in options.items() if k != "sink"}
    format_ = options.get("sink", "print").lower()
    if format_ == "print":
        _only(target, format_, rest, ("rows",))
        return PrintSink(target, printer, _positive(target, rest.get("rows", str(PREVIEW_ROWS))))
    if format_ == "memory":
        _only(target, format_, rest, ())
        return MemorySink(target)
    if format_ in _FILE_FORMATS:
        path = rest.pop("path", None)
        if path is None:
            hint = f"; {did_you_mean(next(iter(rest)), ('path',))}" if rest else ""
            raise DataError(f"'{target.label}': sink '{format_}' needs the option 'path'{hint}")
        return FileSink(target, format_, files.qualified(spark, path), rest)
    _check_format(spark, target, format_)
    return FormatSink(target, format_, rest, job)


def _only(target: Target, format_: str, options: Mapping[str, str], known: tuple[str, ...]) -> None:
    for word in options:
        if word not in known:
            raise DataError(
                f"'{target.label}': the sink '{format_}' has no option '{word}'; "
                f"{did_you_mean(word, (*known, 'sink'))}"
            )


def _positive(target: Target, text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise DataError(f"'{target.label}': rows = '{text}' is not a number of rows to print")
    return int(text)


def _check_format(spark: SparkSession, target: Target, format_: str) -> None:
    """Ask Spark whether it knows the format, rather than find out after the first batch."""
    jvm = spark.sparkContext._jvm
    assert jvm is not None, "the Spark session is stopped"
    data_source = jvm.org.apache.spark.sql.execution.datasources.DataSource
    try:
        data_source.lookupDataSource(format_, spark._jsparkSession.sessionState().conf())
    except (PySparkException, Py4JJavaError) as e:
        if "DATA_SOURCE_NOT_FOUND" not in str(e):
            raise
        raise DataError(
            f"'{target.label}': Spark knows no sink '{format_}' (is its package on the class "
            f"path?); {did_you_mean(format_, _KNOWN)}"
        ) from None
