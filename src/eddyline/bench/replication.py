"""The copies of rows that a HyperCube layout makes: as planned, and as the shards received them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

from pyspark.sql import SparkSession
from rich.console import Console

from eddyline.bench.side_by_side import FILES, Input
from eddyline.spark.layouts.layout_shards import planned
from eddyline.spark.partitioning.planning import best_layout
from eddyline.spark.script import Script
from eddyline.spark.session import Session

CASE: Final = "replication"
SHARDS: Final = 4


class Copies(NamedTuple):
    """How often the rows of a stream are sent.

    Attributes:
        read: number of rows that the job has read. received: by all shards together.
        predicted: copies of each row, by the layout.
    """

    stream: str
    read: int
    received: int
    predicted: int

    @property
    def measured(self) -> float:
        """Rows received per row read."""
        return self.received / self.read


def measured_copies(spark: SparkSession, rows: Input, select: str, columns: str) -> list[Copies]:
    """Run a query over one batch of each stream with four shards, and count."""
    rows.write(0)
    rows.give("copies", 0)
    session = Session(spark, shards=SHARDS)
    streams = [f"CREATE STREAM {n} ({columns}) TIMESTAMP BY ts" for n in rows.streams]
    script = Script.of([*streams, f"CREATE QUERY q AS {select}"])
    layout = best_layout(planned(script, script.queries["q"]), SHARDS, script.statistics)
    for name, stream in zip(rows.streams, streams, strict=True):
        source = f"path = '{rows.path('copies', name)}', maxFilesPerTrigger = {FILES}"
        session.sql(f"{stream} WITH (source = 'parquet', {source})")
    session.query("q", select, sink="noop")
    job = session.start(available_now=True)
    job.awaitTermination()
    received = [shard["received"] for shard in job.shards()]
    read = job.progress().rows_in
    return [
        Copies(n, read[n], sum(of.get(n, 0) for of in received), layout.copies(n))
        for n in rows.streams
    ]


def show_copies(copies: Sequence[Copies], console: Console) -> None:
    """A line per stream, and the verdict."""
    for c in copies:
        console.print(
            f"replication of {c.stream} in {SHARDS} shards: predicted {c.predicted}, "
            f"measured {c.measured:g} ({c.received:,} rows of {c.read:,})"
        )
    equal = all(c.received == c.read * c.predicted for c in copies)
    console.print(f"measured replication equals the predicted one: {'yes' if equal else 'no'}")
