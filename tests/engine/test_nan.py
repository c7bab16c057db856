"""NaN equals itself and is larger than any number, whatever part of a query meets it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest

from eddyline.testing import engine_with, rows_of

NAN = math.nan
DDL = """
    CREATE STREAM a (ts TIMESTAMP, x DOUBLE, n BIGINT) TIMESTAMP BY ts;
    CREATE STREAM b (ts TIMESTAMP, x DOUBLE, m BIGINT) TIMESTAMP BY ts;
    CREATE TABLE t (x DOUBLE, k BIGINT)
"""
XS: Sequence[float | None] = (NAN, -0.0, 1.0, None, NAN, 0.0, math.inf)
WINDOWS = "a [RANGE 1 MINUTE], b [RANGE 1 MINUTE]"


def rows(name: str) -> pa.Table:
    odd = [-x if x is not None and math.isnan(x) else x for x in XS]  # other bits, still NaN
    return pa.table(
        {
            "ts": pa.array(range(len(XS))).cast(pa.timestamp("us", "UTC")),
            "x": pa.array(XS if name != "b" else odd, pa.float64()),
            {"a": "n", "b": "m", "t": "k"}[name]: range(len(XS)),
        }
    )


def answer(sql: str, **options: Any) -> list[tuple[Any, ...]]:
    engine = engine_with(**options)
    engine.sql(DDL)
    engine.table("t", rows("t").drop(["ts"]))
    query = engine.query(sql, name="q")
    other = engine.query(sql.replace("1 MINUTE", "2 MINUTES"), name="r")  # perhaps shared
    engine.process({"a": rows("a"), "b": rows("b")})
    found = sorted(rows_of(query.snapshot()), key=repr)
    assert found == sorted(rows_of(other.snapshot()), key=repr)
    return found


def equal_pairs() -> list[tuple[int, int]]:
    def same(x: float | None, y: float | None) -> bool:
        return x is not None and y is not None and (x == y or (math.isnan(x) and math.isnan(y)))

    return [(i, j) for i, x in enumerate(XS) for j, y in enumerate(XS) if same(x, y)]


@pytest.mark.parametrize("executor", ["auto", "tree", "eddy"])
@pytest.mark.parametrize(
    "condition",
    [
        "a.x = b.x",
        "a.x = b.x AND a.n >= 0 AND b.m >= 0",
        "NOT a.x <> b.x",
        "a.x <= b.x AND a.x >= b.x",
        "a.x <=> b.x AND a.x IS NOT NULL",
        "a.x BETWEEN b.x AND b.x",
        "a.x IN (b.x, b.x)",
        "CASE a.x WHEN b.x THEN TRUE END",
        "NULLIF(a.x, b.x) IS NULL AND a.x IS NOT NULL",
        "NOT (a.x < b.x OR a.x > b.x)",
        "GREATEST(a.x, b.x) = LEAST(a.x, b.x) AND a.x IS NOT NULL AND b.x IS NOT NULL",
        "a.x + 0 = b.x",
    ],
)
def test_however_equality_is_written(condition: str, executor: str) -> None:
    found = answer(f"SELECT n, m FROM {WINDOWS} WHERE {condition}", executor=executor)
    assert found == sorted(equal_pairs(), key=repr)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT n, k FROM a [RANGE 1 MINUTE], t WHERE a.x = t.x",
        "SELECT n, k FROM a [RANGE 1 MINUTE], t WHERE a.x >= t.x AND a.x <= t.x",
    ],
)
def test_look_ups_in_a_table(sql: str) -> None:
    assert answer(sql) == sorted(equal_pairs(), key=repr)


@pytest.mark.parametrize(
    ("predicate", "numbers"),
    [
        ("x > 1", [0, 4, 6]),
        ("x >= CAST('NaN' AS DOUBLE)", [0, 4]),
        ("x < CAST('NaN' AS DOUBLE)", [1, 2, 5, 6]),
        ("x = CAST('NaN' AS DOUBLE)", [0, 4]),
        ("x <> 1", [0, 1, 4, 5, 6]),
        ("x IN (CAST('NaN' AS DOUBLE), 1)", [0, 2, 4]),
        ("x NOT IN (0, 1)", [0, 4, 6]),
        ("x = 0", [1, 5]),
        ("x NOT BETWEEN 0 AND 1", [0, 4, 6]),
        ("x BETWEEN 1 AND CAST('NaN' AS DOUBLE)", [0, 2, 4, 6]),
        ("EXISTS (SELECT 1 FROM b [RANGE 1 MINUTE] WHERE b.x = a.x)", [0, 1, 2, 4, 5, 6]),
        ("NOT EXISTS (SELECT 1 FROM b [RANGE 1 MINUTE] WHERE b.x = a.x)", [3]),
        ("x IN (SELECT x FROM b [RANGE 1 MINUTE] WHERE m < 1)", [0, 4]),
    ],
)
@pytest.mark.parametrize("executor", ["auto", "tree", "eddy"])
def test_predicates(predicate: str, numbers: list[int], executor: str) -> None:
    found = answer(f"SELECT n FROM a [RANGE 1 MINUTE] WHERE {predicate}", executor=executor)
    assert found == sorted([(n,) for n in numbers], key=repr)


@pytest.mark.parametrize(
    ("select", "expected"),
    [
        ("SELECT COUNT(*) FROM a [RANGE 1 MINUTE] GROUP BY x", [1, 1, 1, 2, 2]),
        ("SELECT COUNT(DISTINCT x) FROM a [RANGE 1 MINUTE]", [4]),
        ("SELECT MAX(x) FROM a [RANGE 1 MINUTE]", ["NaN"]),
        ("SELECT MIN(x) FROM a [RANGE 1 MINUTE] WHERE x > 1", [math.inf]),
        ("SELECT DISTINCT x + 0 FROM a [RANGE 1 MINUTE]", [None, 0.0, 1.0, math.inf, "NaN"]),
        ("SELECT x + 0 FROM a [RANGE 1 MINUTE] INTERSECT SELECT x + 0 FROM b [RANGE 1 MINUTE]",
         [None, 0.0, 1.0, math.inf, "NaN"]),
        ("SELECT x + 0 FROM a [RANGE 1 MINUTE] EXCEPT SELECT x + 0 FROM b [RANGE 1 MINUTE]", []),
    ],
)  # fmt: skip
def test_groups_and_sets(select: str, expected: list[Any]) -> None:
    assert answer(select) == sorted([(v,) for v in expected], key=repr)
