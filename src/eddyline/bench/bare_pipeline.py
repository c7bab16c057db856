"""The least that a Spark job with Python state costs per trigger, for :mod:`eddyline.bench.floor`.

Two file sources, rows packed by stream, one stateful processor that logs its input and hands over
one table per sink, one collect per batch, and a Parquet file per sink, written by the driver.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

from eddyline.spark.environment import LOCAL_CHECKPOINT_CONF, job_conf, settings
from eddyline.spark.exchange.packed_batches import pack, unpack

SCHEMA: Final = "ts TIMESTAMP, k BIGINT, v BIGINT"
_PACKED: Final = "shard BIGINT, name STRING, blob BINARY"
_ARROW: Final = pa.schema([("shard", pa.int64()), ("name", pa.string()), ("blob", pa.binary())])


class _Logger(StatefulProcessor):
    """Writes a record and the input to the state; returns the input of one stream, per sink."""

    def __init__(self, sinks: int) -> None:
        self._sinks = sinks

    def init(self, handle: StatefulProcessorHandle) -> None:
        self._record = handle.getValueState("commit", "record STRING")
        self._log = handle.getMapState("log", "version BIGINT, piece BIGINT", "blob BINARY")

    def handleInputRows(
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any
    ) -> Iterator[pd.DataFrame]:
        row = self._record.get()
        version = 0 if row is None else json.loads(row[0])["version"]
        blobs = [bytes(blob) for frame in rows for blob in frame["blob"]]
        for sink in range(self._sinks):
            frame = {"shard": [0], "name": [str(sink)], "blob": [blobs[0]]}
            yield pd.DataFrame(frame)
        for piece, blob in enumerate(blobs):
            self._log.updateValue((version, piece), (blob,))
        self._record.update((json.dumps({"version": version + 1, "pieces": len(blobs)}),))

    def close(self) -> None:
        """Nothing to release."""


def start_bare_pipeline(
    spark: SparkSession, sources: Sequence[Path], place: Path, sinks: int
) -> StreamingQuery:
    """Start the pipeline, which reads a file of each source per trigger.

    Args:
        place: directory of its checkpoint and files.
    """

    def deliver(packed: DataFrame, batch_id: int) -> None:
        collected = packed.toArrow()
        for name, blob in zip(collected["name"], collected["blob"], strict=True):
            target = place / "sinks" / name.as_py() / f"batch={batch_id}"
            target.mkdir(parents=True, exist_ok=True)
            hidden = target / ".part.tmp"
            pq.write_table(unpack(blob.as_buffer()), hidden)
            hidden.rename(target / "part-00000.parquet")

    more = {**LOCAL_CHECKPOINT_CONF, "spark.sql.shuffle.partitions": "1"}
    with settings(spark, job_conf(spark, more)):
        first, second = (_packed(spark, path) for path in sources)
        results = (
            first.unionAll(second)
            .groupBy("shard")
            .transformWithStateInPandas(_Logger(sinks), _PACKED, "Append", "None")
        )
        writer = results.writeStream.foreachBatch(deliver)
        writer = writer.option("checkpointLocation", str(place / "checkpoint"))
        return writer.trigger(processingTime="0 seconds").start()


def _packed(spark: SparkSession, path: Path) -> DataFrame:
    name = path.name
    files = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(str(path))

    def packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in batches:
            blob = pack(pa.table(rows))
            yield pa.RecordBatch.from_arrays(
                [pa.array([0]), pa.array([name]), pa.array([blob], pa.binary())], schema=_ARROW
            )

    return files.mapInArrow(packed, _PACKED)
