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
BOTH = "SELECT {0}, COUNT(*) AS n FROM {{0}} GROUP BY {0} UNION ALL SELECT {0}, {1} FROM {{0}}"
OF_V = f"{BOTH.format('v', 'MAX(w)')} GROUP BY v EMIT CHANGES"
OF_W = f"{BOTH.format('w', 'MAX(v)')} GROUP BY w EMIT CHANGES"


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


def job_with_views(tmp_path: Path, **queries: str) -> Sharded:
    """``v`` is a view over the query ``q``, and ``V of r`` one over a query over ``v``."""
    ddl = f"""{DDL} CREATE QUERY q AS {Q}; CREATE VIEW v AS SELECT v, w FROM q WHERE w > 0;
    CREATE QUERY r AS SELECT w, v FROM V WHERE w > 1; CREATE VIEW `V of r` AS SELECT * FROM R;"""
    return Sharded(ddl, queries, {}, shards=2, directory=tmp_path / "control")


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


def test_views_over_queries(tmp_path: Path) -> None:
    """Also in a layout in which no query reads them."""
    queries = {"of_v": OF_V.format("v"), "of_w": OF_W.format("`v OF r`"), "of_k": OF_K}
    made = job_with_views(tmp_path, **queries, sum_of_k=SUM_OF_K)
    assert layout(made, "q") == "a.k in 2 parts" and layout(made, "of_v") == "a.v in 2 parts"
    assert layout(made, "of_w") == "a.w in 2 parts"
    made.process(rows(0, 8))
    made.restart()
    made.process(rows(8, 20))
    made.check()
    assert all(made.found.changes[name] for name in ("q", "r", "of_v", "of_w"))


def test_added_queries_read_views_over_queries(tmp_path: Path) -> None:
    made = job_with_views(tmp_path, of_k=OF_K, sum_of_k=SUM_OF_K)
    made.process(rows(0, 8))
    window = 6 * SECOND
    assert made.add("p", "SELECT v, w FROM `V of r` WHERE v > 2", window)
    assert layout(made, "p") == "a.k in 2 parts"
    assert made.add("of_v", OF_V.format("v"), window)
    assert layout(made, "of_v") == "a.v in 2 parts"
    made.process(rows(8, 14))
    made.restart()
    assert made.add("of_w", OF_W.format("p"), window)
    assert layout(made, "of_w") == "a.w in 2 parts"
    assert made.add("r_of_v", OF_V.format("r"), window)
    made.process(rows(14, 20))
    for query, view in (("q", "v"), ("R", "V of r")):
        with pytest.raises(CatalogError, match=f"view '{view}' reads it, and a running job keeps"):
            made.running.drop(query)
    for name in ("of_w", "p", "r_of_v"):
        made.drop(name)
    made.process(rows(20, 26))
    made.restart()
    with pytest.raises(CatalogError, match="view 'v' reads it"):
        made.running.drop("q")
    made.process(rows(26, 30))
    made.check()
    assert all(made.found.changes[name] for name in ("q", "r", "p", "of_v", "of_w", "r_of_v"))
