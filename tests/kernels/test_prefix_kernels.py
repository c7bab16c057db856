"""Rows on their way through an eddy, beside plain loops."""

from __future__ import annotations

import numpy as np
import pytest

from eddyline.kernels.lineage import order_ties
from eddyline.kernels.prefixes import counts_of, joined, probing, required_of

RANDOM = np.random.default_rng(7)


def lineage(rows: int, words: int) -> np.ndarray:
    few = RANDOM.integers(0, 2**63, (rows, words)) & RANDOM.integers(0, 2**63, (rows, words))
    return (few & RANDOM.integers(0, 2**8, (rows, words))).astype(np.uint64)


@pytest.mark.parametrize("words", [1, 2])
def test_rows_of_some_queries(words: int) -> None:
    lanes, required = RANDOM.integers(0, 99, (4, 50)), lineage(50, words)
    mask = np.full(words, 0b1011, np.uint64)
    wanted = np.flatnonzero((required & mask).any(axis=1))
    out, narrowed = required_of(lanes, required, mask)
    assert (out == lanes[:, wanted]).all()
    assert (narrowed == (required & mask)[wanted]).all()
    rows, own, key, ts, seq = probing(lanes, 3, required, mask)
    assert (rows == wanted).all()
    assert (own == narrowed).all()
    assert (np.stack([ts, seq, key]) == lanes[[0, 1, 3]][:, wanted]).all()


def test_counts() -> None:
    required, masks = lineage(40, 2), lineage(5, 2)
    expected = [(required & mask).any(axis=1).sum() for mask in masks]
    assert counts_of(required, masks).tolist() == expected


def test_pairs_in_windows() -> None:
    lanes = np.stack([RANDOM.integers(50, 60, 20), np.arange(20), RANDOM.integers(0, 9, 20)])
    rows, own = np.arange(1, 20, 2), lineage(10, 1)
    number, found = np.repeat(np.arange(10), 3), RANDOM.integers(100, 130, 30)
    row_ts, sets, set_of = np.arange(40, 70), lineage(6, 1), RANDOM.integers(0, 6, 30)
    windows = np.array([5, 12])
    members = np.array([[0b11111111], [0b11110000], [0]], np.uint64)
    out, required = joined(
        lanes, rows, own, number, found, 100, row_ts, sets, set_of, windows, members
    )
    expected = []
    for n, position in zip(number, found, strict=True):
        place, row = position - 100, rows[n]
        rank = np.searchsorted(windows, lanes[0, row] - row_ts[place], "right")
        bits = own[n] & sets[set_of[place]] & members[rank]
        if bits.any():
            expected.append(([*lanes[:, row], position], bits.tolist()))
    assert [(list(c), b) for c, b in zip(out.T, required.tolist(), strict=True)] == expected
    assert expected


@pytest.mark.parametrize("ties", [2, 20, 60])
def test_ties(ties: int) -> None:
    key = np.sort(RANDOM.integers(0, 300 // ties, 300))
    tie = RANDOM.permutation(300)
    order = np.arange(300)
    order_ties(order, key, tie)
    assert (order == np.lexsort((tie, key))).all()
