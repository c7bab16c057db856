"""Dealing rows to the cells of a grid: coordinates by hash, and a stable counting sort by cell."""

from __future__ import annotations

import numpy as np

from eddyline.kernels.hashing import mix
from eddyline.kernels.options import kernel


@kernel
def add_coordinates(
    cells: np.ndarray, hashes: np.ndarray, seed: int, size: int, stride: int
) -> None:
    """Add to the cell of each row, int64[n], its coordinate along one axis, times ``stride``.

    The coordinate is the upper half of the hash, int64[n], mixed with the axis' ``seed`` and scaled
    to ``size``. So it is independent of the other axes and of hash tables, which have other mixes.
    """
    for i in range(cells.size):
        upper = np.uint64(mix(hashes[i] ^ seed)) >> np.uint64(32)
        cells[i] += np.int64((upper * np.uint64(size)) >> np.uint64(32)) * stride


@kernel
def rows_by_cell(cells: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows in order of their cells, int64[n] in 0 ... ``count`` - 1; within a cell as they were.

    Returns:
        int64[n] row numbers, and int64[count + 1]: those of cell c are from starts[c] until before
        starts[c + 1].
    """
    starts = np.zeros(count + 1, np.int64)
    for i in range(cells.size):
        starts[cells[i] + 1] += 1
    for c in range(count):
        starts[c + 1] += starts[c]
    free = starts[:-1].copy()
    order = np.empty(cells.size, np.int64)
    for i in range(cells.size):
        order[free[cells[i]]] = i
        free[cells[i]] += 1
    return order, starts
