"""SUM, AVG and STDDEV over rows that enter and leave equal those of the rows that are there."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.kernels import moments
from eddyline.kernels.aggregates import SignedRows
from eddyline.kernels.group_limbs import NO_PLACE
from eddyline.runtime.aggregates.sums import Moments as Sums
from eddyline.runtime.stores.columns import Array


class Moments:
    """One group's SUM, AVG or STDDEV."""

    def __init__(self, what: int) -> None:
        self._aggregate = Sums(what)
        self._aggregate.grow(1)

    @property
    def sums(self) -> Array:
        return self._aggregate.sums

    @property
    def has_limbs(self) -> bool:
        return bool(self._aggregate.place[0] != NO_PLACE)

    def run(self, values: object, signs: object) -> list[float | None]:
        """The value after each row."""
        value = np.array(values, np.float64)
        sign = np.broadcast_to(np.array(signs, np.int8), value.shape).copy()
        rows = SignedRows(np.zeros(value.size, np.int64), sign, np.ones(value.size, np.bool_))
        found = self._aggregate.run(rows, [np.zeros(0, np.bool_), value])
        out: list[float | None] = found.new.to_pylist()
        return out


def test_sums_do_not_drift_over_millions_of_changes_of_wild_magnitudes() -> None:
    random = np.random.default_rng(1)
    count, width = 1_000_000, 1000
    values = random.normal(size=count) * 10.0 ** random.integers(-6, 7, size=count)
    entering = np.concatenate((values, np.zeros(width)))
    leaving = np.concatenate((np.zeros(width), values))
    changes = np.stack((entering, leaving), axis=1).ravel()
    total = Moments(moments.SUM)
    total.run([1.0], 1)  # stays, so that the group never empties and its sums are never reset
    result = total.run(changes, np.tile([1, -1], count + width))
    assert result[-1] == 1.0
    middle = 2 * (count // 2) - 1
    window = values[count // 2 - width : count // 2]
    assert result[middle] == pytest.approx(1.0 + math.fsum(window), rel=1e-15)


@pytest.mark.parametrize("what", [moments.SUM, moments.AVG, moments.STDDEV])
@pytest.mark.parametrize("wild", [math.nan, math.inf, -math.inf, 1e300, 1.7e308, -1e200, 5e-324])
def test_wild_values_leave_without_trace(what: int, wild: float) -> None:
    group, calm = Moments(what), Moments(what)
    expected = calm.run([1.5, 2.5, 7.0], 1)[-1]
    group.run([1.5, 2.5, 7.0], 1)
    group.run([wild, wild], 1)
    assert group.run([wild, wild], -1)[-1] == expected


def test_what_infinities_and_nan_give_while_they_are_there() -> None:
    inf, nan = math.inf, math.nan
    assert Moments(moments.SUM).run([1, inf, -inf], 1)[1] == inf
    assert Moments(moments.AVG).run([1, -inf], 1)[-1] == -inf
    for what in (moments.SUM, moments.AVG, moments.STDDEV):
        assert math.isnan(Moments(what).run([inf, -inf], 1)[-1] or 0)
        assert math.isnan(Moments(what).run([nan, inf], 1)[-1] or 0)
    assert math.isnan(Moments(moments.STDDEV).run([1, inf], 1)[-1] or 0)


def test_nothing_to_sum_is_null_and_one_value_has_no_deviation() -> None:
    assert Moments(moments.SUM).run([3, 3], [1, -1]) == [3, None]
    assert Moments(moments.STDDEV).run([3, 4, 4], [1, 1, -1]) == [None, math.sqrt(0.5), None]


@pytest.mark.parametrize(("mean", "spread"), [(1e9, 1.0), (-1e6, 1e-2), (0.0, 1e-12), (1e3, 1e-5)])
def test_deviation_is_exact_around_a_large_mean(mean: float, spread: float) -> None:
    values = mean + spread * np.random.default_rng(3).normal(size=2000)
    group = Moments(moments.STDDEV)
    group.run(values, 1)
    left = group.run(values[:1500], -1)[-1]
    exact = math.sqrt(statistics.variance([Fraction(v) for v in values[1500:].tolist()]))
    assert left == pytest.approx(exact, rel=1e-9)


def test_equal_values_have_no_deviation() -> None:
    assert Moments(moments.STDDEV).run([0.1] * 50, 1)[-1] == pytest.approx(0.0, abs=1e-17)


@settings(max_examples=40, derandomize=True)
@given(values=st.lists(st.floats(-1e15, 1e15), min_size=1, max_size=12), keep=st.integers(1, 4))
def test_averages_of_a_sliding_window(values: list[float], keep: int) -> None:
    group = Moments(moments.AVG)
    for i, value in enumerate(values):
        leaving = [values[i - keep]] if i >= keep else []
        found = group.run([value, *leaving], [1, *(-1 for _ in leaving)])[-1]
        window = values[max(0, i - keep + 1) : i + 1]
        assert found == pytest.approx(math.fsum(window) / len(window), rel=1e-12, abs=1e-12)


def exactly(what: int, values: list[float]) -> float | None:
    """The aggregate of finite values, by fractions."""
    if len(values) < (2 if what == moments.STDDEV else 1):
        return None
    exact = [Fraction(v) for v in values]
    total = sum(exact, Fraction())
    if what == moments.SUM:
        return as_double(total)
    if what == moments.AVG:
        return as_double(total / len(values))
    variance = (sum((v * v for v in exact), Fraction()) - total * total / len(values)) / (
        len(values) - 1
    )
    if variance == 0:
        return 0.0
    bits = variance.numerator.bit_length() - variance.denominator.bit_length()
    half = bits // 2
    return math.ldexp(math.sqrt(variance / Fraction(4) ** half), half)


def as_double(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


MAGNITUDES = st.one_of(
    st.floats(-1e3, 1e3),
    st.integers(-5, 5).map(float),
    st.integers(-3, 3).map(lambda n: 1.7e15 + n),
    st.integers(-3, 3).map(lambda n: math.ldexp(1.0 + n * 2.0**-52, 900)),
    st.tuples(st.floats(-10, 10), st.integers(-300, 300)).map(lambda p: p[0] * 10.0 ** p[1]),
    st.floats(allow_nan=False, allow_infinity=False),
)


@pytest.mark.parametrize("what", [moments.SUM, moments.AVG, moments.STDDEV])
@settings(max_examples=250, deadline=None)
@given(values=st.lists(MAGNITUDES, min_size=1, max_size=25), data=st.data())
def test_what_has_been_there_leaves_no_trace(
    what: int, values: list[float], data: st.DataObject
) -> None:
    group, there = Moments(what), list[float]()
    waiting = list(values)
    while waiting or there:
        enter = waiting and (not there or data.draw(st.booleans()))
        if enter:
            value, sign = waiting.pop(), 1
            there.append(value)
        else:
            value, sign = there.pop(data.draw(st.integers(0, len(there) - 1))), -1
        found, exact = group.run([value], sign)[-1], exactly(what, there)
        if exact is None:
            assert found is None
        else:
            assert found == pytest.approx(exact, rel=1e-14, abs=5e-324)
    assert not group.sums.any()
    assert not group.has_limbs


def test_limbs_are_only_kept_while_large_and_small_values_meet() -> None:
    random = np.random.default_rng(4)
    for what in (moments.SUM, moments.AVG, moments.STDDEV):
        group = Moments(what)
        group.run(random.normal(size=100), 1)
        assert not group.has_limbs
        group.run([1e36, -1e-300], 1)
        assert group.has_limbs
        group.run([1e36, -1e-300], -1)
        assert not group.has_limbs


@pytest.mark.parametrize("what", range(moments.VAR_POP + 1))
def test_sums_are_taken_on_where_doubles_no_longer_hold_them(what: int) -> None:
    """Within one chunk, and with rows that readers do not ask for."""
    random = np.random.default_rng(6)
    rows, calm = 4_000, 1_000
    slot = random.integers(0, 20, rows)
    value = random.normal(size=rows)
    value[calm::300] = 1e40
    value[calm + 1 :: 250] = np.nan
    value[calm + 2 :: 270] = -np.inf
    sign = np.ones(rows, np.int8)
    whole, parts, exact = Sums(what), Sums(what), Sums(what)
    found, by_rows, alone = list[object](), list[object](), list[object]()
    for total in (whole, parts, exact):
        total.grow(20)
    for begin, end, total, out in [
        (0, rows, whole, found),
        *((i, i + 1, parts, by_rows) for i in range(rows)),
    ]:
        emit = np.ones(end - begin, np.bool_)
        chunk = SignedRows(slot[begin:end], sign[begin:end], emit, True, -5.0, 5.0)
        values = [np.ones(end - begin, np.bool_), value[begin:end]]
        out += total.run(chunk, values).new.to_pylist()
    exact._grow_limbs(20)
    chunk = SignedRows(slot, sign, np.ones(rows, np.bool_), True, -5.0, 5.0)
    end, new, *_ = exact._in_limbs(chunk, [np.ones(rows, np.bool_), value], 0)
    alone += new.tolist()
    assert end == rows and calm / 2 < len(found) < rows
    assert repr(found) == repr(by_rows) == repr(alone)
    assert whole.sums.tolist() == parts.sums.tolist() == exact.sums.tolist()


def test_many_groups_have_limbs_of_their_own() -> None:
    """As many as they need: it is given room while the rows of a chunk are processed."""
    random = np.random.default_rng(8)
    groups, rows = 5000, 60_000
    slot = random.integers(0, groups, rows)
    value = random.normal(size=rows) * 10.0 ** random.integers(-300, 300, rows)
    total = Sums(moments.SUM)
    total.grow(groups)
    for sign in (1, -1):  # in one order they come, in another they go
        left = np.arange(rows) >= (0 if sign > 0 else rows // 2)
        valid = np.ones(rows, np.bool_) if sign > 0 else ~left
        found = total.run(SignedRows(slot, np.full(rows, sign, np.int8), left), [valid, value])
        if sign > 0:
            assert len(found.new) == rows and groups // 2 < len(total.state()["limbs"]) <= groups
            saved, total = total.state(), Sums(moments.SUM)
            total.restore(saved)
    values = dict(zip(slot[rows // 2 :].tolist(), found.new.to_pylist(), strict=True))
    there = value[rows // 2 :]
    for group, sum_ in values.items():
        expected = math.fsum(there[slot[rows // 2 :] == group])
        assert sum_ == pytest.approx(expected, rel=1e-15)


@given(st.integers(0, 2**48))
def test_sums_and_means_are_those_of_the_exact_sum_rounded_once(seed: int) -> None:
    """Whatever the group has held before: so sums of parts can be merged exactly."""
    random = np.random.default_rng(seed)
    n = int(random.integers(3, 12))
    for _ in range(20):
        size = 2.0 ** int(random.integers(-900, 900))
        values = random.normal(size=n) * size
        values[0] *= 2.0 ** int(random.integers(-130, 100))  # often more than two doubles can hold
        values[1] = 2.0**-1000
        exact = sum((Fraction(v) for v in values.tolist()), Fraction(0))
        assert Moments(moments.SUM).run(values, 1)[-1] == float(exact)
        assert Moments(moments.AVG).run(values, 1)[-1] == float(exact) / n
        gone = [1e300, 2.0**-900]
        group = Moments(moments.SUM)
        group.run([*gone, *values], 1)
        assert group.run(gone, -1)[-1] == float(exact)


def rounded_deviation(values: list[float]) -> float:
    """The deviation, of which only ``n * squares - sum**2`` is rounded before it is divided."""
    exact = [Fraction(v) for v in values]
    n, total = len(values), sum(exact, Fraction())
    spread = n * sum((v * v for v in exact), Fraction()) - total * total
    half = (spread.numerator.bit_length() - spread.denominator.bit_length()) // 2
    x = float(spread / Fraction(4) ** half) / (float(n) * float(n - 1))
    return math.ldexp(math.sqrt(x), half)


CLOSE = st.integers(-4, 4).map(lambda n: math.ldexp(1.0 + n * 2.0**-52, 3))
NUMBERS = st.one_of(
    MAGNITUDES,
    CLOSE,
    st.just(0.1),
    st.integers(-(10**6), 10**6).map(lambda n: n / 100),
    st.integers(2**52, 2**53).map(float),
    st.integers(-460, 460).map(lambda e: math.ldexp(1.5, e)),
)


@settings(max_examples=400, deadline=None)
@given(
    values=st.one_of(*(st.lists(of, min_size=2, max_size=12) for of in (NUMBERS, CLOSE))),
    gone=st.lists(NUMBERS, max_size=4),
)
def test_a_deviation_is_that_of_the_exact_sums(values: list[float], gone: list[float]) -> None:
    """To the last bit, whatever the group has held: so those of parts can be merged exactly."""
    group = Moments(moments.STDDEV)
    group.run([*gone, *values], 1)
    found = group.run(gone, -1)[-1] if gone else Moments(moments.STDDEV).run(values, 1)[-1]
    assert found == rounded_deviation(values)


def test_doubles_tell_most_deviations() -> None:
    random = np.random.default_rng(5)
    windows = [random.normal(mean, spread, 30) for mean in (0, 10, 1e6) for spread in (1, 1e-6)]
    windows += [np.round(w, 2) for w in windows] + [np.full(30, v) for v in (0.0, 0.1, 1 / 3, 7.0)]
    for window in windows:
        group = Moments(moments.STDDEV)
        found = group.run(window, 1)[-1]
        assert moments.in_doubles(group.sums, 0, float(window.size), moments.STDDEV) == found
        assert found == rounded_deviation(window.tolist())
