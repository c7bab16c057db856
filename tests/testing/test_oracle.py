"""The oracle against answers worked out by hand.

The rows of ``a`` in time (ROWS windows count from the right), ``b`` has three::

    s   0     1     2     3     4     5
    a         1,x   2,.   3,x   .,y
              1,y
    b               1           3,3
"""

import pytest
from hypothesis import given

from eddyline.testing import Oracle, answer, batch, parse_time
from eddyline.testing.bags import Row, difference
from eddyline.testing.strategies import Case, cases, play

A = batch("""
    ts | k | s
    1s | 1 | x
    1s | 1 | y
    2s | 2 | .
    3s | 3 | x
    4s | . | y
""")
B = batch("""
    ts | k:int | d
    2s | 1     | 0.5
    4s | 3     | 1.5
    4s | 3     | .
""")
DIM = batch("""
    k | name
    1 | one
    3 | three
    3 | drei
    . | none
""")
VIEWS = {"recent": "SELECT k, s FROM a [RANGE 2 SECONDS] WHERE k IS NOT NULL"}


@pytest.fixture(scope="module")
def oracle() -> Oracle:
    return Oracle({"a": A, "b": B}, {"dim": DIM}, VIEWS)


@pytest.mark.parametrize(
    ("window", "at", "ks"),
    [
        ("[RANGE 2 SECONDS]", "999ms", []),
        ("[RANGE 2 SECONDS]", "1s", [1, 1]),
        ("[RANGE 2 SECONDS]", "2s999ms", [1, 1, 2]),
        ("[RANGE 2 SECONDS]", "3s", [2, 3]),  # the rows of 1 s are gone at 1 s + 2 s
        ("[RANGE 2000001 MICROSECONDS]", "3s", [1, 1, 2, 3]),
        ("[RANGE 2 SECONDS]", "6s", []),
        ("[RANGE 1 MINUTE]", "60s", [1, 1, 2, 3, None]),
        ("[NOW]", "3s", [3]),
        ("[NOW]", "3s1us", []),
        ("[UNBOUNDED]", "1h", [1, 1, 2, 3, None]),
        ("[RANGE UNBOUNDED]", "1h", [1, 1, 2, 3, None]),
        ("", "1h", [1, 1, 2, 3, None]),
        ("[ROWS 1]", "1s", [1]),
        ("[ROWS 3]", "2s500ms", [1, 1, 2]),
        ("[ROWS 3]", "1h", [2, 3, None]),
        ("[PARTITION BY s ROWS 1]", "2s", [1, 1, 2]),
        ("[PARTITION BY s ROWS 1]", "4s", [2, 3, None]),
        ("[PARTITION BY k, s ROWS 1]", "4s", [1, 1, 2, 3, None]),
    ],
)
def test_windows(oracle: Oracle, window: str, at: str, ks: list[int | None]) -> None:
    found = oracle.answer(f"SELECT k FROM a {window}", parse_time(at))
    assert difference([(k,) for k in ks], found) == ([], [])


def test_rows_of_one_instant_count_in_the_order_of_arrival(oracle: Oracle) -> None:
    assert oracle.answer("SELECT s FROM a [ROWS 1]", parse_time("1s")) == [("y",)]


def test_a_rows_window_counts_before_any_filter(oracle: Oracle) -> None:
    assert oracle.answer("SELECT k FROM a [ROWS 2] WHERE k = 2", parse_time("4s")) == []


