"""Drop boxes: their settings are the best ones, by random search and by the KKT conditions."""

from __future__ import annotations

import dataclasses
import itertools
import random

import numpy as np
import pytest

from eddyline.optimizer.joins.costing import PerTuple, Priced
from eddyline.optimizer.joins.functions import PlanFunctions
from eddyline.optimizer.joins.posynomial import Posynomial
from eddyline.optimizer.joins.query import JoinQuery, Source, Term, members
from eddyline.optimizer.joins.search import cheapest
from eddyline.optimizer.joins.trees import all_left_deep, clique
from eddyline.optimizer.shedding.choice import best_of, best_setting
from eddyline.optimizer.shedding.filters import StreamFilter, cheapest_order, keep_rate, utilisation
from eddyline.optimizer.shedding.geometric import Sum, maximize_product
from eddyline.optimizer.shedding.heuristic import heuristic_left_deep
from eddyline.optimizer.shedding.setting import Setting, shed, shed_together
from join_queries import Windows, random_query

#: Of what the whole plan needs.
CAPACITIES = (0.7, 0.3, 0.05)


def cheapest_plan(query: JoinQuery) -> PlanFunctions:
    return PlanFunctions(query, cheapest(query, Priced()), Priced())


def needed(plan: PlanFunctions) -> float:
    return plan.cost.at([1.0] * len(plan.query.sources))


def pushed_to(plan: PlanFunctions, keep: list[float], capacity: float) -> list[float]:
    """Keep rates on the ray through some that use the capacity up, each at most 1."""
    low, high = 0.0, 1e6
    for _ in range(60):
        middle = (low + high) / 2
        scaled = [min(1.0, x * middle) for x in keep]
        low, high = (low, middle) if plan.cost.at(scaled) > capacity else (middle, high)
    return [min(1.0, x * low) for x in keep]


def best_by_chance(plan: PlanFunctions, capacity: float, tries: int, near: Setting) -> float:
    """The best output of random keep rates, half of them close to those that were found."""
    rng = random.Random(1)
    best = 0.0
    for number in range(tries):
        if number % 2:
            keep = [max(0.0, x + rng.gauss(0, 0.02)) for x in near.keep]
        else:
            keep = [10 ** -rng.uniform(0, 4) for _ in near.keep]
        best = max(best, plan.output.at(pushed_to(plan, keep, capacity)))
    return best


@pytest.mark.parametrize("windows", ["rows", "time", "mixed"])
@pytest.mark.parametrize("share", CAPACITIES)
@pytest.mark.parametrize("sources", [2, 3, 5])
def test_nothing_found_by_chance_is_better(windows: Windows, share: float, sources: int) -> None:
    plan = cheapest_plan(random_query(sources, sources, windows))
    capacity = share * needed(plan)
    found = shed(plan, capacity)
    assert found.utilisation == pytest.approx(capacity, rel=1e-6)
    assert found.utilisation <= capacity * (1 + 1e-9)
    assert all(0 <= x <= 1 for x in found.keep)
    assert found.output >= best_by_chance(plan, capacity, 400, found) * (1 - 1e-6)


def log_slopes(of: Posynomial, keep: tuple[float, ...]) -> list[float]:
    """How many per cent it grows for a per cent more of each source."""
    return [
        sum(
            c * float(np.prod([keep[i] for i in members(m)]))
            for m, c in of.terms.items()
            if m >> source & 1
        )
        / of.at(keep)
        for source in range(len(keep))
    ]


