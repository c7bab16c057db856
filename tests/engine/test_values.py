"""VALUES in FROM: the rows are those of DuckDB at every instant."""

from __future__ import annotations

import random

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from eddyline import Engine

VALUES = "(VALUES (1, 'one', 1.5), (2, NULL, 2), (2, 'two', NULL)) AS t(id, name, x)"
QUERIES = (
    f"SELECT a.v, t.name, t.x FROM a [RANGE 4 MICROSECONDS] AS a, {VALUES} WHERE a.k = t.id",
    f"SELECT a.v, t.name FROM a [RANGE 4 MICROSECONDS] AS a JOIN {VALUES} ON a.k < t.id AND x > 1",
    "SELECT t.name, COUNT(*) AS n FROM a [RANGE 4 MICROSECONDS] AS a"
    f" CROSS JOIN {VALUES} GROUP BY t.name",
    "SELECT a.v, b.v AS w, y FROM a [RANGE 4 MICROSECONDS] AS a"
    " JOIN b [RANGE 4 MICROSECONDS] AS b ON a.k = b.k JOIN (VALUES (0), (3)) AS t(y) ON a.v = t.y",
)


def rows_of(rng: random.Random) -> pa.Table:
    columns = {name: [rng.randrange(4) for _ in range(20)] for name in "kv"}
    return pa.table({"ts": sorted(rng.randrange(15) for _ in range(20)), **columns})


@pytest.mark.parametrize("sql", QUERIES)
def test_answers_at_every_instant(sql: str) -> None:
    rng, engine, peer = random.Random(sql), Engine(), duckdb.connect()
    for name in "ab":
        engine.sql(f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts")
    query = engine.query(sql, name="q")
    rows = {name: rows_of(rng) for name in "ab"}
    for now in range(20):
        engine.process({n: t.filter(pc.field("ts") == now) for n, t in rows.items()})
        engine.advance(now)
        for name, table in rows.items():
            alive = (pc.field("ts") <= now) & (pc.field("ts") > now - 4)
            peer.register(name, table.filter(alive))
        expected = peer.execute(sql.replace(" [RANGE 4 MICROSECONDS]", "")).fetchall()
        found = [tuple(r.values()) for r in query.snapshot().to_pylist()]
        plain = [
            tuple(float(v) if i == 2 and v is not None else v for i, v in enumerate(r))
            for r in expected
        ]
        shown = [
            tuple(float(v) if i == 2 and v is not None else v for i, v in enumerate(r))
            for r in found
        ]
        assert sorted(shown, key=str) == sorted(plain, key=str), now