QUERIES: list[tuple[str, str, list[Row]]] = [
    (
        "SELECT x.k, y.d FROM a [RANGE 2 SECONDS] AS x, b [NOW] AS y WHERE x.k = y.k",
        "2s",
        [(1, 0.5), (1, 0.5)],
    ),
    (
        "SELECT x.k, y.k FROM a x [RANGE 5 SECONDS] JOIN b AS y [RANGE 5 SECONDS] ON x.k = y.k",
        "4s",
        [(1, 1), (1, 1), (3, 3), (3, 3)],
    ),
    ("SELECT x.k FROM a [UNBOUNDED] x, a [UNBOUNDED] y WHERE x.k = y.k AND x.s <> y.s",
     "9s", [(1,), (1,)]),
    ("SELECT DISTINCT s FROM a [UNBOUNDED]", "9s", [("x",), ("y",), (None,)]),
    ("SELECT s, COUNT(*), SUM(k) FROM a GROUP BY s WINDOW 10 SECONDS", "5s",
     [("x", 2, 4), ("y", 2, 1), (None, 1, 2)]),
    ("SELECT s, MAX(k) FROM a [ROWS 4] GROUP BY s HAVING COUNT(*) > 1", "9s", [("y", 1)]),
    ("SELECT COUNT(*), MIN(k) FROM a [RANGE 1 SECOND]", "9s", [(0, None)]),
    ("SELECT k FROM a [NOW] UNION ALL SELECT k FROM b [ROWS 1]", "4s", [(None,), (3,)]),
    ("SELECT x.k, t.name FROM a [NOW] x JOIN dim t ON x.k = t.k",
     "3s", [(3, "three"), (3, "drei")]),
    ("SELECT s FROM recent [RANGE 3 SECONDS]", "3s", [(None,), ("x",)]),
    ("SELECT r.s FROM recent r JOIN b [ROWS 1] USING (k)", "4s", [("x",)]),
    (
        "SELECT q.n FROM (SELECT k, COUNT(*) AS n FROM a [RANGE 9 SECONDS] GROUP BY k) AS q"
        " WHERE q.n > 1",
        "4s",
        [(2,)],
    ),
    ("SELECT k / 2, k % 2, CAST(k / 2 AS INT) FROM a [NOW]", "3s", [(1.5, 1, 1)]),
    ("SELECT k % 0 FROM a [NOW]", "3s", []),
    ("SELECT k / 0 FROM a [NOW]", "3s", []),
    ("SELECT NULL / 0 FROM a [NOW]", "3s", [(None,)]),
    ("SELECT try_divide(k, 0), TRY_CAST('x' AS INT) FROM a [NOW]", "3s", [(None, None)]),
    ("SELECT CAST(CONCAT('x', k) AS INT) FROM a [NOW]", "3s", []),
    ("SELECT k FROM a [NOW] WHERE k * 9223372036854775807 > 0", "3s", []),
    ("SELECT k FROM a [NOW] WHERE k > 1 OR k / 0 > 1", "3s", [(3,)]),
    ("SELECT k FROM a [NOW] WHERE NOT (k < 1 AND k / 0 > 1)", "3s", [(3,)]),
    ("SELECT CASE WHEN k > 5 THEN k / 0 ELSE 1D END FROM a [NOW]", "3s", [(1.0,)]),
    ("SELECT x.k FROM a [NOW] x JOIN (b [ROWS 3] y JOIN a [UNBOUNDED] z ON y.k = z.k AND "
     "y.k % (z.k - 1) = 1) ON x.k <= y.k", "3s", []),
    ("SELECT x.k FROM a [ROWS 2] x JOIN (b [ROWS 3] y JOIN a [UNBOUNDED] z ON y.k = z.k AND "
     "y.k % (z.k - 1) = 1) ON x.k <= y.k", "4s", [(3,), (3,)]),
    ("SELECT SUM(k / 0), COUNT(*) FROM a [NOW]", "3s", [(None, 0)]),
    ("SELECT SUM(k / 0) FILTER (WHERE k > 5), COUNT(*) FROM a [NOW]", "3s", [(None, 1)]),
    ("SELECT COUNT(DISTINCT -k) FILTER (WHERE k < 2) FROM a [UNBOUNDED]", "4s", [(1,)]),
    ("SELECT ts FROM a [UNBOUNDED] WHERE ts BETWEEN TIMESTAMP '1970-01-01 00:00:03' AND "
     "TIMESTAMP '1970-01-01 00:00:03' + INTERVAL 1 SECOND", "9s", [(3_000_000,), (4_000_000,)]),
    ("SELECT k FROM a [NOW] EMIT SNAPSHOT EVERY 5 SECONDS WITH (sink = 'memory')", "3s", [(3,)]),
]  # fmt: skip


@pytest.mark.parametrize(("sql", "at", "expected"), QUERIES)
def test_queries(oracle: Oracle, sql: str, at: str, expected: list[Row]) -> None:
    assert difference(expected, oracle.answer(sql, parse_time(at))) == ([], [])


def test_one_answer_without_an_oracle_object() -> None:
    assert answer("SELECT k FROM a [NOW]", {"a": A}, {}, parse_time("3s")) == [(3,)]


def test_instants_are_all_starts_and_ends_and_something_between() -> None:
    rows = batch("ts | k\n1s | 1\n2s | 2")
    oracle = Oracle({"a": rows}, views={"v": "SELECT k FROM a [RANGE 3 SECONDS]"})
    sql = "SELECT x.k FROM a [RANGE 10 SECONDS] x, v WHERE x.k = v.k"
    at = oracle.instants(sql, parse_time("11s"))
    assert {parse_time(t) for t in ("1s", "2s", "4s", "5s", "11s")} <= set(at)
    assert parse_time("12s") not in at
    assert at[0] == parse_time("1s")
    assert all(any(a < t < b for t in at) for a, b in ((1e6, 2e6), (2e6, 4e6), (5e6, 11e6)))


