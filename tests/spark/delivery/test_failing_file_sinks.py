"""A directory that cannot be written does not stop other queries; SIGKILL loses nothing."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from command_line_jobs import CommandLineJob
from spark_cases import Feed, definitions, stream_tables

SELECT = "SELECT k, v FROM a [RANGE 5 SECONDS] WHERE v > 20 EMIT CHANGES"


def rows_by_batch(place: Path) -> list[tuple[int, list[str]]]:
    found = []
    for directory in place.glob("eddyline_batch=*"):
        rows = [
            row for f in sorted(directory.glob("*.parquet")) for row in pq.read_table(f).to_pylist()
        ]
        found.append((int(directory.name.partition("=")[2]), sorted(map(repr, rows))))
    return sorted(found)


@pytest.mark.fault
def test_nothing_is_lost_or_doubled_by_sigkill(spark: SparkSession, tmp_path: Path) -> None:
    feed = Feed(tmp_path / "a")
    rows = stream_tables(1, 6)
    feed.write(*rows)
    script = tmp_path / "job.sql"
    queries = "".join(
        f"CREATE QUERY {name} AS {SELECT} WITH (sink = 'parquet', path = '{tmp_path}/{name}');"
        for name in ("good", "blocked")
    )
    script.write_text(definitions({"a": feed.source}) + queries)
    (tmp_path / "blocked").write_text("a file is in the way")
    checkpoint = tmp_path / "c"
    job = CommandLineJob(script, checkpoint)
    job.kill_when(lambda: job.commits >= 3 and len(list(checkpoint.glob("undelivered/*/*"))) >= 2)
    (tmp_path / "blocked").unlink()
    job.finish(spark)
    good = rows_by_batch(tmp_path / "good")
    assert len(good) >= 5
    assert rows_by_batch(tmp_path / "blocked") == good
    assert not list(checkpoint.glob("undelivered/*"))
