"""CACQ's experiments on whole engines: contenders agree, and claims judged by canned points."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from eddyline.algebra.value_sets import above, at_least, at_most, below
from eddyline.bench.figures.cacq import banks, engines, joins, niagara_report
from eddyline.bench.figures.cacq.feeds import Feed, engine_of
from eddyline.bench.figures.cacq.joins import JoinPoint
from eddyline.bench.figures.cacq.niagara import (
    BY_ARTICLES,
    BY_QUERIES,
    BY_WANTED,
    CACQ,
    FUNCTIONS,
    PLANS,
    PULL_UP,
    PUSH_DOWN,
    PlanPoint,
    Update,
    measure_plans,
)
from eddyline.bench.figures.cacq.scaling import SEPARATE, SHARED, ScalePoint, dealt, measure_both
from eddyline.bench.figures.cacq.workloads import as_sql, random_queries, tuples
from eddyline.bench.figures.experiment import Claim, Experiment, Speed

STREAM = "CREATE STREAM s (ts TIMESTAMP, a BIGINT, b BIGINT, c BIGINT, d BIGINT, e BIGINT)"


def judge(experiment: Experiment, text: str, points: Sequence[Any]) -> str:
    (claim,) = (c for c in experiment.claims if text in c.text)
    assert isinstance(claim, Claim)
    return claim.judge(points).holds


# -- engines that take in the same rows again and again ----------------


def test_every_turn_has_the_same_results() -> None:
    rows = pa.table({"ts": [0, 5, 9], "a": [1, 2, 3]})
    select = "SELECT x.a FROM s [RANGE 10 SECONDS] x, s [RANGE 10 SECONDS] y WHERE x.a = y.a"
    feed = Feed(
        engine_of("CREATE STREAM s (ts TIMESTAMP, a BIGINT) TIMESTAMP BY ts", [select]),
        {"s": rows},
        60_000_000,
    )
    assert [feed.run() for _ in range(3)] == [3, 3, 3]
    assert feed.process()["q0"]["_ts"].cast(pa.int64()).to_pylist() == [
        180_000_000 + ts for ts in (0, 5, 9)
    ]


def test_conditions_as_sql() -> None:
    where = {"a": above(1), "b": at_least(2), "c": below(3), "d": at_most(4)}
    assert as_sql(where) == "a > 1 AND b >= 2 AND c < 3 AND d <= 4"


def test_engines_answer_as_filter_banks_do() -> None:
    rng = np.random.default_rng(3)
    queries, batch = random_queries(20, rng), tuples(100, rng)
    columns = dict(zip("abcde", batch.columns(), strict=True))
    selects = [f"SELECT a FROM s [NOW] WHERE {as_sql(q)}" for q in queries]
    rows = {"s": pa.table({"ts": range(100), **columns})}
    feed = Feed(engine_of(f"{STREAM} TIMESTAMP BY ts", selects), rows, 1_000_000)
    assert feed.run() == banks.feed_of(queries, batch).run()


# -- numbers of queries and sources ------------------------------------


def test_queries_are_dealt_to_sources() -> None:
    queries = [{"a": above(n)} for n in range(4)]
    assert dealt(queries, np.array([0.1, 0.9, 0.4, 0.5]), 2) == [
        [queries[0], queries[2]],
        [queries[1], queries[3]],
    ]


def test_sharing_must_not_change_answers() -> None:
    with pytest.raises(AssertionError, match="changes the answers"):
        measure_both(lambda: 3, [lambda: 1, lambda: 1], sources=1, rows=1, rounds=1)


def scale(shared: list[float], separate: list[float], by: str) -> list[Any]:
    """Points of both modes, with these numbers of results per second."""
    return [
        ScalePoint(
            mode,
            4**i if by == "queries" else 9,
            1 if by == "queries" else i + 1,
            Speed(1, 1, (1 / rate,)),
        )
        for mode, rates in ((SHARED, shared), (SEPARATE, separate))
        for i, rate in enumerate(rates)
    ]


@pytest.mark.parametrize("experiment", [banks.QUERIES, engines.QUERIES])
def test_claims_about_queries(experiment: Experiment) -> None:
    points = scale([1, 6, 5], [1, 2, 1], "queries")
    assert judge(experiment, "rise sharply", points) == "yes"
    assert judge(experiment, "maximum is half", points) == "yes"
    assert judge(experiment, "twice as fast", points) == "yes"
    points = scale([2, 3, 3], [1, 2, 2.5], "queries")
    assert judge(experiment, "rise sharply", points) == "in part"
    assert judge(experiment, "maximum is half", points) == "in part"
    assert judge(experiment, "twice as fast", points) == "in part"


@pytest.mark.parametrize(("last", "holds"), [(6.0, "yes"), (4.0, "no"), (11.0, "in part")])
def test_claims_about_sources(last: float, holds: str) -> None:
    points = scale([10.0, 8.0, last], [1, 1, 1], "sources")
    assert judge(banks.SOURCES, "somewhat", points) == holds


# -- joins -------------------------------------------------------------


def joined(queries: int, together: float, alone: tuple[float, ...], added_ms: float) -> JoinPoint:
    """Seconds of the engine with all queries, and of those with one each."""
    speeds = tuple(Speed(1_000, 1, (seconds,)) for seconds in alone)
    return JoinPoint(queries, Speed(1_000, 9, (together,)), speeds, (added_ms, added_ms))


def test_separate_engines_are_reckoned_from_a_sample() -> None:
    point = joined(100, 4.0, (1.0, 3.0), 5.0)
    assert point.separate_rows_per_s == pytest.approx(1_000 / 200)
    assert point.gain == pytest.approx(50.0)
    assert joins.table([point])[0]["engines run"] == 2


def test_claims_about_joins() -> None:
    good, bad = joined(100, 4.0, (1.0,), 5.0), joined(100, 20.0, (1.0,), 200.0)
    assert [c.judge([good]).holds for c in joins.EXPERIMENT.claims] == ["yes", "yes"]
    assert [c.judge([bad]).holds for c in joins.EXPERIMENT.claims] == ["in part", "no"]


def test_joins_differ_in_selections_and_windows() -> None:
    assert len({joins.select_of(n) for n in range(50)}) == 50


# -- NiagaraCQ ---------------------------------------------------------


def test_plans_agree_and_call_functions_as_often_as_they_must() -> None:
    update = Update(FUNCTIONS, queries=3, stocks=10, articles=4, functions=True)
    points = {p.plan: p for p in measure_plans(update, quick=True)}
    assert {plan: p.calls for plan, p in points.items()} == {
        CACQ: 30,
        PULL_UP: 120,
        PUSH_DOWN: 30,
    }
    assert len({p.speed.results for p in points.values()}) == 1
    assert 0.0 < points[PUSH_DOWN].filtering < 1.0


def test_queries_select_all_stocks_or_few() -> None:
    many, few = (
        measure_plans(Update(BY_WANTED, 1, 100, 2, wanted=wanted), quick=True)[0].speed.results
        for wanted in (100, 10)
    )
    assert many == 200
    assert 0 < few < 60


def planned(update: Update, *ms: float, filtering: float = 0.0) -> list[Any]:
    """Points of CACQ, PullUp and PushDown; calls as they should be."""
    calls = update.queries * update.stocks
    return [
        PlanPoint(
            update,
            plan,
            Speed(1, 1, (each / 1e3,)),
            filtering if plan == PUSH_DOWN else 0.0,
            calls * update.articles if plan == PULL_UP else calls,
        )
        for plan, each in zip(PLANS, ms, strict=True)
    ]


def niagara_points(*, good: bool) -> list[Any]:
    by = [Update(BY_QUERIES, n, 10, 1) for n in (1, 512)]
    articles = Update(BY_ARTICLES, 4, 10, 8)
    wanted = [Update(BY_WANTED, 4, 10, 4, wanted=w) for w in (1, 100)]
    functions = [Update(FUNCTIONS, 4, 10, a, functions=True) for a in (1, 8)]
    if good:
        times = [(1, 1.2, 2), (10, 9, 50), (2, 3, 5), (2, 4, 9), (2, 2, 9), (5, 6, 7), (5, 30, 9)]
    else:
        times = [(1, 0.9, 2), (10, 2, 9), (9, 8, 5), (2, 2.2, 9), (2, 2, 9), (5, 5, 4), (5, 6, 4)]
    updates = [*by, articles, *wanted, *functions]
    return [p for u, ms in zip(updates, times, strict=True) for p in planned(u, *ms)]


def test_claims_about_niagara() -> None:
    good, bad = niagara_points(good=True), niagara_points(good=False)
    claims = niagara_report.EXPERIMENT.claims
    assert {c.text: c.judge(good).holds for c in claims} == {c.text: "yes" for c in claims}
    assert [c.judge(bad).holds for c in claims] == [
        "no",
        "no",
        "no",
        "no",
        "no",
        "no",
        "in part",
        "yes",
    ]
    assert len(niagara_report.table(good)) == 7


def test_filters_of_push_down_do_not_count() -> None:
    text, update = "PushDown is slower in all", Update(BY_QUERIES, 4, 10, 1)
    assert judge(niagara_report.EXPERIMENT, text, planned(update, 2, 2, 5)) == "yes"
    slow_filters = planned(update, 2, 2, 5, filtering=0.7)
    assert judge(niagara_report.EXPERIMENT, text, slow_filters) == "no"


def test_many_queries_may_take_about_as_long() -> None:
    update = Update(BY_QUERIES, 512, 10, 1)
    verdicts = [
        judge(niagara_report.EXPERIMENT, "somewhat slower", planned(update, 10, pull_up, 99))
        for pull_up in (9, 14, 20, 5)
    ]
    assert verdicts == ["yes", "yes", "in part", "no"]
