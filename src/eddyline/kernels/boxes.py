"""Predicates that are ranges of several columns, as boxes in a grid over two of them.

Coordinates are cells (``cells.py``): numbers of the gaps between thresholds. A grid cuts both of
its axes into *buckets* of about as many cells; a bucket of the grid lists the boxes that meet it.
"""

from __future__ import annotations

import numpy as np

from eddyline.kernels.copies import with_room
from eddyline.kernels.options import kernel


@kernel
def lists_of_boxes(
    first: np.ndarray, last: np.ndarray, columns: int, buckets: int
) -> tuple[np.ndarray, np.ndarray]:
    """The boxes of each bucket.

    Args:
        first, last: int64[boxes, 2], the buckets of both axes that a box meets.
        columns: how many buckets the second axis has. buckets: those of the grid.

    Returns:
        int64[buckets + 1] starts, and int32, the boxes of one bucket after the other.
    """
    starts = np.zeros(buckets + 1, np.int64)
    for b in range(len(first)):
        for x in range(first[b, 0], last[b, 0] + 1):
            for y in range(first[b, 1], last[b, 1] + 1):
                starts[x * columns + y + 1] += 1
    for i in range(buckets):
        starts[i + 1] += starts[i]
    at = starts[:-1].copy()
    boxes = np.empty(starts[-1], np.int32)
    for b in range(len(first)):
        for x in range(first[b, 0], last[b, 0] + 1):
            for y in range(first[b, 1], last[b, 1] + 1):
                bucket = x * columns + y
                boxes[at[bucket]] = b
                at[bucket] += 1
    return starts, boxes


@kernel
def boxes_around(
    cells: np.ndarray,
    rows: np.ndarray,
    columns: np.ndarray,
    starts: np.ndarray,
    boxes: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The boxes that contain each point.

    Args:
        cells: int64[dimensions, n], the coordinates of points.
        rows, columns: by cell of the first and of the second axis, the number of the first bucket
            of its row, and its column; negative where no box has the cell.
        starts, boxes: as of ``lists_of_boxes``.
        low, high: int32[boxes, dimensions]: a box contains ``low <= cell < high``.

    Returns:
        int64[m] points, ascending, and int32[m] boxes.
    """
    dimensions, n = cells.shape
    second = min(dimensions, 2) - 1
    point = np.empty(n + 64, np.int64)
    found = np.empty(n + 64, np.int32)
    m = 0
    for i in range(n):
        row, column = rows[cells[0, i]], columns[cells[second, i]]
        if row < 0 or column < 0:
            continue
        bucket = row + column
        begin, end = starts[bucket], starts[bucket + 1]
        if m + end - begin > point.size:
            point = with_room(point, m, end - begin)
            found = with_room(found, m, end - begin)
        for e in range(begin, end):
            box = np.uint64(boxes[e])
            inside = True
            for d in range(dimensions):
                cell = cells[d, i]
                inside &= low[box, d] <= cell and cell < high[box, d]
            point[m] = i
            found[m] = boxes[e]
            m += inside
    return point[:m].copy(), found[:m].copy()
