"""Sums, averages and deviations are those of the rows alive, whatever has been in the window."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.testing import engine_with

DDL = "CREATE STREAM s (ts TIMESTAMP, x DOUBLE) TIMESTAMP BY ts"
SECOND = 1_000_000


def rows(values: list[float], start: int = 0) -> pa.Table:
    """A value per second."""
    times = [(start + i) * SECOND for i in range(len(values))]
    return pa.table({"ts": pa.array(times).cast(pa.timestamp("us", "UTC")), "x": values})


def answer_at(values: list[float], seconds: int, aggregate: str) -> Any:
    engine = Engine()
    engine.sql(DDL)
    query = engine.query(f"SELECT {aggregate}(x) AS a FROM s [RANGE 10 SECONDS]", name="q")
    engine.process({"s": rows(values)})
    engine.advance(seconds * SECOND)
    return query.snapshot()["a"].to_pylist()[0]


@pytest.mark.parametrize(
    ("values", "aggregate", "expected"),
    [
        ([1e36, 1e36, 1e36, 10.0, 20.0], "SUM", 30.0),
        ([1e36, 1e36, 1e36, 10.0, 20.0], "AVG", 15.0),
        ([1e36, 1.1e27, -9.3e33, 10.0, 20.0], "SUM", 30.0),
        ([math.inf, math.nan, -math.inf, 10.0, 20.0], "SUM", 30.0),
        ([1e300, 1e20, 0.0, 1.0, 2.0], "STDDEV", math.sqrt(0.5)),
        ([0.0, 0.0, 0.0, 1.7e15, 1.7e15 + 3.0], "STDDEV", 3.0 * math.sqrt(0.5)),
        ([0.0, 0.0, 0.0, 1e-200, 3e-200], "STDDEV", 2e-200 * math.sqrt(0.5)),
    ],
)
def test_large_values_leave_no_trace(values: list[float], aggregate: str, expected: float) -> None:
    assert answer_at(values, 12, aggregate) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("aggregate", "expected"), [("SUM", 1.001), ("AVG", 0.5005), ("STDDEV", 0.999 * math.sqrt(0.5))]
)
def test_a_saved_engine_keeps_all_digits(aggregate: str, expected: float, tmp_path: Path) -> None:
    engine = Engine()
    engine.sql(DDL)
    engine.query(f"SELECT {aggregate}(x) AS a FROM s [RANGE 10 SECONDS]", name="q")
    engine.process({"s": rows([1e36, -1e-30, 1.5, 2.5, 1e200, 7.25])})
    engine.save(tmp_path / "saved")
    loaded = Engine.load(tmp_path / "saved")
    for each in (engine, loaded):
        each.process({"s": rows([1e-3, 1.0], start=9)})
        each.advance(15 * SECOND)
        [answer] = each.queries["q"].snapshot()["a"].to_pylist()
        assert answer == pytest.approx(expected, rel=1e-12)


INTEGERS = "CREATE STREAM s (ts TIMESTAMP, k STRING, n BIGINT) TIMESTAMP BY ts"
MOST = 2**63 - 1


def numbered(keys: str, numbers: list[int], start: int = 0) -> pa.Table:
    times = [(start + i) * SECOND for i in range(len(numbers))]
    ts = pa.array(times).cast(pa.timestamp("us", "UTC"))
    return pa.table({"ts": ts, "k": list(keys), "n": pa.array(numbers, pa.int64())})


@pytest.mark.parametrize("executor", ["tree", "eddy"])
def test_a_sum_that_is_no_bigint(executor: str, tmp_path: Path) -> None:
    """The group is not there while it has none; the others are, and other queries."""
    engine = engine_with(executor=executor)
    engine.sql(INTEGERS)
    window = "FROM s [RANGE 10 SECONDS]"
    for name, x in (("q", "SUM(n)"), ("tried", "TRY_SUM(n)"), ("mean", "TRY_AVG(n)")):
        engine.query(f"SELECT k, {x} AS a {window} GROUP BY k EMIT CHANGES", name=name)
    engine.query(f"SELECT SUM(n) AS a {window}", name="all")
    out = engine.process({"s": numbered("aabaab", [MOST, 1, 5, 1, -9, 7])})

    def answers(engine: Engine) -> dict[str, list[tuple[Any, ...]]]:
        found = {n: query.snapshot().to_pydict() for n, query in engine.queries.items()}
        return {n: sorted(zip(*columns.values(), strict=True)) for n, columns in found.items()}

    assert out["q"].select(["_op", "k", "a"]).to_pylist() == [
        {"_op": "+", "k": "a", "a": MOST},
        {"_op": "-", "k": "a", "a": MOST},
        {"_op": "+", "k": "b", "a": 5},
        {"_op": "+", "k": "a", "a": MOST - 7},
        {"_op": "-", "k": "b", "a": 5},
        {"_op": "+", "k": "b", "a": 12},
    ]
    [bad] = out.bad["q"].to_pylist()
    assert (bad["_ts"].second, bad["_reason"]) == (1, "a SUM of the group is no BIGINT")
    assert '"a"' in bad["_row"]
    assert "_query" not in bad["_row"]
    assert "tried" not in out.bad
    assert answers(engine)["q"] == answers(engine)["tried"] == [("a", MOST - 7), ("b", 12)]
    assert answers(engine)["all"] == []
    out = engine.process({"s": numbered("a", [MOST], start=7)})
    assert out.bad["q"].num_rows == 1
    assert answers(engine)["q"] == [("b", 12)]
    assert answers(engine)["tried"] == [("a", None), ("b", 12)]
    engine.save(tmp_path / "saved")
    loaded = Engine.load(tmp_path / "saved")
    for each in (engine, loaded):
        assert answers(each)["q"] == [("b", 12)]
        each.process({"s": numbered("c", [3], start=11)})  # two have left
        assert answers(each)["q"] == [("a", MOST - 8), ("b", 12), ("c", 3)]
        assert answers(each)["tried"] == answers(each)["q"]
        assert answers(each)["all"] == []
        assert dict(answers(each)["mean"])["c"] == 3.0


@pytest.mark.parametrize("executor", ["tree", "eddy"])
def test_an_argument_is_needed_only_where_its_filter_is_true(executor: str) -> None:
    engine = engine_with(executor=executor)
    engine.sql(INTEGERS)
    engine.query(
        "SELECT SUM(CAST(k AS BIGINT)) FILTER (WHERE n > 0) AS a FROM s [RANGE 9 SECONDS]", name="q"
    )
    out = engine.process({"s": numbered("1x3", [1, 0, 1])})
    assert engine.queries["q"].snapshot()["a"].to_pylist() == [4]
    assert "q" not in out.bad
