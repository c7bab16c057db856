"""Cells, checkpoints and narrowing against the plain way."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eddyline.kernels.grouped_filter import (
    FilterIndex,
    bitmap,
    cells_of_numbers,
    checkpoints,
    directory,
    in_order,
    narrow,
)

ALL = np.uint64(0xFFFF_FFFF_FFFF_FFFF)

floats = st.floats(allow_nan=False) | st.integers(-3, 3).map(float)
integers = st.integers(-(1 << 63), (1 << 63) - 1) | st.integers(-3, 3)


@pytest.mark.parametrize("dtype", [np.float64, np.int64])
@given(data=st.data())
def test_the_directory_never_changes_a_cell(dtype: type, data: st.DataObject) -> None:
    numbers = floats if dtype is np.float64 else integers
    thresholds: Any = np.unique(np.array(data.draw(st.lists(numbers)), dtype))
    values: Any = np.array(data.draw(st.lists(numbers)) + thresholds.tolist(), dtype)
    buckets = data.draw(st.integers(1, 20))
    origin = data.draw(st.floats(allow_nan=False, allow_infinity=False))
    scale = data.draw(st.floats(0.0, 1e300) | st.floats(0.0, 10.0))
    starts = directory(thresholds, buckets, origin, scale)
    rows = np.arange(values.size)
    cells = cells_of_numbers(values, rows, thresholds, starts, origin, scale)
    assert cells.tolist() == np.searchsorted(thresholds, values, "right").tolist()


def test_nan_has_a_cell_of_its_own() -> None:
    thresholds = np.array([1.0, 2.0])
    starts = directory(thresholds, 2, 1.0, 2.0)
    values, rows = np.array([math.nan, 1.0, 0.0]), np.array([2, 1, 0])
    assert cells_of_numbers(values, rows, thresholds, starts, 1.0, 2.0).tolist() == [0, 1, 4]


@given(
    toggles=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 127)), max_size=40),
    shift=st.integers(0, 4),
    first=st.sets(st.integers(0, 127)),
    words=st.sampled_from([(0, 1), (1, 2), (0, 5)]),
)
def test_every_cell_has_its_bitmap(
    toggles: list[tuple[int, int]], shift: int, first: set[int], words: tuple[int, int]
) -> None:
    cells, bits = (np.array([t[i] for t in toggles], np.int64) for i in (0, 1))
    ordered, reach = in_order(cells, bits, 6)
    null, nan = bitmap(np.array([3]), 2), bitmap(np.array([70]), 2)
    start = bitmap(np.array(sorted(first), np.int64), 2)
    bitmaps = checkpoints(start, ordered, shift, null, nan)
    special = np.array([len(bitmaps) - 2, len(bitmaps) - 1], np.int32) << shift
    lineage = np.full((8, 6), ALL)
    kept, visited, returned = narrow(
        np.arange(8),
        np.arange(8),
        lineage,
        FilterIndex(
            np.array(words),
            words[1] == words[0] + 1,
            np.full(2, ALL),
            np.append(reach, special).astype(np.int32),
            ordered,
            bitmaps,
            shift,
        ),
    )
    for cell in range(6):
        now = set(first)
        for at, bit in toggles:
            if at <= cell:
                now ^= {bit}
        expected = bitmap(np.array(sorted(now), np.int64), 2)
        assert lineage[cell, list(words)].tolist() == expected.tolist()
    assert lineage[6, list(words)].tolist() == null.tolist()
    assert lineage[7, list(words)].tolist() == nan.tolist()
    others = [w for w in range(6) if w not in words]
    assert (lineage[:, others] == ALL).all()
    assert (kept.tolist(), visited) == (list(range(8)), 8)
    assert returned == np.count_nonzero(lineage[:, list(words)].any(axis=1))
