"""MATCH_RECOGNIZE in an engine: what queries share, what EXPLAIN shows, rows that fail, ties, what
is kept.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.runtime.operators.row_conditions import RowConditions
from eddyline.testing.text import parse_time
from restarts import restarted

SECOND = 1_000_000
DDL = """
CREATE STREAM s (ts TIMESTAMP, k STRING, x BIGINT, t STRING) TIMESTAMP BY ts;
CREATE TABLE names (k STRING, name STRING)
"""


def engine_of(**queries: str) -> Engine:
    engine = Engine()
    engine.sql(DDL)
    engine.table("names", pa.table({"k": ["a", "b"], "name": ["Anna", "Ben"]}))
    for name, sql in queries.items():
        engine.query(sql, name=name)
    return engine


def rows(*found: tuple[float, str, int | None], texts: str = "") -> pa.Table:
    ts, k, x = zip(*found, strict=True)
    times = pa.array([round(t * SECOND) for t in ts], pa.int64())
    t = list(texts) if texts else ["?"] * len(ts)
    return pa.table({"ts": times, "k": list(k), "x": pa.array(x, pa.int64()), "t": t})


def values(table: pa.Table, *columns: str) -> list[tuple[Any, ...]]:
    return list(zip(*(table[c].to_pylist() for c in columns), strict=True))


def seconds(table: pa.Table) -> list[float]:
    return [v / SECOND for v in table["_ts"].cast(pa.int64()).to_pylist()]


def kept(engine: Engine) -> int:
    return sum(
        o["rows_kept"] for o in engine.stats()["operators"] if o["operator"] == "MatchRecognize"
    )


def match(clauses: str, by: str = "PARTITION BY k ") -> str:
    return f"FROM s MATCH_RECOGNIZE ({by}ORDER BY ts {clauses}) AS m"


RISE = match(
    "MEASURES A.x AS a, LAST(B.x) AS b PATTERN (A B+ C) WITHIN INTERVAL 10 SECONDS "
    "DEFINE B AS B.x > PREV(B.x), C AS C.x < LAST(B.x)"
)
ROWS = rows((0, "a", 1), (1, "b", 9), (2, "a", 5), (3, "a", 6), (4, "b", 1), (5, "a", 2))


def test_queries_that_differ_in_select_list_share_matches() -> None:
    engine = engine_of(
        a=f"SELECT k, a, b {RISE}",
        b=f"SELECT b - a AS rise {RISE} WHERE a > 0",
        c=f"SELECT r.k, name, b FROM (SELECT * {RISE}) AS r JOIN names ON r.k = names.k",
    )
    changes = engine.process({"s": ROWS})
    operators = [o["operator"] for o in engine.stats()["operators"]]
    assert operators.count("MatchRecognize") == 1
    assert values(changes["a"], "k", "a", "b") == [("a", 1, 6)]
    assert changes["b"]["rise"].to_pylist() == [5]
    assert values(changes["c"], "name", "b") == [("Anna", 6)]
    assert seconds(changes["a"]) == [5]


def test_different_patterns_share_their_conditions() -> None:
    def shared(engine: Engine) -> int:
        (found,) = (
            len(o) for o in engine.parts.queries.execution.graph if isinstance(o, RowConditions)
        )
        return found

    def rising(least: int, pattern: str) -> str:
        measures = f"MEASURES COUNT(*) AS n PATTERN ({pattern}) WITHIN INTERVAL 10 SECONDS "
        return "SELECT k, n " + match(f"{measures} DEFINE A AS x > 0, B AS x > {least}")

    engine = engine_of(
        **{f"q{n}": rising(n % 10, "A B" if n < 20 else "A B{2}") for n in range(40)}
    )
    assert shared(engine) == 10  # x > 0 is the first condition of the queries with x > 0
    out = engine.process({"s": ROWS})
    assert out["q0"]["n"].to_pylist() == [2, 2, 2]
    assert out["q5"]["n"].to_pylist() == [2]
    assert out["q9"]["n"].to_pylist() == []
    assert out["q24"]["n"].to_pylist() == [3]
    for n in range(1, 40):
        engine.drop(f"q{n}")
    assert shared(engine) == 1
    out = engine.process({"s": rows((6, "c", 1), (7, "c", 2))})
    assert out["q0"]["n"].to_pylist() == [2]


def test_explain_shows_the_pattern() -> None:
    text = engine_of(q=f"SELECT k, a {RISE}").queries["q"].explain()
    assert (
        "MatchRecognize  PARTITION BY k PATTERN (A B+ C) WITHIN 10 SECONDS DEFINE "
        "B AS (x > PREV(x, 1)), C AS (x < LAST(B.x)): A.x, LAST(B.x); SKIP PAST LAST ROW" in text
    ), text


def test_a_greedy_end_is_decided_by_the_next_row_or_by_time() -> None:
    engine = engine_of(
        q="SELECT k, n "
        + match(
            "MEASURES COUNT(*) AS n PATTERN (A B*) WITHIN INTERVAL 10 SECONDS DEFINE B AS x > 5"
        )
    )
    out = engine.process({"s": rows((0, "a", 1), (1, "b", 1), (2, "a", 6), (3, "a", 2))})
    assert (values(out["q"], "k", "n"), seconds(out["q"])) == ([("a", 2)], [3])
    assert engine.advance(parse_time("10s"))["q"].num_rows == 0
    out = engine.advance(parse_time("11s"))
    assert out["q"].num_rows == 0, "a row at 11 s could still be of the match from 1 s on"
    out = engine.advance(parse_time("1h"))
    assert values(out["q"], "k", "n") == [("b", 1), ("a", 1)]
    assert seconds(out["q"]) == [11.000001, 13.000001]


def test_rows_of_an_instant_are_in_the_order_in_which_they_come() -> None:
    engine = engine_of(
        q="SELECT a, b " + match("MEASURES A.x AS a, B.x AS b PATTERN (A B) DEFINE B AS x > A.x")
    )
    out = engine.process({"s": rows((1, "a", 2), (1, "a", 1), (1, "a", 4), (1, "a", 3))})
    assert values(out["q"], "a", "b") == [(1, 4)]


def test_all_rows_have_the_columns_of_the_standard() -> None:
    engine = engine_of(
        q="SELECT * "
        + match(
            "MEASURES CLASSIFIER() AS c, COUNT(*) AS n, FINAL COUNT(*) AS total, LAST(B.x) AS b, "
            "FINAL LAST(B.x) AS last_b, LAST(U.x) AS u ALL ROWS PER MATCH PATTERN (A B+ C) WITHIN "
            "INTERVAL 1 MINUTE SUBSET U = (A, C) DEFINE B AS B.x > 4, C AS C.x < 4"
        )
    )
    out = engine.process({"s": ROWS})["q"]
    assert out.column_names[3:] == ["k", "ts", "c", "n", "total", "b", "last_b", "u", "x", "t"]
    assert values(out, "c", "n", "total", "b", "last_b", "u", "x") == [
        ("A", 1, 4, None, 6, 1, 1),
        ("B", 2, 4, 5, 6, 1, 5),
        ("B", 3, 4, 6, 6, 1, 6),
        ("C", 4, 4, 6, 6, 2, 2),
    ]


def test_texts_are_compared_with_those_of_earlier_rows() -> None:
    engine = engine_of(
        q="SELECT k, n "
        + match(
            "MEASURES COUNT(*) AS n PATTERN (A B+ C) WITHIN INTERVAL 1 MINUTE DEFINE "
            "B AS B.t = A.t AND B.t <> 'z', C AS C.t <> LAST(B.t)"
        )
    )
    table = rows(*((i, "a", 0) for i in range(9)), texts="ppqzzzrrr")
    out = engine.process({"s": table})
    assert values(out["q"], "k", "n") == [("a", 3)]
    engine = restarted(engine)
    out = engine.process({"s": rows((9, "a", 0), texts="p")})
    assert values(out["q"], "k", "n") == [("a", 4)]


def test_rows_for_which_a_condition_fails_are_reported() -> None:
    engine = engine_of(
        alone="SELECT k "
        + match("MEASURES COUNT(*) AS n PATTERN (A B) DEFINE B AS 10 / x > 1 OR x > 5"),
        run="SELECT k " + match("MEASURES COUNT(*) AS n PATTERN (A B) DEFINE B AS 10 / A.x > x"),
        measure="SELECT k, n " + match("MEASURES 1 / SUM(A.x) AS n PATTERN (A B)"),
        fine="SELECT k " + match("MEASURES COUNT(*) AS n PATTERN (A B)"),
    )
    out = engine.process({"s": rows((0, "a", 0), (1, "a", 5), (2, "a", 7), (3, "b", 1))})
    reasons = {name: table["_reason"].to_pylist() for name, table in out.bad.items() if name != "s"}
    assert set(reasons) == {"alone", "run", "measure"}
    assert reasons["run"] == ["division by zero in DEFINE"]
    assert out["alone"]["k"].to_pylist() == ["a"]
    assert out["run"].num_rows == 0
    assert out["fine"]["k"].to_pylist() == ["a"]


def test_a_sum_that_does_not_fit_is_reported() -> None:
    engine = engine_of(
        q="SELECT k "
        + match("MEASURES COUNT(*) AS n PATTERN (A B) DEFINE B AS A.x * x > 0 AND SUM(x) > 0")
    )
    out = engine.process({"s": rows((0, "a", 1 << 62), (1, "a", 1 << 62))})
    assert out.bad["q"]["_reason"].to_pylist() == ["a sum in DEFINE does not fit BIGINT"]


def test_windows_over_matches() -> None:
    engine = engine_of(
        q="SELECT window_end, COUNT(*) AS n FROM TUMBLE((SELECT * "
        + match("MEASURES A.x AS a PATTERN (A B)")
        + "), DESCRIPTOR(_ts), INTERVAL 10 SECONDS) GROUP BY window_start, window_end"
    )
    engine.process({"s": rows(*((t, "a", 0) for t in range(12)))})
    out = engine.advance(parse_time("1m"))
    assert out["q"]["n"].to_pylist() == [1]


def test_a_pattern_of_matches() -> None:
    inner = match("MEASURES A.x AS a PATTERN (A B) DEFINE B AS B.x > A.x")
    engine = engine_of(
        q=f"SELECT * FROM (SELECT k, a {inner}) MATCH_RECOGNIZE (PARTITION BY k ORDER BY _ts "
        "MEASURES FIRST(A.a) AS a, LAST(A.a) AS b PATTERN (A{2})) AS n"
    )
    out = engine.process({"s": rows(*((i, "a", x) for i, x in enumerate([1, 2, 3, 4, 5, 6])))})
    assert values(out["q"], "k", "a", "b") == [("a", 1, 3)]


def test_a_pattern_in_a_view_and_for_each_row() -> None:
    engine = engine_of()
    engine.sql("CREATE TABLE rules (id BIGINT, least BIGINT) WITH (updates = 'static')")
    engine.table("rules", pa.table({"id": [1, 2], "least": [3, 5]}))
    engine.sql(
        "CREATE VIEW rises AS SELECT k, a, b "
        + match("MEASURES A.x AS a, B.x AS b PATTERN (A B) DEFINE B AS B.x > A.x")
    )
    engine.query("SELECT k, b FROM rises WHERE a = 5", name="v")
    engine.sql(
        "CREATE QUERY q FOR EACH ROW OF rules AS SELECT rules.id, b AS x FROM rises "
        "WHERE b - a >= rules.least"
    )
    out = engine.process({"s": rows((0, "a", 1), (1, "a", 5), (2, "b", 1), (3, "b", 7))})
    assert sorted(values(out["q"], "id", "x")) == [(1, 5), (1, 7), (2, 7)]
    assert out["v"].num_rows == 0


@pytest.mark.parametrize("prev", [False, True])
def test_only_rows_that_can_be_of_a_match_are_kept(prev: bool) -> None:
    condition = "A.x > PREV(A.x) OR A.x = 1" if prev else "A.x = 1"
    engine = engine_of(
        q="SELECT n "
        + match(
            "MEASURES COUNT(*) AS n PATTERN (A B* C) WITHIN INTERVAL 10 SECONDS DEFINE "
            f"A AS {condition}, B AS B.x < 5, C AS C.x = 9"
        )
    )
    for start in range(0, 1000, 10):
        found = ((start + i, f"k{start + i}", 1 if i == 5 else 7) for i in range(10))
        engine.process({"s": rows(*found)})
        assert kept(engine) <= (start + 12 if prev else 2)


def test_many_rows_of_one_partition_do_not_take_quadratic_time() -> None:
    engine = engine_of(
        q="SELECT n "
        + match(
            "MEASURES COUNT(*) AS n PATTERN ((A | B | C)* (A | B)* D) WITHIN INTERVAL 1 HOUR "
            "DEFINE A AS x < 3, B AS x > 1, C AS x > 0, D AS x = 99",
            by="",
        )
    )
    engine.process({"s": rows(*((i / 100, "a", i % 5) for i in range(3000)))})
    out = engine.process({"s": rows((30, "a", 99))})
    assert out["q"]["n"].to_pylist() == []
    out = engine.advance(parse_time("2h"))
    assert out["q"]["n"].to_pylist() == [3001]
