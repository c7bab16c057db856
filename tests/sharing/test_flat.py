"""Which filters of a plan are chosen above its leaf, and which stay below the matching."""

from __future__ import annotations

import pytest

from eddyline import Engine
from eddyline.algebra.plan import Plan
from eddyline.optimizer.optimizer import RULES, optimize
from eddyline.sharing.flat import flatten
from eddyline.sql.binder import bind
from eddyline.sql.parser import parse
from eddyline.sql.statements import SelectStatement

DDL = "".join(
    f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, x BIGINT, f DOUBLE, t STRING) TIMESTAMP BY ts;"
    for name in "sr"
)
ENGINE = Engine()
ENGINE.sql(DDL)
WITHIN = "[RANGE 2 SECONDS]"


def plan_of(sql: str) -> Plan:
    (statement,) = parse(sql)
    assert isinstance(statement, SelectStatement)
    return optimize(bind(statement.select, statement.emit, ENGINE.catalog).plan, RULES)


def pulled(sql: str) -> list[str]:
    """The terms that are chosen above the leaf of a plan."""
    flat = flatten(plan_of(sql.format(w=WITHIN)), joins=True)
    assert len(flat.leaves) == 1
    return sorted(str(t) for t in flat.terms)


def leaf(sql: str) -> Plan:
    return flatten(plan_of(sql.format(w=WITHIN)), joins=True).leaves[0]


ABSENT = "SELECT s.k FROM s {{w}} AS s WHERE {0} AND NOT EXISTS (SELECT 1 FROM r {{w}} AS r {1})"
LEFT_JOIN = "SELECT s.k, r.x FROM s {{w}} AS s LEFT JOIN r {{w}} AS r {1} WHERE {0}"


def test_filters_of_left_rows_are_chosen_above() -> None:
    keyed = "WHERE r.k = s.k"
    assert pulled(ABSENT.format("s.x > 3", keyed)) == ["(x > 3)"]
    assert pulled(LEFT_JOIN.format("s.x > 3", "ON r.k = s.k")) == ["(x > 3)"]
    assert leaf(ABSENT.format("s.x > 3", keyed)) == leaf(ABSENT.format("s.x < 9", keyed))


@pytest.mark.parametrize(("text", "on"), [(ABSENT, "WHERE"), (LEFT_JOIN, "ON")])
def test_a_filter_of_a_key_leaves_the_right_side_too(text: str, on: str) -> None:
    """The optimizer says it of the right rows; so keys that differ do not make leaves differ."""
    plans = [leaf(text.format(f"s.k = {n}", f"{on} r.k = s.k")) for n in (1, 2)]
    assert plans[0] == plans[1]


def test_a_right_filter_that_keys_do_not_imply_stays() -> None:
    """``r.k = r.x`` has the ordinals of ``s.k = s.x``, but only r.k is a key."""
    with_it = leaf(ABSENT.format("s.k = s.x", "WHERE r.k = s.k AND r.k = r.x"))
    without = leaf(ABSENT.format("s.k = s.x", "WHERE r.k = s.k"))
    assert with_it != without


def test_a_filter_of_a_float_key_says_nothing_of_right_rows() -> None:
    """0.0 equals -0.0, but their texts differ: a right row that the filter rejects may match."""
    condition = "CAST({}.f AS STRING) = '0.0'"
    both = f"WHERE r.f = s.f AND {condition.format('r')}"
    assert leaf(ABSENT.format(condition.format("s"), both)) != leaf(
        ABSENT.format(condition.format("s"), "WHERE r.f = s.f")
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT q.k FROM (SELECT k, 6 / x AS y FROM s {w} WHERE x > 0) AS q "
        "WHERE NOT EXISTS (SELECT 1 FROM r {w} AS r WHERE r.k = q.y)",
        "SELECT q.k FROM (SELECT k, 6 / x AS y FROM s {w} WHERE x > 0) AS q "
        "WHERE EXISTS (SELECT 1 FROM r {w} AS r WHERE r.k = q.k AND r.x > q.y)",
        "SELECT k, 6 / x AS y, x FROM s {w} WHERE x > 0 UNION ALL "
        "SELECT k, 6 / x AS y, x FROM r {w} WHERE x > 0",
    ],
)
def test_filters_stay_below_what_can_fail(sql: str) -> None:
    """Rows that a filter rejects are not computed with, so they do not become bad rows."""
    assert pulled(sql) == []


def test_filters_that_all_parts_of_a_union_have() -> None:
    part = "SELECT k, x FROM {} {{w}} WHERE x > {}"
    alike = [part.format("s", 0), part.format("r", 0)]
    assert pulled(" UNION ALL ".join(alike)) == ["(x > 0)"]
    assert pulled(" UNION ALL ".join([alike[0], part.format("r", 1)])) == []
