"""The rules as one Spark job: ours, and what one would write by hand for Spark.

All read the same Parquet files, find the same rows and drop them into a ``noop`` sink. What counts
is a batch of a job that has warmed up, from trigger to commit.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.streaming.readwriter import DataStreamWriter

from eddyline.bench.measure import Figure
from eddyline.bench.queries.rules import COLUMNS, RuleWorkload, write_points
from eddyline.spark.environment import local_session
from eddyline.spark.session import Session

_CORES: Final = 2
_FILES_A_BATCH: Final = 2  # so that both cores can read
_IN_SQUARE: Final = "x BETWEEN x0 AND x1 AND y BETWEEN y0 AND y1"
_RESULT: Final = ("id", "ts", "ts + INTERVAL 10 SECONDS AS exp", "k", "x", "y")


@dataclass(frozen=True)
class StreamLoad:
    """Rules, and the stream as files, one per batch; the first batch warms up."""

    rules: RuleWorkload
    folder: Path
    batches: int
    file_rows: int

    @property
    def batch_rows(self) -> int:
        """Rows of a batch."""
        return _FILES_A_BATCH * self.file_rows

    def note(self) -> str:
        """How it is measured."""
        return f"batches of {self.batch_rows:,} rows"

    def rows(self, spark: SparkSession) -> DataFrame:
        """The stream as Spark reads it."""
        files = spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", _FILES_A_BATCH)
        return files.parquet(str(self.folder))


@contextmanager
def spark_session() -> Iterator[SparkSession]:
    """Spark on two cores."""
    if hasattr(os, "sched_setaffinity"):  # the JVM and the workers inherit it
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:_CORES])
    os.environ.setdefault("EDDYLINE_DRIVER_MEMORY", "4g")
    spark = local_session(_CORES)
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def load(count: int, batches: int, file_rows: int) -> Iterator[StreamLoad]:
    """A load whose files exist inside the block."""
    with tempfile.TemporaryDirectory(prefix="eddyline-bench-") as scratch:
        folder = Path(scratch) / "s"
        write_points(folder, batches * _FILES_A_BATCH, file_rows)
        yield StreamLoad(RuleWorkload(count), folder, batches, file_rows)


def large_batches(count: int, batches: int, file_rows: int) -> list[Figure]:
    """What is fast enough for batches of a million rows."""
    with spark_session() as spark, load(count, batches, file_rows) as work:
        figures = [eddyline_job(spark, work), eddyline_for_each(spark, work)]
        figures.append(grid_join(spark, work))
    return figures


def small_batches(count: int, batches: int, file_rows: int) -> list[Figure]:
    """What compares each row with every rule."""
    with spark_session() as spark, load(count, batches, file_rows) as work:
        return [range_join(spark, work), range_join_by_batch(spark, work)]


def generated(count: int, batches: int, file_rows: int) -> list[Figure]:
    """An expression with a branch per rule."""
    with spark_session() as spark, load(count, batches, file_rows) as work:
        return [generated_filter(spark, work)]


def separate(ran: int, count: int, batches: int, file_rows: int) -> list[Figure]:
    """Streaming queries of which each is for one rule."""
    with spark_session() as spark, load(ran, batches, file_rows) as work:
        return [separate_queries(spark, work, count)]


def eddyline_job(spark: SparkSession, load: StreamLoad) -> Figure:
    """A standing query per rule, all with the same sink."""
    session = _session(spark, load)
    for name, select in load.rules.selects():
        session.query(name, select, sink="noop")
    return _eddyline(session, f"Eddyline, {load.rules.count:,} queries", load)


def eddyline_for_each(spark: SparkSession, load: StreamLoad) -> Figure:
    """The same with one statement for all rules."""
    session = _session(spark, load)
    session.table("rules", spark.createDataFrame(load.rules.table))
    session.sql(load.rules.for_each() + " WITH (sink = 'noop')")
    return _eddyline(session, f"Eddyline, {load.rules.count:,} rows of rules", load)


def _session(spark: SparkSession, load: StreamLoad) -> Session:
    session = Session(spark)
    session.sql(
        f"CREATE STREAM s ({COLUMNS}) TIMESTAMP BY ts WITH (source = 'parquet', "
        f"path = '{load.folder}', maxFilesPerTrigger = {_FILES_A_BATCH})"
    )
    return session


def _eddyline(session: Session, name: str, load: StreamLoad) -> Figure:
    run = session.start(available_now=True)
    run.awaitTermination()
    found = sum(run.progress().rows_out.values())
    return _figure(name, load, [run.recentProgress], found)


def range_join(spark: SparkSession, load: StreamLoad) -> Figure:
    """A stream-static join with the rules, which are broadcast."""
    rules = F.broadcast(spark.createDataFrame(load.rules.table))
    found = load.rows(spark).join(rules, F.expr(_IN_SQUARE)).selectExpr(*_RESULT)
    return _native("Spark, join with a table of rules", load, found)


def range_join_by_batch(spark: SparkSession, load: StreamLoad) -> Figure:
    """The same join in foreachBatch."""
    rules = F.broadcast(spark.createDataFrame(load.rules.table))

    def found(batch: DataFrame) -> DataFrame:
        return batch.join(rules, F.expr(_IN_SQUARE)).selectExpr(*_RESULT)

    return _by_batch("Spark, the join in foreachBatch", load, load.rows(spark), found)


def grid_join(spark: SparkSession, load: StreamLoad) -> Figure:
    """The join by cells of a grid laid for just these rules: an equi-join, and a filter."""
    side = load.rules.side

    def cell(column: str) -> str:
        return f"CAST(floor({column} / {side}) AS INT)"

    rules = spark.createDataFrame(load.rules.table)
    for axis in "xy":
        covered = F.expr(f"explode(sequence({cell(f'{axis}0')}, {cell(f'{axis}1')}))")
        rules = rules.withColumn(f"cell_{axis}", covered)
    rows = load.rows(spark)
    for axis in "xy":
        rows = rows.withColumn(f"cell_{axis}", F.expr(cell(axis)))
    candidates = rows.join(F.broadcast(rules), ["cell_x", "cell_y"])
    return _native(
        "Spark, join by a grid laid for the rules",
        load,
        candidates.where(_IN_SQUARE).selectExpr(*_RESULT),
    )


def generated_filter(spark: SparkSession, load: StreamLoad) -> Figure:
    """One generated expression with a branch per rule, in foreachBatch."""
    branches = ", ".join(
        f"IF(x BETWEEN {r['x0']} AND {r['x1']} AND y BETWEEN {r['y0']} AND {r['y1']}, "
        f"{r['id']}L, NULL)"
        for r in load.rules.table.to_pylist()
    )
    matching = F.expr(f"explode(filter(array({branches}), id -> id IS NOT NULL))").alias("id")

    def found(batch: DataFrame) -> DataFrame:
        return batch.select("*", matching).selectExpr(*_RESULT)

    name = f"Spark, generated filter of {load.rules.count:,} branches"
    return _by_batch(name, load, load.rows(spark), found)


def separate_queries(spark: SparkSession, load: StreamLoad, count: int) -> Figure:
    """A streaming query per rule.

    Args:
        count: for how many rules; those of the load are run.
    """
    running = []
    with tempfile.TemporaryDirectory(prefix="eddyline-bench-") as scratch:
        for rule in load.rules.table.to_pylist():
            square = (F.lit(rule[c]).alias(c) for c in load.rules.table.column_names)
            rows = load.rows(spark).select("*", *square)
            writer = _writer(rows.where(_IN_SQUARE).selectExpr(*_RESULT), f"{scratch}/{rule['id']}")
            running.append(writer.format("noop").start())
        for query in running:
            query.awaitTermination()
        ran = load.rules.count
        name = f"Spark, {ran:,} separate queries"
        figure = _figure(name, load, [query.recentProgress for query in running], 0)
    at_pace = figure.rows_per_s * ran / count
    note = f"{figure.note}; {count:,} at the same cost each: {at_pace:,.0f} rows/s"
    return Figure(name, figure.rows, 0, figure.seconds, note=note)


def _native(name: str, load: StreamLoad, found: DataFrame) -> Figure:
    counted = found.observe("found", F.count(F.lit(1)).alias("n"))
    with tempfile.TemporaryDirectory(prefix="eddyline-bench-") as checkpoint:
        query = _writer(counted, checkpoint).format("noop").start()
        query.awaitTermination()
        batches = list(query.recentProgress)
    observed = [b.observedMetrics.get("found") for b in batches]
    return _figure(name, load, [batches], sum(row["n"] for row in observed if row is not None))


def _by_batch(
    name: str, load: StreamLoad, rows: DataFrame, found: Callable[[DataFrame], DataFrame]
) -> Figure:
    counts = []

    def deliver(batch: DataFrame, batch_id: int) -> None:
        observation = Observation()
        counted = found(batch).observe(observation, F.count(F.lit(1)).alias("n"))
        counted.write.format("noop").mode("append").save()
        counts.append(observation.get["n"])

    with tempfile.TemporaryDirectory(prefix="eddyline-bench-") as checkpoint:
        query = _writer(rows, checkpoint).foreachBatch(deliver).start()
        query.awaitTermination()
        return _figure(name, load, [query.recentProgress], sum(counts))


def _writer(rows: DataFrame, checkpoint: str) -> DataStreamWriter:
    writer = rows.writeStream.trigger(availableNow=True)
    return writer.option("checkpointLocation", checkpoint)


def _figure(name: str, load: StreamLoad, progress: Sequence[Sequence[Any]], found: int) -> Figure:
    """The warm batches of one or more queries."""
    seconds: list[float] = []
    for batches in progress:
        filled = [b for b in batches if b.numInputRows]
        assert len(filled) == load.batches, f"{name}: batches differ: {filled}"
        seconds += [b.batchDuration / 1_000 for b in filled[1:]]
    per_batch = round(found / load.batches)
    return Figure(name, load.batch_rows, per_batch, tuple(seconds), note=load.note())
