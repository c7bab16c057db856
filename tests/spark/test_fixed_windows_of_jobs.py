"""Windows in jobs: what an engine gives, in several shards and after a restart."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from eddyline import Engine
from eddyline.spark import Session
from eddyline.testing.bags import rows_of

pytestmark = pytest.mark.spark

QUERIES: Final = {
    "per_key": "SELECT k, window_end, COUNT(*) AS n, SUM(x) AS x FROM TABLE(TUMBLE(TABLE s, "
    "DESCRIPTOR(ts), INTERVAL '1' SECOND)) GROUP BY k, window_start, window_end",
    "hops": "SELECT k, window_end, COUNT(*) AS n, AVG(x) AS x FROM s "
    "[HOP 3 SECONDS EVERY 1 SECOND] GROUP BY k, window_start, window_end",
    "all_keys": "SELECT window_end, COUNT(*) AS n FROM s [TUMBLE 2 SECONDS] GROUP BY window_end",
    "early": "SELECT k, COUNT(*) AS n FROM s [CUMULATE 2 SECONDS EVERY 1 SECOND] "
    "GROUP BY k, window_end EMIT CHANGES",
    "sessions": "SELECT k, window_start, window_end, COUNT(*) AS n, SUM(x) AS x FROM s "
    "[SESSION 200 MILLISECONDS BY k] WHERE x > 1 GROUP BY k, window_start, window_end",
    "early_sessions": "SELECT k, window_start, window_end, COUNT(*) AS n, SUM(x) AS x FROM s "
    "[SESSION 200 MILLISECONDS BY k] WHERE x > 1 GROUP BY k, window_start, window_end EMIT CHANGES",
    "rows_of_sessions": "SELECT k, x, window_end FROM s [SESSION 70 MILLISECONDS BY k] "
    "EMIT CHANGES",
    "in_group_by": "SELECT window.end, COUNT(*) AS n FROM s GROUP BY window(ts, '2 seconds')",
    "session_window": "SELECT k, session_window.end, COUNT(*) AS n FROM s WHERE x > 1 GROUP BY "
    "k, session_window(ts, '150 milliseconds')",
    "of_all_rows": "SELECT window_end, COUNT(*) AS n FROM s [SESSION 40 MILLISECONDS] "
    "GROUP BY window_end",
}
COLUMNS: Final = "ts TIMESTAMP, k STRING, x BIGINT"


def rows(number: int) -> pa.Table:
    random = Random(number)
    start = 1_767_225_600_000_000 + number * 5_000_000
    return pa.table(
        {
            "ts": pa.array([start + i * 50_000 for i in range(100)], pa.timestamp("us", "UTC")),
            "k": pa.array(random.choices("abcdef", k=100)),
            "x": pa.array(random.choices([None, 1, 2, 3], k=100), pa.int64()),
        }
    )


def test_a_job_has_the_final_results_of_an_engine(spark: SparkSession, tmp_path: Path) -> None:
    engine = Engine()
    engine.sql(f"CREATE STREAM s ({COLUMNS}) TIMESTAMP BY ts")
    for name, sql in QUERIES.items():
        engine.query(sql, name=name)
    expected: dict[str, list[Any]] = {name: [] for name in QUERIES}
    (tmp_path / "in").mkdir()
    for number in range(4):
        pq.write_table(rows(number), tmp_path / "in" / f"{number}.parquet")
        if number in (1, 3):
            run_once(spark, tmp_path)
        out = engine.process({"s": rows(number)})
        for name in QUERIES:
            expected[name] += rows_of(out[name])
    for name in QUERIES:
        found = pq.read_table(tmp_path / "out" / name)
        columns = ["_op", "_ts", *engine.queries[name].schema.names]
        of_engine = [(op, ts, *values) for op, ts, _, *values in expected[name]]
        assert sorted(map(repr, rows_of(found.select(columns)))) == sorted(map(repr, of_engine))


def run_once(spark: SparkSession, to: Path) -> None:
    session = Session(spark, checkpoint=to / "checkpoint", shards=2)
    session.sql(
        f"CREATE STREAM s ({COLUMNS}) TIMESTAMP BY ts "
        f"WITH (source = 'parquet', path = '{to / 'in'}')"
    )
    for name, sql in QUERIES.items():
        session.query(name, sql, sink="parquet", path=str(to / "out" / name))
    run = session.start()
    try:
        run.processAllAvailable()
    finally:
        run.stop()


OVER_ALL_ROWS: Final = {
    "tumble": "SELECT k, window_end, COUNT(*) AS n FROM TABLE(TUMBLE(TABLE v, DESCRIPTOR(ts), "
    "INTERVAL '30' SECOND)) GROUP BY k, window_start, window_end",
    "hop": "SELECT window_end, SUM(x) AS x FROM TABLE(HOP(TABLE v, DESCRIPTOR(ts), "
    "INTERVAL '20' SECOND, INTERVAL '1' MINUTE)) GROUP BY window_start, window_end",
    "session": "SELECT k, COUNT(*) AS n FROM v GROUP BY k, SESSION(ts, INTERVAL '40' SECOND)",
    "joined": "SELECT a.k, a.n, b.x FROM (SELECT k, window_end, COUNT(*) AS n FROM TABLE(TUMBLE("
    "TABLE v, DESCRIPTOR(ts), INTERVAL '30' SECOND)) GROUP BY k, window_start, window_end) AS a "
    "JOIN (SELECT k, window_end, MAX(x) AS x FROM TABLE(TUMBLE(TABLE v, DESCRIPTOR(ts), "
    "INTERVAL '30' SECOND)) GROUP BY k, window_start, window_end) AS b "
    "ON a.k = b.k AND a.window_end = b.window_end",
    "lengthy": "SELECT k, COUNT(*) AS n FROM s [RANGE 10 SECONDS] GROUP BY k EMIT CHANGES",
}


def test_the_end_of_the_input_ends_windows_over_rows_that_stay(
    spark: SparkSession, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    pq.write_table(rows(1), tmp_path / "in" / "1.parquet")
    engine, session = Engine(), Session(spark, shards=2)
    source = f"WITH (source = 'parquet', path = '{tmp_path / 'in'}')"
    engine.sql(f"CREATE STREAM s ({COLUMNS}) TIMESTAMP BY ts")
    session.sql(f"CREATE STREAM s ({COLUMNS}) TIMESTAMP BY ts {source}")
    for made in (engine, session):
        made.sql("CREATE VIEW v AS SELECT * FROM s [UNBOUNDED]")
    for name, sql in OVER_ALL_ROWS.items():
        engine.query(sql, name=name)
        session.query(name, sql, sink="parquet", path=str(tmp_path / "out" / name))
    first, then = engine.process({"s": rows(1)}), engine.advance("2027-01-01")
    session.start(available_now=True).finish()
    for name in OVER_ALL_ROWS:
        expected = rows_of(first[name]) + rows_of(then[name])
        found = pq.read_table(tmp_path / "out" / name)
        found = found.select(["_op", "_ts", *engine.queries[name].schema.names])
        assert len(then[name]) > 0
        assert sorted(map(repr, rows_of(found))) == sorted(
            repr((op, ts, *values)) for op, ts, _, *values in expected
        )
