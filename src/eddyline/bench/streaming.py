"""The join as a Spark job, beside Spark's own stream-stream join on the same files.

A standing job runs for days, so what counts is a batch of a job that has warmed up: each run leaves
out its first batch, which starts Python workers and plans and compiles in the JVM, for all alike.
The other batches count whole, from trigger to commit.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Final

import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from eddyline.bench.embedded import join_select
from eddyline.bench.measure import Figure, Sample, repeat
from eddyline.bench.workload import BenchLoad
from eddyline.spark.environment import local_session
from eddyline.spark.session import Session

_CORES: Final = 2
_FILE_ROWS: Final = 500_000  # of one stream: two files make a batch of a million rows
_ROWS: Final = 2_000_000  # of one stream: four batches, three of them warm
_NOTE: Final = "batches of 1,000,000 rows, all but the first of a run"
_PROVIDERS: Final = {
    "Spark's join, state in memory": "HDFSBackedStateStoreProvider",
    "Spark's join, RocksDB": "RocksDBStateStoreProvider",
}
_PROVIDER_PACKAGE: Final = "org.apache.spark.sql.execution.streaming.state"


def spark_joins() -> list[Figure]:
    """Measure the three on two cores; all must find the same matches."""
    if hasattr(os, "sched_setaffinity"):  # the JVM and the workers inherit it
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:_CORES])
    os.environ.setdefault("EDDYLINE_DRIVER_MEMORY", "8g")  # Spark's join keeps its state there
    load = BenchLoad(rows=_ROWS)
    spark = local_session(_CORES)
    with tempfile.TemporaryDirectory(prefix="eddyline-bench-") as scratch:
        sources = _write(load, Path(scratch))
        figures = [eddyline_job(spark, load, sources)]
        figures += [native_join(spark, load, sources, name) for name in _PROVIDERS]
    spark.stop()
    assert len({f.results for f in figures}) == 1, f"matches differ: {figures}"
    return figures


def eddyline_job(spark: SparkSession, load: BenchLoad, sources: dict[str, Path]) -> Figure:
    """Parquet source to noop sink through an Eddyline session."""

    def run() -> Sample:
        session = Session(spark)
        for name, path in sources.items():
            session.sql(
                f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts "
                f"WITH (source = 'parquet', path = '{path}', maxFilesPerTrigger = 1)"
            )
        session.query("q", join_select(load), sink="noop")
        job = session.start(available_now=True)
        job.awaitTermination()
        batches = list(job.recentProgress)
        job.finish()  # one row waits for the other stream's watermark
        return _warm(batches, load, job.progress().rows_out["q"])

    return repeat("Eddyline on Spark", run, note=_NOTE, in_process=False)


def native_join(
    spark: SparkSession, load: BenchLoad, sources: dict[str, Path], name: str
) -> Figure:
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
            batches, found = _drain(output, checkpoint)
        return _warm(batches, load, found)

    return repeat(name, run, note=_NOTE, in_process=False)


def _warm(batches: list[Any], load: BenchLoad, found: int) -> Sample:
    """The batches with rows but the first, and the share of the results that is theirs."""
    filled = [b for b in batches if b.numInputRows]
    assert len(filled) == load.rows // _FILE_ROWS, f"batches differ: {filled}"
    seconds = sum(b.batchDuration for b in filled[1:]) / 1_000
    share = (len(filled) - 1) / len(filled)
    return Sample(round(2 * load.rows * share), round(found * share), seconds)


def _read(spark: SparkSession, side: str, path: Path) -> DataFrame:
    files = spark.readStream.schema("ts TIMESTAMP, k BIGINT, v BIGINT")
    rows = files.option("maxFilesPerTrigger", 1).parquet(str(path))
    renamed = rows.select(*(F.col(c).alias(f"{side}_{c}") for c in ("ts", "k", "v")))
    return renamed.withWatermark(f"{side}_ts", "0 seconds")


def _drain(output: DataFrame, checkpoint: str) -> tuple[list[Any], int]:
    """Run to the end of the input: the batches' progress, and how many results there were."""
    writer = output.writeStream.format("noop").option("checkpointLocation", checkpoint)
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    batches = list(query.recentProgress)
    found = [b.observedMetrics.get("found") for b in batches]
    return batches, sum(row["n"] for row in found if row is not None)


def _write(load: BenchLoad, scratch: Path) -> dict[str, Path]:
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
