"""Delivery: the fat rows that the shards made go to the sinks, batch by batch."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any, Final

import pyarrow as pa
from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from eddyline.spark.fatrows import unpack
from eddyline.spark.sinks import FileSink, FormatSink, MemorySink, PrintSink, Sink, Target

#: Called with a batch's id, blobs that hold its first rows, and how many rows there were.
Follower = Callable[[int, list[bytes], int], None]

#: No larger blob is collected for a follower.
_SHOWN_BYTES: Final = 1 << 20

#: Called after a batch was delivered, with its id and what the shards reported.
Reporter = Callable[[int, list[dict[str, Any]]], None]


class Delivery:
    """Runs once per batch in the driver (``foreachBatch``).

    The batch is computed once and kept until all sinks have it. What the driver needs itself comes
    in one small collect: progress, rows for print and memory, and how much each other sink gets;
    sinks that get nothing start no Spark job.
    """

    def __init__(self, report: Reporter) -> None:
        self._driver: dict[tuple[str, str], PrintSink | MemorySink] = {}
        self._spark: dict[tuple[str, str], FileSink | FormatSink] = {}
        self._followers: dict[str, dict[str, Follower]] = {}
        self._report = report

    def attach(self, sink: Sink) -> None:
        """Deliver to this sink too, from the next batch on; also while another thread delivers."""
        key = (sink.target.kind, sink.target.name)
        # new dictionaries, because a batch may be on its way through the old ones
        if isinstance(sink, PrintSink | MemorySink):
            self._driver = {**self._driver, key: sink}
        else:
            self._spark = {**self._spark, key: sink}

    def follow(self, query: str, key: str, follower: Follower) -> None:
        """Tell the follower what a query delivers from the next batch on, until ``unfollow``."""
        others = self._followers.get(query, {})
        self._followers = {**self._followers, query: {**others, key: follower}}

    def unfollow(self, query: str, key: str) -> None:
        """Tell it nothing any more."""
        others = {k: f for k, f in self._followers[query].items() if k != key}
        rest = {q: f for q, f in self._followers.items() if q != query}
        self._followers = {**rest, query: others} if others else rest

    def __call__(self, fat: DataFrame, batch_id: int) -> None:
        """Deliver one batch; a batch that Spark replays comes with the same id and rows."""
        fat.persist(StorageLevel.MEMORY_AND_DISK)
        followed = self._followers
        try:
            here = self._collect(fat, list(followed))
            counts: dict[tuple[str, str], int] = {}
            for row in here:
                key = (row["kind"], row["name"])
                counts[key] = counts.get(key, 0) + row["n"]
            for key, driver_sink in self._driver.items():
                blobs = [r["blob"] for r in here if (r["kind"], r["name"]) == key]
                tables = [unpack(blob) for blob in blobs]
                schema = driver_sink.target.schema
                rows = pa.concat_tables(tables) if tables else schema.empty_table()
                driver_sink.deliver(batch_id, rows, counts.get(key, 0))
            for query, followers in followed.items():
                key = ("changes", query)
                blobs = [r["blob"] for r in here if (r["kind"], r["name"]) == key]
                for follower in followers.values() if counts.get(key) else ():
                    follower(batch_id, [b for b in blobs if b is not None], counts[key])
            for key, spark_sink in self._spark.items():
                if counts.get(key):
                    spark_sink.write(batch_id, rows_of(fat, spark_sink.target))
        finally:
            fat.unpersist()
        self._report(batch_id, [json.loads(r["blob"]) for r in here if r["kind"] == "progress"])

    def _collect(self, fat: DataFrame, followed: list[str]) -> list[dict[str, Any]]:
        """The fat rows without the blobs that go to Spark's sinks only."""
        keys = [*self._driver, ("progress", "")]
        wanted = F.lit(False)
        for kind, name in keys:
            wanted |= (F.col("kind") == kind) & (F.col("name") == name)
        if followed:
            small = F.length("blob") <= _SHOWN_BYTES
            wanted |= (F.col("kind") == "changes") & F.col("name").isin(followed) & small
        blob = F.when(wanted, F.col("blob")).alias("blob")
        rows: list[dict[str, Any]] = fat.select("kind", "name", "n", blob).toArrow().to_pylist()
        return rows


def rows_of(fat: DataFrame, target: Target) -> DataFrame:
    """The rows of one target, unpacked."""
    mine = fat.where((F.col("kind") == target.kind) & (F.col("name") == target.name))
    return mine.select("blob").mapInArrow(_unpack_batches, from_arrow_schema(target.schema))


def _unpack_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for blob in batch.column(0):
            yield from unpack(blob.as_buffer()).to_batches()
