"""Operators leave out what their readers do not ask for, and take it in when they do."""

from __future__ import annotations

from typing import Any, Final

import pyarrow as pa
import pytest

import eddyline
from eddyline.runtime.graph import in_order
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.operators.group import GroupBy
from eddyline.runtime.operators.matching import Matching
from eddyline.types import TIMESTAMP
from restarts import restarted

DDL: Final = """
    CREATE STREAM s (ts TIMESTAMP, k BIGINT, v DOUBLE) TIMESTAMP BY ts;
    CREATE STREAM t (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts
"""
SECOND: Final = 1_000_000


def operator(engine: eddyline.Engine, kind: type[Operator]) -> Operator:
    """The one operator of a kind."""
    (found,) = (o for o in in_order(engine.parts.queries.operators()) if isinstance(o, kind))
    return found


def readings(second: int, values: dict[int, float]) -> pa.Table:
    """A reading of each group, within a second."""
    ts = [second * SECOND + i for i in range(len(values))]
    return pa.table(
        {
            "ts": pa.array(ts, pa.int64()).cast(TIMESTAMP),
            "k": list(values),
            "v": pa.array(list(values.values()), pa.float64()),
        }
    )


def plain(table: pa.Table, *columns: str) -> list[tuple[Any, ...]]:
    return [tuple(row.values()) for row in table.select(list(columns)).to_pylist()]


@pytest.mark.parametrize("aggregate", ["AVG(v)", "SUM(v)", "MIN(v)", "MAX(v)", "STDDEV(v)"])
@pytest.mark.parametrize("count", [1, 30])
def test_groups_that_no_query_asks_for_change_nothing(aggregate: str, count: int) -> None:
    engine = eddyline.Engine()
    engine.sql(DDL)
    for i in range(count):
        engine.query(
            f"SELECT k, {aggregate} AS v FROM s [RANGE 5 SECONDS] GROUP BY k "
            f"HAVING {aggregate} > {1000 + i}",
            name=f"q{i}",
        )
    for second in range(1, 12):
        engine.process({"s": readings(second, {k: 10.0 + (k + second) % 4 for k in range(8)})})
    assert operator(engine, GroupBy).rows_in == 88
    made = operator(engine, GroupBy).rows_out
    assert made <= 8 * (aggregate == "MIN(v)"), "the first row of a group, of a MIN"

    hot = {k: 9000.0 * (-1 if k % 2 else 1) if k == 3 or k == 4 else 10.0 for k in range(8)}
    changes = engine.process({"s": readings(12, hot)})
    assert operator(engine, GroupBy).rows_out - made <= 2
    assert bool(changes.active()) == (aggregate in ("AVG(v)", "SUM(v)", "MAX(v)", "STDDEV(v)"))
    assert operator(engine, GroupBy).rows_in == 96


def test_a_lower_threshold_finds_the_groups_as_they_are() -> None:
    engine = eddyline.Engine()
    engine.sql(DDL)
    sql = "SELECT k, AVG(v) AS v FROM s [RANGE 9 SECONDS] GROUP BY k HAVING AVG(v) > {}"
    for i in range(3):
        engine.query(sql.format(100 + i), name=f"high{i}")
    for second in (1, 2, 3):
        engine.process({"s": readings(second, {0: 10.0 * second, 1: 60.0, 2: 1.0})})
    engine = restarted(engine)
    engine.query(sql.format(15), name="low")
    answer = engine.queries["low"].snapshot()
    assert sorted(plain(answer, "k", "v")) == [(0, 20.0), (1, 60.0)]
    changes = engine.process({"s": readings(4, {0: 2.0, 1: 60.0, 2: 1.0})})
    assert sorted(plain(changes["low"], "k", "v")) == [(0, 15.5), (0, 20.0), (1, 60.0)]
    assert not changes["high0"].num_rows


@pytest.mark.parametrize("restarts", [False, True])
def test_rows_that_no_query_asks_for_are_not_matched(restarts: bool) -> None:
    engine = eddyline.Engine()
    engine.sql(DDL)
    sql = (
        "SELECT s.k, s.v FROM s [RANGE 9 SECONDS] WHERE s.v > {} AND NOT EXISTS "
        "(SELECT 1 FROM t [RANGE 9 SECONDS] WHERE t.k = s.k AND t.k < s.v + 1000.0D)"
    )
    for i in range(3):
        engine.query(sql.format(100 + i), name=f"high{i}")
    engine.process({"s": readings(1, {k: float(k) for k in range(50)})})
    assert operator(engine, Matching).kept() == 0
    seen = pa.table({"ts": pa.array([2 * SECOND]).cast(TIMESTAMP), "k": [47]})
    engine.process({"t": seen}, watermark=2 * SECOND)
    if restarts:
        engine = restarted(engine)
    engine.query(sql.format(45), name="low")
    assert plain(engine.queries["low"].snapshot(), "k") == [(46,), (48,), (49,)]
    engine.process({"s": readings(3, {46: 200.0, 2: 5.0})})
    changes = engine.process({}, watermark=13 * SECOND)
    assert plain(engine.queries["low"].snapshot(), "k") == []
    assert plain(changes["high0"], "k") == plain(changes["low"], "k") == [(46,)]
    assert operator(engine, Matching).kept() == 0
