"""All placements of a query, best first, by plan, options and statistics; and their records."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from eddyline.algebra.catalog import Emit
from eddyline.algebra.plan import Plan
from eddyline.engine.placement.candidates import Candidates, candidates, widest
from eddyline.engine.placement.placement import FlowPlacement, Placement, TreePlacement
from eddyline.engine.placement.records import record, recorded
from eddyline.optimizer.statistics import UNKNOWN, Statistics
from eddyline.physical.flows import Sharing
from eddyline.physical.strategy import StateStrategy, Strategy
from eddyline.testing import engine_with

FILTER = "SELECT k FROM a [RANGE 5 SECONDS] WHERE v > {}"
GROUPS = "SELECT k, COUNT(*) AS n FROM a [RANGE 5 SECONDS] WHERE v > {} GROUP BY k"
HAVING = f"{GROUPS} HAVING COUNT(*) > 1"
CHAIN = (
    "SELECT a.v FROM a [RANGE 5 SECONDS], b [RANGE 5 SECONDS], c [RANGE 5 SECONDS]"
    " WHERE a.k = b.k AND b.v = c.v AND a.v > {}"
)
INSERTS = Emit()
RATES = Statistics(rates=dict.fromkeys("abc", 100.0))


def plan_of(sql: str) -> Plan:
    engine = engine_with(executor="tree")
    for name in "abc":
        engine.sql(f"CREATE STREAM {name} (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts")
    return engine.query(sql, name="q").plan


def found(
    sql: str,
    emit: Emit = INSERTS,
    statistics: Statistics = UNKNOWN,
    name: str = "q",
    state: StateStrategy = "upa",
    **sharing: Any,
) -> Candidates:
    strategy = Strategy(state=state, statistics=statistics)
    return candidates(name, plan_of(sql), emit, strategy, Sharing(**sharing), replaces=False)


def tables(all_: Candidates) -> list[str]:
    return ["groups" if p.is_grouped else "rows" for p in all_.shared]


@pytest.mark.parametrize(
    ("sql", "expected"), [(FILTER, ["rows"]), (GROUPS, ["groups"]), (HAVING, ["rows", "groups"])]
)
def test_an_unshared_query_is_a_tree_that_is_open_to_all_its_flows(
    sql: str, expected: list[str]
) -> None:
    all_ = found(sql.format(1))
    assert tables(all_) == expected
    assert all_.open_to == all_.shared
    assert isinstance(all_.unshared, TreePlacement)
    suffix = ", and groups as it does" * (expected[0] == "groups")
    assert all_.unshared.why == f"no other query has its sources and join keys{suffix}"


@pytest.mark.parametrize("sql", [FILTER, GROUPS, CHAIN])
def test_queries_with_other_constants_have_the_same_keys(sql: str) -> None:
    one, other = found(sql.format(1)), found(sql.format(2))
    assert [p.key for p in one.shared] == [p.key for p in other.shared]
    apart = [found(sql.format(1), name=name, sharing=False) for name in "qr"]
    assert apart[0].shared[0].key != apart[1].shared[0].key


def test_a_lone_join_of_three_streams_is_a_tree_whose_order_may_change() -> None:
    for statistics in (UNKNOWN, RATES):
        all_ = found(CHAIN.format(1), statistics=statistics)
        assert isinstance(all_.unshared, TreePlacement) and all_.open_to == all_.shared
        assert all_.unshared.joins is not None and all_.unshared.orders == (((0, 1), 2),)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"executor": "tree"}, "executor is 'tree'"),
        ({"emit": Emit("final")}, "EMIT FINAL is made by operators of its own"),
        ({"state": "direct"}, "the state option asks for operators of its own"),
    ],
)
def test_some_options_leave_only_a_tree(options: dict[str, Any], why: str) -> None:
    all_ = found(FILTER.format(1), **options)
    assert (all_.shared, all_.open_to, all_.unshared.why) == ((), (), why)


def test_executor_eddy_takes_the_flow_that_most_queries_can_share() -> None:
    all_ = found(HAVING.format(1), executor="eddy")
    assert isinstance(all_.unshared, FlowPlacement) and all_.unshared.is_grouped
    assert all_.open_to == ()
    unfiltered = found(HAVING.replace("WHERE v > {} ", ""))
    assert not widest(unfiltered.shared).is_grouped


def test_a_record_gives_the_placement_again() -> None:
    all_ = found(HAVING.format(1))
    chain = found(CHAIN.format(1), statistics=RATES)
    trees = [chain.tree.reordered((((2, 1), 0),), "cheaper")]
    flows = [replace(p, number=7 if p.is_grouped else None, why="x") for p in all_.shared]
    cases: list[tuple[Candidates, Placement]] = [(all_, replace(all_.tree, why="x"))]
    cases += [(all_, flow) for flow in flows] + [(chain, tree) for tree in trees]
    for candidate, placement in cases:
        saved = json.loads(json.dumps(record(placement)))
        again = recorded(candidate, saved)
        assert (again, again.why) == (placement, placement.why)
