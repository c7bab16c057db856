"""Aggregates over rows that enter and leave."""

from __future__ import annotations

import numpy as np

from eddyline.kernels import aggregates as kernels


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
