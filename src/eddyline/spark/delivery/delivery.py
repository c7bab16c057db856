"""Delivery: the output of the shards is written to the sinks, batch by batch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame

from eddyline.spark.delivery.collected import CollectedBatch, in_time_order, rows_of
from eddyline.spark.delivery.final_stage import DRIVER, FinalStage
from eddyline.spark.delivery.sink_factory import Key, SinkFactory
from eddyline.spark.delivery.spark_writes import (
    first_rows,
    of_keys,
    rows_for_sink,
    sink_columns,
    write_concurrently,
)
from eddyline.spark.exchange.packed_batches import OUTPUT_SCHEMA
from eddyline.spark.exchange.row_files import delete_results
from eddyline.spark.sinks.sink_bases import DiscardSink, DriverSink, Sink, SparkSink
from eddyline.spark.sinks.sinks import FileSink

#: Called with a batch's id, the first rows of a query, and the number of rows that it has.
Follower = Callable[[int, pa.Table, int], None]

#: Maximum number of rows of a batch that a follower receives.
_SHOWN_ROWS: Final = 1_000

#: Called after a batch was delivered and reported, with its id and what the driver has of it.
Answering = Callable[[int, CollectedBatch], None]
#: Called after a batch was delivered, with its id, the shards' reports, and the metrics of queries
#: (JSON) by shard, of shards that have sent them.
Reporter = Callable[[int, list[dict[str, Any]], Mapping[str, bytes]], None]


class Delivery:
    """Runs once per batch in the driver (``foreachBatch``).

    One collect brings to the driver the reports and, if they are small, the rows; it writes files
    without a Spark job. The batch is cached until it is delivered: the other sinks, and large
    batches, are written from the cache by Spark.
    """

    def __init__(
        self,
        sinks: SinkFactory,
        report: Reporter,
        final: FinalStage,
        checkpoint: str,
        answer: Answering,
    ) -> None:
        self._answer = answer
        self._sinks = sinks
        self._checkpoint = checkpoint
        self._final = final
        self._followers: dict[str, dict[str, Follower]] = {}
        self._report = report

    def follow(self, query: str, key: str, follower: Follower) -> None:
        """Call the follower with the results of a query from the next batch on."""
        others = self._followers.get(query, {})
        self._followers = {**self._followers, query: {**others, key: follower}}

    def unfollow(self, query: str, key: str) -> None:
        """End what :meth:`follow` began."""
        others = {k: f for k, f in self._followers[query].items() if k != key}
        rest = {q: f for q, f in self._followers.items() if q != query}
        self._followers = {**rest, query: others} if others else rest

    def __call__(self, packed: DataFrame, batch_id: int) -> None:
        """Deliver one batch. A batch that Spark repeats has the same id and rows."""
        packed.persist(StorageLevel.MEMORY_AND_DISK)
        try:
            batch = CollectedBatch(packed.where("small").toArrow())
            self._final.step(batch)
            rows = self._with_added(batch, packed)
            self._deliver(batch_id, batch, rows)
            self._call_followers(batch_id, batch, rows)
        finally:
            packed.unpersist()
        delete_results(self._checkpoint, batch_id + 1)
        self._report(batch_id, batch.reports, batch.stats)
        self._answer(batch_id, batch)

    def _with_added(self, batch: CollectedBatch, packed: DataFrame) -> DataFrame:
        """The packed batches of the shards, with rows that were added to them here, if Spark has to
        write some of these, or the driver to read them with large ones.
        """
        sinks = {key: self._sinks.by_key.get(key) for key in batch.added}
        in_spark = [k for k, sink in sinks.items() if isinstance(sink, SparkSink)]
        if not in_spark and batch.large.keys().isdisjoint(batch.added):
            return packed
        rows = [(DRIVER, *key, 0, True, b) for key, blobs in batch.added.items() for b in blobs]
        return packed.unionAll(packed.sparkSession.createDataFrame(rows, OUTPUT_SCHEMA))

    def _deliver(self, batch_id: int, batch: CollectedBatch, packed: DataFrame) -> None:
        """Write to all sinks: in the driver first, then by Spark, side by side."""
        writes: list[Callable[[], None]] = []
        for sink, keys in self._sinks_with_rows(batch).items():
            if isinstance(sink, DiscardSink):
                continue
            if isinstance(sink, DriverSink):
                self._deliver_here(sink, batch_id, keys, batch, packed)
            elif not _written_here(sink, batch_id, keys, batch):
                several = len(batch.shards(keys)) > 1
                rows = rows_for_sink(packed, keys, sink, several_shards=several)
                writes.append(partial(sink.write, batch_id, rows))
        write_concurrently(packed.sparkSession, writes)

    def _sinks_with_rows(self, batch: CollectedBatch) -> dict[Sink, list[Key]]:
        """The sinks with the keys of their rows; and those whose answers have become empty."""
        found: dict[Sink, list[Key]] = {}
        for key in batch.with_rows():
            sink = self._sinks.by_key.get(key)
            if sink is not None:
                found.setdefault(sink, []).append(key)
        for sink in self._sinks.begin_again(batch.emptied):
            found.setdefault(sink, [])
        return found

    def _deliver_here(
        self,
        sink: DriverSink,
        batch_id: int,
        keys: list[Key],
        batch: CollectedBatch,
        packed: DataFrame,
    ) -> None:
        parts = [
            rows_of(key, of_keys(packed, [key]).toArrow())
            if key in batch.large
            else batch.rows(key)
            for key in keys
        ]
        sides = {
            label: n
            for key, part in zip(keys, parts, strict=True)
            if key[0] != "changes"
            for label, n in part.counts.items()
        }
        sink.deliver(batch_id, parts, batch.counts | sides)

    def _call_followers(self, batch_id: int, batch: CollectedBatch, packed: DataFrame) -> None:
        for query, followers in self._followers.items():
            binding = self._sinks.find(query)
            if binding is None or not batch.counts.get(query):
                continue
            schema = binding.target.schema
            if binding.key in batch.large:
                rows = first_rows(packed, binding.key, query, schema, _SHOWN_ROWS)
            else:
                rows = batch.rows(binding.key).only(query).cast(schema)
            for follower in followers.values():
                follower(batch_id, rows.slice(0, _SHOWN_ROWS), batch.counts[query])


def _written_here(sink: SparkSink, batch_id: int, keys: list[Key], batch: CollectedBatch) -> bool:
    """Write the rows of a sink in the driver; False if Spark has to write them."""
    if (
        not isinstance(sink, FileSink)
        or sink.here is None
        or not batch.large.keys().isdisjoint(keys)
    ):
        return False
    parts = [sink_columns(sink, batch.rows(key).rows) for key in keys]
    rows = pa.concat_tables(parts)
    if not sink.here.accepts(rows):
        return False
    several = len(keys) > 1 and len(batch.shards(keys)) > 1
    sink.write_here(batch_id, in_time_order(rows) if several else rows)
    return True
