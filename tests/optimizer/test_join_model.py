"""The model of window joins: Equations 1 to 9, against an example, costs of plans, counting."""

from __future__ import annotations

import random
from collections.abc import Sequence

import pyarrow as pa
import pytest

from eddyline.algebra.expressions import Call, ColumnRef, Expr
from eddyline.algebra.plan import Join, Plan, StreamScan
from eddyline.algebra.windows import Range, Rows
from eddyline.bench.comparison.static_joins import PerTuple, all_bushy, all_left_deep, join_query
from eddyline.optimizer.cost import cost
from eddyline.optimizer.estimates import estimate
from eddyline.optimizer.joins.costing import Priced
from eddyline.optimizer.joins.functions import PlanFunctions
from eddyline.optimizer.joins.query import JoinQuery, Source, Term
from eddyline.optimizer.joins.trees import Tree, clique, show
from eddyline.optimizer.prices import TYPICAL, Prices
from eddyline.optimizer.selectivity import RANGE_SHARE
from eddyline.optimizer.statistics import Statistics
from eddyline.types import Field
from join_queries import Windows, random_query

EXAMPLE_1 = join_query(
    [Source.last(name, rate, rows=10) for name, rate in {"A": 10, "B": 70, "C": 20}.items()],
    {("A", "B"): 0.5, ("B", "C"): 0.2},
)
PLANS: dict[str, Tree] = {"a": ((0, 1), 2), "b": ((1, 2), 0), "c": ((0, 2), 1)}


@pytest.mark.parametrize(
    ("ms", "percent"), [(0.5, {"a": 25, "b": 14, "c": 20}), (3, {"a": 150, "b": 84, "c": 120})]
)
def test_utilisation_in_example_1(ms: float, percent: dict[str, float]) -> None:
    for name, tree in PLANS.items():
        plan = PlanFunctions(EXAMPLE_1, tree, PerTuple(ms / 1_000))
        assert plan.cost.at([1, 1, 1]) == pytest.approx(percent[name] / 100)
        assert plan.output.at([1, 1, 1]) == pytest.approx(1_000)


@pytest.mark.parametrize("windows", ["rows", "time", "mixed"])
def test_results_do_not_depend_on_the_tree(windows: Windows) -> None:
    """Observation 1, with drop boxes as well."""
    query = random_query(1, 5, windows)
    keep = [0.9, 0.5, 1.0, 0.1, 0.7]
    tops = [PlanFunctions(query, t, Priced()).operators[-1] for t in all_bushy(clique(5))]
    for top in tops:
        assert top.flow.rate.at(keep) == pytest.approx(tops[0].flow.rate.at(keep))
        assert top.flow.rows.at(keep) == pytest.approx(tops[0].flow.rows.at(keep))
    assert len({top.cost.at(keep) for top in tops}) > 1


def test_equations_5_and_6() -> None:
    plan = PlanFunctions(EXAMPLE_1, PLANS["a"], PerTuple(1))
    flow, everything = plan.operators[-1].flow, [1, 1, 1]
    assert flow.rate.at(everything) == pytest.approx(0.5 * 0.2 * (10 + 70 + 20) * 10 * 10)
    assert flow.rows.at(everything) == pytest.approx(0.5 * 0.2 * 10 * 10 * 10)


def test_dropping_thins_windows_of_time_and_not_of_rows() -> None:
    sources = (Source.range("a", 100, seconds=2), Source.last("b", 100, rows=200))
    plan = PlanFunctions(JoinQuery(sources), (0, 1), Priced())
    assert [o.flow.rows.at([0.5, 0.5]) for o in plan.operators[:2]] == [100, 200]
    assert plan.output.at([0.5, 1]) == pytest.approx(plan.output.at([1, 1]) / 2)
    assert plan.output.at([1, 0.5]) == pytest.approx(plan.output.at([1, 1]) * 3 / 4)


def test_filters_thin_rates_and_active_windows() -> None:
    filtered = Source.last("a", 100, rows=40, selectivity=0.25)
    assert (filtered.rate, filtered.rows, filtered.arriving) == (25, 10, 100)
    assert Priced().intake_s(filtered) == 100 * TYPICAL.pass_s


def test_sides_may_have_prices_of_their_own() -> None:
    """Equation 8, without results to make or chains to follow."""
    left = Prices(insert_s=1, probe_s=10, invalidate_s=100, make_s=0, compare_s=0)
    right = left.scaled(1_000)
    query = join_query([Source.last("a", 2, 1), Source.last("b", 3, 1)], {("a", "b"): 1.0})
    join = PlanFunctions(query, (0, 1), Priced(left, right)).operators[-1]
    assert join.cost.at([1, 1]) == 2 * 101 + 3 * 10 + 1_000 * (3 * 101 + 2 * 10)


def test_terms_of_several_sources_are_keys_where_their_sides_meet() -> None:
    sources = tuple(Source.last(name, 1, 10) for name in "abc")
    query = JoinQuery(sources, (Term(0b111, 0.1, (0b011, 0b100)), Term.edge(0, 2, 0.5)))
    assert query.tie(0b011, 0b100) == pytest.approx((0.05, 0.05))
    tie: object = query.tie(0b101, 0b010)
    assert tie == (pytest.approx(0.1), None)
    assert query.tie(0b001, 0b100) == pytest.approx((0.5, 0.5))
    assert query.neighbours() == [0b100, 0, 0b001]


