"""Event times as numbers in files, and streams without any."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from rich.console import Console

from eddyline.cli.bad_rows import bad_rows_of
from eddyline.cli.view import TextView
from eddyline.spark import Session

pytestmark = pytest.mark.spark

NEW_YEAR = 1_767_225_600  # 2026, in seconds


def run(spark: SparkSession, path: Path, lines: list[str], with_: str) -> tuple[Session, Any]:
    path.mkdir()
    (path / "1").write_text("\n".join(lines))
    session = Session(spark)
    session.sql(
        "CREATE STREAM s (ts TIMESTAMP, v BIGINT) TIMESTAMP BY ts "
        f"WITH (path = '{path}', {with_})"
    )  # fmt: skip
    session.query("q", "SELECT v FROM s [NOW]", sink="memory")
    job = session.start(available_now=True)
    job.finish()
    return session, job


def values(session: Session, name: str) -> list[Any]:
    return sorted(r["v"] for r in session.results(name).collect())


@pytest.mark.parametrize("format_", ["json", "csv"])
def test_milliseconds_are_read_as_declared(
    spark: SparkSession, tmp_path: Path, format_: str
) -> None:
    rows: list[tuple[Any, int]] = [(NEW_YEAR * 1000, 1), ("2026-01-01T00:00:01Z", 2), ("soon", 3)]
    if format_ == "json":
        lines = [json.dumps({"ts": ts, "v": v}) for ts, v in rows]
    else:
        lines = [f"{ts},{v}" for ts, v in rows]
    session, job = run(spark, tmp_path / "in", lines, f"source = '{format_}', ts_unit = 'ms'")
    assert values(session, "q") == [1, 2]
    assert [(r["ts"], r["_reason"]) for r in session.results("bad:s").collect()] == [
        ("soon", "ts: cannot read 'soon' as TIMESTAMP")
    ]
    assert job.progress().watermark_us == {"s": (NEW_YEAR + 1) * 1_000_000 + 2}  # at the end


def test_numbers_without_a_declared_unit_are_bad_rows(spark: SparkSession, tmp_path: Path) -> None:
    lines = [json.dumps({"ts": NEW_YEAR * 1000 + i, "v": i}) for i in range(3)]
    session, job = run(spark, tmp_path / "in", lines, "source = 'json'")
    bad = session.results("bad:s").collect()
    assert sorted(r["ts"] for r in bad) == [f"{NEW_YEAR * 1000 + i}" for i in range(3)]
    assert all("milliseconds? declare ts_unit = 'ms'" in r["_reason"] for r in bad)
    assert values(session, "q") == []
    assert job.progress().watermark_us == {"s": None}


def test_a_job_with_a_stream_of_bad_rows_ends_with_a_summary(
    spark: SparkSession, tmp_path: Path
) -> None:
    session = Session(spark, shards=2)
    no_time, at = pa.array([None, None], pa.timestamp("us", "UTC")), [1, 2_000_000]
    for name, ts in (("bad", no_time), ("good", pa.array(at).cast(no_time.type))):
        (tmp_path / name).mkdir()
        pq.write_table(pa.table({"ts": ts, "v": [1, 2]}), tmp_path / name / "1.parquet")
        session.sql(
            f"CREATE STREAM {name} (ts TIMESTAMP, v BIGINT) TIMESTAMP BY ts "
            f"WITH (source = 'parquet', path = '{tmp_path}/{name}')"
        )
        session.query(f"of_{name}", f"SELECT v FROM {name} [RANGE 5 SECONDS]", sink="memory")
    session.query("counted", "SELECT COUNT(*) AS n FROM bad [NOW] EMIT CHANGES", sink="memory")
    run = session.start(available_now=True)
    run.finish()
    assert run.progress().bad == {"bad": 2, "good": 0}
    text = io.StringIO()
    view = TextView(Console(file=text, width=200))
    view.summary(session.queries, run.progress(), list(bad_rows_of(session, run)))
    assert "bad: waits for the first row of each stream" in text.getvalue()
    assert "4 rows in, 2 rows out" in text.getvalue()
