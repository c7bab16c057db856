"""The wall clock of a batch: the time that Spark logs with it, the same when it is repeated.

Spark writes the time at which a batch was planned to its offset log before the batch runs, and
``current_timestamp`` of a streaming query returns that time, also when the batch is repeated after
a failure or a restart. AHEAD AT MOST and IDLE AFTER are evaluated with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from eddyline.spark.packed_batches import INPUT_ARROW, INPUT_SCHEMA

#: The column of packed batches, and the last column of ingest's input, with the time: int64 us.
NOW: Final = "now_us"

#: More than the time from the last tick of a batch to the one that is logged with the batch.
_RECENT_S: Final = 600


def now_us() -> Column:
    """The time of the batch, in microseconds since 1970."""
    return F.unix_micros(F.current_timestamp())


def with_batch_time(packed: DataFrame) -> DataFrame:
    """Rows with the time of their batch as last column."""
    return packed.withColumn(NOW, now_us())


def heartbeat(
    spark: SparkSession, shards: Sequence[int], more: Callable[[], Sequence[int]] = tuple
) -> DataFrame:
    """The time for these shards, about once a second, also while there are no rows.

    One source and one task for all shards. The source makes up for the seconds of a stop in one
    batch; ticks of more than a few minutes ago are left out: those of a stop.

    Args:
        more: called in the task, further shards.
    """
    source = spark.readStream.format("rate").option("rowsPerSecond", 1).option("numPartitions", 1)
    recent = F.current_timestamp() - F.expr(f"INTERVAL {_RECENT_S} SECONDS")
    seconds = source.load().where(F.col("timestamp") >= recent).select("value")

    def ticks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            numbers = batch.column(0).to_pylist()
            rows = [
                (shard, "tick", "", 0, n, 0, b"") for n in numbers for shard in (*shards, *more())
            ]
            if rows:
                columns = [list(column) for column in zip(*rows, strict=True)]
                yield pa.record_batch(columns, schema=INPUT_ARROW)

    return with_batch_time(seconds.mapInArrow(ticks, INPUT_SCHEMA))


class TimedBatches:
    """Iterates over ingest's batches without their last column, the time of the batch.

    Attributes:
        now_us: that time, from the first batch on.
    """

    def __init__(self, batches: Iterator[pa.RecordBatch]) -> None:
        self.now_us = 0
        self._batches = batches

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        for batch in self._batches:
            if batch.num_rows:
                self.now_us = batch.column(batch.num_columns - 1)[0].as_py()
            yield batch.select(list(range(batch.num_columns - 1)))
