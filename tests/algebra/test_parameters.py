"""Parameters: the plan for a row is that of the query with the row's values in its text."""

from __future__ import annotations

import re

import pyarrow as pa
import pytest

from eddyline.algebra.explain import explain
from eddyline.algebra.expressions import ColumnRef, Literal, Parameter, columns_of, rewrite
from eddyline.algebra.parameters import substitute
from eddyline.algebra.plan import Plan, Project
from eddyline.optimizer.optimizer import optimize
from eddyline.optimizer.rules.simplify_filters import simplify_filters
from golden import bound_plan
from plan_parameters import parameters_of

ROW = (7, "it's", -3, True)
TEXTS = {"id": "7L", "symbol": "'it''s'", "least": "(-3)", "active": "TRUE"}

BODIES = [
    "SELECT rules.id AS id, price FROM trades [NOW] t "
    "WHERE t.symbol = rules.symbol AND price > rules.least AND rules.active",
    "SELECT price FROM trades [NOW] WHERE qty IN (1, rules.id) OR -rules.least > price "
    "OR CAST(rules.least AS STRING) = symbol OR price BETWEEN rules.least AND rules.least + 10",
    "SELECT a.price AS x FROM trades a, quotes b WHERE a.symbol = b.symbol AND a.symbol = "
    "rules.symbol AND a.price + rules.least < b.bid AND b.size > rules.id WINDOW 1 MINUTE",
    "SELECT symbol FROM trades t WHERE EXISTS (SELECT 1 FROM quotes q WHERE q.symbol = t.symbol "
    "AND bid > rules.least) AND NOT EXISTS (SELECT 1 FROM companies c WHERE t.symbol = c.symbol "
    "AND (c.sector = rules.symbol OR t.price > rules.least)) WINDOW 1 MINUTE",
    "SELECT DISTINCT symbol FROM trades WHERE qty = rules.id UNION ALL "
    "SELECT symbol FROM quotes WHERE size < rules.least WINDOW 1 MINUTE",
    "SELECT symbol FROM trades WHERE qty = rules.id EXCEPT ALL "
    "SELECT symbol FROM quotes WHERE size < rules.least WINDOW 1 MINUTE",
    "SELECT symbol, rules.id AS id, SUM(qty) AS s FROM trades [ROWS 9] "
    "GROUP BY symbol HAVING COUNT(*) > rules.least AND rules.active",
    "SELECT * FROM trades [NOW] t LEFT JOIN quotes [NOW] q "
    "ON t.symbol = q.symbol AND q.size > rules.least AND t.qty < rules.id",
    "SELECT mean FROM averages [ROWS 3] WHERE mean > rules.least",
]


def parameterised(body: str) -> Plan:
    return bound_plan(f"CREATE QUERY q FOR EACH ROW OF rules AS {body}")


def written_out(body: str) -> Plan:
    return bound_plan(re.sub(r"rules\.(\w+)", lambda m: TEXTS[m[1]], body))


@pytest.mark.parametrize("body", BODIES)
def test_as_if_the_values_stood_in_the_text(body: str) -> None:
    plan = substitute(parameterised(body), ROW)
    assert plan == written_out(body)
    assert parameters_of(plan) == ()


@pytest.mark.parametrize("body", BODIES)
def test_plans_are_optimized_before_or_after(body: str) -> None:
    plan = substitute(optimize(parameterised(body)), ROW)
    assert simplify_filters(plan) == optimize(written_out(body))  # without "AND TRUE"


def test_aggregates() -> None:
    plan = parameterised(
        "SELECT SUM(qty * rules.id) AS total, COUNT(*) FILTER (WHERE price > rules.least) AS n "
        "FROM trades [NOW] GROUP BY rules.symbol"
    )
    assert [p.name for p in parameters_of(plan)] == ["rules.id", "rules.symbol", "rules.least"]
    group_by = substitute(plan, ROW).inputs[0]
    assert explain(group_by).startswith(
        "GroupBy  'it''s': SUM((qty * 7)), COUNT(*) FILTER (WHERE (price > -3.0))"
    )


def test_null_and_conversions() -> None:
    plan = parameterised(
        "SELECT rules.symbol AS s, CAST(rules.least AS BIGINT) AS n FROM trades [NOW]"
    )
    for row, value in ((None, None, None, None), None), ((1, "a", 2**31 - 1, False), 2**31 - 1):
        filled = substitute(plan, row)
        assert isinstance(filled, Project)
        assert filled.exprs == (Literal(pa.string(), row[1]), Literal(pa.int64(), value))


def test_parts_without_parameters_stay_the_same_objects() -> None:
    plan = bound_plan("SELECT symbol, COUNT(*) AS n FROM trades [NOW] GROUP BY symbol")
    assert substitute(plan, ROW) is plan
    plan = parameterised("SELECT rules.id FROM averages [NOW]")
    assert substitute(plan, ROW).inputs[0] is plan.inputs[0]


def test_a_parameter_is_a_leaf_that_reads_no_column() -> None:
    least = Parameter(pa.int32(), 2, "rules.least")
    assert least == Parameter(pa.int32(), 2, "r.least") and hash(least) == hash(
        Parameter(pa.int32(), 2, "r.least")
    )
    assert least != Parameter(pa.int64(), 2, "rules.least")
    assert least != ColumnRef(pa.int32(), 2, "rules.least")
    assert columns_of(least) == frozenset()
    assert rewrite(least, lambda _: None) is least
    assert str(least) == "$rules.least"
