"""What happens to groups, and the changes of their rows, beside lists."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eddyline.kernels.changelogs import (
    Emissions,
    Entering,
    Happened,
    Leaving,
    Ordered,
    by_time,
    in_order,
    values_of,
)

EXPIRY = -1
times = st.lists(st.integers(0, 6), max_size=12).map(sorted)


def ints(values: list[int], dtype: type = np.int64) -> np.ndarray:
    return np.array(values, dtype)


@given(times, times)
def test_what_expires_comes_first_at_its_instant(gone: list[int], came: list[int]) -> None:
    leaving = [(ts, EXPIRY, 100 + i, -1) for i, ts in enumerate(gone)]
    entering = [(ts, 2 * i + 1, 200 + i, 1 - 2 * (i % 3 == 0)) for i, ts in enumerate(came)]
    expected = sorted(leaving + entering, key=lambda row: row[:2])
    first = Leaving(ints(gone), ints([row[2] for row in leaving]))
    ts, seq, slot, sign = (ints([row[i] for row in entering]) for i in range(4))
    second = Entering(ts, seq, slot, sign.astype(np.int8))
    found = Happened(*by_time(first, second, EXPIRY))
    assert list(zip(*(lane.tolist() for lane in found[:4]), strict=True)) == expected
    assert found.sign.dtype == np.int8
    assert [expected[k] for k in found.to_leaving] == leaving
    assert [expected[k] for k in found.to_entering] == entering


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=12))
def test_the_row_before_leaves_first(emitted: list[tuple[bool, bool]]) -> None:
    m = len(emitted)
    comes, leaves = (ints([e[i] for e in emitted], np.bool_) for i in range(2))
    emissions = Emissions(np.arange(m) + 10, np.arange(m) + 20, np.arange(m) + 30, comes, leaves)
    expected = []
    for i, (is_new, is_old) in enumerate(emitted):
        expected += [(i + 10, i + 20, i + 30, -1, i)] * is_old
        expected += [(i + 10, i + 20, i + 30, 1, i)] * is_new
    found = Ordered(*in_order(emissions))
    assert list(zip(*(lane.tolist() for lane in found), strict=True)) == expected
    new, old = np.arange(m) + 100, np.arange(m) + 500
    values = values_of(emissions, new, old, len(expected))
    assert values.tolist() == [(100 if sign > 0 else 500) + i for *_, sign, i in expected]
