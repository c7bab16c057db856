"""Rows sorted by two int64 of each are in the order in which NumPy sorts them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eddyline.kernels.instants import sorted_by_digits
from eddyline.runtime.stores.columns import order_by

NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.integers(-(10**6), 10**6),
    st.integers(-(2**63), 2**63 - 1),
    st.sampled_from([-(2**63), 2**63 - 1]),
)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), min_size=1, max_size=40))
def test_rows_are_sorted_by_digits(rows: list[tuple[int, int]]) -> None:
    first, second = np.array(rows, np.int64).T.copy()
    assert sorted_by_digits(first, second).tolist() == np.lexsort((second, first)).tolist()


@pytest.mark.parametrize("spread", [1, 50, 10**6, 2**62])
@pytest.mark.parametrize("ordered", [0, 1, 2])
@pytest.mark.parametrize("rows", [10, 3_000])
def test_few_rows_and_many(rows: int, ordered: int, spread: int) -> None:
    """In any order, and in order by the first number, or by both."""
    random = np.random.default_rng(rows + ordered)
    first, second = random.integers(-spread, spread, (2, rows))
    if ordered:
        order = np.lexsort((second, first)) if ordered == 2 else np.argsort(first)
        first, second = first[order], second[order]
    assert order_by(first, second).tolist() == np.lexsort((second, first)).tolist()


def test_lanes_of_a_table_may_be_strided() -> None:
    lanes = np.random.default_rng(1).integers(0, 99, (2_000, 2))
    expected = np.lexsort((lanes[:, 1], lanes[:, 0]))
    assert order_by(lanes[:, 0], lanes[:, 1]).tolist() == expected.tolist()
