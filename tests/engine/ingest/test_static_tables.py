"""Static tables are looked up: what comes of it, and that nothing is kept for it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import eddyline
from eddyline.testing import engine_with
from eddyline.testing.script import Script

DDL = """
    CREATE STREAM a (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts;
    CREATE TABLE dim (k BIGINT, name STRING);
    CREATE TABLE more (name STRING, n BIGINT);
"""
DIM = "k:int | name:str\n1 | x\n1 | x\n2 | yy\n. | z"
MORE = "name:str | n:int\nx | 7\nz | 8"
ROWS = "ts | k:int | v:int\n1s | 1 | 1\n2s | 2 | 2\n2s | 3 | 3\n3s | . | 4\n4s | 1 | 5\n6s | 2 | 6"
LEFT = "SELECT a.k, a.v, d.name FROM a {} LEFT JOIN dim AS d ON a.k = d.k"

QUERIES = (
    "SELECT a.k, d.name FROM a {} JOIN dim AS d ON a.k = d.k",
    "SELECT a.k, d.name FROM a {} JOIN dim AS d ON a.k = d.k AND a.v > 1",
    "SELECT a.v, d.name FROM a {} CROSS JOIN dim AS d",
    "SELECT a.v, n FROM a {} JOIN dim AS d ON a.k = d.k JOIN more AS m ON m.name = d.name",
    LEFT,
    "SELECT a.v, d.name, m.n FROM a {} LEFT JOIN dim AS d ON a.k = d.k "
    "LEFT JOIN more AS m ON m.name = d.name",
    "SELECT q.v, m.n FROM (SELECT v, UPPER(name) AS u FROM a {} JOIN dim USING (k)) AS q "
    "LEFT JOIN more AS m ON m.name = LOWER(q.u) WHERE NOT EXISTS (SELECT * FROM dim WHERE k = q.v)",
    "SELECT a.v FROM a {} WHERE EXISTS (SELECT * FROM dim AS d WHERE d.k = a.k)",
    "SELECT a.v FROM a {} WHERE NOT EXISTS (SELECT * FROM dim AS d WHERE d.k = a.k)",
    "SELECT a.v FROM a {} WHERE NOT EXISTS (SELECT * FROM dim AS d WHERE d.k < a.v)",
    "SELECT d.name, COUNT(*) AS n FROM a {} LEFT JOIN dim AS d ON a.k = d.k GROUP BY d.name",
    "SELECT DISTINCT d.name FROM a {} JOIN dim AS d ON a.k = d.k",
    "SELECT q.n, d.name FROM (SELECT k, COUNT(*) AS n FROM a {} GROUP BY k) AS q "
    "JOIN dim AS d ON q.k = d.k",
    "SELECT k FROM a {} EXCEPT ALL SELECT k FROM dim",
)


@pytest.mark.parametrize("state", ["upa", "direct", "negative-tuple"])
@pytest.mark.parametrize("window", ["[RANGE 2 SECONDS]", "[ROWS 2]", "[PARTITION BY k ROWS 1]"])
@pytest.mark.parametrize("emit", ["", "EMIT CHANGES", "EMIT SNAPSHOT EVERY 2 SECONDS"])
def test_same_answers_as_the_oracle(state: str, window: str, emit: str) -> None:
    queries = {f"q{i}": f"{sql.format(window)} {emit}" for i, sql in enumerate(QUERIES)}
    tables = {"dim": DIM, "more": MORE}
    script = Script(DDL, queries, tables=tables, options={"state": state, "chunk_rows": 2})
    script.process(a=ROWS).check().restart()
    script.process(a="ts | k:int | v:int\n7s | 1 | 7\n7s | 3 | 8").check()
    script.advance("20s").finish()


def test_an_unbounded_stream_is_enriched_without_keeping_it() -> None:
    engine = eddyline.Engine()
    engine.sql(DDL)
    engine.table("dim", pa.table({"k": [1, 2], "name": ["x", "yy"]}))
    engine.table("more", pa.table({"name": ["x"], "n": [7]}))
    engine.query(f"{LEFT.format('[UNBOUNDED]')} LEFT JOIN more AS m ON m.name = d.name", name="q")
    for start in range(0, 20_000, 1_000):
        ts = range(start, start + 1_000)
        rows = pa.table({"ts": ts, "k": [t % 3 for t in ts], "v": ts})
        names = engine.process({"a": rows})["q"]["name"].to_pylist()
        assert sorted(names, key=str) == sorted([[None, "x", "yy"][t % 3] for t in ts], key=str)
    stats = engine.stats()
    assert stats["streams"]["a"]["rows_kept"] == 0
    assert sum(o["rows_kept"] for o in stats["operators"]) == 0


def test_enriching_twice_from_tables_that_change_keeps_nothing_either() -> None:
    engine = eddyline.Engine()
    engine.sql("""
        CREATE STREAM a (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts;
        CREATE TABLE b (k BIGINT, name STRING) WITH (updates = 'non-retroactive');
        CREATE TABLE c (name STRING, n BIGINT) WITH (updates = 'non-retroactive');
    """)
    engine.query(
        "SELECT a.k, c.n FROM a [UNBOUNDED] LEFT JOIN b ON a.k = b.k "
        "LEFT JOIN c ON b.name = c.name",
        name="q",
    )
    names = pa.table({"_ts": [0, 0], "k": [0, 1], "name": ["x", "y"]})
    numbers = pa.table({"_ts": [0], "name": ["x"], "n": [7]})
    engine.process({"b": names, "c": numbers})
    for start in range(1, 20_001, 1_000):
        ts = range(start, start + 1_000)
        rows = pa.table({"ts": ts, "k": [t % 3 for t in ts]})
        found = engine.process({"a": rows})["q"]["n"].to_pylist()
        assert sorted(found, key=str) == sorted([[7, None, None][t % 3] for t in ts], key=str)
    stats = engine.stats()
    assert stats["streams"]["a"]["rows_kept"] == 0
    assert sum(o["rows_kept"] for o in stats["operators"]) == 0


@pytest.mark.parametrize(
    "options", [{}, {"negative_tuples_from": 0.0}, {"state": "negative-tuple"}, {"state": "direct"}]
)
@pytest.mark.parametrize("test", ["EXISTS", "NOT EXISTS"])
def test_lookups_below_an_outer_join_expire_with_its_windows(
    options: dict[str, Any], test: str
) -> None:
    """Rows of a union are in no store: a '-' for each that leaves has to come from below it."""
    engine = engine_with(chunk_rows=1, **options)
    engine.sql(
        "CREATE STREAM a (ts TIMESTAMP, k BIGINT, s STRING) TIMESTAMP BY ts;"
        "CREATE TABLE t (k BIGINT)"
    )
    engine.table("t", pa.table({"k": [2]}))
    query = engine.query(
        "SELECT k FROM a [RANGE 5 SECONDS] UNION ALL SELECT x.k FROM a [RANGE 5 SECONDS] AS x"
        " LEFT JOIN a [RANGE 5 SECONDS] AS y ON x.s = y.s"
        f" WHERE {test} (SELECT 1 FROM t WHERE t.k = x.k) EMIT CHANGES"
    )
    engine.process({"a": pa.table({"ts": [3_000_000, 4_000_000], "k": [1, 2], "s": ["x", "y"]})})
    shown = [1, 1, 2] if test == "NOT EXISTS" else [1, 2, 2]
    assert sorted(query.snapshot()["k"].to_pylist()) == shown
    left = engine.advance(20_000_000)[query.name]
    assert left["_op"].to_pylist() == ["-"] * 3
    assert sorted(left["k"].to_pylist()) == shown
    assert query.snapshot().num_rows == 0
