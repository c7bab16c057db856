"""Coordinates by hash, and the counting sort by cell."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from eddyline.kernels.dealing import add_coordinates, rows_by_cell


@settings(max_examples=50, derandomize=True)
@given(cells=st.lists(st.integers(0, 4), max_size=30))
def test_rows_are_in_order_of_their_cells_and_stable(cells: list[int]) -> None:
    order, starts = rows_by_cell(np.array(cells, np.int64), 5)
    assert order.tolist() == sorted(range(len(cells)), key=cells.__getitem__)
    assert starts.tolist() == [sum(c < cell for c in cells) for cell in range(6)]


def test_coordinates_are_even_and_independent_of_those_of_another_seed() -> None:
    hashes = np.arange(60_000)
    cells = np.zeros(hashes.size, np.int64)
    add_coordinates(cells, hashes, 1, 3, 1)
    add_coordinates(cells, hashes, 2, 4, 3)
    counts = np.bincount(cells, minlength=12)
    assert counts.size == 12
    assert 4_700 < counts.min() <= counts.max() < 5_300


def test_coordinates_are_the_same_on_every_machine() -> None:
    cells = np.zeros(8, np.int64)
    add_coordinates(cells, np.arange(8) << 40, 7, 1_000, 1)
    assert cells.tolist() == [72, 54, 702, 799, 735, 576, 534, 451]
