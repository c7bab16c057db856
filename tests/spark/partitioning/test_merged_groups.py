"""Queries whose groups are computed in parts by the cells of a layout and merged by the driver."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest

from sharded import Sharded

DDL = """
    CREATE STREAM a (ts TIMESTAMP, k BIGINT, g BIGINT, x DOUBLE, n BIGINT) TIMESTAMP BY ts;
    CREATE STREAM b (ts TIMESTAMP, k BIGINT, g BIGINT, x DOUBLE, n BIGINT) TIMESTAMP BY ts;
"""
JOIN = "a [RANGE 10 SECONDS], b [RANGE 7 SECONDS] WHERE a.k = b.k"
QUERIES = {
    "total": f"SELECT COUNT(*) AS n, SUM(a.x) AS s, MAX(b.n) AS m FROM {JOIN}",
    "groups": f"SELECT a.g, COUNT(*) AS n, AVG(b.x) AS m FROM {JOIN} GROUP BY a.g EMIT CHANGES",
    "having": f"SELECT a.g, SUM(b.n) AS s FROM {JOIN} GROUP BY a.g HAVING SUM(b.n) > 10",
    "values": f"SELECT DISTINCT a.g FROM {JOIN}",
    "hidden": f"SELECT COUNT(*) + 1 AS n FROM {JOIN} GROUP BY a.g",
    "counted": "SELECT COUNT(*) AS n FROM a [RANGE 1 MINUTE] WHERE x > 0.5",
    "every": f"SELECT a.g, COUNT(*) AS n FROM {JOIN} GROUP BY a.g EMIT SNAPSHOT EVERY 4 SECONDS",
    "distinct": f"SELECT COUNT(DISTINCT a.n) AS n, COUNT(DISTINCT b.g) AS g FROM {JOIN}",
    "of_groups": f"SELECT a.g, COUNT(DISTINCT b.n) AS n FROM {JOIN} GROUP BY a.g EMIT CHANGES",
    "spread": f"SELECT b.g, STDDEV(a.x) AS d, COUNT(DISTINCT a.n) AS n FROM {JOIN} GROUP BY b.g "
    "HAVING COUNT(DISTINCT a.n) > 1",
    "deviation": "SELECT STDDEV(x) AS d, STDDEV(n) AS e FROM a [RANGE 5 SECONDS] EMIT CHANGES",
    "plain": f"SELECT a.x, b.x AS y FROM {JOIN}",
}
STEP = 1_000_000


def rows(random: Random, start: int, end: int) -> pa.Table:
    times = sorted(random.randrange(start * STEP, end * STEP) for _ in range(random.randrange(12)))
    return pa.table(
        {
            "ts": times,
            "k": [random.randrange(5) for _ in times],
            "g": [random.choice([1, 2, None]) for _ in times],
            "x": [random.gauss(0, 1) * 10.0 ** random.randrange(-9, 9) for _ in times],
            "n": [random.randrange(-5, 20) for _ in times],
        },
        schema=pa.schema(
            [("ts", pa.int64())]
            + [(c, pa.float64() if c == "x" else pa.int64()) for c in ("k", "g", "x", "n")]
        ),
    )


def both(random: Random, step: int) -> dict[str, Any]:
    return {name: rows(random, 3 * step, 3 * step + 3) for name in ("a", "b")}


def job(tmp_path: Path, queries: dict[str, str] = QUERIES, **options: Any) -> Sharded:
    return Sharded(DDL, queries, {}, shards=4, directory=tmp_path / "control", **options)


def test_all_but_the_plain_join_are_divided(tmp_path: Path) -> None:
    assert job(tmp_path).running.divided.by_name.keys() == QUERIES.keys() - {"plain"}


@pytest.mark.parametrize("seed", range(4))
def test_merged_groups_are_those_of_one_engine(tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    sharded = job(tmp_path)
    for step in range(12):
        sharded.process(both(random, step), repeated=random.random() < 0.2)
        if random.random() < 0.3:
            sharded.restart()
    sharded.advance(100 * STEP)
    sharded.check()
    found = sharded.found.changes
    assert all(found[name] for name in QUERIES)


def test_queries_that_are_added_and_dropped(tmp_path: Path) -> None:
    random = Random(5)
    sharded = job(tmp_path, {"plain": QUERIES["plain"]})
    for step in range(12):
        if step in (2, 4):
            for name, sql in QUERIES.items():
                if name != "plain" and (len(name) % 2 == 0) == (step == 2):
                    assert sharded.add(name, sql, 60 * STEP)
        if step == 9:
            sharded.drop("groups")
        sharded.process(both(random, step), repeated=step == 5)
        if step in (3, 4, 8):
            sharded.restart()
    for step in range(40, 60):
        sharded.process(both(random, step))
    sharded.advance(400 * STEP)
    sharded.check()
    assert len(sharded.running.divided.by_name) == 10
    assert not sharded.added, "the layout of the join fits them"


def test_a_reset_of_the_watermark_empties_merged_groups(tmp_path: Path) -> None:
    random = Random(6)
    queries = {name: QUERIES[name] for name in ("total", "groups", "of_groups", "spread")}
    sharded = job(tmp_path, queries)
    for step in range(4):
        sharded.process(both(random, step + 20))
    sharded.reset("a")
    for step in range(4):
        sharded.process(both(random, step))
        sharded.restart()
    sharded.advance(50 * STEP)
    sharded.check()


def test_a_query_of_which_all_groups_fail_is_set_aside_in_all_shards(tmp_path: Path) -> None:
    having = "HAVING 1 / (COUNT(*) - COUNT(*)) > 0"
    queries = {
        "plain": QUERIES["plain"],
        "failing": f"SELECT a.g, COUNT(*) AS n FROM {JOIN} GROUP BY a.g {having}",
    }
    random = Random(3)
    sharded = job(tmp_path, queries, options={"set_aside_after": 3})
    for step in range(6):
        sharded.process(both(random, step))
    assert len(sharded.found.bad["failing"]) >= 3
    assert "failing" not in sharded.running.divided.by_name
    layout = sharded.running.layout_of("failing")
    asides = [sharded.shards[shard].engine.aside for shard in layout.ids]
    assert len(asides) == 4
    assert all("division by zero" in aside["failing"].lower() for aside in asides), asides
    sharded.restart()
    before = len(sharded.found.bad["failing"])
    sharded.process(both(random, 7))
    assert len(sharded.found.bad["failing"]) == before
    assert sharded.found.changes["plain"]
