"""The first instant of a group of streams, in shards that have none of the rows around it."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from eddyline.types import TIMESTAMP
from sharded import Sharded

SECOND = 1_000_000
DDL = """
CREATE STREAM a (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts LATENESS 4 SECONDS
  WITH (lateness_by = '{}');
CREATE STREAM b (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts LATENESS 4 SECONDS;
"""
QUERIES = {
    "pairs": "SELECT b.k FROM a [RANGE 5 SECONDS] FULL JOIN b [RANGE 5 SECONDS] ON a.k < b.k",
    "of_b": "SELECT COUNT(*) AS n FROM b [RANGE 5 SECONDS]",
    "by_key": "SELECT k, COUNT(*) AS n FROM b [RANGE 5 SECONDS] GROUP BY k",
}


def rows(*seconds: float) -> pa.Table:
    ts = pa.array([int(s * SECOND) for s in seconds], pa.int64()).cast(TIMESTAMP)
    return pa.table({"ts": ts, "k": pa.array(range(len(seconds)), pa.int64())})


@pytest.mark.parametrize("lateness_by", ["batch", "row"])
@pytest.mark.parametrize("tasks", [1, 2, 3])
def test_late_rows_before_the_first_instant(tmp_path: Path, tasks: int, lateness_by: str) -> None:
    """The watermark is 6 s after the first batch, and no row has been processed: in the second one
    the row at 5 s is late, so the group begins at 6 s, and that at 7 s is not.
    """
    job = Sharded(DDL.format(lateness_by), QUERIES, {}, shards=2, directory=tmp_path, tasks=tasks)
    assert {of.layout.cells for of in job.layouts} == {1, 2}
    job.process({"a": rows(10), "b": rows(10)})
    job.process({"a": rows(5, 7, 12), "b": rows(12)})
    assert len(job.expected.late["a"]) == 1
    job.process({"a": rows(20), "b": rows(21)})
    job.advance(60 * SECOND)
    job.check()
    assert min(row[1] for row in job.found.changes["of_b"]) == 6 * SECOND


@pytest.mark.parametrize("shards", [1, 3])
def test_rows_of_tables_are_the_answer_before_the_first_instant(
    tmp_path: Path, shards: int
) -> None:
    """Of one engine and of a job; there is no watermark until stream b has a row."""
    ddl = f"{DDL.format('batch')} CREATE TABLE t (k BIGINT) WITH (updates = 'retroactive');"
    queries = {
        "all": "SELECT a.k, t.k AS l FROM a [RANGE 5 SECONDS] FULL JOIN t ON a.k = t.k",
        "pairs": "SELECT a.k FROM a [NOW], b [NOW] WHERE a.k = b.k",
    }
    contents = {"t": pa.table({"k": pa.array([3, 4], pa.int64())})}
    job = Sharded(ddl, queries, contents, shards=shards, directory=tmp_path)
    job.process({"a": rows(1)})
    assert job.check_answers() == 2
    job.process({"b": rows(20)})
    assert job.check_answers() > 0
    job.advance(60 * SECOND)
    job.check()
