"""The wall clock of a job: AHEAD AT MOST and IDLE AFTER."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import CatalogError
from eddyline.spark import Session
from eddyline.spark.exchange.packed_batches import Arrivals
from eddyline.spark.partitioning.layouts import one_cell
from eddyline.spark.run import Run
from eddyline.spark.workers.ingest import Destination, task_packer
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateStream
from eddyline.types import TIMESTAMP
from spark_cases import SECOND, Feed

JobInputs = tuple[Feed, Feed]
NEW_YEAR_2200 = 7_258_118_400
START = 1_767_225_600  # 2026
DDL = "CREATE STREAM {} (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts {} WITH ({})"
JOIN = "SELECT a.k FROM a [RANGE 1 DAY], b [RANGE 1 DAY] WHERE a.k = b.k"


def rows(*seconds: float, k: int = 1) -> pa.Table:
    ts = pa.array([round(s * SECOND) for s in seconds], pa.int64()).cast(TIMESTAMP)
    return pa.table({"ts": ts, "k": [k] * len(seconds)})


def wait(run: Run, until: Callable[[], bool]) -> None:
    end = time.monotonic() + 60
    while not until():
        assert run.isActive, run.exception()
        assert time.monotonic() < end, run.shards()
        time.sleep(0.2)


@pytest.mark.spark
def test_one_row_of_the_year_2200_makes_nothing_late(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path
) -> None:
    feed = feeds[0]
    feed.write(rows(*range(START, START + 100)))
    feed.write(rows(NEW_YEAR_2200))
    feed.write(rows(*range(START + 100, START + 300)))
    checkpoint = tmp_path / "checkpoint"
    session = Session(spark, checkpoint=checkpoint)
    session.sql(DDL.format("a", "", feed.source))
    session.query("q", "SELECT k FROM a [NOW]", sink="memory")
    before = time.time_ns() // 1_000
    run = session.start(available_now=True)
    run.awaitTermination()
    shard = run.shards()[0]
    offsets = sorted((checkpoint / "spark" / "offsets").glob("[0-9]*"), key=lambda p: int(p.name))
    logged = json.loads(offsets[-1].read_text().splitlines()[1])["batchTimestampMs"]
    assert shard["now_us"] == logged * 1_000 > before
    run.finish()
    progress = run.progress()
    assert (progress.late, progress.bad) == ({"a": 0}, {"a": 1})
    assert session.results("q").count() == 300
    (bad,) = session.results("bad:a").collect()
    assert "more than 1 DAY ahead of the wall clock" in bad["_reason"]


def ingested(clauses: str, now: int, table: pa.Table) -> tuple[int, int, int]:
    """Numbers of packed and of dropped rows, and the largest timestamp."""
    (statement,) = parse(DDL.format("a", clauses, "source = 'none'"))
    assert isinstance(statement, CreateStream)
    to = Destination(one_cell({"a": None}), (3,))
    pack = task_packer(None, [to], statement.definition, 1e-9, clock=lambda: now * SECOND)
    made = pack(iter(table.to_batches()))
    *packed, clock = [row for batch in made for row in batch.to_pylist()]
    arrivals = Arrivals.read(clock["blob"])
    assert arrivals.newest is not None
    return sum(row["n"] for row in packed), arrivals.dropped, arrivals.newest


def test_ingest_drops_no_row_that_is_ahead_and_does_not_report_its_timestamp() -> None:
    some = rows(START, START + 3_600, START + 3_601)
    assert ingested("AHEAD AT MOST 1 HOUR", START, some) == (1, 2, (START + 3_600) * SECOND)


def test_ingest_drops_no_number_of_a_doubtful_unit() -> None:
    numbers = pa.table({"ts": [5, START, START * 1_000], "k": [1, 1, 1]})
    assert ingested("", START, numbers) == (2, 1, 5)


@pytest.mark.spark
def test_an_idle_stream_and_a_watermark_that_is_reset(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path
) -> None:
    a, b = feeds
    a.write(rows(START + 100))
    b.write(rows(START + 10))
    session = Session(spark, checkpoint=tmp_path / "checkpoint")
    session.sql(DDL.format("a", "", a.source))
    session.sql(DDL.format("b", "IDLE AFTER 3 SECONDS", b.source))
    session.query("q", JOIN, sink="memory")
    run = session.start()
    wait(run, lambda: run.progress().watermark_us == {"a, b": (START + 10) * SECOND})
    assert run.shards()[0]["groups"][0]["held_by"] == "b"
    wait(run, lambda: run.progress().watermark_us == {"a, b": (START + 100) * SECOND})
    assert session.results("q").count() == 1
    with pytest.raises(CatalogError, match="this job reads no stream 'c'; valid: a, b"):
        run.reset_watermark("c")
    run.reset_watermark("B")
    wait(run, lambda: run.progress().watermark_us == {"a, b": None})
    run.stop()
    run = session.start()
    a.write(rows(START + 20, START + 40))
    b.write(rows(START + 30))
    wait(run, lambda: run.progress().rows_in == {"a": 3, "b": 2})
    run.finish()
    assert run.progress().late == {"a": 0, "b": 0}
    assert session.results("q").count() == 3, "one from before the restart, two after it"
