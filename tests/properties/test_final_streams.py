"""Final results of windows as rows: windows over them and OVER across windows give what DuckDB
computes of all rows at once, however the rows are cut into batches and chunks, with restarts.
"""

from __future__ import annotations

import tempfile
from datetime import datetime
from random import Random
from typing import Final

import duckdb
import pyarrow as pa
import pytest

import eddyline
from eddyline import EngineOptions
from window_rows import rows

DDL: Final = "CREATE STREAM s (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts"
#: Windows of a second, of sessions with a gap of half a second, and overlapping ones, in DuckDB.
SECONDS: Final = (
    "(SELECT k, ts // 1000000 * 1000000 + 1000000 AS e, COUNT(*) AS n, SUM(x) AS x FROM s "
    "GROUP BY ALL)"
)
HOPS: Final = (
    "(SELECT k, e, COUNT(*) AS n FROM (SELECT k, UNNEST([ts // 500000 * 500000 + 500000, "
    "ts // 500000 * 500000 + 1000000]) AS e FROM s) GROUP BY ALL)"
)
SESSIONS: Final = (
    "(SELECT k, max(ts) + 500000 AS e, COUNT(*) AS n FROM (SELECT *, SUM(coalesce(b, 0)) OVER "
    "(PARTITION BY k ORDER BY ts) AS i FROM (SELECT *, (ts > LAG(ts) OVER (PARTITION BY k ORDER BY "
    "ts) + 500000)::INT AS b FROM s)) GROUP BY k, i)"
)
SECOND: Final = (
    "SELECT k, window_start, window_end, window_time, COUNT(*) AS n, SUM(x) AS x FROM "
    "s [TUMBLE 1 SECOND] GROUP BY k, window_start, window_end, window_time"
)
SESSION: Final = (
    "SELECT k, window_start AS ws, window_end AS we, COUNT(*) AS n FROM "
    "s [SESSION 500 MILLISECONDS BY k] GROUP BY k, window_start, window_end"
)
#: Our text, and DuckDB's.
QUERIES: Final[dict[str, tuple[str, str]]] = {
    "lag": (
        "SELECT k, n, LAG(n) OVER (PARTITION BY k ORDER BY window_start) AS p "
        f"FROM ({SECOND}) AS q",
        f"SELECT k, n, LAG(n) OVER (PARTITION BY k ORDER BY e) FROM {SECONDS}",
    ),
    "mean of three, in one SELECT": (
        "SELECT k, COUNT(*) AS n, AVG(COUNT(*)) OVER (PARTITION BY k ORDER BY window_end ROWS 2 "
        "PRECEDING) AS m FROM s [TUMBLE 1 SECOND] GROUP BY k, window_start, window_end",
        f"SELECT k, n, AVG(n) OVER (PARTITION BY k ORDER BY e ROWS 2 PRECEDING) FROM {SECONDS}",
    ),
    "sum of times": (
        f"SELECT k, n, SUM(x) OVER (ORDER BY window_time RANGE INTERVAL '2' SECOND PRECEDING) AS m "
        f"FROM ({SECOND}) AS q",
        f"SELECT k, n, SUM(x) OVER (ORDER BY e RANGE 2000000 PRECEDING) FROM {SECONDS}",
    ),
    "first of times": (
        "SELECT k, n, FIRST_VALUE(n) OVER (PARTITION BY k ORDER BY window_start RANGE INTERVAL '2' "
        f"SECOND PRECEDING) AS m FROM ({SECOND}) AS q",
        "SELECT k, n, FIRST_VALUE(n) OVER (PARTITION BY k ORDER BY e RANGE 2000000 PRECEDING) "
        f"FROM {SECONDS}",
    ),
    "qualified": (
        "SELECT k, window_end, COUNT(*) AS n FROM TABLE(HOP(TABLE s, DESCRIPTOR(ts), INTERVAL "
        "'500' MILLISECOND, INTERVAL '1' SECOND)) GROUP BY k, window_start, window_end QUALIFY "
        "COUNT(*) > LAG(COUNT(*)) OVER (PARTITION BY k ORDER BY window_end)",
        "SELECT k, make_timestamp(e), n FROM "
        f"{HOPS} QUALIFY n > LAG(n) OVER (PARTITION BY k ORDER BY e)",
    ),
    "sessions": (
        f"SELECT k, n, SUM(n) OVER (PARTITION BY k ORDER BY we ROWS 1 PRECEDING) AS m "
        f"FROM ({SESSION}) AS q",
        f"SELECT k, n, SUM(n) OVER (PARTITION BY k ORDER BY e ROWS 1 PRECEDING) FROM {SESSIONS}",
    ),
    "by the start of sessions": (
        f"SELECT k, n, LAG(n) OVER (PARTITION BY k ORDER BY ws) AS m FROM ({SESSION}) AS q",
        f"SELECT k, n, LAG(n) OVER (PARTITION BY k ORDER BY e) FROM {SESSIONS}",
    ),
    "windows of windows": (
        f"SELECT k, window_start, COUNT(*) AS c, SUM(x) AS x FROM TUMBLE((SELECT k, n, x, "
        f"window_time AS t FROM ({SECOND}) AS q), t, INTERVAL '3' SECOND) GROUP BY k, "
        "window_start, window_end",
        f"SELECT k, make_timestamp((e - 1) // 3000000 * 3000000) AS w, COUNT(*), SUM(x)::BIGINT "
        f"FROM {SECONDS} GROUP BY k, w",
    ),
    "windows of hops": (
        "SELECT window_end, MAX(n) AS n FROM TUMBLE((SELECT k, COUNT(*) AS n FROM s [HOP 1 SECOND "
        "EVERY 500 MILLISECONDS] GROUP BY k, window_start, window_end), _ts, INTERVAL '3' SECOND) "
        "GROUP BY window_start, window_end",
        f"SELECT make_timestamp((e - 1) // 3000000 * 3000000 + 3000000) AS w, MAX(n) "
        f"FROM {HOPS} GROUP BY w",
    ),
    "windows of the first groups": (
        "SELECT window_end, k, COUNT(*) AS c FROM TUMBLE((SELECT k FROM (SELECT k, window_end, "
        "ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY COUNT(*) DESC, k) AS r "
        "FROM s [TUMBLE 1 SECOND] GROUP BY k, window_start, window_end) AS q WHERE r = 1), _ts, "
        "INTERVAL '3' SECOND) GROUP BY k, window_start, window_end",
        "SELECT make_timestamp((e - 1) // 3000000 * 3000000 + 3000000) AS w, k, COUNT(*) FROM "
        f"(FROM {SECONDS} QUALIFY ROW_NUMBER() OVER (PARTITION BY e ORDER BY n DESC, k) = 1) "
        "GROUP BY w, k",
    ),
    "windows of sessions": (
        f"SELECT window_end, COUNT(*) AS c, SUM(n) AS n FROM TUMBLE(({SESSION}), we, INTERVAL '2' "
        "SECOND) GROUP BY window_start, window_end",
        "SELECT make_timestamp(e // 2000000 * 2000000 + 2000000) AS w, COUNT(*), SUM(n)::BIGINT "
        f"FROM {SESSIONS} GROUP BY w",
    ),
    "three levels": (
        f"SELECT window_end, AVG(c) AS a FROM TUMBLE((SELECT window_time AS t, k, COUNT(*) AS c "
        f"FROM TUMBLE(({SESSION}), we, INTERVAL '1' SECOND) GROUP BY k, window_start, window_end, "
        "window_time), t, INTERVAL '4' SECOND) GROUP BY window_start, window_end",
        "SELECT make_timestamp((e - 1) // 4000000 * 4000000 + 4000000) AS w, AVG(c) FROM (SELECT "
        f"k, e // 1000000 * 1000000 + 1000000 AS e, COUNT(*) AS c FROM {SESSIONS} GROUP BY ALL) "
        "GROUP BY w",
    ),
}