def test_another_timestamp_column() -> None:
    oracle = Oracle({"a": batch("when:time | k\n1s | 1")}, timestamps={"a": "when"})
    assert oracle.answer("SELECT k FROM a [NOW]", parse_time("1s")) == [(1,)]


@pytest.mark.parametrize("function", ["CONCAT(x.s, {})", "STARTSWITH(x.s, {})", "UPPER(x.s || {})"])
def test_arguments_fail_also_beside_null(function: str) -> None:
    rows = [(1, "x", 1)] * 19 + [(0, "x", 1)]
    lines = [f"1s | {k} | {s} | {v}" for k, s, v in rows]
    oracle = Oracle({"a": batch("\n".join(["ts | k | s:string | v", *lines]))})
    expression = function.format("CAST(5 DIV y.k AS STRING)")
    sql = f"SELECT {expression} AS f FROM a [NOW] x RIGHT JOIN a [NOW] y ON x.v = y.k"
    assert len(oracle.answer(sql, parse_time("1s"))) == 20 * 19


NAN = batch("ts | d:double\n1s | nan\n1s | .\n1s | 0.0\n1s | 2.5")


@pytest.mark.parametrize(
    ("predicate", "ds"),
    [
        ("d > 1", ["NaN", 2.5]),
        ("NOT d > 1", [0.0]),
        ("d <> 0", ["NaN", 2.5]),
        ("d = d", ["NaN", 0.0, 2.5]),
        ("d <=> d", [None, "NaN", 0.0, 2.5]),
        ("d BETWEEN 0 AND d", ["NaN", 0.0, 2.5]),
        ("d NOT BETWEEN 1 AND 2", ["NaN", 0.0, 2.5]),
        ("d IN (CAST('NaN' AS DOUBLE), 0)", ["NaN", 0.0]),
        ("NOT d > NULL", []),
    ],
)
def test_nan_equals_itself_and_is_the_largest(predicate: str, ds: list[float | str | None]) -> None:
    oracle = Oracle({"a": NAN})
    found = oracle.answer(f"SELECT d FROM a [NOW] WHERE {predicate}", parse_time("1s"))
    assert difference([(d,) for d in ds], found) == ([], [])


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("VAR_POP(d)", "NaN"),
        ("STDDEV_POP(d) FILTER (WHERE d > 1)", "NaN"),
        ("VAR_POP(d) FILTER (WHERE d < 1)", None),
        ("VAR_POP(d) OVER (PARTITION BY d)", "NaN"),
        ("VAR_POP(k)", 0.0),
        ("VAR_SAMP(d)", None),
    ],
)
def test_the_deviation_of_nan_alone_is_nan(value: str, expected: object) -> None:
    rows = batch("ts | k | d\n1s | 1 | nan")
    found = answer(f"SELECT {value} AS x FROM s [RANGE 1 SECOND]", {"s": rows}, {}, 1_000_000)
    assert found == [(expected,)]


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("(a.k, a.s) IN (SELECT b.k, b.s FROM b [RANGE 9 SECONDS])", [1]),
        ("(a.k, a.s) NOT IN (SELECT b.k, b.s FROM b [RANGE 9 SECONDS])", [3]),
        (
            "(a.k, a.s) NOT IN (SELECT b.k, b.s FROM b [RANGE 9 SECONDS] WHERE k > 9)",
            [1, 2, 3, None],
        ),
        ("NOT (a.k, a.s) IN (SELECT b.k, b.s FROM b [RANGE 9 SECONDS] WHERE k = 2)", [1, 3]),
    ],
)
def test_tuples_are_equal_or_not_or_it_is_unknown(condition: str, expected: object) -> None:
    a = batch("ts | k | s\n1s | 1 | x\n1s | 2 | x\n1s | 3 | x\n1s | . | y")
    b = batch("ts | k | s\n1s | 1 | x\n1s | 2 | .\n1s | 3 | y\n1s | 3 | y\n1s | 4 | y")
    sql = f"SELECT k FROM a [RANGE 9 SECONDS] WHERE {condition}"
    assert [k for (k,) in answer(sql, {"a": a, "b": b}, {}, 1_000_000)] == expected


def test_nan_is_one_value_to_distinct() -> None:
    oracle = Oracle({"a": batch("ts | d:double\n1s | nan\n1s | nan")})
    assert oracle.answer("SELECT DISTINCT d FROM a [NOW]", parse_time("1s")) == [("NaN",)]


@given(cases())
def test_the_oracle_gives_equal_answers_for_many_instants_at_once(case: Case) -> None:
    oracle = play(case, check=False).oracle
    instants = oracle.instants(case.sql, parse_time("40s"))[::3]
    each = oracle.answers(case.sql, instants)
    for tau in instants:
        assert difference(oracle.answer(case.sql, tau), each[tau]) == ([], [])
