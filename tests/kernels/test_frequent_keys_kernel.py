"""Frequent values are counted in bounded memory."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.kernels.frequent import count_frequent


def counted(parts: list[list[int]], most: int, places: int) -> tuple[dict[int, int], int]:
    keys, counts = np.zeros(places, np.int64), np.zeros(places, np.int64)
    lowered = sum(count_frequent(np.array(p, np.int64), keys, counts, most) for p in parts)
    used = np.flatnonzero(counts)
    assert len(set(keys[used].tolist())) == used.size <= most
    return dict(zip(keys[used].tolist(), counts[used].tolist(), strict=True)), lowered


@settings(max_examples=300, derandomize=True, deadline=None)
@given(
    parts=st.lists(st.lists(st.one_of(st.integers(0, 9), st.integers(0, 3)), max_size=60)),
    most=st.integers(1, 7),
)
def test_counts_are_too_small_by_a_bounded_number(parts: list[list[int]], most: int) -> None:
    found, lowered = counted(parts, most, 8)
    exact = Counter(key for part in parts for key in part)
    assert lowered <= exact.total() / (most + 1)
    for key, n in exact.items():
        assert n - lowered <= found.get(key, 0) <= n
    assert found.keys() <= exact.keys()


def test_counts_are_exact_if_there_is_a_counter_for_each_value() -> None:
    values = np.random.default_rng(3).integers(0, 1 << 60, 100)
    rows = values.repeat(7)
    found, lowered = counted([rows.tolist()], 100, 256)
    assert (found, lowered) == (dict.fromkeys(values.tolist(), 7), 0)
