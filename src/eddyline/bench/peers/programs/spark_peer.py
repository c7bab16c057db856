"""Spark Structured Streaming: its own operators, and batches that a program of the user combines.

A batch has the rows of a call. It is read from Parquet files; that is measured, from trigger to
commit of each batch, since Spark has no rows in memory. State is in memory.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from eddyline.bench.cpu_time import cpu_seconds
from eddyline.bench.peers.bags import Bag
from eddyline.bench.peers.cases import Case, key_texts, read_case, read_columns
from eddyline.bench.peers.process import HEAP
from eddyline.bench.peers.programs.serve import serve
from eddyline.bench.peers.programs.spark_texts import (
    by_batch,
    cells_of,
    hashed,
    stream_join,
)

_CONF: Final = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.ansi.enabled": "false",  # hashes wrap around
    "spark.sql.session.timeZone": "UTC",
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.adaptive.enabled": "false",  # plans each batch anew for nothing
}


def forms(case: Case) -> tuple[str, ...]:
    """The names of the forms of a case."""
    if case.kind == "join":
        return ("stream-stream", "foreachBatch")
    return ("broadcast join",) if case.kind == "rules" else ("foreachBatch",)


class Peer:
    """A case in a session."""

    def __init__(self, case: Case, folder: Path, files: Path) -> None:
        from pyspark.sql import SparkSession

        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
        builder = SparkSession.builder.master(f"local[{cores}]")
        for name, value in _CONF.items():
            builder = builder.config(name, value)
        builder = builder.config("spark.driver.memory", f"{os.environ[HEAP]}m")
        self.spark = builder.config("spark.sql.shuffle.partitions", cores).getOrCreate()
        self.spark.sparkContext.setLogLevel("ERROR")
        self.case = case
        self.folder = folder
        self.files = files
        for stream in case.streams:
            self._write(stream)
        self._rules()

    def _write(self, stream: str) -> None:
        case = self.case
        made: dict[str, Any] = dict(read_columns(self.folder, stream, ("ts", *case.columns)))
        if case.string_keys:
            made["k"] = pa.array(key_texts(np.arange(case.keys))).take(pa.array(made["k"]))
        made = {"us": made.pop("ts"), **made}
        table = pa.table({"ts": pa.array(made["us"]).cast(pa.timestamp("us", "UTC")), **made})
        (self.files / stream).mkdir()
        step = case.call_rows // len(case.streams)
        for number, at in enumerate(range(0, case.rows, step)):
            file = self.files / stream / f"{number:04}.parquet"
            pq.write_table(table.slice(at, step), file)
            os.utime(file, (1e9 + number, 1e9 + number))

    def _rules(self) -> None:
        if self.case.kind == "queries":
            rules: dict[str, Any] = dict(read_columns(self.folder, "rules", ("window_us", "x")))
            rules["id"] = np.arange(self.case.count)
        elif self.case.kind == "rules":
            rules = cells_of(read_columns(self.folder, "rules", ("x0", "x1", "y0", "y1")))
        else:
            return
        table = self.spark.createDataFrame(pa.table(rules))
        table.cache().createOrReplaceTempView("rules")
        table.count()

    def _stream(self, stream: str) -> Any:
        key = "STRING" if self.case.string_keys else "BIGINT"
        columns = "".join(
            f", {name} {key if name == 'k' else 'BIGINT'}" for name in self.case.columns
        )
        reader = self.spark.readStream.schema(f"ts TIMESTAMP, us BIGINT{columns}")
        return reader.option("maxFilesPerTrigger", 1).parquet(str(self.files / stream))

    def prepare(self, form: str) -> Callable[[], tuple[Bag, int]]:
        """A run: all files, batch by batch."""
        found: list[Bag] = []
        kept: list[Any] = []
        newest = [0]

        def add(results: Any) -> None:
            row = hashed(self.case, results).collect()[0]
            found.append(Bag(row["n"] or 0, (row["h"] or 0) % 2**64))

        def by_hand(batch: Any, _: int) -> None:
            spark = batch.sparkSession
            rows = batch.unionByName(kept.pop()) if kept else batch
            rows = rows.persist()
            rows.createOrReplaceTempView("kept")
            last, newest[0] = newest[0], rows.agg({"us": "max"}).collect()[0][0]
            add(spark.sql(by_batch(self.case, last, newest[0])))
            still = rows.where(f"us > {newest[0] - self.case.window_us}").localCheckpoint()
            kept.append(still)
            rows.unpersist()

        if form == "foreachBatch":
            source, deliver = self._tagged(), by_hand
        else:
            source = self._native()
            deliver = lambda batch, _: add(batch)  # noqa: E731

        def run() -> tuple[Bag, int]:
            with tempfile.TemporaryDirectory(prefix="eddyline-peer-") as checkpoint:
                writer = source.writeStream.trigger(availableNow=True).foreachBatch(deliver)
                query = writer.option("checkpointLocation", checkpoint).start()
                query.awaitTermination()
                milliseconds = sum(p.batchDuration for p in query.recentProgress)
            for rows in kept:
                rows.unpersist()
            total = Bag(0, 0)
            for bag in found:
                total += bag
            return total, int(milliseconds * 1e6)

        return run

    def _tagged(self) -> Any:
        """One stream of all rows, each with the name of its stream."""
        tagged = [self._stream(s).selectExpr(f"'{s}' AS s", "*") for s in self.case.streams]
        whole = tagged[0]
        for one in tagged[1:]:
            whole = whole.unionByName(one)
        return whole

    def _native(self) -> Any:
        for stream in self.case.streams:
            rows = self._stream(stream)
            if self.case.kind != "rules":
                rows = rows.withWatermark("ts", "0 seconds")
            rows.createOrReplaceTempView(stream)
        return self.spark.sql(stream_join(self.case))


def main(folder: Path) -> None:
    """Serve the case in a folder."""
    files = Path(tempfile.mkdtemp(prefix="eddyline-peer-"))
    try:
        peer = Peer(read_case(folder), folder, files)
        serve(peer.prepare, lambda: int(cpu_seconds() * 1e9))
        peer.spark.stop()
    finally:
        shutil.rmtree(files, ignore_errors=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
