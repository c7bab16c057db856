"""Aggregates over rows that enter and leave."""

from __future__ import annotations

import numpy as np

from eddyline.kernels import aggregates as kernels


def test_integer_sums_are_exact() -> None:
    random = np.random.default_rng(2)
    ends = np.array([-(2**63), 2**63 - 1, 1, -1, 0, 2**62])
    values, there = np.concatenate((random.choice(ends, 200), random.integers(-9, 9, 50))), []
    sequence: list[tuple[int, int]] = []
    sums: list[int | None] = []
    for value in values.tolist():
        there.append(value)
        sequence.append((value, 1))
        sums.append(sum(there))
        while there and random.random() < 0.5:
            left = there.pop(random.integers(len(there)))
            sequence.append((left, -1))
            sums.append(sum(there) if there else None)
    value, sign = (np.array(v) for v in zip(*sequence, strict=True))
    n = value.size
    new, kind, old, old_kind = kernels.run_sum_int(
        kernels.SignedRows(np.zeros(n, np.int64), sign.astype(np.int8), np.ones(n, np.bool_)),
        np.zeros(0, np.bool_),
        value, np.zeros(1, np.int64), np.zeros((1, 2), np.int64), np.zeros(1, np.int64),
        np.zeros(1, np.int8),
    )  # fmt: skip
    for found, of, total in zip(new.tolist(), kind.tolist(), sums, strict=True):
        if total is None:
            assert of == kernels.NOTHING
        elif -(2**63) <= total < 2**63:
            assert (found, of) == (total, kernels.FITS)
        else:
            assert of == kernels.OVERFLOW
    assert kernels.OVERFLOW in kind
    assert (old.tolist()[1:], old_kind.tolist()[1:]) == (new.tolist()[:-1], kind.tolist()[:-1])


def test_counts_skip_nulls() -> None:
    slot, sign = np.array([0, 0, 1, 0]), np.array([1, 1, 1, -1], np.int8)
    valid, state = np.array([True, False, True, False]), np.zeros((2, 2), np.int64)
    new, old = kernels.run_count(
        kernels.SignedRows(slot, sign, np.ones(4, np.bool_)),
        valid,
        state[0].copy(),
        state[1].copy(),
    )
    assert (new.tolist(), old.tolist()) == ([1, 1, 1, 1], [0, 1, 0, 1])


def test_distinct_values_count_once_while_anyone_holds_them() -> None:
    node = np.array([3, 3, 1, -1, 3, 3])
    new, old = kernels.run_count_distinct(
        kernels.SignedRows(
            np.zeros(6, np.int64), np.array([1, 1, 1, 1, -1, -1], np.int8), np.ones(6, np.bool_)
        ),
        node, np.zeros(4, np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64),
    )  # fmt: skip
    assert (new.tolist(), old.tolist()) == ([1, 1, 2, 2, 2, 1], [0, 1, 1, 2, 2, 2])


def test_an_event_reports_each_group_once_at_its_end() -> None:
    ts = np.array([1, 1, 1, 2, 2, 3, 3, 3])
    seq = np.array([-1, -1, -1, 2, 3, 6, 7, 9])  # 2k and 2k + 1 are one event
    slot = np.array([0, 1, 0, 1, 1, 0, 1, 1])
    seen = np.zeros(2, np.int64)
    emit = kernels.last_of_event(ts, seq, slot, seen)
    assert emit.tolist() == [False, True, True, False, True, True, True, True]
    assert seen.tolist() == [0, 0]
