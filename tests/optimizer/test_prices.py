"""Prices: seconds per row and step."""

from __future__ import annotations

import json
import math

import pytest

from eddyline.algebra.plan import Distinct, Join, Plan, StreamScan
from eddyline.algebra.windows import Range
from eddyline.optimizer.cost import cost
from eddyline.optimizer.prices import TYPICAL, Prices
from eddyline.optimizer.statistics import UNKNOWN

SCAN = StreamScan("a", Range(1_000_000), ())


def test_prices_survive_json() -> None:
    prices = Prices(probe_s=1e-6)
    assert Prices.from_dict(json.loads(json.dumps(prices.as_dict()))) == prices


@pytest.mark.parametrize("price", [-1e-9, math.inf, math.nan])
def test_prices_refuse_nonsense(price: float) -> None:
    with pytest.raises(ValueError, match="insert_s must be at least 0 seconds"):
        Prices(insert_s=price)


@pytest.mark.parametrize("plan", [SCAN, Join(SCAN, SCAN, ()), Distinct(SCAN)])
def test_a_machine_of_half_the_speed_is_twice_as_busy(plan: Plan) -> None:
    fast, slow = (cost(plan, UNKNOWN, TYPICAL.scaled(factor)).total for factor in (1.0, 2.0))
    assert slow == pytest.approx(2 * fast)


def test_utilisation_is_seconds_per_second() -> None:
    assert cost(SCAN, UNKNOWN, Prices(pass_s=1e-4)).total == pytest.approx(0.1)  # 1,000 rows/s
