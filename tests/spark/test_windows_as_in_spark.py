"""``window`` and ``session_window`` in GROUP BY give what Spark gives for the same text, over rows
with times in whole seconds, so that many are exactly at the ends of windows and sessions.
"""

from __future__ import annotations

from random import Random
from typing import Any, Final

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import Engine

pytestmark = pytest.mark.spark

SECOND: Final = 1_000_000
QUERIES: Final = (
    "SELECT k, unix_millis(window.start) AS a, unix_millis(window.end) AS b, COUNT(*) AS n FROM s "
    "GROUP BY k, window(ts, '3 seconds')",
    "SELECT unix_millis(window.start) AS a, unix_millis(window.end) AS b, SUM(x) AS x FROM s "
    "WHERE x > 1 GROUP BY window(ts, '10 seconds', '4 seconds')",
    "SELECT k, unix_millis(window(ts, '4 seconds', '2 seconds', '1 second').end) AS b, COUNT(x) AS "
    "n FROM s GROUP BY window(ts, '4 seconds', '2 seconds', '1 second'), k HAVING COUNT(x) > 1",
    "SELECT k, unix_millis(session_window.start) AS a, unix_millis(session_window.end) AS b, "
    "COUNT(*) AS n, MAX(x) AS x FROM s GROUP BY k, session_window(ts, '3 seconds')",
    "SELECT unix_millis(session_window.start) AS a, unix_millis(session_window.end) AS b, "
    "SUM(x) AS x FROM s GROUP BY session_window(ts, '2 seconds')",
    "SELECT k, x, unix_millis(session_window(ts, '5 seconds').end) AS b, COUNT(*) AS n FROM s "
    "WHERE x > 0 GROUP BY session_window(ts, '5 seconds'), x, k",
)


def rows(random: Random) -> pa.Table:
    now, found = 1_767_225_600 + random.randrange(100), []
    for _ in range(150):
        now += random.choice([0, 0, 1, 1, 2, 3, 4, 7])
        found.append((now * SECOND, random.choice([None, "a", "b", "c"]), random.randrange(4)))
    ts, k, x = zip(*found, strict=True)
    times = pa.array(ts, pa.int64()).cast(pa.timestamp("us", "UTC"))
    return pa.table({"ts": times, "k": pa.array(k), "x": pa.array(x, pa.int64())})


def in_order(found: list[tuple[Any, ...]]) -> list[str]:
    return sorted(map(repr, found))


def test_windows_are_those_of_spark(spark: SparkSession) -> None:
    for seed in range(3):
        table = rows(Random(seed))
        spark.createDataFrame(table).createOrReplaceTempView("s")
        engine = Engine()
        engine.sql("CREATE STREAM s (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts")
        for number, sql in enumerate(QUERIES):
            engine.query(sql, name=f"q{number}")
        found: dict[str, list[tuple[Any, ...]]] = {f"q{n}": [] for n in range(len(QUERIES))}
        last = table["ts"].cast(pa.int64()).to_pylist()[-1]
        for out in (engine.process({"s": table}), engine.advance(last + 60 * SECOND)):
            for name, changes in out.items():
                columns = engine.queries[name].schema.names
                found[name] += zip(*(changes[c].to_pylist() for c in columns), strict=True)
        for number, sql in enumerate(QUERIES):
            expected = [tuple(row) for row in spark.sql(sql).collect()]
            assert in_order(found[f"q{number}"]) == in_order(expected), sql
