"""Bloom filters: what has been added is always found, and little else."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eddyline.kernels.bloom import BITS_PER_KEY, add, may_hold

KEYS = st.lists(st.integers(-(1 << 63), (1 << 63) - 1), max_size=200)


@given(KEYS, KEYS, st.sampled_from([1, 2, 16]))
def test_what_has_been_added_is_found(first: list[int], second: list[int], size: int) -> None:
    words = np.zeros(size, np.int64)
    for some in (first, second):
        add(words, np.array(some, np.int64))
    keys = np.array(first + second, np.int64)
    found = np.zeros(keys.size, np.bool_)
    may_hold(words, keys, found)
    assert found.all()


def test_few_others_are_found() -> None:
    keys = np.arange(0, 200_000, 2)
    words = np.zeros(1 << (keys.size * BITS_PER_KEY // 64 - 1).bit_length(), np.int64)
    add(words, keys)
    found = np.zeros(keys.size, np.bool_)
    may_hold(words, keys + 1, found)
    assert 0 < np.count_nonzero(found) < 0.005 * keys.size


def test_known_values_are_not_looked_up() -> None:
    found = np.array([True, False])
    may_hold(np.zeros(4, np.int64), np.array([1, 2]), found)
    assert found.tolist() == [True, False]
