"""A job reads histories in the order of time, then the live sources, without loss or doubles."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from eddyline.cli.backtest import Period, fired_in
from eddyline.spark import Restart, Session
from eddyline.spark.operation.progress import BatchProgress
from eddyline.spark.run import Run
from history_jobs import (
    QUERIES,
    SECOND,
    before,
    definition,
    embedded,
    results,
    rows_of,
    session_of,
    since,
    write,
)


def test_history_then_live(spark: SparkSession, tmp_path: Path) -> None:
    """The seam is an instant; files overlap in time, and both sides have rows of the other."""
    a, b = rows_of(1, 0, 60), rows_of(2, 0, 60)
    for name, rows in (("a", a), ("b", b)):
        old = before(rows, 45)
        write(tmp_path, f"old_{name}", old.slice(0, 50), old.slice(50))
        write(tmp_path, f"live_{name}", since(rows, 30))
    seam = ", history_until = '1970-01-01T00:00:40Z'"
    sql = definition("a", tmp_path, seam) + definition("b", tmp_path, seam)
    session = session_of(spark, tmp_path, sql)
    run = session.start(available_now=True)
    run.finish()
    progress = run.progress()
    assert results(session) == embedded({"a": a, "b": b})
    assert not any(progress.late.values()) and not any(progress.bad.values())
    assert progress.covered == {"a": 30, "b": 30}
    assert progress.batch_id is not None and progress.batch_id >= 4, "several slices"


@pytest.mark.fault
def test_interrupted_in_the_history_and_behind_it(spark: SparkSession, tmp_path: Path) -> None:
    """The history of one stream is sorted first, that of the other ends later; the seam is the end
    of each. Batches are repeated after failures, in the history and at the seam.
    """
    a, b = rows_of(1, 0, 60), rows_of(2, 0, 60)
    (tmp_path / "old_a").mkdir()
    text = before(a, 40).set_column(0, "ts", before(a, 40)["ts"].cast(pa.string()))
    csv.write_csv(text, tmp_path / "old_a" / "all.csv")
    write(tmp_path, "old_b", before(b, 50))
    write(tmp_path, "live_a", since(a, 35))
    write(tmp_path, "live_b", since(b, 45))
    as_csv = definition("a", tmp_path).replace(
        "history = 'parquet'", "history = 'csv', history_header = true"
    )
    sql = as_csv + definition("b", tmp_path)
    for in_history in (True, False):
        session = session_of(spark, tmp_path, sql)
        run = session.start()
        stopped = threading.Event()

        def stop(
            batch: BatchProgress,
            run: Run = run,
            stopped: threading.Event = stopped,
            in_history: bool = in_history,
        ) -> None:
            if batch.batch_id == 1 if in_history else run.progress().covered:
                stopped.set()
                time.sleep(1)  # so that the stop hits this batch, which is repeated

        run.on_batch(stop)
        assert stopped.wait(240)
        run.stop()
    session = session_of(spark, tmp_path, sql)
    run = session.start(available_now=True)
    run.finish()
    assert results(session) == embedded({"a": a, "b": b})
    assert run.progress().covered == {"a": 15, "b": 15}
    assert not any(run.progress().late.values())


def test_a_backtest_has_the_answers_of_the_period(spark: SparkSession, tmp_path: Path) -> None:
    """Of a stream with a history as a DataFrame, and one whose source is files; its live source is
    not read.
    """
    a, b = rows_of(1, 0, 60), rows_of(2, 0, 60)
    write(tmp_path, "old_a", a)
    write(tmp_path, "live_b", b)
    write(tmp_path, "live_a", rows_of(1, 60, 70))
    session = Session(spark, restart=Restart(5, first_s=0.01))
    old, types = str(tmp_path / "old_a"), "ts TIMESTAMP, k BIGINT, v BIGINT"
    live = spark.readStream.schema(types).parquet(str(tmp_path / "live_a"))
    session.stream("a", live, timestamp="ts", history=spark.read.parquet(old))
    without = definition("b", tmp_path).partition(", history")[0] + ");"
    session.sql(without)
    for name, select in QUERIES.items():
        session.query(name, select)
    run = session.backtest("1970-01-01T00:00:10Z", 50 * SECOND, output=tmp_path / "out")
    run.finish()
    period = {"a": before(since(a, 10), 50), "b": before(since(b, 10), 50)}
    assert results(session) == embedded(period)
    (fired,) = (
        fired_in(name, tmp_path / "out" / name, Period(10 * SECOND, 50 * SECOND), tmp_path / "kept")
        for name in ["pairs"]
    )
    inside = [row for row in embedded(period)["pairs"] if row[1] < 50 * SECOND]
    assert (fired.inserted, fired.deleted) == (len(inside), 0)
    assert fired.instants == len({row[1] for row in inside})
    assert pq.read_metadata(tmp_path / "kept" / "pairs.parquet").num_rows == len(inside)
