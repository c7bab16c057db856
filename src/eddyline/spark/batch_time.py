"""The wall clock of a batch: the time that Spark logs with it, the same when it is repeated.

Spark writes the time at which a batch was planned to its offset log before the batch runs, and
``current_timestamp`` of a streaming query returns that time, also when the batch is repeated after
a failure or a restart. AHEAD AT MOST and IDLE AFTER are evaluated with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

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


def heartbeat(spark: SparkSession, shards: Sequence[int]) -> DataFrame:
    """The time for these shards, about once a second, also while there are no rows.

    One source and one task for all shards. The source makes up for the seconds of a stop in one
    batch.
    """
    source = spark.readStream.format("rate").option("rowsPerSecond", 1).option("numPartitions", 1)
    return with_batch_time(ticks(source.load(), shards))


def ticks(seconds: DataFrame, shards: Sequence[int]) -> DataFrame:
    """Rows of the source ``rate`` as packed batches without rows, one for each shard.

    Ticks of more than a few minutes ago are left out: those of a stop.
    """
    recent = F.current_timestamp() - F.expr(f"INTERVAL {_RECENT_S} SECONDS")
    return seconds.where(F.col("timestamp") >= recent).select(
        F.explode(F.array(*(F.lit(shard).cast("bigint") for shard in shards))).alias("shard"),
        F.lit("tick").alias("kind"),
        F.lit("").alias("name"),
        F.lit(0).cast("bigint").alias("part"),
        F.col("value").alias("seq"),
        F.lit(0).cast("bigint").alias("n"),
        F.lit(b"").alias("blob"),
    )


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
