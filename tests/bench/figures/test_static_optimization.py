"""The figures of static optimization: the lines over many queries are the optimizer's own."""

from __future__ import annotations

import random

import numpy as np
import pytest

from eddyline.bench.comparison.shedding import shed
from eddyline.bench.comparison.static_joins import PerTuple, all_bushy, all_left_deep
from eddyline.bench.figures.static_optimization import (
    against_engine,
    example,
    example_by_engine,
    orders,
    scarcity,
)
from eddyline.bench.figures.static_optimization.random_queries import (
    RandomQueries,
    as_query,
    filled,
    random_rates,
)
from eddyline.bench.figures.static_optimization.trial import (
    JoinCase,
    JoinTrial,
    WindowedStream,
    tree_of,
)
from eddyline.optimizer.joins.costing import Priced
from eddyline.optimizer.joins.functions import PlanFunctions
from eddyline.optimizer.prices import TYPICAL, Prices
from left_deep_heuristic import heuristic_left_deep


@pytest.mark.parametrize("cross_products", [True, False])
@pytest.mark.parametrize("percent", [100, 40, 1])
def test_many_queries_are_optimized_as_one_is(cross_products: bool, percent: int) -> None:
    queries = RandomQueries(random_rates(3), cross_products)
    costs, gains = queries.costs(), queries.outputs()
    resources = costs.sum(axis=2).min(axis=1) * percent / 100
    kept = filled(
        np.broadcast_to(gains[:, None], costs.shape),
        costs,
        np.broadcast_to(resources[:, None], costs.shape[:2]),
    )
    made = (gains[:, None] * kept).sum(axis=2).max(axis=1)
    heuristic = queries.heuristic(resources).output
    for number, rates in enumerate(queries.rates):
        query, costing = as_query(rates), PerTuple(1.0)
        settings = (
            shed(PlanFunctions(query, tree, costing), resources[number])
            for tree in all_left_deep(queries.graph)
        )
        best = max(settings, key=lambda s: s.output / s.utilisation)  # R(p), Eq. 21
        assert best.output == pytest.approx(made[number])
        capacity = resources[number] * (1 + 1e-9)
        found = heuristic_left_deep(query, costing, capacity, queries.graph)
        assert found.output == pytest.approx(heuristic[number], rel=1e-6)


def test_costs_of_plans_are_the_models() -> None:
    queries = RandomQueries(random_rates(2), cross_products=True)
    for number, rates in enumerate(queries.rates):
        for tree, cost in zip(queries.plans(), queries.costs()[number], strict=True):
            plan = PlanFunctions(as_query(rates), tree, PerTuple(1.0))
            assert plan.cost.at([1.0] * 5) == pytest.approx(cost.sum())
            assert plan.cost.at([0.5, 1, 0, 0.25, 1]) == pytest.approx(cost @ [0.5, 1, 0, 0.25, 1])


def test_example_1_is_the_papers() -> None:
    points = example.measure(quick=True)
    for claim in example.EXPERIMENT.claims:
        assert claim.judge(points).holds == "yes", claim.text


def test_engines_say_of_example_1_what_the_paper_says() -> None:
    points = example_by_engine.measure(quick=True)
    holds = {c.text: c.judge(points).holds for c in example_by_engine.EXPERIMENT.claims}
    assert list(holds.values())[:2] == ["yes", "yes"]


def test_trials_drop_rows_by_the_boxes_of_the_engine() -> None:
    trial = JoinTrial(SMALL, SMALL.flat, capacity=1e-4)
    assert min(trial.keep) < 1 and trial.verdict.capacity == 1e-4
    trial.measure(1.0)
    boxes = trial.engine.shedding
    for name, keep in zip(("s0", "s1", "s2"), trial.keep, strict=True):
        if keep < 1:
            box = boxes[name]
            assert box["kept"] / box["seen"] == pytest.approx(keep, abs=0.05)


def test_gains_and_errors_are_the_papers() -> None:
    experiment = scarcity.EXPERIMENTS[0]
    points = experiment.measure(True)
    holds = {claim.text: claim.judge(points).holds for claim in experiment.claims}
    assert [text for text, verdict in holds.items() if verdict == "no"] == [
        "but for 28 % at 1 % of resources"
    ]


# -- against the engine ------------------------------------------------

SMALL = JoinCase(
    (
        WindowedStream(2_000.0, seconds=0.5),
        WindowedStream(3_000.0, rows=600),
        WindowedStream(1_000.0, seconds=1.0),
    ),
    ((0, 1, 500), (1, 2, 300)),
)


@pytest.mark.parametrize("keep", [(1.0, 1.0, 1.0), (0.5, 0.7, 1.0)])
def test_an_engine_makes_what_the_model_says(keep: tuple[float, ...]) -> None:
    found = {}
    for sql in (SMALL.flat, SMALL.nested(((0, 1), 2)), SMALL.nested((0, (1, 2)))):
        found[sql] = JoinTrial(SMALL, sql, keep).measure(60.0)
    first, *others = found.values()
    top = PlanFunctions(SMALL.query, ((0, 1), 2), Priced()).operators[-1].flow
    assert first.output == pytest.approx(top.rate.at(keep), rel=0.1)
    assert first.active == pytest.approx(top.rows.at(keep), rel=0.1)
    assert all(o.output == first.output for o in others)
    assert first.predicted_cores(SMALL.statistics(keep), TYPICAL) > 0


def test_the_optimizer_chooses_a_distinguishable_order() -> None:
    chosen = tree_of(JoinTrial(orders.CASE, orders.CASE.flat, (1.0,) * 4).query.plan)
    assert chosen == (0, (1, (2, 3)))
    costing = Priced(Prices(), Prices())
    costs = {
        tree: PlanFunctions(orders.CASE.query, tree, costing).cost.at([1.0] * 4)
        for tree in all_bushy(orders.CASE.query.neighbours())
    }
    assert costs[chosen] == min(costs.values())
    assert max(costs.values()) > 5 * costs[chosen]


def test_joins_stay_in_the_order_that_is_measured() -> None:
    dearest = (((0, 1), 2), 3)
    trial = JoinTrial(orders.CASE, orders.CASE.nested(dearest), (1.0,) * 4)
    assert tree_of(trial.measure(2.0).plan) == dearest


def test_random_joins_are_of_both_kinds_of_windows() -> None:
    rng = random.Random(1)
    cases = [against_engine.random_case(rng, 4) for _ in range(20)]
    streams = [s for case in cases for s in case.streams]
    assert 0.5 < sum(s.seconds is not None for s in streams) / len(streams) < 0.9
    assert all(len(case.query.neighbours()) == 4 for case in cases)
