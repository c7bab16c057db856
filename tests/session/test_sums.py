"""Sums, averages and deviations are those of the rows alive, whatever has been in the window."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine

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
def test_a_saved_engine_knows_all_digits(aggregate: str, expected: float, tmp_path: Path) -> None:
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
