"""Windows in GROUP BY: what their columns are, and what queries share."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from eddyline import Engine

SECOND = 1_000_000


def engine_of(**queries: str) -> Engine:
    engine = Engine()
    engine.sql(
        "CREATE STREAM s (ts TIMESTAMP, k STRING, x BIGINT) TIMESTAMP BY ts;"
        "CREATE TABLE names (k STRING, name STRING)"
    )
    engine.table("names", pa.table({"k": ["a", "b"], "name": ["Ann", "Bob"]}))
    for name, sql in queries.items():
        engine.query(sql, name=name)
    return engine


def rows() -> pa.Table:
    seconds = [10, 20, 59, 61, 130, 190]
    return pa.table({"ts": [t * SECOND for t in seconds], "k": list("abaabb"), "x": range(6)})


def values(table: pa.Table, *columns: str) -> list[tuple[Any, ...]]:
    return list(zip(*(table[c].to_pylist() for c in columns), strict=True))


def test_the_window_is_a_structure() -> None:
    engine = engine_of(
        q="SELECT window, window.end AS till, COUNT(*) AS n FROM s GROUP BY window(ts, '1 minute')"
    )
    changes = engine.process({"s": rows()})["q"]
    ends = pa.timestamp("us", "UTC")
    assert changes.schema.field("window").type == pa.struct([("start", ends), ("end", ends)])
    windows = changes["window"].combine_chunks()
    minutes = [t.cast(pa.int64()).to_pylist() for t in windows.flatten()]
    assert minutes == [[0, 60 * SECOND, 120 * SECOND], [60 * SECOND, 120 * SECOND, 180 * SECOND]]
    assert changes["till"].to_pylist() == [w["end"] for w in windows.to_pylist()]
    assert changes["n"].to_pylist() == [3, 1, 1]


def test_calls_in_the_select_list_name_the_window() -> None:
    engine = engine_of(
        spark="SELECT window(ts, '1 minute'), window(ts, '1 minute').start AS start, COUNT(*) AS n "
        "FROM s GROUP BY window(ts, '1 minute')",
        number="SELECT window(ts, '1 minute') AS w, COUNT(*) AS n FROM s GROUP BY 1",
        alias="SELECT window(ts, '1 minute') AS w, COUNT(*) AS n FROM s GROUP BY w "
        "HAVING w.end > TIMESTAMP '1970-01-01 00:01:30'",
        flink="SELECT TUMBLE_START(ts, INTERVAL '1' MINUTE) AS start, COUNT(*) AS n FROM s "
        "GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE)",
    )
    changes = engine.process({"s": rows()})
    windows = changes["spark"]["window"].to_pylist()
    assert len(windows) == 3
    assert changes["number"]["w"].to_pylist() == windows
    assert changes["alias"]["w"].to_pylist() == windows[1:]
    for name in ("spark", "flink"):
        assert changes[name]["start"].to_pylist() == [w["start"] for w in windows]


def test_rows_joined_with_a_table_have_the_time_of_the_stream() -> None:
    engine = engine_of(
        q="SELECT n.name, window.start, SUM(s.x) AS x FROM s LEFT JOIN names AS n ON n.k = s.k "
        "WHERE s.x < 5 GROUP BY n.name, window(s.ts, '1 minute')"
    )
    changes = engine.process({"s": rows()})["q"]
    assert values(changes, "name", "x") == [("Ann", 2), ("Bob", 1), ("Ann", 3), ("Bob", 4)]


def test_groups_are_shared_with_windows_in_from() -> None:
    engine = engine_of(
        a="SELECT k, window.end, COUNT(*) AS n FROM s GROUP BY k, window(ts, '1 minute')",
        b="SELECT k, window_end, COUNT(*) AS n FROM s [TUMBLE 1 MINUTE] "
        "GROUP BY k, window_start, window_end",
        c="SELECT COUNT(*) AS n FROM s GROUP BY k, window(ts, '1 minute') HAVING COUNT(*) > 1",
    )
    engine.process({"s": rows()})
    operators = [o for o in engine.stats()["operators"] if o["operator"] == "WindowGroup"]
    assert len(operators) == 1
