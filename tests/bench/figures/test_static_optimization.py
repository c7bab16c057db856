"""The figures of static optimization: the lines over many queries are the optimizer's own."""

from __future__ import annotations

import numpy as np
import pytest

from eddyline.bench.figures.static_optimization import example, scarcity
from eddyline.bench.figures.static_optimization.random_queries import (
    RandomQueries,
    as_query,
    filled,
    random_rates,
)
from eddyline.optimizer.joins.costing import PerTuple
from eddyline.optimizer.joins.functions import PlanFunctions
from eddyline.optimizer.joins.trees import all_left_deep
from eddyline.optimizer.shedding.choice import best_of
from eddyline.optimizer.shedding.heuristic import heuristic_left_deep


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
        best = best_of(all_left_deep(queries.graph), query, costing, resources[number])
        assert best.output == pytest.approx(made[number])
        found = heuristic_left_deep(
            query, costing, resources[number] * (1 + 1e-9), cross_products=cross_products
        )
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


def test_gains_and_errors_are_the_papers() -> None:
    experiment = scarcity.EXPERIMENTS[0]
    points = experiment.measure(True)
    holds = {claim.text: claim.judge(points).holds for claim in experiment.claims}
    assert [text for text, verdict in holds.items() if verdict == "no"] == [
        "but for 28 % at 1 % of resources"
    ]
