"""The output that is left when streams are thinned is the one that is told to be expected."""

from __future__ import annotations

from collections.abc import Mapping
from math import sqrt

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from eddyline.optimizer.statistics import Statistics
from eddyline.testing import engine_with

RATES = {"a": 40.0, "b": 100.0, "c": 60.0}  # rows per second
SECONDS = 30
STEADY_US = 8_000_000  # from then on windows are full, of the rows that are kept as well
RUNS = 10
DDL = "".join(
    f"CREATE STREAM {s} (ts TIMESTAMP, x BIGINT, y BIGINT) TIMESTAMP BY ts;" for s in RATES
)

CASES: Mapping[str, tuple[str, dict[str, float]]] = {
    "filter": ("SELECT x FROM a [RANGE 1 SECOND] WHERE y < 4", {"a": 0.3}),
    "two windows of time": (
        "SELECT a.x FROM a [RANGE 2 SECONDS], b [RANGE 4 SECONDS] WHERE a.x = b.x",
        {"a": 0.5, "b": 0.4},
    ),
    "three windows of time, filtered": (
        "SELECT a.x FROM a [RANGE 2 SECONDS], b [RANGE 2 SECONDS], c [RANGE 3 SECONDS]"
        " WHERE a.x = b.x AND b.y = c.y AND c.x < 15",
        {"a": 0.8, "b": 0.5, "c": 0.6},
    ),
    "two windows of rows": (
        "SELECT a.x FROM a [ROWS 30], b [ROWS 80] WHERE a.x = b.x",
        {"a": 0.4, "b": 0.7},
    ),
    "three windows of rows, filtered": (
        "SELECT a.x FROM a [ROWS 20], b [ROWS 40], c [ROWS 30]"
        " WHERE a.x = b.x AND b.y = c.y AND a.y < 8",
        {"a": 0.5, "b": 0.3},
    ),
    "a window of time and one of rows": (
        "SELECT a.x FROM a [RANGE 2 SECONDS], b [ROWS 80] WHERE a.x = b.x",
        {"a": 0.4, "b": 0.6},
    ),
    "a stream with itself": (
        "SELECT p.x FROM b [RANGE 1 SECOND] AS p, b [RANGE 3 SECONDS] AS q"
        " WHERE p.x = q.x AND p.ts < q.ts",
        {"b": 0.5},
    ),
}


def streams(seed: int) -> dict[str, pa.Table]:
    rng = np.random.default_rng(seed)
    tables = {}
    for name, rate in RATES.items():
        n = int(rate * SECONDS)
        ts = np.sort(rng.choice(SECONDS * 1_000_000, n, replace=False))
        columns = {"ts": ts, "x": rng.integers(0, 20, n), "y": rng.integers(0, 10, n)}
        tables[name] = pa.table(columns)
    return tables


def results(sql: str, seed: int, keep: Mapping[str, float]) -> tuple[int, float]:
    """How many there are in the steady state, and the share that is told to be expected."""
    engine = engine_with(keep=keep, statistics=Statistics(rates=RATES))
    engine.sql(DDL)
    query = engine.query(sql + " ON OVERLOAD SHED", name="q")
    changes = engine.process(streams(seed))["q"]
    rows = changes.filter(pc.equal(changes["_op"], "+"))
    steady = pc.greater_equal(rows["_ts"].cast(pa.int64()), STEADY_US)
    return pc.sum(steady).as_py(), query.stats()["expected_output_share"]


@pytest.mark.parametrize("name", CASES)
def test_output_rate_is_the_expected_one(name: str) -> None:
    sql, keep = CASES[name]
    shares = []
    for seed in range(RUNS):
        full, everything = results(sql, seed, {})
        left, expected = results(sql, seed, keep)
        assert everything == 1.0
        shares.append(left / full)
    error = float(np.std(shares, ddof=1)) / sqrt(RUNS)
    assert error < 0.12 * expected, "the test can tell"
    assert abs(np.mean(shares) - expected) < 4 * error
