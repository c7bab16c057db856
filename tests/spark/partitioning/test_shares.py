"""Sizes of the axes of grids."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eddyline.spark.partitioning import shares
from eddyline.spark.partitioning.shares import choose_sizes, rows_sent


def copied(*axes: set[int]) -> tuple[frozenset[int], ...]:
    return tuple(map(frozenset, axes))


CHAIN = copied({2}, {0})  # a.x = b.x AND b.y = c.y
TRIANGLE = copied({2}, {0}, {1})


def test_one_key_takes_all_shards() -> None:
    assert choose_sizes((1.0, 1.0), copied(set()), (7,), 7) == (7,)


def test_a_chain_of_equal_rates_is_a_square() -> None:
    assert choose_sizes((1.0, 1.0, 1.0), CHAIN, (16, 16), 16) == (4, 4)


def test_what_has_few_rows_is_copied_most() -> None:
    assert choose_sizes((1000.0, 1000.0, 1.0), CHAIN, (16, 16), 16) == (16, 1)


def test_a_triangle_is_a_cube() -> None:
    assert choose_sizes((1.0, 1.0, 1.0), TRIANGLE, (64,) * 3, 64) == (4, 4, 4)
    assert choose_sizes((1.0, 1.0, 1.0), TRIANGLE, (512,) * 3, 512) == (8, 8, 8)


def test_a_prime_number_of_shards_is_not_used_up() -> None:
    assert choose_sizes((1.0, 1.0, 1.0), CHAIN, (7, 7), 7) == (3, 2)


def test_few_values_limit_an_axis() -> None:
    assert choose_sizes((1.0, 1.0), copied(set(), {1}), (3, 8), 8) == (3, 2)


def test_rows_sent() -> None:
    assert rows_sent((4, 2), (10.0, 1.0, 5.0), CHAIN) == 10 * 2 + 1 + 5 * 4


@given(
    st.lists(st.sampled_from([1.0, 2.0, 7.0, 100.0, 5000.0]), min_size=3, max_size=4),
    st.lists(st.sets(st.integers(0, 3), max_size=2), min_size=2, max_size=4),
    st.integers(2, 64),
)
def test_rounding_is_nearly_as_good_as_trying_all(
    rates: list[float], axes: list[set[int]], limit: int
) -> None:
    along = copied(*axes)
    limits = (limit,) * len(axes)
    best = choose_sizes(tuple(rates), along, limits, 64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shares, "EXHAUSTIVE_SHARDS", 1)
        choose_sizes.cache_clear()
        rounded = choose_sizes(tuple(rates), along, limits, 64)
        choose_sizes.cache_clear()
    assert math.prod(rounded) <= 64
    assert all(1 <= size <= limit for size in rounded)

    def load(sizes: tuple[int, ...]) -> float:
        return rows_sent(sizes, rates, along) / math.prod(sizes)

    assert load(best) <= load(rounded) * (1 + 1e-6)
    assert load(rounded) <= 1.25 * load(best)