@pytest.mark.parametrize("seed", range(6))
def test_windows_of_time_meet_the_kkt_conditions(seed: int) -> None:
    """One price for a per cent of cost: what is kept in part gains just that, what is kept more.

    The program is convex in the logarithms, so such a point is the optimum.
    """
    plan = cheapest_plan(random_query(seed, 5, "time"))
    found = shed(plan, 0.2 * needed(plan))
    gains, costs = log_slopes(plan.output, found.keep), log_slopes(plan.cost, found.keep)
    assert gains == pytest.approx([1.0] * 5)
    in_part = [g / c for g, c, x in zip(gains, costs, found.keep, strict=True) if x < 0.999]
    whole = [g / c for g, c, x in zip(gains, costs, found.keep, strict=True) if x >= 0.999]
    assert in_part
    assert in_part == pytest.approx([in_part[0]] * len(in_part), rel=1e-4)
    assert min(whole, default=np.inf) >= in_part[0] * (1 - 1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_windows_of_rows_keep_at_most_one_source_in_part(seed: int) -> None:
    plan = cheapest_plan(random_query(seed, 5, "rows"))
    found = shed(plan, 0.3 * needed(plan))
    assert sum(1e-9 < x < 1 - 1e-9 for x in found.keep) <= 1


def test_a_known_optimum() -> None:
    """x y with x + 3 y <= 1: half of the cost each."""
    cost = Sum(np.array([1.0, 3.0]), np.eye(2))
    found = maximize_product(np.ones(2), cost, np.full(2, 1e-6))
    assert found == pytest.approx([1 / 2, 1 / 6], rel=1e-4)
    found = maximize_product(np.array([3.0, 1.0]), cost, np.full(2, 1e-6))
    assert found == pytest.approx([3 / 4, 1 / 12], rel=1e-4)
    assert maximize_product(np.ones(2), cost, np.array([1e-6, 0.3]))[1] == pytest.approx(0.3)


def test_nothing_is_dropped_from_a_feasible_plan() -> None:
    plan = cheapest_plan(random_query(1, 4, "mixed"))
    found = shed(plan, 1.01 * needed(plan))
    assert found.keep == (1.0,) * 4
    assert found.text().endswith("nothing is dropped")


@pytest.mark.parametrize("windows", ["rows", "time", "mixed"])
def test_a_floor_may_be_a_whole_number(windows: Windows) -> None:
    plan = cheapest_plan(random_query(1, 3, windows))
    capacity = 0.5 * needed(plan)
    assert shed(plan, capacity, floor=0).keep == shed(plan, capacity, floor=0.0).keep
    assert shed(plan, capacity, floor=1).keep == (1.0,) * 3


def test_settings_tell_what_every_operator_needs_and_holds() -> None:
    plan = cheapest_plan(random_query(1, 4, "time"))
    found = shed(plan, 0.5 * needed(plan))
    assert sum(found.by_operator().values()) == pytest.approx(found.utilisation)
    assert len(found.by_operator()) == 4 + 3
    inputs = [o.flow.rows.at(found.keep) for o in plan.operators[:-1]]
    assert plan.held(found.keep) == pytest.approx(sum(inputs))
    assert "; feasible with " in found.text() and found.text().endswith("of full")


@pytest.mark.parametrize("windows", ["rows", "time", "mixed"])
def test_no_source_is_dropped_below_the_floor(windows: Windows) -> None:
    plan = cheapest_plan(random_query(2, 4, windows))
    found = shed(plan, 0.2 * needed(plan), floor=0.1)
    assert min(found.keep) >= 0.1
    assert found.utilisation <= 0.2 * needed(plan) * (1 + 1e-9)
    hopeless = shed(plan, 1e-9 * needed(plan), floor=0.1)
    assert hopeless.keep == pytest.approx([0.1] * 4)
    assert " even with 90.0% of A" in hopeless.text()


def test_tables_are_never_dropped() -> None:
    sources = (Source.range("s", 100, 5), Source("t", 0, 1_000, by_time=False))
    plan = PlanFunctions(JoinQuery(sources, (Term.edge(0, 1, 0.001),)), (0, 1), Priced())
    found = shed(plan, 0.5 * needed(plan))
    assert found.keep[1] == 1
    assert found.keep[0] == pytest.approx(0.5, rel=1e-6)


def test_a_stream_that_brings_nothing_is_no_trouble() -> None:
    sources = (Source.range("a", 0, 5), Source.range("b", 100, 5))
    plan = PlanFunctions(JoinQuery(sources), (0, 1), Priced())
    found = shed(plan, 0.5 * needed(plan))
    assert (found.output, found.full, found.share) == (0, 0, 1)
    assert found.utilisation <= 0.5 * needed(plan)


def test_a_stream_joined_with_itself_has_one_box() -> None:
    """Its keep rate counts twice."""
    sources = (Source.range("s", 100, 5), Source.range("s", 100, 1), Source.range("t", 100, 5))
    query = JoinQuery(sources, (Term.edge(0, 1, 0.001), Term.edge(1, 2, 0.1)))
    plan = PlanFunctions(query, ((0, 1), 2), Priced())
    found = shed(plan, 0.3 * needed(plan))
    assert found.keep[0] == found.keep[1]
    assert found.utilisation <= 0.3 * needed(plan)

    def output(s: float) -> float:
        low, high = 0.0, 1.0
        for _ in range(60):
            t = (low + high) / 2
            low, high = (low, t) if plan.cost.at([s, s, t]) > 0.3 * needed(plan) else (t, high)
        return plan.output.at([s, s, low])

    assert found.output >= max(output(s / 1_000) for s in range(1, 1_001)) * (1 - 1e-6)


# -- several queries -------------------------------------------------------------------------------


@pytest.mark.parametrize("windows", ["rows", "time", "mixed"])
def test_queries_share_fairly(windows: Windows) -> None:
    """No other settings raise the product of the outputs."""
    whole = random_query(5, 4, windows)
    parts = [
        JoinQuery(whole.sources[:3], tuple(t for t in whole.terms if t.sources < 0b1000)),
        JoinQuery(whole.sources[1:], (Term.edge(0, 1, 0.1), Term.edge(1, 2, 0.02))),
    ]
    plans = [cheapest_plan(q) for q in parts]
    capacity = 0.3 * sum(map(needed, plans))
    found = shed_together(plans, capacity)
    keep = [*found[0].keep, found[1].keep[-1]]
    assert found[0].keep[1:] == found[1].keep[:2]

    def product(x: list[float]) -> float:
        return plans[0].output.at(x[:3]) * plans[1].output.at(x[1:])

    def price(x: list[float]) -> float:
        return plans[0].cost.at(x[:3]) + plans[1].cost.at(x[1:])

    assert price(keep) == pytest.approx(capacity, rel=1e-3)
    assert price(keep) <= capacity * (1 + 1e-9)
    rng = random.Random(2)
    for _ in range(500):
        other = [min(1.0, max(1e-6, x * rng.lognormvariate(0, 0.1))) for x in keep]
        while price(other) > capacity:
            other = [x * 0.995 for x in other]
        assert product(other) <= product(keep) * (1 + 1e-3)


# -- selections only -------------------------------------------------------------------------------


def test_filters_by_rank_cost_least_and_keep_most() -> None:
    filters = [StreamFilter(0.0005, 0.25), StreamFilter(0.001, 0.5), StreamFilter(0.0001, 0.9)]
    orders = [list(order) for order in itertools.permutations(filters)]
    best = cheapest_order(filters)
    assert utilisation(1_000, best) == min(utilisation(1_000, order) for order in orders)
    assert keep_rate(2_000, best) == max(keep_rate(2_000, order) for order in orders) < 1


def test_a_box_further_up_wastes_work() -> None:
    """Observation 2: of all boxes with one product, those at the source cost least."""
    first, second = StreamFilter(0.001, 0.5), StreamFilter(0.001, 0.5)
    x = keep_rate(1_000, [first, second])
    assert utilisation(1_000 * x, [first, second]) == pytest.approx(1)
    box = StreamFilter(0.0, x)
    assert utilisation(1_000, [first, box, second]) > 1


# -- which plan ------------------------------------------------------------------------------------


@pytest.mark.parametrize("windows", ["rows", "time"])
def test_the_best_setting_is_the_best_of_all_trees(windows: Windows) -> None:
    query = random_query(11, 4, windows)
    capacity = 0.2 * needed(cheapest_plan(query))
    found = best_setting(query, Priced(), capacity)
    for tree in all_left_deep(query.neighbours()):
        other = shed(PlanFunctions(query, tree, Priced()), capacity)
        assert other.objective <= found.objective * (1 + 1e-6)
    in_turn = best_setting(query, Priced(), capacity, try_all=1)
    assert 0.8 * found.output <= in_turn.output <= found.output * (1 + 1e-6)


def test_the_cheapest_plan_need_not_be_the_one_to_shed_from() -> None:
    """Example 1, at 4 and at 4.5 milliseconds a row (Figure 6)."""
    sources = [Source.last(name, rate, rows=10) for name, rate in (("A", 10), ("B", 70), ("C", 20))]
    query = JoinQuery(tuple(sources), (Term.edge(0, 1, 0.5), Term.edge(1, 2, 0.2)))
    chosen = {
        ms: best_setting(query, PerTuple(ms / 1_000), cross_products=True).show()
        for ms in (0.5, 4.0, 4.5)
    }
    assert chosen[0.5] == chosen[4.0] == "A ⋈ (B ⋈ C)"
    assert chosen[4.5] == "(A ⋈ C) ⋈ B"


@pytest.mark.parametrize("windows", ["rows", "time"])
@pytest.mark.parametrize("seed", range(3))
def test_the_heuristic_finds_the_best_feasible_left_deep_plan(seed: int, windows: Windows) -> None:
    query = random_query(seed, 5, windows)
    trees = list(all_left_deep(query.neighbours()))
    best = best_of(trees, query, Priced(), capacity=1e9)
    capacity = 1.001 * best.needed
    found = heuristic_left_deep(query, Priced(), capacity)
    assert found.utilisation == pytest.approx(best.utilisation)
    assert found.keep == (1.0,) * 5
    scarce = heuristic_left_deep(query, Priced(), 0.5 * capacity)
    assert scarce.utilisation <= 0.5 * capacity * (1 + 1e-9)
    left_deep = best_of(trees, query, Priced(), 0.5 * capacity)
    assert 0.5 * left_deep.output <= scarce.output <= left_deep.output * (1 + 1e-6)


def test_cross_products_can_be_the_heuristics_choice() -> None:
    query = random_query(4, 4, density=0.0)
    with_them = heuristic_left_deep(query, Priced(), cross_products=True)
    best = best_of(all_left_deep(clique(4)), query, Priced())
    assert with_them.utilisation == pytest.approx(best.utilisation)


@pytest.mark.parametrize("seed", range(40))
def test_any_orders_of_magnitude(seed: int) -> None:
    """Rates and windows that differ by factors up to a billion, and capacities as small."""
    rng = random.Random(seed)
    query = random_query(seed, rng.randint(2, 6), rng.choice(["rows", "time", "mixed"]))
    sources = []
    for source in query.sources:
        faster, wider = 10 ** rng.uniform(-4, 4), 10 ** rng.uniform(-4, 3)
        rows = source.rows * wider * (faster if source.by_time else 1)
        rate, arriving = source.rate * faster, source.arriving * faster
        sources.append(dataclasses.replace(source, rate=rate, arriving=arriving, rows=rows))
    plan = cheapest_plan(dataclasses.replace(query, sources=tuple(sources)))
    capacity = 10 ** rng.uniform(-5, 0) * needed(plan)
    found = shed(plan, capacity, thorough=False)
    assert capacity * 0.999 <= found.utilisation <= capacity * (1 + 1e-9)
