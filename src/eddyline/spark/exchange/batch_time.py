"""The wall clock of a batch: the time that Spark logs with it, the same when it is repeated.

Spark writes the time at which a batch is planned to its offset log before the batch begins. The
driver reads it there and sets it as a local property, which Spark passes to the tasks of the batch.
AHEAD AT MOST and IDLE AFTER are evaluated with it.

``current_timestamp`` has the same value, but as a constant in generated code: Spark would compile
the code of all inputs again in each batch, and Java would never run it optimized.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import SparkContext, TaskContext
from pyspark.sql import DataFrame, SparkSession

from eddyline.spark.exchange.packed_batches import INPUT_ARROW, INPUT_SCHEMA

_TIME: Final = "eddyline.batch_time"
_NUMBER: Final = "eddyline.batch_number"

#: More than the time from the last tick of a batch to the one that is logged with the batch.
_RECENT_US: Final = 600_000_000


def publish_batch(context: SparkContext, number: int, now_us: int) -> None:
    """Pass number and time of the batch to its tasks; called in the thread of the batches."""
    context.setLocalProperty(_NUMBER, str(number))
    context.setLocalProperty(_TIME, str(now_us))


def batch_time() -> int:
    """In a task: the time of the batch, in microseconds since 1970; 0 outside of tasks."""
    return _published(_TIME)


def batch_number() -> int:
    """In a task: the number of the batch; 0 outside of tasks."""
    return _published(_NUMBER)


def _published(name: str) -> int:
    context = TaskContext.get()
    known = None if context is None else context.getLocalProperty(name)
    return int(known) if known else 0


def heartbeat(
    spark: SparkSession, shards: Sequence[int], more: Callable[[], Sequence[int]] = tuple
) -> DataFrame:
    """A row for each of these shards about once a second, also while there is no input.

    One source and one task for all shards. The source makes up for the seconds of a stop in one
    batch; ticks of more than a few minutes ago are left out: those of a stop.

    Args:
        more: called in the task, further shards.
    """
    source = spark.readStream.format("rate").option("rowsPerSecond", 1).option("numPartitions", 1)

    def ticks(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            us = batch["timestamp"].cast(pa.timestamp("us", "UTC")).cast(pa.int64())
            numbers = batch["value"].filter(pc.greater_equal(us, batch_time() - _RECENT_US))
            rows = [
                (shard, "tick", "", 0, n, 0, b"")
                for n in numbers.to_pylist()
                for shard in (*shards, *more())
            ]
            if rows:
                columns = [list(column) for column in zip(*rows, strict=True)]
                yield pa.record_batch(columns, schema=INPUT_ARROW)

    return source.load().mapInArrow(ticks, INPUT_SCHEMA)
