"""Rows that a query cannot take go to ``bad:QUERY``; no other query notices."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.errors import StateError
from eddyline.testing import engine_with

STREAMS = """
CREATE STREAM a (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts;
CREATE STREAM b (ts TIMESTAMP, k BIGINT, y BIGINT) TIMESTAMP BY ts
"""
SECOND = 1_000_000


def refuse(unlucky: int) -> Callable[[int], int]:
    def f(k: int) -> int:
        if k == unlucky:
            raise ValueError(f"no {k}")
        return k

    return f


def engine(**options: Any) -> Engine:
    made = engine_with(**options)
    made.sql(STREAMS)
    made.function("f", refuse(13), args=["BIGINT"], returns="BIGINT", kind="python")
    return made


def rows(name: str, keys: list[int], start: int = 0) -> dict[str, pa.Table]:
    value = "x" if name == "a" else "y"
    ts = [(start + i) * SECOND for i in range(len(keys))]
    return {name: pa.table({"ts": ts, "k": keys, value: keys})}


HEALTHY = "SELECT k FROM a [RANGE 10 SECONDS]"
FAILING = {
    "select list": ("SELECT f(k) AS v FROM a [RANGE 10 SECONDS]", [12, 14]),
    "filter": ("SELECT k AS v FROM a [RANGE 10 SECONDS] WHERE f(k) > 0", [12, 14]),
    "not": ("SELECT k AS v FROM a [RANGE 10 SECONDS] WHERE NOT f(k) > 100", [12, 14]),
    "is null": ("SELECT k AS v FROM a [RANGE 10 SECONDS] WHERE f(k) IS NULL OR k < 13", [12]),
    "group key": (
        "SELECT v FROM (SELECT f(k) AS v, COUNT(*) AS n FROM a [RANGE 10 SECONDS] GROUP BY f(k))",
        [12, 14],
    ),
    "aggregate": ("SELECT k AS v, SUM(f(k)) FROM a [RANGE 10 SECONDS] GROUP BY k", [12, 14]),
    "distinct": ("SELECT DISTINCT f(k) AS v FROM a [RANGE 10 SECONDS]", [12, 14]),
}


@pytest.mark.parametrize("executor", ["tree", "eddy"])
@pytest.mark.parametrize("chunk_rows", [1, 100])
@pytest.mark.parametrize("case", FAILING)
def test_a_row_that_fails_is_a_bad_row_of_its_query(
    case: str, chunk_rows: int, executor: Any
) -> None:
    sql, expected = FAILING[case]
    made = engine(executor=executor, chunk_rows=chunk_rows)
    made.query(sql, name="failing")
    made.query(HEALTHY, name="healthy")
    out = made.process(rows("a", [12, 13, 14]))
    assert out["healthy"]["k"].to_pylist() == [12, 13, 14]
    assert out["failing"]["v"].to_pylist() == expected
    bad = out.bad["failing"]
    assert [json.loads(text) for text in bad["_row"].to_pylist()] == [
        {"ts": "1970-01-01 00:00:01.000000Z", "k": 13, "x": 13}
    ]
    assert "ValueError: no 13" in bad["_reason"][0].as_py()
    assert bad["_ts"].cast(pa.int64()).to_pylist() == [SECOND]
    assert made.queries["failing"].stats()["bad"] == 1
    assert made.queries["healthy"].stats()["bad"] == 0


@pytest.mark.parametrize("executor", ["tree", "eddy"])
@pytest.mark.parametrize(
    "condition",
    ["f(a.k) = b.k", "a.k = b.k AND f(a.k) > 0", "a.k = b.k AND f(a.x + b.y - a.x) > 0"],
)
def test_in_a_join(condition: str, executor: Any) -> None:
    made = engine(executor=executor)
    select = "SELECT a.k FROM a [RANGE 10 SECONDS], b [RANGE 10 SECONDS] WHERE "
    made.query(select + condition, name="failing")
    made.query(select + "a.k = b.k", name="healthy")
    out = made.process(rows("a", [12, 13, 14]) | rows("b", [12, 13, 14]), watermark=9 * SECOND)
    assert sorted(out["healthy"]["k"].to_pylist()) == [12, 13, 14]
    assert sorted(out["failing"]["k"].to_pylist()) == [12, 14]
    reasons = out.bad["failing"]["_reason"].to_pylist()  # of b's row too, where a.k = b.k is used
    assert 1 <= len(reasons) <= 2 and all("no 13" in r for r in reasons)


@pytest.mark.parametrize("executor", ["tree", "eddy"])
@pytest.mark.parametrize(
    ("other", "names"),
    [
        ("b [RANGE 5 SECONDS] AS r WHERE f(l.k + r.k) > 0", "a.ts a.k x b.ts b.k y"),
        ("a [RANGE 5 SECONDS] AS r WHERE f(l.x + r.x) > 0", "a.ts a.k a.x a.ts_2 a.k_2 a.x_2"),
    ],
)
def test_names_of_columns_are_unique(other: str, names: str, executor: Any) -> None:
    made = engine(executor=executor)
    made.query(f"SELECT l.k FROM a [RANGE 5 SECONDS] AS l, {other}", name="q")
    out = made.process({**rows("a", [6, 7]), **rows("b", [6, 7])}, watermark=10 * SECOND)
    first, second = out.bad["q"]["_row"].to_pylist()
    for text in (first, second):
        assert [name for name, _ in json.loads(text, object_pairs_hook=list)] == names.split()


@pytest.mark.parametrize("executor", ["tree", "eddy"])
def test_rows_without_a_match_are_left_out_too(executor: Any) -> None:
    made = engine(executor=executor)
    made.query(
        "SELECT k FROM a [RANGE 10 SECONDS] AS a WHERE NOT EXISTS "
        "(SELECT 1 FROM b [RANGE 10 SECONDS] AS b WHERE b.k = f(a.k))",
        name="q",
    )
    out = made.process(rows("a", [12, 13, 14]) | rows("b", [14]), watermark=9 * SECOND)
    assert out["q"].num_rows and 13 not in out["q"]["k"].to_pylist()
    assert out.bad["q"].num_rows == 1


def test_a_bad_row_is_reported_by_the_queries_that_select_it() -> None:
    made = engine(executor="eddy")
    for name, least in (("all", 0), ("few", 14)):
        made.query(
            f"SELECT k FROM a [RANGE 10 SECONDS] WHERE x >= {least} AND f(k) < 99", name=name
        )
    out = made.process(rows("a", [12, 13, 14]))
    assert set(out.bad) == {"all"}
    assert out["few"]["k"].to_pylist() == [14]


def test_one_disjunct_that_is_true_is_enough() -> None:
    made = engine(executor="eddy")
    made.query("SELECT k FROM a [RANGE 9 SECONDS] WHERE f(k) = 12 OR x = 13", name="either")
    made.query("SELECT k FROM a [RANGE 9 SECONDS] WHERE f(k) = 12 OR x = 14", name="fails")
    out = made.process(rows("a", [12, 13, 14]))
    assert out["either"]["k"].to_pylist() == [12, 13]
    assert out["fails"]["k"].to_pylist() == [12, 14]
    assert set(out.bad) == {"fails"}


def test_bad_rows_of_rules_are_those_of_the_query_that_stands_for_them() -> None:
    made = engine()
    made.sql("CREATE TABLE rules (n BIGINT) WITH (updates = 'non-retroactive')")
    made.table("rules", pa.table({"n": [0, 13]}))
    made.sql(
        "CREATE QUERY q FOR EACH ROW OF rules AS "
        "SELECT k, rules.n FROM a [RANGE 10 SECONDS] WHERE f(k) > rules.n"
    )
    out = made.process(rows("a", [12, 13, 14]))
    assert out["q"]["k"].to_pylist() == [12, 14, 14]
    assert set(out.bad) == {"q"}


def test_a_listener_gets_bad_rows_of_queries() -> None:
    made = engine()
    made.query("SELECT f(k) AS v FROM a [RANGE 10 SECONDS]", name="failing")
    heard = dict(made.stream(rows("a", [12, 13, 14])))
    assert heard["bad:failing"].num_rows == 1
    assert heard["failing"]["v"].to_pylist() == [12, 14]


@pytest.mark.parametrize("executor", ["tree", "eddy"])
def test_a_query_whose_rows_keep_failing_is_set_aside(executor: Any) -> None:
    made = engine(executor=executor, set_aside_after=5)
    made.query("SELECT f(k) AS v FROM a [RANGE 10 SECONDS]", name="failing")
    made.query(HEALTHY, name="healthy")
    made.process(rows("a", [12, 13]))
    made.process(rows("a", [13, 13, 13], start=2))
    assert made.queries["failing"].stats()["set_aside"] is None
    out = made.process(rows("a", [13, 13, 13], start=5))
    assert out.bad["failing"].num_rows == 3
    cause = made.queries["failing"].stats()["set_aside"]
    assert cause is not None and "no 13" in cause and "6 bad rows" in cause
    assert made.stats()["queries"]["failing"]["set_aside"] == cause
    assert "set aside" in made.queries["failing"].explain()
    with pytest.raises(StateError, match="set aside"):
        made.queries["failing"].snapshot()
    out = made.process(rows("a", [12, 13], start=8))
    assert not out.bad and out["failing"].num_rows == 0
    assert out["healthy"]["k"].to_pylist() == [12, 13]
    made.drop("failing")
    made.query("SELECT k AS v FROM a [RANGE 10 SECONDS]", name="failing")
    assert made.process(rows("a", [7], start=10))["failing"]["v"].to_pylist()[-1] == 7


def test_results_in_between_keep_a_query_running() -> None:
    made = engine(set_aside_after=5)
    made.query("SELECT f(k) AS v FROM a [RANGE 10 SECONDS]", name="failing")
    for i in range(10):
        made.process(rows("a", [13, 13, 12], start=3 * i))
    stats = made.queries["failing"].stats()
    assert stats["set_aside"] is None and stats["bad"] == 20


def test_what_a_query_had_to_report_before_it_was_set_aside_is_reported() -> None:
    made = engine(executor="eddy", set_aside_after=3, chunk_rows=2)
    made.query("SELECT f(k) AS v FROM a [RANGE 10 SECONDS]", name="failing")
    out = made.process(rows("a", [11, 12, 13, 13, 13, 13, 13, 13, 12]))
    assert out["failing"]["v"].to_pylist() == [11, 12]


def test_bad_rows_and_queries_set_aside_survive_a_restart() -> None:
    made = engine(set_aside_after=3)
    made.query("SELECT f(k) AS v FROM a [RANGE 10 SECONDS]", name="aside")
    made.query("SELECT k, SUM(x) AS s FROM a [RANGE 10 SECONDS] GROUP BY k", name="healthy")
    made.process(rows("a", [13, 13, 13]))
    made.process(rows("a", [12], start=3))
    made.query("SELECT f(k) AS v FROM a [RANGE 20 SECONDS] WHERE x > 1", name="later")
    made.process(rows("a", [13], start=4))
    saved = io.BytesIO()
    made.save(saved)
    saved.seek(0)
    loaded = Engine.load(saved, functions={"f": refuse(13)})
    for each in (made, loaded):
        assert each.queries["aside"].stats()["set_aside"] is not None
        assert each.queries["later"].stats()["bad"] == 1
        out = each.process(rows("a", [13, 12], start=5))
        assert set(out.bad) == {"later"}
        assert out["healthy"]["s"].to_pylist() == [13 * 5, 24]


def test_an_operator_that_breaks_ends_its_own_queries_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from eddyline.runtime.operators.distinct import Distinct

    def breaks(*_: object) -> None:
        raise RuntimeError("out of luck")

    made = engine(executor="tree")
    made.query("SELECT DISTINCT k FROM a [RANGE 10 SECONDS]", name="broken")
    made.query(HEALTHY, name="healthy")
    monkeypatch.setattr(Distinct, "process", breaks)
    out = made.process(rows("a", [1, 2]))
    assert out["healthy"]["k"].to_pylist() == [1, 2]
    assert "out of luck" in made.queries["broken"].stats()["set_aside"]
    assert made.process(rows("a", [3], start=2))["healthy"]["k"].to_pylist() == [3]


def test_texts_that_are_too_long_are_bad_rows() -> None:
    made = engine()
    made.query("SELECT LENGTH(REPEAT('ab', k)) AS n FROM a [NOW]", name="q")
    out = made.process(rows("a", [2, 2_000_000_000, -1]))
    assert out["q"]["n"].to_pylist() == [4, 0]
    reasons = out.bad["q"]["_reason"].to_pylist()
    assert reasons == ["repeat 2000000000 times makes a text of more than 65536 characters"]
