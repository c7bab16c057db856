"""A restarted job has the same results, exactly once."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from eddyline.spark import NEVER, Restart, Session
from spark_cases import Feed, bag, definitions

pytestmark = pytest.mark.fault

JobInputs = tuple[Feed, Feed]
FEW = Restart(limit=2, first_s=0.01)


def in_order(files: int) -> list[pa.Table]:
    """Five rows each; no row is late."""
    ts = pa.array(range(5 * files)).cast(pa.timestamp("s", "UTC"))
    table = pa.table({"ts": ts, "k": [0] * 5 * files, "v": range(5 * files)})
    return [table.slice(5 * i, 5) for i in range(files)]


class Failing:
    """Prints, and fails some times before."""

    def __init__(self, failures: int) -> None:
        self.left = failures

    def __call__(self, name: str, rows: pa.Table, n: int) -> None:
        if self.left:
            self.left -= 1
            raise RuntimeError("the printer is out of paper")


def session_over(spark: SparkSession, feed: Feed, checkpoint: Path, **more: Any) -> Session:
    session = Session(spark, checkpoint=checkpoint, **more)
    session.sql(definitions({"a": feed.source}, ""))
    session.query("kept", "SELECT k, v FROM a [NOW]", sink="memory")
    session.query("shown", "SELECT k FROM a [NOW]")
    return session


def test_the_memory_sink_survives_restarts(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path
) -> None:
    rows = in_order(3)
    feeds[0].write(*rows[:2])
    printer = Failing(2)
    session = session_over(spark, feeds[0], tmp_path / "c", printer=printer, restart=FEW)
    run = session.start()
    run.processAllAvailable()
    assert (run.restarts, run.exception(), printer.left) == (2, None, 0)
    run.stop()
    before = session.results("kept").count()
    assert before > 0

    feeds[0].write(rows[2])
    printer.left = 1
    failed = session_over(spark, feeds[0], tmp_path / "c", printer=printer, restart=NEVER)
    run = failed.start()
    with pytest.raises(StreamingQueryException, match="out of paper"):
        run.processAllAvailable()

    run = session.start(available_now=True)
    run.finish()
    kept = [v for (*_, v) in bag(session.results("kept"))]
    assert sorted(kept) == list(range(15)), "of all runs of this session, once"


def test_stop_after_the_batch_and_while_it_finishes(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path
) -> None:
    feeds[0].write(*in_order(4))
    started, go_on = threading.Event(), threading.Event()

    def printer(name: str, rows: pa.Table, n: int) -> None:
        started.set()
        go_on.wait(20)

    session = session_over(spark, feeds[0], tmp_path / "c", printer=printer)
    run = session.start()
    finishing = threading.Thread(target=run.awaitTermination)
    finishing.start()
    assert started.wait(60)
    threading.Timer(0.5, go_on.set).start()
    run.stop(after_batch=True)
    finishing.join(60)
    assert not finishing.is_alive() and not run.isActive
    spark_directory = tmp_path / "c/spark"
    begun, done = (
        {f.name for f in (spark_directory / log).iterdir() if f.name.isdigit()}
        for log in ("offsets", "commits")
    )
    assert done and len(begun - done) <= 1, "the batch was committed; the next had hardly begun"
    assert not list((tmp_path / "c/control").glob("end-*")), "the input has not ended"
