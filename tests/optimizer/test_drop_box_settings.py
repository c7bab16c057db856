"""How drop boxes are set: against the cost model at all settings of a grid."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from math import log, prod

import pytest

from eddyline import Engine
from eddyline.algebra.plan import Plan
from eddyline.optimizer.cost import cost
from eddyline.optimizer.overload import LEAST_KEPT, verdict
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.thinned import output_share, thinned
from eddyline.optimizer.verdict import Limits
from eddyline.optimizer.work import Work

RATES = {"a": 1e4, "b": 7e4, "c": 2e4, "d": 1e3}
KNOWN = Statistics(rates=RATES, values={(s, c): 100 for s in "abcd" for c in "xy"})
RANGES = "SELECT a.x FROM a [RANGE 1 SECOND], b [RANGE 2 SECONDS] WHERE a.x = b.x"
ROWS = "SELECT a.x FROM a [ROWS 100], b [ROWS 300], c [ROWS 50] WHERE a.x = b.x AND b.y = c.y"
MIXED = "SELECT a.x FROM a [RANGE 1 SECOND], b [ROWS 100] WHERE a.x = b.x"
SELF = "SELECT p.x FROM a [RANGE 1 SECOND] AS p, a [RANGE 3 SECONDS] AS q WHERE p.x = q.x"
GROUPED = "SELECT x, COUNT(*) AS n FROM b [RANGE 1 SECOND] WHERE y > 3 GROUP BY x"
DISTINCT = "SELECT DISTINCT y FROM c [RANGE 10 SECONDS]"
FILTERED = "SELECT x + 1 FROM d [RANGE 1 SECOND] WHERE y = 7"


def plans(*queries: str) -> dict[str, Plan]:
    engine = Engine()
    for s in "abcd":
        engine.sql(f"CREATE STREAM {s} (ts TIMESTAMP, x BIGINT, y BIGINT) TIMESTAMP BY ts")
    for i, sql in enumerate(queries):
        engine.query(sql, name=f"q{i}")
    return {name: query.plan for name, query in engine.queries.items()}


def works(of: Mapping[str, Plan]) -> list[Work]:
    return [Work(plan, (name,)) for name, plan in of.items()]


def needed(of: Mapping[str, Plan], keep: Mapping[str, float]) -> float:
    nodes: dict[Plan, float] = {}
    for plan in of.values():
        nodes |= {n.plan: n.own for n in cost(plan, thinned(KNOWN, keep)).nodes()}
    return sum(nodes.values())


def merit(of: Mapping[str, Plan], keep: Mapping[str, float]) -> float:
    shares = (output_share(plan, keep, KNOWN) for plan in of.values())
    return sum(log(share) for share in shares if share is not None)


def test_there_is_no_advice_without_rates() -> None:
    assert verdict(works(plans(RANGES)), "ab", Limits(1.0), Statistics(rates={"a": 5.0})) is None


def test_feasible_queries_keep_all_rows() -> None:
    found = verdict(works(plans(ROWS, GROUPED)), "abcd", Limits(1e6), KNOWN)
    assert found is not None
    assert found.feasible
    assert (found.keep, found.outputs) == ({}, {})
    assert found.needed == found.used == pytest.approx(needed(plans(ROWS, GROUPED), {}))


@pytest.mark.parametrize("share", [0.9, 0.5, 0.1])
@pytest.mark.parametrize(
    "queries",
    [[RANGES], [ROWS], [MIXED], [SELF], [GROUPED], [RANGES, GROUPED], [ROWS, SELF], [FILTERED]],
    ids=lambda q: f"{len(q)} {q[0][-25:]}",
)
def test_no_setting_of_the_boxes_within_the_capacity_is_better(
    queries: Sequence[str], share: float
) -> None:
    of = plans(*queries)
    capacity = share * needed(of, {})
    found = verdict(works(of), "abcd", Limits(capacity), KNOWN)
    assert found is not None
    assert found.needed == pytest.approx(needed(of, {}))
    assert found.used == pytest.approx(needed(of, found.keep))
    assert 0.98 * capacity < found.used <= 1.002 * capacity
    assert all(LEAST_KEPT <= x < 1 for x in found.keep.values())
    for name, plan in of.items():
        expected = output_share(plan, found.keep, KNOWN)
        assert found.outputs.get(name, 1.0) == pytest.approx(expected)
    streams = sorted({s for s in "abcd" for q in queries if f" {s} [" in q})
    steps = [0.01, *(i / 12 for i in range(1, 13))]
    for setting in itertools.product(steps, repeat=len(streams)):
        keep = dict(zip(streams, setting, strict=True))
        if needed(of, keep) <= capacity:
            assert merit(of, keep) <= merit(of, found.keep) + 0.01


def test_streams_without_permission_are_not_thinned() -> None:
    of = plans(RANGES, DISTINCT)
    found = verdict(works(of), ["b"], Limits(0.6 * needed(of, {})), KNOWN)
    assert found is not None
    assert set(found.keep) == {"b"}
    none = verdict(works(of), [], Limits(0.6 * needed(of, {})), KNOWN)
    assert none is not None
    assert not none.keep
    assert none.text().endswith("cores; no stream can be thinned")


def test_equal_parts_of_queries_are_counted_once() -> None:
    twice, once = (
        verdict(works(plans(RANGES, RANGES)), "ab", Limits(1.0), KNOWN),
        verdict(works(plans(RANGES)), "ab", Limits(1.0), KNOWN),
    )
    assert twice is not None
    assert once is not None
    assert twice.needed == once.needed


def test_infeasible_loads_are_reported() -> None:
    found = verdict(works(plans(RANGES)), "ab", Limits(1e-9), KNOWN)
    assert found is not None
    assert found.keep == {"a": LEAST_KEPT, "b": LEAST_KEPT}
    assert "even with 99 % of a, 99 % of b dropped, output 0.0001 of full" in found.text()


def test_windows_of_time_lose_the_product_and_windows_of_rows_the_mean() -> None:
    keep = {"a": 0.5, "b": 0.2}
    (of,) = plans(RANGES).values()
    assert output_share(of, keep, KNOWN) == pytest.approx(prod(keep.values()))
    (of,) = plans("SELECT a.x FROM a [ROWS 100], b [ROWS 300] WHERE a.x = b.x").values()
    brought = {"a": RATES["a"] * 300, "b": RATES["b"] * 100}
    expected = sum(keep[s] * n for s, n in brought.items()) / sum(brought.values())
    assert output_share(of, keep, KNOWN) == pytest.approx(expected)
    (of,) = plans(MIXED).values()  # results triggered by a row of b also need a row of a
    brought = {"a": RATES["a"] * 100, "b": RATES["b"] * RATES["a"]}
    expected = (0.5 * brought["a"] + 0.2 * 0.5 * brought["b"]) / sum(brought.values())
    assert output_share(of, keep, KNOWN) == pytest.approx(expected)
