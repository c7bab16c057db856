"""Sessions in an engine: what queries share, what EXPLAIN shows, rows that fail, views."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.runtime.operators import session_rows

SECOND = 1_000_000


def engine_of(**queries: str) -> Engine:
    engine = Engine()
    engine.sql("CREATE STREAM s (ts TIMESTAMP, k STRING, x STRING) TIMESTAMP BY ts")
    for name, sql in queries.items():
        engine.query(sql, name=name)
    return engine


def rows(*found: tuple[int, str, str]) -> pa.Table:
    ts, k, x = zip(*found, strict=True)
    return pa.table({"ts": [t * SECOND for t in ts], "k": list(k), "x": list(x)})


def values(table: pa.Table, *columns: str) -> list[tuple[Any, ...]]:
    return list(zip(*(table[c].to_pylist() for c in columns), strict=True))


ROWS = rows((0, "a", "1"), (5, "b", "2"), (30, "a", "3"), (61, "a", "4"), (200, "c", "5"))


def test_queries_that_differ_in_having_and_select_list_share_sessions() -> None:
    grouped = "FROM s [SESSION 30 SECONDS BY k] GROUP BY k, window_start, window_end"
    engine = engine_of(
        a=f"SELECT k, COUNT(*) AS n {grouped}",
        b=f"SELECT window_end - window_start AS length, COUNT(*) + 1 AS n {grouped}",
        c=f"SELECT k, COUNT(*) AS n {grouped} HAVING COUNT(*) > 1",
        d="SELECT k, COUNT(*) AS n FROM s GROUP BY k, session_window(ts, '30 seconds') "
        "HAVING k <> 'b'",
    )
    changes = engine.process({"s": ROWS})
    operators = [o["operator"] for o in engine.stats()["operators"]]
    assert operators.count("SessionGroup") == 1
    assert values(changes["a"], "k", "n") == [("b", 1), ("a", 2), ("a", 1)]
    assert changes["b"]["n"].to_pylist() == [2, 3, 2]
    assert values(changes["c"], "k", "n") == [("a", 2)]
    assert values(changes["d"], "k", "n") == [("a", 2), ("a", 1)]


def test_explain_shows_sessions() -> None:
    engine = engine_of(
        q="SELECT k, COUNT(*) AS n FROM s [SESSION 30 SECONDS BY k] WHERE x <> '2' "
        "GROUP BY k, x, window_end"
    )
    text = engine.queries["q"].explain()
    assert "SessionGroups  SESSION 30 SECONDS BY k WHERE (x <> '2'): x; COUNT(*)" in text, text


def test_early_results_share_the_rows_of_sessions() -> None:
    engine = engine_of(
        a="SELECT k, window_end, COUNT(*) AS n FROM s [SESSION 30 SECONDS BY k] GROUP BY k, "
        "window_start, window_end EMIT CHANGES",
        b="SELECT k, x, window_start FROM s [SESSION 30 SECONDS BY k] EMIT CHANGES",
    )
    changes = engine.process({"s": rows((0, "a", "1"), (30, "a", "2"), (61, "a", "3"))})["a"]
    assert values(changes, "_op", "n") == [("+", 1), ("-", 1), ("+", 2), ("-", 2), ("+", 1)]
    end = SECOND * 60 + 1  # a row at the end would have extended the session
    assert changes["_ts"].cast(pa.int64()).to_pylist()[3] == end
    operators = [o["operator"] for o in engine.stats()["operators"]]
    assert operators.count("SessionRows") == 1
    assert "SessionRows  SESSION 30 SECONDS BY k" in engine.queries["a"].explain()


def test_rows_of_ended_sessions_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_rows, "_LEAST_FORGOTTEN", 0)
    engine = engine_of(q="SELECT k, window_end FROM s [SESSION 1 SECOND BY k] EMIT CHANGES")
    for start in range(0, 3000, 300):
        engine.process({"s": rows(*((start + 3 * i, f"k{i % 7}", "1") for i in range(100)))})
    kept = {o["operator"]: o["rows_kept"] for o in engine.stats()["operators"]}
    assert kept["SessionRows"] == 1
    assert kept["Over"] == 1


def test_rows_that_fail_extend_their_session() -> None:
    engine = engine_of(
        q="SELECT k, SUM(CAST(x AS BIGINT)) AS x, COUNT(*) AS n FROM s [SESSION 30 SECONDS BY k] "
        "GROUP BY k, window_start, window_end"
    )
    out = engine.process({"s": rows((0, "a", "1"), (30, "a", "?"), (60, "a", "2"), (91, "b", "3"))})
    assert values(out["q"], "k", "x", "n") == [("a", 3, 2)]
    assert out.bad["q"].num_rows == 1


def test_a_view_of_sessions_is_read() -> None:
    engine = engine_of()
    engine.sql(
        "CREATE VIEW visits AS SELECT k, window_end AS till, COUNT(*) AS n FROM s "
        "[SESSION 30 SECONDS BY k] GROUP BY k, window_start, window_end"
    )
    engine.query("SELECT k, n * 10 AS n FROM visits WHERE n > 1", name="q")
    assert values(engine.process({"s": ROWS})["q"], "k", "n") == [("a", 20)]


def test_time_passes_behind_the_end() -> None:
    engine = engine_of(q="SELECT k FROM s [SESSION 30 SECONDS BY k] GROUP BY k")
    assert engine.process({"s": rows((0, "a", "1"))})["q"].num_rows == 0
    assert engine.advance(30 * SECOND)["q"].num_rows == 0
    assert engine.process({"s": rows((30, "a", "1"))})["q"].num_rows == 0
    assert engine.advance(60 * SECOND + 1)["q"].num_rows == 1
