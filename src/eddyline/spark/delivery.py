"""Delivery: the output of the shards is written to the sinks, batch by batch."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Final

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructType

from eddyline.engine.changes import QUERY_COLUMN
from eddyline.spark.gc_control import freeze_live_objects
from eddyline.spark.packed_batches import unpack
from eddyline.spark.query_rows import QueryRows
from eddyline.spark.sink_factory import Key, SinkFactory
from eddyline.spark.sinks import DriverSink, SparkSink

#: Called with a batch's id, the first rows of a query, and the number of rows that it has.
Follower = Callable[[int, pa.Table, int], None]

#: Maximum number of rows of a batch that a follower receives.
_SHOWN_ROWS: Final = 1_000

#: Called after a batch was delivered, with its id, the shards' reports, and the metrics of queries
#: (JSON) by shard, of shards that have sent them.
Reporter = Callable[[int, list[dict[str, Any]], Mapping[str, bytes]], None]


class Delivery:
    """Runs once per batch in the driver (``foreachBatch``).

    The batch is computed once and cached until it is written to all sinks. One collect brings to
    the driver: reports, rows for print and memory, and the row counts of the other sinks; a sink
    without rows starts no Spark job.
    """

    def __init__(self, sinks: SinkFactory, report: Reporter) -> None:
        self._sinks = sinks
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
            rows = self._collect(packed)
            reports = [json.loads(r["blob"]) for r in rows if r["kind"] == "progress"]
            counts: dict[str, int] = {}
            for query, n in (item for report in reports for item in report["out"].items()):
                counts[query] = counts.get(query, 0) + n
            parts = self._deliver_here(batch_id, rows, counts)
            self._deliver_through_spark(batch_id, rows, packed)
            self._call_followers(batch_id, packed, parts, counts)
        finally:
            packed.unpersist()
        stats = {r["name"]: r["blob"] for r in rows if r["kind"] == "stats"}
        self._report(batch_id, reports, stats)

    def _collect(self, packed: DataFrame) -> list[dict[str, Any]]:
        """The packed batches, with blobs only of reports and of rows for sinks in the driver."""
        here = [k for k, s in self._sinks.by_key.copy().items() if isinstance(s, DriverSink)]
        needed = F.col("kind").isin("progress", "stats")
        for kind in {kind for kind, _ in here}:
            names = [name for k, name in here if k == kind]
            needed |= (F.col("kind") == kind) & F.col("name").isin(names)
        blob = F.when(needed, F.col("blob")).alias("blob")
        rows: list[dict[str, Any]] = packed.select("kind", "name", "n", blob).toArrow().to_pylist()
        return rows

    def _deliver_here(
        self, batch_id: int, rows: list[dict[str, Any]], counts: Mapping[str, int]
    ) -> dict[Key, list[QueryRows]]:
        """Write to the sinks in the driver; returns their rows by key."""
        parts: dict[Key, list[QueryRows]] = {}
        by_sink: dict[DriverSink, list[QueryRows]] = {}
        side_counts: dict[str, int] = {}
        for row in rows:
            key = (row["kind"], row["name"])
            sink = self._sinks.by_key.get(key)  # None for reports
            if not isinstance(sink, DriverSink):
                continue
            part = _query_rows(*key, row["blob"])
            parts.setdefault(key, []).append(part)
            by_sink.setdefault(sink, []).append(part)
            if row["kind"] != "changes":
                (label,) = part.names
                side_counts[label] = side_counts.get(label, 0) + row["n"]
        for sink, own in by_sink.items():
            sink.deliver(batch_id, own, {**counts, **side_counts})
        return parts

    def _deliver_through_spark(
        self, batch_id: int, rows: list[dict[str, Any]], packed: DataFrame
    ) -> None:
        keys: dict[SparkSink, set[Key]] = {}
        for row in rows:
            key = (row["kind"], row["name"])
            sink = self._sinks.by_key.get(key)
            if isinstance(sink, SparkSink):
                keys.setdefault(sink, set()).add(key)
        for sink, own in keys.items():
            unpacked = _unpacker(sink)
            sink.write(batch_id, _rows(packed, own, from_arrow_schema(sink.schema), unpacked))

    def _call_followers(
        self,
        batch_id: int,
        packed: DataFrame,
        parts: Mapping[Key, list[QueryRows]],
        counts: Mapping[str, int],
    ) -> None:
        for query, followers in self._followers.items():
            binding = self._sinks.find(query)
            if binding is None or not counts.get(query):
                continue
            schema = binding.target.schema
            if binding.key in parts:
                found = [part.only(query) for part in parts[binding.key]]
            else:
                first = _first_rows(query)
                found = [_rows(packed, [binding.key], from_arrow_schema(schema), first).toArrow()]
            rows = pa.concat_tables([schema.empty_table(), *(t.cast(schema) for t in found)])
            for follower in followers.values():
                follower(batch_id, rows.slice(0, _SHOWN_ROWS), counts[query])


Unpacker = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def _rows(
    packed: DataFrame, keys: Iterable[Key], schema: StructType, unpacked: Unpacker
) -> DataFrame:
    """The rows of the packed batches with these keys, which are of one kind."""
    kinds, names = zip(*keys, strict=True)
    own = packed.where((F.col("kind") == kinds[0]) & F.col("name").isin(list(names)))
    return own.select("kind", "name", "blob").mapInArrow(unpacked, schema)


def _unpacker(sink: SparkSink) -> Unpacker:
    """Unpacks rows with the columns that a sink writes."""
    if sink.shared:
        return _with_query
    return _without_query if sink.owner.kind == "changes" else _unchanged


def _unchanged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for table in _tables(batches):
        yield from table.to_batches()


def _with_query(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for rows in _unchanged(batches):
        yield rows.set_column(0, QUERY_COLUMN, rows.column(0).dictionary_decode())


def _without_query(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for table in _tables(batches):
        yield from table.remove_column(0).to_batches()


def _first_rows(query: str) -> Unpacker:
    """Unpacks the first rows of one query."""

    def unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        left = _SHOWN_ROWS
        for table in _tables(batches):
            rows = QueryRows.of(table).only(query).slice(0, left)
            left -= rows.num_rows
            yield from rows.to_batches()

    return unpacked


def _tables(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    freeze_live_objects()
    for batch in batches:
        for blob in batch.column("blob"):
            yield unpack(blob.as_buffer())


def _query_rows(kind: str, name: str, blob: bytes) -> QueryRows:
    rows = unpack(blob)
    return QueryRows.of(rows) if kind == "changes" else QueryRows.whole(f"{kind}:{name}", rows)