def play(random: Random, sql: str, chunk_rows: int) -> tuple[pa.Table, list[tuple[object, ...]]]:
    """All rows, and what a query has emitted."""
    engine = eddyline.Engine(EngineOptions(chunk_rows=chunk_rows))
    engine.sql(DDL)
    engine.query(sql, name="q")
    clock, given, found = [1_000_000], [], []
    for _ in range(6):
        batch = rows(random, clock, random.choice([1, 5, 20]), "ab")
        given.append(batch)
        found.append(engine.process({"s": batch})["q"])
        if random.random() < 0.3:
            engine = restarted(engine)
        if random.random() < 0.4:
            clock[0] += random.choice([1, 499_999, 2_000_000])
            found.append(engine.advance(clock[0])["q"])
    found.append(engine.advance(clock[0] + 20_000_000)["q"])
    emitted = pa.concat_tables(found)
    assert set(emitted["_op"].to_pylist()) <= {"+"}
    assert emitted["_ts"].to_pylist() == sorted(emitted["_ts"].to_pylist())
    result = emitted.drop_columns(["_op", "_ts", "_exp"]).to_pylist()
    return pa.concat_tables(given), [tuple(map(plain, r.values())) for r in result]


def restarted(engine: eddyline.Engine) -> eddyline.Engine:
    """The engine, saved and loaded."""
    with tempfile.TemporaryDirectory() as directory:
        engine.save(f"{directory}/engine")
        return eddyline.Engine.load(f"{directory}/engine")


def plain(value: object) -> object:
    """A value without its time zone."""
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


@pytest.mark.parametrize("name", QUERIES)
def test_final_streams(name: str) -> None:
    ours, theirs = QUERIES[name]
    for seed in range(6):
        s, found = play(Random(seed), ours, [1, 3, 1000][seed % 3])
        database = duckdb.connect()
        database.register("s", s)
        expected = database.execute(theirs).fetchall()
        assert sorted(map(repr, found)) == sorted(map(repr, expected)), f"{name}, seed {seed}"


def test_results_of_one_window_have_no_order() -> None:
    engine = eddyline.Engine()
    engine.sql(DDL)
    with pytest.raises(eddyline.UnsupportedError, match="results of one window have no order"):
        engine.query(f"SELECT LAG(n) OVER (ORDER BY window_end) AS p FROM ({SECOND}) AS q")
