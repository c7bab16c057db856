"""Temporal filters: at every instant the answer is that of the query with the instant as now()."""

from __future__ import annotations

import random
from datetime import datetime, timedelta

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from eddyline import Engine

US = "INTERVAL '{}' MICROSECONDS"
QUERIES = (
    "SELECT k, v FROM a WHERE ts > now() - {d}",
    "SELECT k, v FROM a WHERE ts >= now() - {d} AND ts <= now()",
    "SELECT k, v FROM a WHERE ts + {d} > now() AND v > 1",
    "SELECT k, v FROM a WHERE now() - ts < {d} AND now() - ts < {e}",
    "SELECT k, COUNT(*) AS n FROM a WHERE ts BETWEEN now() - {d} AND now() + {e} GROUP BY k",
    "SELECT a.v, b.v AS w FROM a, b WHERE a.k = b.k AND now() < a.ts + {d} AND now() <= b.ts + {e}",
    "SELECT a.v, b.v AS w FROM a JOIN b USING (k) WHERE a.ts > now() - {d} AND b.ts > now() - {e}",
    "SELECT v, u FROM (SELECT ts, v, k AS u FROM a UNION ALL SELECT ts, k, v FROM b) AS x"
    " WHERE ts >= now() - {d}",
    "SELECT DISTINCT k FROM a WHERE ts = now()",
    "SELECT k, v FROM a WHERE ts > now() - {d} AND EXISTS"
    " (SELECT 1 FROM b WHERE b.k = a.k AND b.ts > now() - {e})",
    "SELECT a.k, a.v, b.v AS w FROM a [RANGE 40 MICROSECONDS] AS a LEFT JOIN"
    " b [RANGE 40 MICROSECONDS] AS b ON a.k = b.k WHERE a.ts > now() - {d}",
    "SELECT a.k, a.v, b.v AS w FROM a [RANGE 40 MICROSECONDS] AS a FULL JOIN"
    " b [RANGE 40 MICROSECONDS] AS b ON a.k = b.k WHERE b.ts > now() - {d}",
)


def engine_of() -> Engine:
    engine = Engine()
    for name in "ab":
        engine.sql(f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts")
    return engine


def rows_of(rng: random.Random, count: int) -> pa.Table:
    columns = {name: [rng.randrange(4) for _ in range(count)] for name in "kv"}
    return pa.table({"ts": sorted(rng.randrange(20) for _ in range(count)), **columns})


def answer(
    connection: duckdb.DuckDBPyConnection, sql: str, a: pa.Table, b: pa.Table, now: int
) -> list[tuple[object, ...]]:
    """The answer over the rows until now; all of them are in the windows of 40 us."""
    for name, table in (("a", a), ("b", b)):
        seen = table.filter(pc.field("ts") <= now)
        connection.register(name, seen.set_column(0, "ts", seen["ts"].cast(pa.timestamp("us"))))
    at = datetime(1970, 1, 1) + timedelta(microseconds=now)
    text = sql.replace(" [RANGE 40 MICROSECONDS]", "").replace("now()", f"TIMESTAMP '{at}'")
    return connection.execute(text).fetchall()


@pytest.mark.parametrize("sql", QUERIES)
def test_answers_at_every_instant(sql: str) -> None:
    rng = random.Random(sql)
    lengths = [US.format(rng.randrange(1, 12)) for _ in range(2)]
    text = sql.format(d=lengths[0], e=lengths[1])
    a, b = rows_of(rng, 20), rows_of(rng, 20)
    engine, peer = engine_of(), duckdb.connect()
    query = engine.query(text, name="q")
    for now in range(32):
        at = pc.field("ts") == now
        engine.process({"a": a.filter(at), "b": b.filter(at)})
        engine.advance(now)
        found = [tuple(r.values()) for r in query.snapshot().to_pylist()]
        assert sorted(found, key=str) == sorted(answer(peer, text, a, b, now), key=str), (text, now)
