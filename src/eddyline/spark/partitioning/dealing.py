"""Dealing rows to the cells of a layout."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import mul
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa

from eddyline.kernels.dealing import add_coordinates, rows_by_cell
from eddyline.physical.expressions import Columns, compile_expr
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.keys import group_hashes
from eddyline.spark.partitioning.layouts import ByKey, Layout, Spread

_Key: TypeAlias = list[Callable[[Columns], pa.Array]]

#: Times the number of an axis, from 1: its seed.
_SEED: Final = 0x5851F42D4C957F2D
_LARGEST: Final = (1 << 63) - 1


@dataclass(frozen=True)
class Dealt:
    """Rows by cell.

    Rows are dealt along the axes on which they have one coordinate; cells that differ in other
    coordinates only have the same *part* of them.

    Attributes:
        order: int64[n], row numbers in order of their parts; within a part in order of arrival.
            None: 0 ... n - 1.
        starts: int64[parts + 1], where in ``order`` each part starts, and the end.
        part_of: the part of each cell.
    """

    order: Array | None
    starts: Array
    part_of: tuple[int, ...]

    @property
    def sizes(self) -> Array:
        """int64[parts]: number of rows of each part."""
        return np.diff(self.starts)

    def only(self, kept: Array) -> Dealt:
        """Without the rows that are not ``kept``, bool[n]."""
        if kept.all():
            return self
        order = np.flatnonzero(kept) if self.order is None else self.order[kept[self.order]]
        counts = np.cumsum(kept if self.order is None else kept[self.order])
        starts = np.concatenate(([0], counts))[self.starts]
        return replace(self, order=order, starts=starts)

    def rows(self, part: int) -> Array:
        """int64[k]: the numbers of the rows of a part."""
        start, end = self.starts[part : part + 2].tolist()
        return np.arange(start, end) if self.order is None else self.order[start:end]

    def parts(self, table: pa.Table) -> list[pa.Table]:
        """The rows of each part, as slices of one copy of the table."""
        if self.order is not None:
            table = table.take(pa.array(self.order))
        bounds = pairwise(self.starts.tolist())
        return [table.slice(start, end - start) for start, end in bounds]


class Dealer:
    """Deals the rows of one input to the cells of a layout.

    Args:
        name: the input, a key of ``layout.inputs``.
    """

    def __init__(self, layout: Layout, name: str) -> None:
        axes = list(zip(layout.axes, layout.inputs[name], strict=True))
        strides = [0] * len(axes)  # 0: the cells along this axis have the same rows
        self._spread = 1
        for number, (axis, coordinate) in enumerate(axes):
            if isinstance(coordinate, Spread):
                strides[number] = self._spread
                self._spread *= axis.size
        self._parts = self._spread
        self._keyed: list[tuple[_Key, int, int, int]] = []  # key, seed, size, stride
        for number, (axis, coordinate) in enumerate(axes):
            if isinstance(coordinate, ByKey):
                seed = _SEED * (number + 1) & _LARGEST
                key = [compile_expr(e) for e in coordinate.key]
                self._keyed.append((key, seed, axis.size, self._parts))
                strides[number] = self._parts
                self._parts *= axis.size
        self._part_of = tuple(
            sum(map(mul, layout.coordinates(cell), strides)) for cell in range(layout.cells)
        )

    def deal(self, columns: Sequence[pa.Array], turn: int) -> Dealt:
        """Deal rows, by their content and their positions.

        Args:
            columns: of the input, in its declared types, each of n values. A row for which a key
                expression fails is dealt like one with NULL.
            turn: rows are spread in as many blocks as there are coordinates, and the first block
                is at this one. So small batches are spread too if it differs between them.
        """
        rows = _Rows(columns)
        if not self._keyed:
            starts = -(-np.arange(self._parts + 1) * len(rows) // self._parts)
            turned = tuple((part - turn) % self._parts for part in self._part_of)
            return Dealt(None, starts, turned)
        parts = np.zeros(len(rows), np.int64)
        if self._spread > 1:
            blocks = np.arange(len(rows)) * self._spread // max(len(rows), 1)
            parts = (blocks + turn) % self._spread
        for key, seed, size, stride in self._keyed:
            add_coordinates(parts, group_hashes([e(rows) for e in key]), seed, size, stride)
        return Dealt(*rows_by_cell(parts, self._parts), self._part_of)


class _Rows:
    """Columns for the evaluation of expressions."""

    def __init__(self, columns: Sequence[pa.Array]) -> None:
        self._columns = columns

    def column(self, index: int) -> pa.Array:
        return self._columns[index]

    def __len__(self) -> int:
        return len(self._columns[0])
