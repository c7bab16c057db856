"""Results of a job equal those of the embedded engine, also after stops and restarts."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyspark.sql import SparkSession

from eddyline.spark import Run, Session
from spark_cases import NAMES, QUERIES, SECOND, Feed, bag, definitions, embedded, stream_tables

JobInputs = tuple[Feed, Feed]


def session_over(spark: SparkSession, feeds: JobInputs, directory: Path) -> Session:
    """The queries of ``cases`` over two feeds, to files, from a checkpoint."""
    session = Session(spark, checkpoint=directory / "checkpoint", shards=2)
    session.sql(definitions({"a": feeds[0].source, "b": feeds[1].source}))
    session.table("names", spark.createDataFrame(NAMES))
    for name, sql in QUERIES.items():
        session.query(name, sql, sink="parquet", path=str(directory / name))
    return session


def delivered(session: Session) -> dict[str, list[tuple[Any, ...]]]:
    return {name: bag(session.results(name)) for name in QUERIES}


def wait_for_batches(run: Run, count: int) -> None:
    deadline = time.monotonic() + 240
    while (run.progress().batch_id or 0) < count - 1:
        assert time.monotonic() < deadline, "the job makes no progress"
        assert run.isActive, run.exception()
        time.sleep(0.05)


def test_same_changes_as_embedded(spark: SparkSession, feeds: JobInputs, tmp_path: Path) -> None:
    a, b = stream_tables(1, 3), stream_tables(2, 3)
    feeds[0].write(*a)
    feeds[1].write(*b)
    session = session_over(spark, feeds, tmp_path)
    run = session.start(available_now=True)
    run.finish()
    expected = embedded({"a": a, "b": b})
    assert all(expected.values()), "each query must have something to say"
    assert delivered(session) == expected
    progress = run.progress()
    assert progress.rows_in == {"a": 120, "b": 120}
    assert progress.rows_out == {name: len(rows) for name, rows in expected.items()}
    assert sum(progress.late.values()) == sum(progress.bad.values()) == 0


def test_stop_and_start_continues(spark: SparkSession, feeds: JobInputs, tmp_path: Path) -> None:
    a, b = stream_tables(3, 5), stream_tables(4, 5)
    feeds[0].write(*a[:3])
    feeds[1].write(*b[:3])
    first = session_over(spark, feeds, tmp_path).start()
    wait_for_batches(first, 2)
    first.stop()
    feeds[0].write(*a[3:])
    feeds[1].write(*b[3:])
    session = session_over(spark, feeds, tmp_path)
    second = session.start(available_now=True)
    second.finish()
    assert second.id == first.id
    assert delivered(session) == embedded({"a": a, "b": b})
    assert second.progress().rows_in == {"a": 200, "b": 200}, "counts go on where they stopped"


def test_late_and_bad_rows_are_kept(spark: SparkSession, feeds: JobInputs, tmp_path: Path) -> None:
    def rows(seconds: list[float | None], values: list[str]) -> pa.Table:
        us = [None if s is None else int(s * SECOND) for s in seconds]
        ts = pa.array(us, pa.int64()).cast(pa.timestamp("us", "UTC"))
        return pa.table({"ts": ts, "k": [1] * len(us), "v": values})

    feeds[0].write(rows([10, 11], ["1", "2"]), rows([4, 12, None, 13], ["3", "4", "5", "x"]))
    session = Session(spark, checkpoint=tmp_path / "c")
    session.sql(definitions({"a": feeds[0].source}, "LATENESS 1 SECOND"))
    session.query("q", "SELECT v FROM a [RANGE 1 SECOND]", sink="memory")
    run = session.start(available_now=True)
    run.finish()
    assert sorted(v for (*_, v) in bag(session.results("q"))) == [1, 2, 4]
    (late,) = session.results("late:a").collect()
    assert late["v"] == 3 and "behind the watermark" in late["_reason"]
    bad = {row["v"]: row["_reason"] for row in session.results("bad:a").collect()}
    assert bad["5"] == "ts is null"
    assert "cannot read 'x' as BIGINT" in bad["x"]
    assert run.progress().late == {"a": 1} and run.progress().bad == {"a": 2}


def test_memory_keeps_rows_after_empty_batches(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path
) -> None:
    rows = stream_tables(1, 4, 1)
    feeds[0].write(*rows)
    session = Session(spark, checkpoint=tmp_path / "c")
    session.sql(definitions({"a": feeds[0].source}, "LATENESS 1 DAY"))  # all held to the end
    session.query("q", "SELECT k, v FROM a [NOW]", sink="memory")
    session.start(available_now=True).finish()
    found = sorted(row[3:] for row in bag(session.results("q")))
    assert found == sorted((r["k"], r["v"]) for t in rows for r in t.to_pylist())


def test_malformed_csv_is_a_bad_row(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in/1.csv").write_text(
        "v,extra,ts\n1,x,2026-01-01 00:00:01\noops,y,2026-01-01 00:00:02\n3,z,when?\n"
    )
    session = Session(spark)
    session.sql(
        "CREATE STREAM s (ts TIMESTAMP, v BIGINT) TIMESTAMP BY ts "
        f"WITH (source = 'csv', path = '{tmp_path}/in', header = 'true')"
    )
    session.query("q", "SELECT v FROM s [NOW]", sink="memory")
    session.start(available_now=True).finish()
    assert [v for (*_, v) in bag(session.results("q"))] == [1]
    reasons = sorted(row["_reason"] for row in session.results("bad:s").collect())
    assert ["3,z,when?" in reasons[0], "oops,y" in reasons[1]] == [True, True]


def test_groups_have_separate_watermarks(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path
) -> None:
    """Streams of different groups: one is decades behind the other, and not late."""
    old = stream_tables(7, 1)[0]
    offset = 30 * 365 * 86_400 * SECOND
    new_ts = pa.array([offset, offset + SECOND]).cast(pa.timestamp("us", "UTC"))
    feeds[0].write(pa.table({"ts": new_ts, "k": [1, 2], "v": [1, 2]}))
    feeds[1].write(old)
    session = Session(spark, shards=2)
    session.sql(definitions({"a": feeds[0].source, "b": feeds[1].source}, ""))
    session.query("new", "SELECT v FROM a [NOW]", sink="memory")
    session.query("old", "SELECT v FROM b [NOW]", sink="memory")
    run = session.start(available_now=True)
    run.finish()
    assert session.results("new").count() == 2
    assert session.results("old").count() + run.progress().late["b"] == old.num_rows
    assert set(run.progress().watermark_us) == {"a", "b"}


def test_stream_from_a_dataframe(spark: SparkSession) -> None:
    session = Session(spark)
    rate = spark.readStream.format("rate-micro-batch").option("rowsPerBatch", 5).load()
    session.stream("ticks", rate, timestamp="timestamp", lateness="1 second")
    session.query("even", "SELECT value FROM ticks [NOW] WHERE value % 2 = 0", sink="memory")
    run = session.start()
    wait_for_batches(run, 2)
    run.finish()
    values = sorted(v for (*_, v) in bag(session.results("even")))
    assert values == list(range(0, run.progress().rows_in["ticks"], 2))
