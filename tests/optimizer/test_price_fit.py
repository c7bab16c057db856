"""Prices that are fitted to what plans took."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

from eddyline.cli.calibration.cases import CASES, Case
from eddyline.cli.calibration.run import engine_of
from eddyline.optimizer.price_fit import Observation, fitted, predicted
from eddyline.optimizer.prices import TYPICAL, Prices
from eddyline.optimizer.work import Work

TRUE = Prices(
    pass_s=31e-9,
    insert_s=50e-9,
    probe_s=120e-9,
    invalidate_s=60e-9,
    make_s=25e-9,
    expire_s=200e-9,
    aggregate_s=9e-9,
    compare_s=2e-9,
    route_s=90e-9,
    hand_out_s=250e-9,
    call_s=30e-6,
)
#: These occur together in (nearly) every plan, so only their sum can be told.
TOGETHER = (("insert_s", "invalidate_s"), ("compare_s", "make_s"))


@cache
def works(case: Case) -> Sequence[Work]:
    return engine_of(case).parts.queries.workload.works()


def observations(prices: Prices, noise: float = 0.0) -> list[Observation]:
    rng = np.random.default_rng(5)
    made = []
    for case in CASES:
        bare = Observation(works(case), case.statistics, case.calls(operators=4), 1.0)
        cores = predicted(bare, prices) * (1 + noise * rng.standard_normal())
        made.append(Observation(bare.works, bare.statistics, bare.calls, cores))
    return made


def test_known_prices_are_found_again() -> None:
    found, true = fitted(observations(TRUE)).as_dict(), TRUE.as_dict()
    for name in true.keys() - {n for names in TOGETHER for n in names}:
        assert found[name] == pytest.approx(true[name], rel=0.1), name
    for names in TOGETHER:
        both = sum(found[n] for n in names)
        assert both == pytest.approx(sum(true[n] for n in names), rel=0.1), names


def test_noise_does_not_spoil_what_is_predicted() -> None:
    found = fitted(observations(TRUE, noise=0.1))
    for seen in observations(TRUE):
        assert predicted(seen, found) == pytest.approx(seen.cores, rel=0.35)


def test_unobserved_prices_follow_the_speed_of_the_machine() -> None:
    (join,) = observations(TYPICAL.scaled(3.0))[:1]
    assert fitted([join]).expire_s == pytest.approx(3 * TYPICAL.expire_s, rel=0.01)


def test_prices_are_never_negative() -> None:
    first, *others = observations(TRUE)
    odd = [Observation(first.works, first.statistics, first.calls, first.cores * 50), *others]
    assert min(fitted(odd).as_dict().values()) >= 0


def test_nothing_to_fit_is_refused() -> None:
    with pytest.raises(ValueError, match="a time above zero"):
        fitted([])
