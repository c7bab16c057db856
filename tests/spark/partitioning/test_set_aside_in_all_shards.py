"""A query that one shard sets aside is set aside in all shards of its group."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from eddyline.spark.partitioning.dealing import Dealer
from eddyline.types import TIMESTAMP
from sharded import Sharded
from sharded_engines import Shard

SECOND = 1_000_000
DDL = """
CREATE STREAM a (ts TIMESTAMP, k BIGINT, t STRING) TIMESTAMP BY ts;
CREATE STREAM b (ts TIMESTAMP, k BIGINT, t STRING) TIMESTAMP BY ts;
"""
FAILING = "SELECT k, CAST(t AS BIGINT) AS n FROM a [RANGE 5 SECONDS]"
OF_K = "SELECT k, COUNT(*) AS n FROM b [RANGE 5 SECONDS] GROUP BY k EMIT CHANGES"
PAIRS = "SELECT a.k FROM a [RANGE 2 SECONDS], b [RANGE 2 SECONDS] WHERE a.k = b.k"

Keys = tuple[int, int]


def rows(keys: Keys, first: int, end: int, *, bad: bool = False) -> pa.Table:
    """Rows with two keys in turn; with ``bad`` the text of the first key is no number."""
    numbers = range(first, end)
    return pa.table(
        {
            "ts": pa.array([n * SECOND // 8 for n in numbers], pa.int64()).cast(TIMESTAMP),
            "k": [keys[n % 2] for n in numbers],
            "t": ["x" if bad and n % 2 == 0 else "1" for n in numbers],
        }
    )


def started(path: Path) -> tuple[Sharded, Keys]:
    """A job with two shards, and a key of each; the rows of the first key are bad rows."""
    job = Sharded(
        DDL,
        {"pairs": PAIRS, "failing": FAILING, "of_k": OF_K},
        {},
        shards=2,
        directory=path,
        options={"set_aside_after": 3},
    )
    (of,) = job.layouts
    assert of.layout.cells == 2
    columns = [pa.array([0] * 20, TIMESTAMP), pa.array(range(20)), pa.array(["1"] * 20)]
    dealt = Dealer(of.layout, "a").deal(columns, 0)
    keys = int(dealt.rows(0)[0]), int(dealt.rows(1)[0])
    job.process({"a": rows(keys, 0, 80, bad=True), "b": rows(keys, 0, 80)})
    return job, keys


def aside(shard: Shard) -> dict[str, str]:
    return shard.engine.aside


def follow(job: Sharded) -> None:
    """What the driver does after a batch."""
    job.running.follow_batch([item for s in job.shards.values() for item in aside(s).items()])


def requests(path: Path) -> int:
    return len(list((path / "control").glob("sql-*")))


def test_a_query_is_set_aside_in_all_shards(tmp_path: Path) -> None:
    job, keys = started(tmp_path)
    (first,) = (s for s in job.shards.values() if aside(s))
    assert "CAST" in aside(first)["failing"] or "'x'" in aside(first)["failing"]
    assert requests(tmp_path) == 0
    follow(job)
    follow(job)
    assert requests(tmp_path) == 1, "one note is enough"
    job.process({"a": rows(keys, 80, 90), "b": rows(keys, 80, 90)})
    assert [aside(s) for s in job.shards.values()] == [aside(first)] * 2
    assert len({s.engine.engine.watermark for s in job.shards.values()}) == 1
    follow(job)
    job.restart()
    follow(job)
    assert requests(tmp_path) == 1, "also after a restart"
    job.process({"a": rows(keys, 90, 100), "b": rows(keys, 90, 100)})
    job.running.drop("failing")
    job.process({"a": rows(keys, 100, 120), "b": rows(keys, 100, 120)})
    assert not any(aside(s) for s in job.shards.values())
    for name in ("pairs", "of_k"):
        found, expected = (of.changes[name] for of in (job.found, job.expected))
        assert sorted(map(str, found)) == sorted(map(str, expected)), name


def test_a_stream_that_only_such_a_query_reads_holds_no_watermark(tmp_path: Path) -> None:
    job, keys = started(tmp_path)
    job.running.drop("pairs")  # now only the failing one reads a
    follow(job)
    job.process({"b": rows(keys, 80, 160)})
    job.process({"b": rows(keys, 160, 200)})
    assert {s.engine.engine.watermark for s in job.shards.values()} == {199 * SECOND // 8}
