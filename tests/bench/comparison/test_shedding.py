"""Drop boxes: their settings are the best ones, by random search and by the KKT conditions."""

from __future__ import annotations

import dataclasses
import random

import numpy as np
import pytest

from eddyline.bench.comparison.shedding import Setting, shed
from eddyline.optimizer.joins.costing import Priced
from eddyline.optimizer.joins.functions import PlanFunctions
from eddyline.optimizer.joins.posynomial import Posynomial
from eddyline.optimizer.joins.query import JoinQuery, Source, Term, members
from eddyline.optimizer.joins.search import cheapest
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
    found = shed(plan, capacity)
    assert capacity * 0.999 <= found.utilisation <= capacity * (1 + 1e-9)
