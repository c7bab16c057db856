"""Pairs of joined rows, merged from what either input found."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.kernels.merge import merged_pairs

#: A change: instant, number of its event, expiry, sign; and the expiries of the rows it found.
change = st.tuples(
    st.integers(0, 3),
    st.integers(0, 2),
    st.integers(4, 9),
    st.sampled_from([1, -1]),
    st.lists(st.integers(4, 9), max_size=3),
)
changes = st.lists(change, max_size=5).map(sorted)
Change: TypeAlias = tuple[int, int, int, int, list[int]]


def ints(values: object) -> np.ndarray:
    return np.array(values, np.int64)


def lanes(
    rows: list[Change], width: int, found_width: int, first_id: int
) -> tuple[np.ndarray, ...]:
    """The changes and what they found; every id is another number."""
    by = np.repeat(np.arange(len(rows)), [len(r[4]) for r in rows])
    ids = np.arange(width * len(rows)).reshape(width, -1) + first_id
    found_ids = np.arange(found_width * by.size).reshape(found_width, -1) + first_id + 100
    ts, seq, exp = (ints([r[i] for r in rows]) for i in range(3))
    found_exp = ints([e for r in rows for e in r[4]])
    return ts, seq, exp, np.array([r[3] for r in rows], np.int8), ids, by, found_exp, found_ids


def listed(side: tuple[np.ndarray, ...], *, swap: bool) -> list[Any]:
    """The pairs of one side, one by one: (ts, seq, exp, sign, ids)."""
    ts, seq, exp, sign, ids, by, found_exp, found_ids = side
    out = []
    for i, p in enumerate(by):
        own, found = ids[:, p].tolist(), found_ids[:, i].tolist()
        pair = found + own if swap else own + found
        out.append((ts[p], seq[p], min(exp[p], found_exp[i]), sign[p], pair))
    return out


@pytest.mark.parametrize("width, other_width", [(1, 1), (2, 1), (1, 3)])
@settings(max_examples=40, derandomize=True)
@given(a=changes, b=changes)
def test_pairs_are_ordered_by_probing_row_and_expire_with_their_first_row(
    width: int, other_width: int, a: list[Change], b: list[Change]
) -> None:
    a_side = lanes(a, width, other_width, 1_000)
    b_side = lanes(b, other_width, width, 2_000)
    ts, seq, exp, sign, ids = merged_pairs(*a_side, *b_side)
    expected = listed(a_side, swap=False) + listed(b_side, swap=True)
    expected.sort(key=lambda pair: pair[:2])  # stable: on ties those that a found come first
    assert list(zip(ts, seq, exp, sign, ids.T.tolist(), strict=True)) == expected
