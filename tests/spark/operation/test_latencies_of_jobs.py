"""Figures of each batch, and latencies of results from the arrival of their rows, of a job."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import SparkSession

from eddyline.spark import BatchProgress, Session
from spark_cases import Feed, definitions, stream_tables, wait

if TYPE_CHECKING:
    from eddyline.bench.kafka_broker import KafkaBroker

pytestmark = pytest.mark.spark


def test_rows_that_wait_for_the_watermark_and_a_listener(
    spark: SparkSession, feeds: tuple[Feed, Feed], caplog: pytest.LogCaptureFixture
) -> None:
    feed, seen = feeds[0], list[BatchProgress]()
    session = Session(spark, shards=2)
    session.sql(definitions({"a": feed.source}))
    session.query("held", "SELECT k, v FROM a [RANGE 5 SECONDS]", sink="memory")
    session.query("merged", "SELECT COUNT(*) AS n FROM a [RANGE 5 SECONDS]", sink="memory")
    run = session.start()

    def fail(batch: BatchProgress) -> None:
        raise ValueError("the listener is tired")

    run.on_batch(fail)
    run.on_batch(seen.append)
    first, second = stream_tables(1, 2)
    feed.write(first)
    wait(run, lambda: run.progress().rows_in == {"a": 40})
    with_all = run.progress().rows_out["held"]
    time.sleep(3)
    feed.write(second)
    run.processAllAvailable()
    progress = run.progress()
    run.stop()
    assert 0 < with_all < progress.rows_out["held"], "some rows of the first file had to wait"
    assert "the listener is tired" in caplog.text
    batches = [batch for batch in seen if batch.rows_in.get("a")]
    assert [batch.rows_in["a"] for batch in batches] == [40, 40], "rows, not files"
    for name in ("held", "merged"):
        assert sum(b.rows_out.get(name, 0) for b in seen) == progress.rows_out[name]
    assert all(0 < batch.seconds < 60 for batch in batches)
    for name in ("held", "merged"):
        latency = progress.latency[name]
        assert 0.05 < latency.p50_seconds <= latency.p99_seconds < 90
        assert latency.p99_seconds > 3, "those that waited"


def test_messages_of_kafka_arrive_when_they_say(
    spark: SparkSession, kafka: KafkaBroker, tmp_path: Path
) -> None:
    columns = "(v BIGINT, ts TIMESTAMP METADATA FROM 'timestamp') TIMESTAMP BY ts"
    kafka.send(spark, "late_read", [f'{{"v": {n}}}' for n in range(20)])
    time.sleep(6)
    session = Session(spark, shards=2)
    source = kafka.source("late_read", "format = 'json'")
    session.sql(f"CREATE STREAM m {columns} WITH ({source})")
    session.query("q", "SELECT v FROM m [NOW]", sink="memory")
    run = session.start(available_now=True)
    run.finish()
    found: Any = session.results("q").toArrow()
    assert sorted(found["v"].to_pylist()) == list(range(20))
    assert run.progress().latency["q"].p50_seconds > 6
    assert run.progress().delivery.total_seconds < 1000
