"""Boxes: queries whose predicates are a range of each of some columns, found from the rows.

A grouped filter costs a bit per query and row. Of thousands of queries each of which accepts few
rows, it is less to look at the few that may: a grid over the two columns that tell most queries
apart lists, by bucket, the boxes that meet it.

Source: Madden et al. 2002, section 2.2.1, index the constants of one column; a grid over two is as
of Kalashnikov et al. 2004, who index the ranges of standing queries in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa

from eddyline.kernels.boxes import boxes_around, lists_of_boxes
from eddyline.kernels.grouped_filter import bitmap
from eddyline.runtime.predicates.cells import Cells, Steps, keys_of, make_cells
from eddyline.runtime.predicates.grouped_filter import Attribute, AttributeValues, bound_of
from eddyline.runtime.screens import Condition
from eddyline.runtime.stores.columns import Array, all_of, any_of

#: Entries of the grid's lists per box, and buckets per box, at most.
_ENTRIES: Final = 8
_BUCKETS: Final = 4
#: Boxes are worth it if a row has to be compared with fewer than one in this many of them.
_SELECTIVE: Final = 16

#: By column, the range of values that a query accepts.
Ranges: TypeAlias = tuple[Steps, ...]


def is_range(steps: Steps) -> bool:
    """Whether a set of values is a range that boxes can have: without NULL, and with NaN only if it
    has all large values.
    """
    turns = len(steps.thresholds)
    if steps.null or turns not in (1, 2) or (steps.starts and turns == 2):
        return False
    return not steps.nan or not _ends(steps)


def _ends(steps: Steps) -> bool:
    """Whether a range has an upper end."""
    return steps.starts or len(steps.thresholds) == 2


class Boxes:
    """The queries with ranges of the same columns.

    Args:
        attributes: the columns, all of which are plain. ranges: by bit, of each column.
    """

    def __init__(self, attributes: Sequence[Attribute], ranges: Mapping[int, Ranges]) -> None:
        self.ranges = dict(ranges)
        bits = np.fromiter(ranges, np.int32, len(ranges))
        order, sides = _by_selectivity(attributes, list(ranges.values()))
        self._order = order
        self._attributes = [attributes[i] for i in order]
        self._cells = [sides[i][0] for i in order]
        self._bits, self._place = bits, {bit: i for i, bit in enumerate(ranges)}
        self._is_alive = np.ones(bits.size, np.bool_)
        self._mask: Array | None = None  # of those alive, if it has been asked for
        self._low = np.stack([sides[i][1] for i in order], axis=1).astype(np.int32)
        self._high = np.stack([sides[i][2] for i in order], axis=1).astype(np.int32)
        self._make_grid()

    def _make_grid(self) -> None:
        counts = [cells.count for cells in self._cells[:2]]
        low, high = (sides[:, :2].astype(np.int64) for sides in (self._low, self._high))
        if len(counts) == 1:
            counts, low, high = [*counts, 1], _beside(low, 0), _beside(high, 1)
        x, y = _resolution(low, high, counts)

        def buckets(side: Array) -> Array:
            both = [_bucket(side[:, i], size, counts[i]) for i, size in enumerate((x, y))]
            return np.stack(both, axis=1)

        first, last = buckets(low), buckets(high - 1)
        self._starts, self._boxes = lists_of_boxes(first, last, y, x * y)
        self.candidates = self._boxes.size / (x * y)
        two = len(self._cells) > 1
        rows = _bucket(np.arange(self._cells[0].count + 2), x, counts[0]) * y
        columns = _bucket(np.arange(self._cells[two].count + 2), y, counts[1]) * two
        self._rows = np.where(self._coverage(0), rows, -1)
        self._columns = np.where(self._coverage(int(two)), columns, -1)

    def __len__(self) -> int:
        """How many boxes there are, with those of removed queries."""
        return int(self._bits.size)

    @property
    def alive(self) -> int:
        """How many queries there are."""
        return len(self.ranges)

    def remove(self, bit: int) -> None:
        """Remove a query."""
        del self.ranges[bit]
        self._is_alive[self._place[bit]] = False
        self._mask = None

    def mask(self, words: int) -> Array:
        """uint64[words], the queries."""
        if self._mask is None or self._mask.size != words:
            self._mask = bitmap(self._bits[self._is_alive].astype(np.int64), words)
        return self._mask

    def conditions(self) -> Iterator[Condition]:
        """What all boxes have in common, by column."""
        ranges = list(self.ranges.values())
        for i, (attribute, cells) in enumerate(zip(self._attributes, self._cells, strict=True)):
            assert attribute.column is not None, "boxes are of columns"
            steps = [of[self._order[i]] for of in ranges]
            accepts = partial(_covered, cells, self._coverage(i))
            yield Condition(attribute.column, accepts, bound_of(attribute.type, steps))

    def _coverage(self, dimension: int) -> Array:
        """Bool by cell of a column: whether some query accepts its values."""
        ends = np.zeros(self._cells[dimension].count + 3, np.int64)
        np.add.at(ends, self._low[self._is_alive, dimension], 1)
        np.add.at(ends, self._high[self._is_alive, dimension], -1)
        return np.cumsum(ends)[:-1] > 0

    @property
    def pays(self) -> bool:
        """Whether few boxes have to be looked at for a row."""
        return self.candidates * _SELECTIVE < len(self)

    @property
    def attributes(self) -> list[Attribute]:
        """The columns, the one that tells most boxes apart first."""
        return self._attributes

    def among(self, mask: Array) -> bool:
        """Whether some of these queries (uint64[W]) have boxes."""
        return any_of(mask & self.mask(mask.size))

    def _allowed(self, boxes: Array, mask: Array) -> Array:
        """bool[m]: which of some boxes have queries among these that have not been removed."""
        bits = self._bits[boxes]
        words = mask[bits >> 6] >> (bits & 63).astype(np.uint64)
        allowed: Array = (words & np.uint64(1)).astype(np.bool_) & self._is_alive[boxes]
        return allowed

    def accepting(self, values: AttributeValues, rows: Array, mask: Array) -> tuple[Array, Array]:
        """The queries that accept rows, of some of them.

        Args:
            values: of a batch. rows: int64[k], rows of it. mask: uint64[W], the queries.

        Returns:
            int64[m] rows, in this order, and int32[m] bits.
        """
        cells = np.empty((len(self._cells), rows.size), np.int64)
        for i, (attribute, mine) in enumerate(zip(self._attributes, self._cells, strict=True)):
            keys, places, _ = values.keys(attribute, rows)
            cells[i] = _nan_first(mine.find(keys, places), mine.count)
        grid = self._rows, self._columns, self._starts, self._boxes
        point, box = boxes_around(cells, *grid, self._low, self._high)
        allowed = self._allowed(box, mask)
        if not all_of(allowed):
            point, box = point[allowed], box[allowed]
        return rows[point], self._bits[box]


_Side: TypeAlias = tuple[Cells, Array, Array]


def _by_selectivity(
    attributes: Sequence[Attribute], ranges: Sequence[Ranges]
) -> tuple[list[int], list[_Side]]:
    """The columns' cells and the boxes' ranges of these; and their order, narrow ranges first."""
    sides = [_side(a, [of[i] for of in ranges]) for i, a in enumerate(attributes)]
    shares = [float(np.mean((high - low) / cells.count)) for cells, low, high in sides]
    return np.argsort(shares, kind="stable").tolist(), sides


def _side(attribute: Attribute, ranges: Sequence[Steps]) -> _Side:
    """Cells of a column, and the first of each range and the one behind its last."""
    cells, cell = make_cells([t for steps in ranges for t in steps.thresholds], attribute.type)
    ends = np.cumsum([len(steps.thresholds) for steps in ranges])
    starts = np.array([steps.starts for steps in ranges])
    nan = np.array([steps.nan for steps in ranges])
    low = np.where(starts, 0, cell[ends - np.diff(ends, prepend=0)])
    has_end = np.array([_ends(steps) for steps in ranges])
    high = np.where(has_end, cell[ends - 1], cells.count + nan)
    return cells, low, high


def _nan_first(cells: Array, count: int) -> Array:
    """Cells with that of NaN right behind the others, and that of NULL after it."""
    special = cells >= count
    if special.any():
        cells = np.where(special, 2 * count + 1 - cells, cells)
    return cells


def _covered(cells: Cells, coverage: Array, values: pa.Array) -> Array:
    """bool[n]: which values are in cells where ``coverage`` says so."""
    places = cells.find(keys_of(values), np.arange(len(values)))
    found: Array = coverage[_nan_first(places, cells.count)]
    return found


def _beside(side: Array, constant: int) -> Array:
    """With a column of a constant."""
    return np.concatenate((side, np.full_like(side, constant)), axis=1)


def _bucket(cell: Array, buckets: int, cells: int) -> Array:
    """int64: which of some buckets of about as many cells each is in."""
    return np.minimum(np.maximum(cell, 0), cells - 1) * buckets // cells


def _resolution(low: Array, high: Array, counts: Sequence[int]) -> tuple[int, int]:
    """How many buckets each axis has, so that few boxes have to be looked at for a row and the
    lists are not too long.
    """

    def entries(sizes: Sequence[int]) -> int:
        spans = [
            _bucket(high[:, i] - 1, sizes[i], counts[i]) - _bucket(low[:, i], sizes[i], counts[i])
            for i in range(2)
        ]
        return int(((spans[0] + 1) * (spans[1] + 1)).sum())

    boxes, sizes = len(low), [1, 1]
    least = float(boxes)
    while True:
        tried: list[tuple[float, list[int]]] = []
        for axis in range(2):
            finer = [size * (1 + (i == axis)) for i, size in enumerate(sizes)]
            if finer[axis] > counts[axis] or finer[0] * finer[1] > _BUCKETS * boxes:
                continue
            length = entries(finer)
            if length <= _ENTRIES * boxes:
                tried.append((length / (finer[0] * finer[1]), finer))
        if not tried or min(tried)[0] >= least:
            return sizes[0], sizes[1]
        least, sizes = min(tried)
