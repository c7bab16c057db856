"""The join as a Spark job, beside Spark's own stream-stream join on the same files.

A run counts from the start of the streaming query to its end, with planning and state commits, but
not the start of the JVM.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from eddyline.bench.embedded import join_select
from eddyline.bench.measure import Figure, Sample, repeat
from eddyline.bench.workload import Workload
from eddyline.spark.environment import local_session
from eddyline.spark.session import Session

_CORES: Final = 2
_FILE_ROWS: Final = 500_000  # of one stream: two files make a batch of a million rows
_PROVIDERS: Final = {
    "Spark's join, state in memory": "HDFSBackedStateStoreProvider",
    "Spark's join, RocksDB": "RocksDBStateStoreProvider",
}
_PROVIDER_PACKAGE: Final = "org.apache.spark.sql.execution.streaming.state"


def spark_joins() -> list[Figure]:
    """Measure the three on two cores; all must find the same matches."""
    if hasattr(os, "sched_setaffinity"):  # the JVM and the workers inherit it
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:_CORES])
    load = Workload()
    spark = local_session(_CORES)
    with tempfile.TemporaryDirectory(prefix="eddyline-bench-") as scratch:
        sources = _write(load, Path(scratch))
        figures = [eddyline_job(spark, load, sources)]
        figures += [native_join(spark, load, sources, name) for name in _PROVIDERS]
    spark.stop()
    assert len({f.results for f in figures}) == 1, f"matches differ: {figures}"
    return figures


def eddyline_job(spark: SparkSession, load: Workload, sources: dict[str, Path]) -> Figure:
    """Parquet source to noop sink through an Eddyline session."""

    def run() -> Sample:
        session = Session(spark)
        for name, path in sources.items():
            session.sql(
                f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts "
                f"WITH (source = 'parquet', path = '{path}', maxFilesPerTrigger = 1)"
            )
        session.query("q", join_select(load), sink="noop")
        begin = time.perf_counter()
        job = session.start(available_now=True)
        job.awaitTermination()
        seconds = time.perf_counter() - begin
        job.finish()  # not timed: one row waits for the other stream's watermark
        return Sample(2 * load.rows, job.progress().rows_out["q"], seconds)

    return repeat("Eddyline on Spark", run, note="batches of 1,000,000 rows", in_process=False)


def native_join(spark: SparkSession, load: Workload, sources: dict[str, Path], name: str) -> Figure:
    """Parquet source to noop sink through Spark's stream-stream join."""
    provider = f"{_PROVIDER_PACKAGE}.{_PROVIDERS[name]}"

    def run() -> Sample:
        a, b = (_read(spark, side, path) for side, path in sources.items())
        reach = F.expr(f"INTERVAL {load.window_us} MICROSECONDS")
        near = (F.col("b_ts") > F.col("a_ts") - reach) & (F.col("b_ts") < F.col("a_ts") + reach)
        joined = a.join(b, (F.col("a_k") == F.col("b_k")) & near)
        output = joined.select("a_k", "a_v", "b_v").observe("found", F.count(F.lit(1)).alias("n"))
        spark.conf.set("spark.sql.streaming.stateStore.providerClass", provider)
        with tempfile.TemporaryDirectory(prefix="eddyline-bench-") as checkpoint:
            return Sample(2 * load.rows, *_drain(output, checkpoint))

    return repeat(name, run, note="batches of 1,000,000 rows", in_process=False)


def _read(spark: SparkSession, side: str, path: Path) -> DataFrame:
    files = spark.readStream.schema("ts TIMESTAMP, k BIGINT, v BIGINT")
    rows = files.option("maxFilesPerTrigger", 1).parquet(str(path))
    renamed = rows.select(*(F.col(c).alias(f"{side}_{c}") for c in ("ts", "k", "v")))
    return renamed.withWatermark(f"{side}_ts", "0 seconds")


def _drain(output: DataFrame, checkpoint: str) -> tuple[int, float]:
    """Run to the end of the input: (results, seconds)."""
    writer = output.writeStream.format("noop").option("checkpointLocation", checkpoint)
    begin = time.perf_counter()
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    seconds = time.perf_counter() - begin
    found: list[Any] = [p.observedMetrics.get("found") for p in query.recentProgress]
    return sum(row["n"] for row in found if row is not None), seconds


def _write(load: Workload, scratch: Path) -> dict[str, Path]:
    """The streams as files. Spark takes files by age: that must be the order of time."""
    sources = {}
    for name, rows in (("a", load.a), ("b", load.b)):
        folder = sources[name] = scratch / name
        folder.mkdir()
        for number, at in enumerate(range(0, load.rows, _FILE_ROWS)):
            file = folder / f"{number:03}.parquet"
            pq.write_table(rows.slice(at, _FILE_ROWS), file)
            os.utime(file, (1e9 + number, 1e9 + number))
    return sources
