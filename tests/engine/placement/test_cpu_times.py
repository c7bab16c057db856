"""CPU time of units, as a multiple of what is expected."""

from __future__ import annotations

import pytest

from eddyline.engine.placement.cpu_times import CpuTimes


def test_nothing_is_known_before_the_second_look() -> None:
    times = CpuTimes()
    assert not times.look("a", 5.0, 1.0)
    assert times.factor("a") == 1.0
    assert times.factor("a", default=0.25) == 0.25
    assert times.saved("a") is None


def test_one_period_is_enough_to_begin_with() -> None:
    times = CpuTimes()
    times.look("a", 5.0, 1.0)
    assert times.look("a", 8.0, 0.5)
    assert times.factor("a") == pytest.approx(6.0)


def test_a_single_disturbed_period_changes_nothing() -> None:
    times = CpuTimes()
    for spent in (0.0, 1.0, 2.0, 9.0, 10.0):
        times.look("a", spent, 1.0)
    assert times.factor("a") == pytest.approx(1.0)


def test_two_longer_periods_do() -> None:
    times = CpuTimes()
    changed = [times.look("a", spent, 1.0) for spent in (0.0, 1.0, 4.0, 8.0)]
    assert changed == [False, False, False, True]
    assert times.factor("a") == pytest.approx(3.0)


def test_a_time_that_cannot_be_measured_is_left_out() -> None:
    times = CpuTimes()
    times.look("a", 0.0, 1.0)
    assert not times.look("a", 0.001, 1e-9)
    assert times.factor("a") == 1.0


def test_what_is_saved_goes_on() -> None:
    times, again = CpuTimes(), CpuTimes()
    for spent in (0.0, 2.0, 5.0):
        times.look("a", spent, 1.0)
    saved = times.saved("a")
    assert saved is not None
    again.restore("a", saved, spent=0.5)
    assert again.factor("a") == times.factor("a") == pytest.approx(2.0)
    again.look("a", 4.5, 1.0)
    assert again.factor("a") == pytest.approx(3.0)
    again.forget_others(["b"])
    assert again.factor("a") == 1.0
