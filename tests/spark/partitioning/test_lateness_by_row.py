"""A stream whose lateness is judged row by row, in a group with streams that are divided."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from eddyline.types import TIMESTAMP
from sharded import Sharded

SECOND = 1_000_000
DDL = """
CREATE STREAM a (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts LATENESS {} SECONDS
  WITH (lateness_by = 'row');
CREATE STREAM b (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts;
"""
QUERIES = {
    "pairs": "SELECT COUNT(*) AS n FROM a [RANGE 5 SECONDS], b [RANGE 5 SECONDS] WHERE a.k = b.k",
    "of_b": "SELECT COUNT(*) AS n FROM b [RANGE 5 SECONDS]",
    "by_key": "SELECT k, COUNT(*) AS n FROM b [RANGE 5 SECONDS] GROUP BY k",
}


def rows(*seconds: float) -> pa.Table:
    ts = pa.array([int(s * SECOND) for s in seconds], pa.int64()).cast(TIMESTAMP)
    return pa.table({"ts": ts, "k": pa.array(range(len(seconds)), pa.int64())})


@pytest.mark.parametrize("tasks", [1, 2])
@pytest.mark.parametrize("lateness", [0, 2])
@pytest.mark.parametrize("late_at", [1, 2, 3])
def test_late_rows_begin_the_group_at_the_limit(
    tmp_path: Path, tasks: int, lateness: int, late_at: int
) -> None:
    """Aggregates without groups begin at the same instant in all shards: with the first row that is
    not late, or at the instant before which a row is late.
    """
    times: list[float] = [5, 6, 6]
    times.insert(late_at, 1)
    job = Sharded(DDL.format(lateness), QUERIES, {}, shards=2, directory=tmp_path, tasks=tasks)
    assert {of.layout.cells for of in job.layouts} == {1, 2}
    job.process({"a": rows(*times), "b": rows()})
    job.process({"a": rows(2, 7), "b": rows(8, 9)})
    assert len(job.expected.late["a"]) == 2
    job.advance(40 * SECOND)
    job.check()
    limit = max(times[:late_at]) - lateness
    assert min(row[1] for row in job.found.changes["of_b"]) == min(5, limit) * SECOND
