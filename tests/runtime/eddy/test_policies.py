"""Routing policies on simulated operators: few visits, soon after a change, no row lost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from eddyline.runtime.eddy.policies import (
    POLICIES,
    BackPressurePolicy,
    Policy,
    Routable,
    TicketPolicy,
    make_policy,
)
from eddyline.runtime.eddy.policies.accounts import Accounts, Visit
from eddyline.runtime.eddy.policies.trial import RouteCost, Trial

ROWS = 1_000
WARM_UP = 100


@dataclass(eq=False)
class Operator:
    """An operator that passes the rows which its column of the data says."""

    name: str
    column: int
    predicates: int = 1
    seconds_per_row: float = 0.0


def operators(n: int, seconds: Sequence[float] | None = None) -> list[Operator]:
    return [Operator("abcdefgh"[i], i, 1, seconds[i] if seconds else 0.0) for i in range(n)]


class OneQuery:
    """Rows of which filter ``i`` passes a given share, independently or not."""

    def __init__(self, shares: Any, correlated: float, seed: int) -> None:
        self.shares = np.asarray(shares)
        self._rng = np.random.default_rng(seed)
        self._loads = self._rng.normal(0.0, correlated, (self.shares.size, 2))

    def rows(self, n: int = ROWS) -> Any:
        common = self._rng.normal(size=(n, 2)) @ self._loads.T
        values = common + self._rng.normal(size=common.shape)
        values /= np.sqrt(1.0 + (self._loads**2).sum(axis=1))
        return 1.0 / (1.0 + np.exp(-1.702 * values)) < self.shares  # nearly uniform


class ManyQueries:
    """Queries over some of the attributes each; data are the queries that each filter accepts."""

    def __init__(self, attributes: int, queries: int, seed: int) -> None:
        self._rng = np.random.default_rng(seed)
        self.has = self._rng.random((queries, attributes)) < 0.6
        self.has[0] = True
        width = self._rng.uniform(0.05, 0.6, self.has.shape)
        self._low = self._rng.random(self.has.shape) * (1.0 - width)
        self._high = self._low + width

    def rows(self, n: int = ROWS) -> Any:
        values = self._rng.random((n, 1, self.has.shape[1]))
        return ~self.has | ((self._low <= values) & (values < self._high))


def one_query(data: Any, order: Sequence[Operator]) -> list[tuple[int, int]]:
    """Visited and returned of each operator."""
    alive = np.ones(len(data), np.bool_)
    counts = []
    for operator in order:
        visited = int(alive.sum())
        alive &= data[:, operator.column]
        counts.append((visited, int(alive.sum())))
    return counts


def many_queries(has: Any) -> Callable[[Any, Sequence[Operator]], list[tuple[int, int]]]:
    def visits(data: Any, order: Sequence[Operator]) -> list[tuple[int, int]]:
        lineage = np.ones(data.shape[:2], np.bool_)
        counts = []
        for operator in order:
            here = has[:, operator.column]
            need = (lineage & here).any(axis=1)
            lineage &= data[:, :, operator.column]
            counts.append((int(need.sum()), int((lineage[need] & here).any(axis=1).sum())))
        return counts

    return visits


Visits = Callable[[Any, Sequence[Operator]], list[tuple[int, int]]]


def play(policy: Policy, ready: Sequence[Operator], data: Any, visits: Visits) -> float:
    """Route one batch; returns the visits per row."""
    start, total = 0, 0
    for count, order in policy.routes(ready, len(data)):
        assert count > 0
        assert sorted(map(id, order)) == sorted(map(id, ready))
        own: list[Any] = list(order)
        for operator, (visited, returned) in zip(
            own, visits(data[start : start + count], own), strict=True
        ):
            policy.observe(operator, visited, returned, visited * operator.seconds_per_row)
            total += visited
        start += count
    assert start == len(data)
    return total / len(data)


def fewest(ready: Sequence[Operator], data: Any, visits: Visits) -> float:
    """Visits per row of the best static order: the shortest way from no operator to all."""
    everything = (1 << len(ready)) - 1
    left = [0.0] * (everything + 1)
    for done in range(everything - 1, -1, -1):
        before = [o for i, o in enumerate(ready) if done >> i & 1]
        left[done] = min(
            visits(data, [*before, o])[-1][0] + left[done | 1 << i]
            for i, o in enumerate(ready)
            if not done >> i & 1
        )
    return left[0] / len(data)


def steady(policy: Policy, ready: Sequence[Operator], make: Any, visits: Visits) -> float:
    """Mean visits per row, after a while."""
    costs = [play(policy, ready, make.rows(), visits) for _ in range(2 * WARM_UP)]
    return float(np.mean(costs[WARM_UP:]))


@pytest.mark.parametrize("correlated", [0.0, 1.5], ids=["independent", "correlated"])
@pytest.mark.parametrize("seed", range(12))
def test_ticket_is_near_the_best_static_order(seed: int, correlated: float) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 8))
    made = OneQuery(rng.uniform(0.02, 0.98, n), correlated, seed)
    ready = operators(n)
    cost = steady(TicketPolicy(seed), ready, made, one_query)
    assert cost <= 1.10 * fewest(ready, made.rows(20_000), one_query)


@pytest.mark.parametrize("seed", range(6))
def test_ticket_is_near_the_best_static_order_for_many_queries(seed: int) -> None:
    made = ManyQueries(attributes=4, queries=6, seed=seed)
    ready = [Operator("abcd"[i], i, int(made.has[:, i].sum())) for i in range(4)]
    visits = many_queries(made.has)
    cost = steady(TicketPolicy(seed), ready, made, visits)
    assert cost <= 1.10 * fewest(ready, made.rows(5_000), visits)


@pytest.mark.parametrize("rows", [20, 100])
def test_small_batches_explore_in_turn(rows: int) -> None:
    made = OneQuery([0.9, 0.7, 0.5, 0.3, 0.1], 0.0, 1)
    ready, policy = operators(5), TicketPolicy(1)
    pieces = [len(policy.routes(ready, rows)) for _ in range(5)]
    assert pieces == [1] * 5
    costs = [play(policy, ready, made.rows(rows), one_query) for _ in range(60_000 // rows)]
    best = fewest(ready, made.rows(20_000), one_query)
    assert np.mean(costs[len(costs) // 2 :]) <= 1.10 * best


@pytest.mark.parametrize("seed", range(8))
def test_ticket_adapts_within_20_batches(seed: int) -> None:
    rng = np.random.default_rng(seed)
    shares = rng.uniform(0.02, 0.98, 5)
    made = OneQuery(shares, 0.0, seed)
    ready, policy = operators(5), TicketPolicy(seed)
    for _ in range(60):
        play(policy, ready, made.rows(), one_query)
    made.shares = 1.0 - shares
    for _ in range(20):
        play(policy, ready, made.rows(), one_query)
    after = [play(policy, ready, made.rows(), one_query) for _ in range(10)]
    assert np.mean(after) <= 1.10 * fewest(ready, made.rows(20_000), one_query)


def test_new_operator_is_tried_at_once_and_adopted() -> None:
    made = OneQuery([0.6, 0.7, 0.05], 0.0, 3)
    ready, policy = operators(3), TicketPolicy(3)
    for _ in range(30):
        play(policy, ready[:2], made.rows(), one_query)
    assert set(policy.tickets()) == {"a", "b"}
    routes = policy.routes(ready, ROWS)
    assert {order[0].name for _, order in routes} == {"a", "c"}
    for _ in range(10):
        play(policy, ready, made.rows(), one_query)
    assert max(policy.routes(ready, ROWS))[1][0] is ready[2]
    assert policy.tickets()["c"] > 0.5


def test_removed_operators_leave_no_statistics() -> None:
    made = OneQuery([0.1, 0.6, 0.7], 0.0, 4)
    ready, policy = operators(3), TicketPolicy(4)
    for _ in range(30):
        play(policy, ready, made.rows(), one_query)
    orders = [order for _, order in policy.routes(ready[1:], ROWS)]
    assert all(set(order) == set(ready[1:]) for order in orders)
    assert set(policy.tickets()) == {"b", "c"}


def test_tickets_are_predicates_by_rejected_share() -> None:
    made = OneQuery([0.5, 0.5, 0.9], 0.0, 5)
    ready, policy = operators(3), TicketPolicy(5)
    ready[0].predicates = 3
    for _ in range(50):
        play(policy, ready, made.rows(), one_query)
    tickets = policy.tickets()
    assert sum(tickets.values()) == pytest.approx(1.0)
    assert tickets["a"] == pytest.approx(1.5 / 2.1, abs=0.05)
    assert tickets["b"] == pytest.approx(0.5 / 2.1, abs=0.05)


@pytest.mark.parametrize("name", ["ticket", "back-pressure"])
def test_expensive_operator_comes_last(name: str) -> None:
    made = OneQuery([0.1, 0.5, 0.6], 0.0, 6)
    ready, policy = operators(3, seconds=[1e-5, 1e-7, 1.2e-7]), make_policy(name, 6)
    for _ in range(40):
        play(policy, ready, made.rows(), one_query)
    rows, order = max(policy.routes(ready, ROWS))
    assert rows >= 0.9 * ROWS
    assert order[-1] is ready[0]


def test_expensive_operator_that_rejects_nearly_all_comes_first_nevertheless() -> None:
    made = OneQuery([0.01, 0.95, 0.9], 0.0, 7)
    ready, policy = operators(3, seconds=[5e-7, 1e-7, 1e-7]), TicketPolicy(7)
    for _ in range(60):
        play(policy, ready, made.rows(), one_query)
    assert max(policy.routes(ready, ROWS))[1][0] is ready[0]


def test_back_pressure_follows_the_speeds() -> None:
    made = OneQuery([0.5, 0.5], 0.0, 8)
    ready, policy = operators(2, seconds=[1e-6, 1e-7]), BackPressurePolicy()
    for _ in range(3):
        play(policy, ready, made.rows(), one_query)
    assert policy.routes(ready, ROWS) == [(ROWS, (ready[1], ready[0]))]
    ready[1].seconds_per_row = 1e-5
    for _ in range(20):
        play(policy, ready, made.rows(), one_query)
    assert policy.routes(ready, ROWS) == [(ROWS, (ready[0], ready[1]))]


def test_routing_anew_after_each_step() -> None:
    """Only the first operator of each piece is observed: probes, of which one multiplies rows."""
    ready, policy = operators(2), TicketPolicy(9)
    matches = {"a": 5.0, "b": 0.4}
    for _ in range(40):
        for rows, order in policy.routes(ready, ROWS):
            policy.observe(order[0], rows, int(rows * matches[order[0].name]), 0.0)
    assert max(policy.routes(ready, ROWS))[1] == (ready[1], ready[0])
    assert policy.tickets() == {"b": 1.0, "a": 0.0}


def test_a_batch_that_is_broken_off_counts_nothing() -> None:
    ready, policy = operators(2), TicketPolicy(10)
    for _ in range(5):
        policy.routes(ready, ROWS)
        policy.observe(ready[0], ROWS, 0, 0.0)
    assert policy.tickets() == {"a": 0.5, "b": 0.5}


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_pieces_make_up_the_batch(name: str, n: int) -> None:
    ready, policy = operators(n), make_policy(name, 11)
    for rows in (0, 1, 31, 32, 640, 100_000, 7):
        pieces = policy.routes(ready, rows)
        assert sum(count for count, _ in pieces) == rows
        for count, order in pieces:
            assert set(order) == set(ready)
            assert len(order) == n
            for operator in order:
                policy.observe(operator, count, count // 2, 1e-9 * count)


@pytest.mark.parametrize("name", POLICIES)
def test_same_seed_same_routes(name: str) -> None:
    def run(seed: int) -> list[list[tuple[int, tuple[str, ...]]]]:
        made, ready = OneQuery([0.5, 0.4, 0.6, 0.5], 1.0, 12), operators(4)
        policy, routes = make_policy(name, seed), []
        for _ in range(30):
            pieces = policy.routes(ready, ROWS)
            routes.append([(rows, tuple(o.name for o in order)) for rows, order in pieces])
            data = made.rows()
            for rows, order in pieces:
                own: list[Any] = list(order)
                for o, (visited, returned) in zip(own, one_query(data[:rows], own), strict=True):
                    policy.observe(o, visited, returned, 0.0)
        return routes

    assert run(1) == run(1)
    assert (run(1) != run(2)) == (name in ("random", "ticket"))


def test_an_operator_without_visits_becomes_unknown_again() -> None:
    accounts, (operator,) = Accounts(), operators(1)
    accounts.meet([operator], ROWS)
    assert accounts.rejected(operator) is None
    accounts.book(ROWS, Visit(operator, 100, 25, 0.0))
    assert accounts.rejected(operator) == 0.75
    for _ in range(30):
        accounts.meet([operator], ROWS)
    assert accounts.rejected(operator) is None
    assert accounts.tickets(operator) == 0.0


def test_a_probe_that_multiplies_rows_has_no_tickets() -> None:
    accounts, (operator,) = Accounts(), operators(1)
    accounts.meet([operator], ROWS)
    accounts.book(ROWS, Visit(operator, 100, 300, 0.0))
    assert accounts.rejected(operator) == -2.0
    assert accounts.tickets(operator) == 0.0


@pytest.mark.parametrize(
    ("ratio", "price"), [(0.0, 1.0), (1.0, 1.0), (1.9, 1.0), (2.5, 2.0), (3.0, 3.0), (50.0, 50.0)]
)
def test_prices(ratio: float, price: float) -> None:
    accounts, ready = Accounts(), operators(2)
    accounts.meet(ready, ROWS)
    accounts.book(0, Visit(ready[0], 100, 0, 1.0))
    accounts.book(0, Visit(ready[1], 100, 0, ratio))
    accounts.meet(ready, ROWS)
    assert accounts.price(ready[0]) * (ratio >= 1.0) == pytest.approx(1.0 * (ratio >= 1.0))
    assert accounts.price(ready[1]) == pytest.approx(price)


def test_an_interruption_hardly_counts_but_a_change_does() -> None:
    accounts, ready = Accounts(), operators(2)

    def batch(seconds: float) -> float:
        accounts.meet(ready, ROWS)
        accounts.book(0, Visit(ready[0], 100, 0, 1.0))
        accounts.book(0, Visit(ready[1], 100, 0, seconds))
        accounts.meet(ready, ROWS)
        return accounts.price(ready[1])

    for _ in range(20):
        batch(1.0)
    assert batch(1000.0) < 5.0
    assert [batch(1.0) for _ in range(5)][-1] == 1.0
    prices = [batch(50.0) for _ in range(20)]
    assert prices[-1] == pytest.approx(50.0, rel=0.1)


def test_cost_of_a_route() -> None:
    cost = RouteCost()
    cost.add(100, [(100, 1.0), (50, 2.0)])
    assert cost.mean == 2.0
    assert cost.error == pytest.approx((0.5 * 1 + 0.5 * 9 - 4) / 100)


def test_a_trial_ends_when_it_is_clear_or_its_time_is_over() -> None:
    usual: list[tuple[float, float]] = [(1_000, 1.0), (600, 1.0)]

    def trial(second: float, batches: int) -> bool | None:
        out = Trial(())
        for _ in range(batches):
            out.add(1_000, usual, tried=False)
            out.add(50, [(50, 1.0), (second, 1.0)], tried=True)
        return out.verdict()

    assert Trial(()).verdict() is None
    assert trial(5, 1) is True
    assert trial(50, 2) is False
    assert [trial(29, n) for n in (1, 7, 8)] == [None, None, True]
    assert [trial(31, n) for n in (1, 7, 8)] == [None, None, False]


def test_unknown_policy() -> None:
    with pytest.raises(ValueError, match="did you mean 'ticket'"):
        make_policy("tickets", 0)
    with pytest.raises(ValueError, match=r"0 to 0\.5"):
        TicketPolicy(explore=0.9)


def test_routables_need_a_name_and_predicates() -> None:
    operator: Routable = Operator("a", 0)
    assert (operator.name, operator.predicates) == ("a", 1)
