"""Delivery: the output of the shards is written to the sinks, batch by batch."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame

from eddyline.spark.delivery.collected import CollectedBatch
from eddyline.spark.delivery.final_stage import DRIVER, FinalStage
from eddyline.spark.delivery.sink_factory import BAD_ROWS_KEY, SinkFactory
from eddyline.spark.delivery.sink_queues import SinkQueues
from eddyline.spark.delivery.sink_rows import SinkRows
from eddyline.spark.delivery.sink_uses import Key
from eddyline.spark.delivery.spark_writes import first_rows, write_concurrently
from eddyline.spark.exchange.packed_batches import OUTPUT_SCHEMA
from eddyline.spark.exchange.query_rows import with_query
from eddyline.spark.exchange.row_files import delete_results
from eddyline.spark.sinks.sink_bases import DiscardSink, DriverSink, SparkSink

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
    batches, are written from the cache by Spark. What a sink does not take waits in its queue.
    """

    def __init__(
        self,
        sinks: SinkFactory,
        queues: SinkQueues,
        report: Reporter,
        final: FinalStage,
        checkpoint: str,
        answer: Answering,
    ) -> None:
        self._answer = answer
        self._sinks = sinks
        self._queues = queues
        self._checkpoint = checkpoint
        self._final = final
        self._followers: dict[str, dict[str, Follower]] = {}  # replaced, not changed
        self._following = threading.Lock()
        self._report = report

    def follow(self, query: str, key: str, follower: Follower) -> None:
        """Call the follower with the results of a query from the next batch on."""
        with self._following:
            others = self._followers.get(query, {})
            self._followers = {**self._followers, query: {**others, key: follower}}

    def unfollow(self, query: str, key: str) -> None:
        """End what :meth:`follow` began."""
        with self._following:
            others = {k: f for k, f in self._followers[query].items() if k != key}
            rest = {q: f for q, f in self._followers.items() if q != query}
            self._followers = {**rest, query: others} if others else rest

    def __call__(self, packed: DataFrame, batch_id: int) -> None:
        """Deliver one batch. A batch that Spark repeats has the same id and rows."""
        packed.persist(StorageLevel.MEMORY_AND_DISK)
        try:
            batch = CollectedBatch(packed.where("small").toArrow())
            self._final.step(batch_id, batch)
            rows = self._with_added(batch, packed)
            of_sinks = self._of_sinks(batch_id, batch, rows)
            if self._add_refused(batch, of_sinks.values()):
                sink = self._sinks.by_key[BAD_ROWS_KEY]
                assert isinstance(sink, SparkSink), "they are files"
                every = self._with_added(batch, packed)
                of_sinks[sink] = SinkRows(sink, batch_id, [BAD_ROWS_KEY], batch, every)
            self._queues.latencies.begin(batch_id, batch.reports, batch.counts)
            self._deliver(packed, of_sinks.values())
            self._queues.latencies.end(batch_id, self._queues.undelivered())
            self.call_followers(batch_id, batch, rows)
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

    def _of_sinks(
        self, batch_id: int, batch: CollectedBatch, packed: DataFrame
    ) -> dict[DriverSink | SparkSink, SinkRows]:
        """The rows by sink; also none, for those whose answers have become empty."""
        keys: dict[DriverSink | SparkSink, list[Key]] = {}
        for key in batch.with_rows():
            sink = self._sinks.by_key.get(key)
            if sink is not None and not isinstance(sink, DiscardSink):
                keys.setdefault(sink, []).append(key)
        emptied = self._sinks.emptied(batch.emptied)
        for sink in emptied:
            keys.setdefault(sink, [])
        return {
            sink: SinkRows(sink, batch_id, own, batch, packed, emptied.get(sink, []))
            for sink, own in keys.items()
        }

    def _add_refused(self, batch: CollectedBatch, of_sinks: Iterable[SinkRows]) -> bool:
        """Add to the batch the rows that sinks cannot have, as bad rows; whether there are some."""
        found = False
        for rows in of_sinks:
            for query, bad in rows.refused():
                batch.add(BAD_ROWS_KEY, DRIVER, with_query(bad, query))
                self._final.note_bad(query, bad.num_rows)
                found = True
        return found

    def _deliver(self, packed: DataFrame, of_sinks: Iterable[SinkRows]) -> None:
        """Write to all sinks: in the driver first, then by Spark and to servers, side by side."""
        writes: list[Callable[[], None]] = []
        remote: list[Callable[[], None]] = []
        for rows in of_sinks:
            if rows.by_spark:
                writes.append(partial(self._queues.deliver, rows))
            elif isinstance(rows.sink, DriverSink) and rows.sink.is_remote:
                remote.append(partial(self._queues.deliver, rows))
            else:
                self._queues.deliver(rows)
        write_concurrently(packed.sparkSession, writes, remote)

    def call_followers(self, batch_id: int, batch: CollectedBatch, packed: DataFrame) -> None:
        """Call those that follow the changes of queries, with the changes of a batch."""
        for query, followers in self._followers.items():
            present = set(batch.with_rows())
            bindings = self._sinks.bindings(query)
            binding = next((b for b in bindings if b.key in present), None)
            if binding is None or not batch.counts.get(query):
                continue
            schema = binding.target.schema
            if binding.key in batch.large:
                rows = first_rows(packed, binding.key, query, schema, _SHOWN_ROWS)
            else:
                rows = batch.rows(binding.key).only(query).cast(schema)
            for follower in followers.values():
                follower(batch_id, rows.slice(0, _SHOWN_ROWS), batch.counts[query])
