"""What CREATE says of rates and values: the optimizer goes by it, and it outlives the engine."""

from __future__ import annotations

import io

import pytest

from eddyline import Engine
from eddyline.optimizer.statistics import DEFAULT_RATE, Statistics
from eddyline.testing import engine_with

SCRIPT = """
CREATE STREAM a (ts TIMESTAMP, v BIGINT) TIMESTAMP BY ts WITH (rate = 100, distinct = 'v: {v}');
CREATE STREAM b (ts TIMESTAMP, v BIGINT) TIMESTAMP BY ts WITH (rate = 100, distinct = 'v: {v}');
"""
QUERY = "SELECT DISTINCT a.v FROM a [RANGE 1 HOUR], b [RANGE 1 HOUR] WHERE a.v = b.v"


@pytest.mark.parametrize(("values", "below"), [("10", True), ("1e9", False)])
def test_plans_are_chosen_by_it(values: str, below: bool) -> None:
    engine = Engine()
    engine.sql(SCRIPT.format(v=values))
    plan = engine.explain(QUERY)
    assert (plan.count("Distinct") > 1) is below, plan


def test_what_is_given_to_the_engine_wins() -> None:
    engine = engine_with(statistics=Statistics(rates={"a": 5.0}, values={("b", "v"): 7}))
    engine.sql(SCRIPT.format(v=30))
    known = engine.statistics
    assert (known.rate("a"), known.rate("b")) == (5, 100)
    assert known.values == {("a", "v"): 30, ("b", "v"): 7}


def test_statistics_are_dropped_with_the_stream() -> None:
    engine = Engine()
    engine.sql(SCRIPT.format(v=30))
    engine.sql("CREATE TABLE t (k BIGINT) WITH (rows = 4, distinct = 'k: 2')")
    assert engine.statistics.rows("t") == 4
    engine.sql("DROP STREAM A; DROP TABLE T")
    assert engine.statistics.rate("a") == DEFAULT_RATE
    assert engine.statistics.values == {("b", "v"): 30}
    assert "t" not in engine.statistics.table_rows


def test_it_is_saved() -> None:
    engine = engine_with(statistics=Statistics(rates={"a": 5.0}))
    engine.sql(SCRIPT.format(v=10))
    query = engine.query(QUERY, name="q")
    file = io.BytesIO()
    engine.save(file)
    file.seek(0)
    again = Engine.load(file)
    assert again.statistics.as_dict() == engine.statistics.as_dict()
    assert again.queries["q"].plan == query.plan
    again.sql("DROP QUERY q; DROP STREAM a; DROP STREAM b")
    assert again.statistics.as_dict() == {"rates": {"a": 5.0}, "table_rows": {}, "values": []}
