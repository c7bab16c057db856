"""Sinks: where the rows of queries and side outputs go. What each guarantees: docs/spark.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import pyarrow as pa
from pyspark.sql import DataFrame

from eddyline.engine.changes import QUERY_COLUMN
from eddyline.spark.output_routes import QueryRows

#: What rows a target has: changes of a query, or the late or bad rows of a stream.
Kind = Literal["changes", "late", "bad"]
#: Called with a target's label, the first rows of a batch, and how many rows there were.
Printer = Callable[[str, pa.Table, int], None]
#: Called with the number of targets whose rows of a batch were not printed, and of these rows.
OmittedPrinter = Callable[[int, int], None]

#: The name under which the bad rows of all queries leave a shard: no stream has it.
OF_QUERIES: Final = ""

#: Of no more targets rows of one batch are printed.
PRINTED_TARGETS: Final = 20


@dataclass(frozen=True)
class Target:
    """What has rows that go to a sink."""

    kind: Kind
    name: str
    schema: pa.Schema

    @property
    def label(self) -> str:
        """How people and :meth:`Session.results` call it: the query, or ``late:stream``."""
        return self.name if self.kind == "changes" else f"{self.kind}:{self.name}"


@dataclass(eq=False)
class PrintSink:
    """Hands the first rows of each batch to a printer. Restarting may print a batch again.

    Attributes:
        rows: of a target that are printed; None: those that come are the first ones already.
    """

    printer: Printer
    untold: OmittedPrinter
    rows: int | None = None

    def deliver(self, batch_id: int, parts: Sequence[QueryRows], counts: Mapping[str, int]) -> None:
        """Print rows of the first targets; ``counts`` says how many there were of each."""
        having: dict[str, list[QueryRows]] = {}
        for part in parts:
            for label in part.names:
                having.setdefault(label, []).append(part)
        labels = list(having)
        for label in labels[:PRINTED_TARGETS]:
            rows = pa.concat_tables([p.only(label) for p in having[label]])
            self.printer(label, rows.slice(0, self.rows), counts[label])
        others = labels[PRINTED_TARGETS:]
        if others:
            self.untold(len(others), sum(counts[label] for label in others))


@dataclass(eq=False)
class MemorySink:
    """Keeps all rows in the driver, by batch: a replayed batch replaces itself."""

    batches: dict[int, list[QueryRows]] = field(default_factory=dict)

    def deliver(self, batch_id: int, parts: Sequence[QueryRows], counts: Mapping[str, int]) -> None:
        """Keep the rows of a batch."""
        self.batches[batch_id] = list(parts)

    def table(self, target: Target) -> pa.Table:
        """All rows of a target so far, in the order of the batches; no chunk of it is empty.

        Where a table starts with empty chunks, ``createDataFrame`` loses the rows behind them.
        """
        parts = (p for b in sorted(self.batches) for p in self.batches[b])
        tables = [p.only(target.label) for p in parts if target.label in p.names]
        return pa.concat_tables([target.schema.empty_table(), *tables]).combine_chunks()


@dataclass(eq=False)
class _Written:
    """What Spark writes.

    Attributes:
        owner: the first target. schema: of the rows of one target.
        shared: whether several queries write here, so that each row says whose it is.
    """

    owner: Target
    format: str
    options: Mapping[str, str]
    shared: bool = field(default=False, kw_only=True)

    @property
    def schema(self) -> pa.Schema:
        """The columns of what is written."""
        if not self.shared:
            return self.owner.schema
        return pa.schema([pa.field(QUERY_COLUMN, pa.string()), *self.owner.schema])


@dataclass(eq=False)
class FileSink(_Written):
    """Files below ``path``: batch N is the directory ``eddyline_batch=N``; a replay overwrites it.

    No name with an underscore in front: readers other than Spark's would skip it. All readers take
    the directories for a partition column ``eddyline_batch``.
    """

    path: str

    def write(self, batch_id: int, rows: DataFrame) -> None:
        """Write the rows of a batch."""
        writer = rows.write.format(self.format).options(**self.options).mode("overwrite")
        writer.save(f"{self.path}/eddyline_batch={batch_id}")


@dataclass(eq=False)
class FormatSink(_Written):
    """Any other batch format of Spark, appended to. Delta takes a replayed batch only once.

    Attributes:
        writer: names who writes, for Delta.
    """

    writer: str

    def write(self, batch_id: int, rows: DataFrame) -> None:
        """Append the rows of a batch."""
        options = dict(self.options)
        if self.format == "delta":  # Delta skips a transaction that it has seen
            options |= {"txnAppId": self.writer, "txnVersion": str(batch_id)}
        rows.write.format(self.format).options(**options).mode("append").save()


DriverSink = PrintSink | MemorySink
SparkSink = FileSink | FormatSink
Sink = DriverSink | SparkSink
