"""Estimates against counting: streams simulated row by row over windows that have filled."""

from __future__ import annotations

import heapq
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest

from eddyline.algebra.expressions import ColumnRef
from eddyline.algebra.plan import (
    AntiJoin,
    Distinct,
    GroupBy,
    Join,
    Negation,
    SemiJoin,
    StreamScan,
    TableScan,
    Updates,
    join,
)
from eddyline.algebra.windows import Range, Rows
from eddyline.optimizer import matches
from eddyline.optimizer.estimates import estimate, premature_share
from eddyline.optimizer.statistics import Statistics
from eddyline.types import Field

SECOND = 1_000_000
V = ColumnRef(pa.int64(), 0, "v")
FIELDS = (Field("v", pa.int64()),)


def scan(name: str, seconds: float) -> StreamScan:
    return StreamScan(name, Range(round(seconds * SECOND)), FIELDS)


def known(rates: tuple[float, float], values: tuple[float, float]) -> Statistics:
    return Statistics(
        rates={"a": rates[0], "b": rates[1]},
        values={("a", "v"): values[0], ("b", "v"): values[1]},
    )


@dataclass
class Counted:
    """What a run of the reference really did, per second, and rows shown on average."""

    rate: float
    retracted: float
    rows: float


#: How many of v1 left rows are shown while v2 right rows have the value; the youngest are.
SHOWN: dict[type[Negation | AntiJoin | SemiJoin], Callable[[int, int], int]] = {
    Negation: lambda v1, v2: max(v1 - v2, 0),
    AntiJoin: lambda v1, v2: 0 if v2 else v1,
    SemiJoin: lambda v1, v2: v1 if v2 else 0,
}


def count(
    shown: Callable[[int, int], int],
    rates: tuple[float, float],
    values: tuple[int, int],
    windows: tuple[float, float],
    seconds: float,
) -> Counted:
    rng = np.random.default_rng(1)
    arrivals = []
    for side in (0, 1):
        n = rng.poisson(rates[side] * seconds)
        at = rng.uniform(0, seconds, n)
        arrivals += list(zip(at, [side] * n, rng.integers(0, values[side], n), strict=True))
    events = [(at, 1, side, int(v)) for at, side, v in arrivals]
    heapq.heapify(events)
    left: dict[int, deque[int]] = defaultdict(deque)
    right: dict[int, int] = defaultdict(int)
    answer: dict[int, set[int]] = defaultdict(set)
    start, number, plus, minus, area, last, size = max(windows), 0, 0, 0, 0.0, 0.0, 0
    while events and events[0][0] < seconds:
        at, step, side, v = heapq.heappop(events)
        area += size * (at - max(last, start)) if at > start else 0.0
        last = at
        if step > 0:
            heapq.heappush(events, (at + windows[side], -1, side, v))
        gone = None
        if side:
            right[v] += step
        elif step > 0:
            left[v].append(number)
            number += 1
        else:
            gone = left[v].popleft()
        keep = shown(len(left[v]), right[v])
        now = set(list(left[v])[len(left[v]) - keep :])
        if at > start:
            plus += len(now - answer[v])
            minus += len(answer[v] - now - {gone})
        size += len(now) - len(answer[v])
        answer[v] = now
    span = seconds - start
    return Counted(plus / span, minus / span, area / span)


@pytest.mark.parametrize("node", SHOWN)
@pytest.mark.parametrize(
    ("rates", "values", "windows"),
    [
        ((20, 20), (50, 50), (10, 10)),
        ((20, 5), (20, 40), (10, 3)),
        ((20, 5), (40, 10), (3, 20)),
        ((5, 40), (100, 100), (10, 1)),
    ],
)
def test_negation_and_existence(
    node: type[Negation | SemiJoin | AntiJoin],
    rates: tuple[float, float],
    values: tuple[int, int],
    windows: tuple[float, float],
) -> None:
    plan = node(scan("a", windows[0]), scan("b", windows[1]), ((V, V),))
    found = estimate(plan, known(rates, values))
    counted = count(SHOWN[node], rates, values, windows, 1_000)
    assert found.rows == pytest.approx(counted.rows, rel=0.1, abs=0.5)
    assert found.rate == pytest.approx(counted.rate, rel=0.1, abs=0.1)
    assert found.retracted == pytest.approx(counted.retracted, rel=0.1, abs=0.1)


def test_no_premature_retractions_without_common_keys_or_rows() -> None:
    a, b = scan("a", 10), scan("b", 10)
    for node in SHOWN:
        plan = node(a, b, ((V, V),))
        assert premature_share(plan, known((10, 0), (5, 5))) == 0
        assert premature_share(plan, known((10, 10), (5, 5))) > 0
    unlike = AntiJoin(a, b, ((V, V),))
    assert premature_share(unlike, known((10, 10), (1e9, 1))) < 1e-6
    assert premature_share(Join(a, b, ((V, V),))) == 0


def test_rows_windows_take_back_every_row() -> None:
    plan = StreamScan("a", Rows(10), FIELDS)
    assert premature_share(plan) == 1
    joined = Join(plan, scan("b", 10), ((V, V),))
    assert 0.4 < premature_share(joined, known((100, 100), (5, 5))) < 1


def test_rows_alive_are_rate_times_lifetime() -> None:
    statistics = known((10, 10), (100, 100))
    joined = estimate(Join(scan("a", 20), scan("b", 20), ((V, V),)), statistics)
    assert joined.rate == pytest.approx(2 * 10 * 200 / 100)
    assert joined.rows / joined.rate == pytest.approx(10)  # half a window


def test_a_table_has_a_row_per_value_and_no_rate_unless_it_is_retroactive() -> None:
    rates: dict[Updates, int] = {"static": 0, "non-retroactive": 0, "retroactive": 1}
    for updates, rate in rates.items():
        table = TableScan("t", FIELDS, updates)
        assert estimate(table).rate == rate
        joined = join(scan("a", 1), table, ((V, V),))
        assert estimate(joined).rate == pytest.approx(1_000, rel=0.2)


def test_groups_and_distinct_rows_are_the_values_alive() -> None:
    statistics = known((10, 10), (30, 30))
    distinct = estimate(Distinct(scan("a", 1_000)), statistics)
    assert distinct.rows == pytest.approx(30)
    assert distinct.rate == pytest.approx(30 / 1_000)
    grouped = estimate(GroupBy(scan("a", 1_000), (V,), (), ("v",)), statistics)
    assert grouped.rows == pytest.approx(30)
    assert grouped.rate == 20  # on arrival and on expiry


@pytest.mark.parametrize("means", [(190.0, 170.0), (150.0, 199.0)])
def test_large_means_are_normal(means: tuple[float, float]) -> None:
    exact = matches.difference(*means)
    assert matches.normal_difference(*means) == pytest.approx(exact, rel=0.02, abs=0.001)


def test_statistics_refuse_nonsense() -> None:
    with pytest.raises(ValueError, match="rates of 'a' must be at least 0, not -1"):
        Statistics(rates={"a": -1})
    with pytest.raises(ValueError, match=r"values of \('a', 'v'\) must be at least 1"):
        Statistics(values={("a", "v"): 0})
