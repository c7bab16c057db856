"""Queries that read queries of other layouts of their job."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from eddyline import CatalogError
from eddyline.types import TIMESTAMP
from sharded import Sharded

SECOND = 1_000_000
DDL = """
CREATE STREAM a (ts TIMESTAMP, k BIGINT, v BIGINT, w BIGINT) TIMESTAMP BY ts;
CREATE STREAM b (ts TIMESTAMP, k BIGINT, v BIGINT, w BIGINT) TIMESTAMP BY ts;
"""
Q = "SELECT k, v, w FROM a [RANGE 5 SECONDS] WHERE v <> 1"
#: Each needs all rows of a key at one place.
OF_K = "SELECT k, COUNT(*) AS n FROM a [RANGE 5 SECONDS] GROUP BY k EMIT CHANGES"
SUM_OF_K = "SELECT k, SUM(v) AS s FROM a [RANGE 5 SECONDS] GROUP BY k EMIT CHANGES"
OF_V = "SELECT v, COUNT(*) AS n FROM {} GROUP BY v EMIT CHANGES"
OF_W = "SELECT w, COUNT(*) AS n FROM {} GROUP BY w EMIT CHANGES"


def rows(first: int, end: int) -> dict[str, pa.Table]:
    numbers = range(first, end)
    table = pa.table(
        {
            "ts": pa.array([n * SECOND for n in numbers], pa.int64()).cast(TIMESTAMP),
            "k": [n % 3 for n in numbers],
            "v": [n % 5 for n in numbers],
            "w": [n % 4 for n in numbers],
        }
    )
    return {"a": table, "b": table}


def job(tmp_path: Path, **queries: str) -> Sharded:
    return Sharded(DDL, queries, {}, shards=2, directory=tmp_path / "control")


def layout(of: Sharded, name: str) -> str:
    return of.running.layout_of(name).described


def test_of_the_start(tmp_path: Path) -> None:
    made = job(tmp_path, q=Q, of_k=OF_K, sum_of_k=SUM_OF_K, of_v=OF_V.format("q"))
    assert layout(made, "q") == "a.k in 2 parts" and layout(made, "of_v") == "a.v in 2 parts"
    made.process(rows(0, 8))
    made.restart()
    made.process(rows(8, 20))
    made.check()
    assert made.found.changes["of_v"]


def test_added_and_dropped(tmp_path: Path) -> None:
    made = job(tmp_path, of_k=OF_K, q=Q, of_b="SELECT k FROM b [NOW]")
    made.process(rows(0, 8))
    window = 6 * SECOND
    assert made.add("of_v", OF_V.format("q"), window)
    assert layout(made, "q") == "a.k in 2 parts" and layout(made, "of_v") == "a.v in 2 parts"
    assert made.add("p", "SELECT v, w FROM q WHERE w > 0", window)
    assert layout(made, "p") == "a.k in 2 parts"
    assert made.add("p_of_v", OF_V.format("p"), window)
    assert layout(made, "p_of_v") == "a.v in 2 parts"
    made.process(rows(8, 14))
    assert made.add("p_of_w", OF_W.format("p"), window)
    assert layout(made, "p_of_w") == "a.w in 2 parts"
    made.process(rows(14, 20))
    made.restart()
    with pytest.raises(CatalogError, match="query 'p_of_v' reads it"):
        made.running.drop("p")
    for name in ("p_of_v", "p_of_w", "p", "of_v", "q"):
        made.drop(name)
        made.process({})
        made.restart()
    made.process(rows(20, 26))
    for shard in made.shards.values():
        assert not shard.engine.engine.catalog.views
    made.check()
    assert all(made.found.changes[name] for name in ("of_v", "p_of_v", "p_of_w"))


def test_names_in_any_case_and_views_between(tmp_path: Path) -> None:
    made = job(tmp_path, **{"Big Q": Q}, of_k=OF_K, of_b="SELECT k FROM b [NOW]")
    made.process(rows(0, 8))
    assert made.add("of_v", OF_V.format("`BIG q`"), 6 * SECOND)
    made.process(rows(8, 20))
    made.check()
    assert made.found.changes["of_v"]