@pytest.mark.parametrize(
    "terms", [[Term(0b01, 0.5)], [Term(0b101, 0.5)], [Term.edge(0, 1, 0.0)], [Term.edge(0, 1, 1.1)]]
)
def test_nonsense_is_refused(terms: list[Term]) -> None:
    sources = (Source.last("a", 1, 1), Source.last("b", 1, 1))
    with pytest.raises(ValueError):
        JoinQuery(sources, tuple(terms))


V = ColumnRef(pa.int64(), 0, "v")


@pytest.mark.parametrize("keys", [((V, V),), ()])
@pytest.mark.parametrize("windows", [(Range(2_000_000),) * 3, (Rows(50), Range(500_000), Rows(9))])
def test_the_cost_model_of_plans_agrees(
    windows: Sequence[Range | Rows], keys: tuple[tuple[Expr, Expr], ...]
) -> None:
    """Joins of scans on one column each: the same rates, windows and seconds."""
    rates, distinct = (100.0, 30.0, 300.0), 20.0
    statistics = Statistics(
        rates=dict(zip("abc", rates, strict=True)), values={(n, "v"): distinct for n in "abc"}
    )
    scans: list[Plan] = [
        StreamScan(n, w, (Field("v", pa.int64()),)) for n, w in zip("abc", windows, strict=True)
    ]
    less = Call(pa.bool_(), "<", (V, ColumnRef(pa.int64(), 2, "v")))
    plan = Join(Join(scans[0], scans[1], ((V, V),)), scans[2], keys, less)
    found = [estimate(scan, statistics) for scan in scans]
    sources = tuple(
        Source(name, e.rate, e.rows, isinstance(w, Range), e.retracted)
        for name, e, w in zip("abc", found, windows, strict=True)
    )
    terms = [Term.edge(0, 1, 1 / distinct), Term(0b101, RANGE_SHARE)]
    terms += [Term.edge(0, 2, 1 / distinct)] if keys else []
    query = JoinQuery(sources, tuple(terms))
    model = PlanFunctions(query, ((0, 1), 2), Priced())
    everything = [1, 1, 1]
    assert model.cost.at(everything) == pytest.approx(cost(plan, statistics).total)
    assert model.output.at(everything) == pytest.approx(estimate(plan, statistics).rate)


@pytest.mark.parametrize("windows", ["rows", "time", "mixed"])
def test_rates_and_windows_against_counting(windows: Windows) -> None:
    """A three-way chain over random arrivals, row by row."""
    rng = random.Random(7)
    rates, sizes = (40.0, 25.0, 60.0), (8, 12, 10)
    by_time = {"rows": (False,) * 3, "time": (True,) * 3, "mixed": (True, False, True)}[windows]
    seconds = [size / rate for size, rate in zip(sizes, rates, strict=True)]
    arrivals = sorted(
        (rng.uniform(0, 600), source)
        for source, rate in enumerate(rates)
        for _ in range(round(600 * rate))
    )
    held: list[list[tuple[float, int, int]]] = [[], [], []]
    results = active = looked = 0
    for number, (at, source) in enumerate(arrivals):
        for i in range(3):
            if by_time[i]:
                held[i] = [row for row in held[i] if row[0] > at - seconds[i]]
        if number % 50 == 0:
            active += _joined(held)
            looked += 1
        row = (at, rng.randrange(4), rng.randrange(5))
        held[source].append(row)
        held[source] = held[source] if by_time[source] else held[source][-sizes[source] :]
        results += _joined([[row] if i == source else held[i] for i in range(3)])
    sources = [
        Source.range(n, r, s) if t else Source.last(n, r, size)
        for n, r, s, size, t in zip("abc", rates, seconds, sizes, by_time, strict=True)
    ]
    query = join_query(sources, {("a", "b"): 1 / 4, ("b", "c"): 1 / 5})
    flow = PlanFunctions(query, ((0, 1), 2), Priced()).operators[-1].flow
    assert results / 600 == pytest.approx(flow.rate.at([1, 1, 1]), rel=0.05)
    assert active / looked == pytest.approx(flow.rows.at([1, 1, 1]), rel=0.05)


def _joined(held: Sequence[Sequence[tuple[float, int, int]]]) -> int:
    """How many triples join: a and b on one value, b and c on another."""
    return sum(
        sum(a[1] == b[1] for a in held[0]) * sum(c[2] == b[2] for c in held[2]) for b in held[1]
    )


def test_all_trees() -> None:
    assert len(set(all_left_deep(clique(5)))) == 60  # 5! / 2
    assert len(set(all_bushy(clique(5)))) == 105  # 7 * 5 * 3
    chain = [0b0010, 0b0101, 0b1010, 0b0100]
    assert {show(t, "ABCD") for t in all_left_deep(chain)} == {
        "((A ⋈ B) ⋈ C) ⋈ D",
        "((B ⋈ C) ⋈ A) ⋈ D",
        "((B ⋈ C) ⋈ D) ⋈ A",
        "((C ⋈ D) ⋈ B) ⋈ A",
    }
    assert len(set(all_bushy(chain))) == 5  # those, and (A ⋈ B) ⋈ (C ⋈ D)
    apart = [0b010, 0b001, 0b000]
    assert list(all_bushy(apart)) == [((0, 1), 2)]
