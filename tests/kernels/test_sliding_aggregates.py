"""Aggregates over rows that enter and leave."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.kernels import aggregates as kernels


class Moments:
    """One group's SUM, AVG or STDDEV."""

    def __init__(self, what: int) -> None:
        self.what = what
        self.counters, self.sums = np.zeros((1, 5), np.int64), np.zeros((1, 8))
        self.reported, self.shown = np.zeros(1), np.zeros(1, np.bool_)

    def run(self, values: object, signs: object) -> list[float | None]:
        """The value after each row."""
        value = np.array(values, np.float64)
        sign = np.broadcast_to(np.array(signs, np.int8), value.shape).copy()
        new, valid, _, _ = kernels.run_moments(
            np.zeros(value.size, np.int64), sign, np.ones(value.size, np.bool_),
            np.zeros(0, np.bool_), value, self.what,
            self.counters, self.sums, self.reported, self.shown,
        )  # fmt: skip
        return [n if v else None for n, v in zip(new.tolist(), valid.tolist(), strict=True)]


def test_sums_do_not_drift_over_millions_of_changes_of_wild_magnitudes() -> None:
    random = np.random.default_rng(1)
    count, width = 1_000_000, 1000
    values = random.normal(size=count) * 10.0 ** random.integers(-6, 7, size=count)
    entering = np.concatenate((values, np.zeros(width)))
    leaving = np.concatenate((np.zeros(width), values))
    changes = np.stack((entering, leaving), axis=1).ravel()
    total = Moments(kernels.SUM)
    total.run([1.0], 1)  # stays, so that the group never empties and its sums are never reset
    result = total.run(changes, np.tile([1, -1], count + width))
    assert result[-1] == 1.0
    middle = 2 * (count // 2) - 1
    window = values[count // 2 - width : count // 2]
    assert result[middle] == pytest.approx(1.0 + math.fsum(window), rel=1e-15)


@pytest.mark.parametrize("what", [kernels.SUM, kernels.AVG, kernels.STDDEV])
@pytest.mark.parametrize("wild", [math.nan, math.inf, -math.inf, 1e300, 1.7e308, -1e200, 5e-324])
def test_wild_values_leave_without_trace(what: int, wild: float) -> None:
    group, calm = Moments(what), Moments(what)
    expected = calm.run([1.5, 2.5, 7.0], 1)[-1]
    group.run([1.5, 2.5, 7.0], 1)
    group.run([wild, wild], 1)
    assert group.run([wild, wild], -1)[-1] == expected


def test_what_infinities_and_nan_give_while_they_are_there() -> None:
    inf, nan = math.inf, math.nan
    assert Moments(kernels.SUM).run([1, inf, -inf], 1)[1] == inf
    assert Moments(kernels.AVG).run([1, -inf], 1)[-1] == -inf
    for what in (kernels.SUM, kernels.AVG, kernels.STDDEV):
        assert math.isnan(Moments(what).run([inf, -inf], 1)[-1] or 0)
        assert math.isnan(Moments(what).run([nan, inf], 1)[-1] or 0)
    assert math.isnan(Moments(kernels.STDDEV).run([1, inf], 1)[-1] or 0)


def test_nothing_to_sum_is_null_and_one_value_has_no_deviation() -> None:
    assert Moments(kernels.SUM).run([3, 3], [1, -1]) == [3, None]
    assert Moments(kernels.STDDEV).run([3, 4, 4], [1, 1, -1]) == [None, math.sqrt(0.5), None]


@pytest.mark.parametrize(("mean", "spread"), [(1e9, 1.0), (-1e6, 1e-2), (0.0, 1e-12), (1e3, 1e-5)])
def test_deviation_is_exact_around_a_large_mean(mean: float, spread: float) -> None:
    values = mean + spread * np.random.default_rng(3).normal(size=2000)
    group = Moments(kernels.STDDEV)
    group.run(values, 1)
    left = group.run(values[:1500], -1)[-1]
    exact = math.sqrt(statistics.variance([Fraction(v) for v in values[1500:].tolist()]))
    assert left == pytest.approx(exact, rel=1e-9)


def test_equal_values_have_no_deviation() -> None:
    assert Moments(kernels.STDDEV).run([0.1] * 50, 1)[-1] == pytest.approx(0.0, abs=1e-17)


@settings(max_examples=40, derandomize=True)
@given(values=st.lists(st.floats(-1e15, 1e15), min_size=1, max_size=12), keep=st.integers(1, 4))
def test_averages_of_a_sliding_window(values: list[float], keep: int) -> None:
    group = Moments(kernels.AVG)
    for i, value in enumerate(values):
        leaving = [values[i - keep]] if i >= keep else []
        found = group.run([value, *leaving], [1, *(-1 for _ in leaving)])[-1]
        window = values[max(0, i - keep + 1) : i + 1]
        assert found == pytest.approx(math.fsum(window) / len(window), rel=1e-12, abs=1e-12)


def test_integer_sums_wrap_around_and_back() -> None:
    top = np.iinfo(np.int64).max
    state = [np.zeros(1, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64)]
    new, valid, old, old_valid = kernels.run_sum_int(
        np.zeros(4, np.int64), np.array([1, 1, -1, -1], np.int8), np.ones(4, np.bool_),
        np.zeros(0, np.bool_), np.array([top, 5, top, 5]), *state, np.zeros(1, np.bool_),
    )  # fmt: skip
    assert new.tolist()[0] == top
    assert new.tolist()[1] == top + 5 - (1 << 64)
    assert new.tolist()[2:] == [5, 0]
    assert valid.tolist() == [True, True, True, False]
    assert (old.tolist()[1:], old_valid.tolist()) == (new.tolist()[:3], [False, True, True, True])


def test_counts_skip_nulls() -> None:
    slot, sign = np.array([0, 0, 1, 0]), np.array([1, 1, 1, -1], np.int8)
    valid, state = np.array([True, False, True, False]), np.zeros((2, 2), np.int64)
    new, old = kernels.run_count(
        slot, sign, np.ones(4, np.bool_), valid, state[0].copy(), state[1].copy()
    )
    assert (new.tolist(), old.tolist()) == ([1, 1, 1, 1], [0, 1, 0, 1])


def test_distinct_values_count_once_while_anyone_holds_them() -> None:
    node = np.array([3, 3, 1, -1, 3, 3])
    new, old = kernels.run_count_distinct(
        np.zeros(6, np.int64), np.array([1, 1, 1, 1, -1, -1], np.int8), np.ones(6, np.bool_),
        node, np.zeros(4, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64),
    )  # fmt: skip
    assert (new.tolist(), old.tolist()) == ([1, 1, 2, 2, 2, 1], [0, 1, 1, 2, 2, 2])


def test_an_event_reports_each_group_once_at_its_end() -> None:
    ts = np.array([1, 1, 1, 2, 2, 3, 3, 3])
    seq = np.array([-1, -1, -1, 2, 3, 6, 7, 9])  # 2k and 2k + 1 are one event
    slot = np.array([0, 1, 0, 1, 1, 0, 1, 1])
    seen = np.full(2, -1, np.int64)
    emit = kernels.last_of_event(ts, seq, slot, seen)
    assert emit.tolist() == [False, True, True, False, True, True, True, True]
    assert seen.tolist() == [-1, -1]
