"""Dealing rows to the cells of a layout."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from operator import mul
from typing import Final, TypeAlias

import numpy as np
import pyarrow as pa

from eddyline.kernels.dealing import add_coordinates, rows_by_cell
from eddyline.physical.expressions import Columns, compile_expr
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.keys import group_hashes
from eddyline.spark.partitioning.frequent_keys import KeyCounts, Sketch
from eddyline.spark.partitioning.layouts import ByKey, Layout, Spread
from eddyline.spark.partitioning.split_keys import SplitKey

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
        order: int64[n], row numbers in order of their parts; within a part in order of arrival. A
            row is in several parts if its key is split and its input is copied. None: 0 ... n - 1.
        starts: int64[parts + 1], where in ``order`` each part starts, and the end.
        part_of: the part of each cell.
        copies: bool[n], along ``order``, whether another part has the row as its own; None: none is
            a copy.
    """

    order: Array | None
    starts: Array
    part_of: tuple[int, ...]
    copies: Array | None = None

    @property
    def sizes(self) -> Array:
        """int64[parts]: number of rows of each part."""
        return np.diff(self.starts)

    def only(self, kept: Array) -> Dealt:
        """Without the rows that are not ``kept``, bool[n]."""
        if kept.all():
            return self
        if self.order is None:
            among, order = kept, np.flatnonzero(kept)
        else:
            among = kept[self.order]
            order = self.order[among]
        starts = np.concatenate(([0], np.cumsum(among)))[self.starts]
        copies = None if self.copies is None else self.copies[among]
        return replace(self, order=order, starts=starts, copies=copies)

    def rows(self, part: int) -> Array:
        """int64[k]: the numbers of the rows of a part."""
        start, end = self.starts[part : part + 2].tolist()
        return np.arange(start, end) if self.order is None else self.order[start:end]

    def copied(self, part: int) -> Array:
        """bool[k]: which of the rows of a part are copies; another part has them as its own."""
        start, end = self.starts[part : part + 2].tolist()
        return np.zeros(end - start, np.bool_) if self.copies is None else self.copies[start:end]

    def parts(self, table: pa.Table) -> list[pa.Table]:
        """The rows of each part, as slices of one copy of the table."""
        if self.order is not None:
            table = table.take(pa.array(self.order))
        bounds = pairwise(self.starts.tolist())
        return [table.slice(start, end - start) for start, end in bounds]


@dataclass(frozen=True)
class _KeyAxis:
    """An axis along which rows have their coordinates by key.

    Attributes:
        number: of the axis. key: computes its columns. stride: of its coordinates in parts.
        spread, copied: int64[k], the hashes of split keys of which this input is dealt by position,
            or has all coordinates.
        sketch: counts frequent keys; None: they are not wanted.
    """

    number: int
    key: _Key
    size: int
    stride: int
    spread: Array
    copied: Array
    sketch: Sketch | None

    def coordinates(self, hashes: Array, turn: int) -> Array:
        """int64[n]: where rows are, by the hash of the key; spread keys by position."""
        found = np.zeros(hashes.size, np.int64)
        add_coordinates(found, hashes, _SEED * (self.number + 1) & _LARGEST, self.size, 1)
        if self.spread.size:
            rows = np.flatnonzero(np.isin(hashes, self.spread))
            found[rows] = (np.arange(rows.size) + turn) % self.size
        return found


class _Parts:
    """The parts that rows are in, axis by axis.

    Attributes:
        parts: int64[n]. numbers: int64[n], of the rows, ascending; None: 0 ... n - 1.
        copies: bool[n], all but one of the parts of a row; None: each row is in one part.
    """

    def __init__(self, parts: Array) -> None:
        self.parts = parts
        self.numbers: Array | None = None
        self.copies: Array | None = None

    def add(self, axis: _KeyAxis, coordinates: Array, is_copied: Array) -> None:
        """Add the coordinates along an axis, int64[rows]; all of them for ``is_copied`` rows."""
        if is_copied.any():
            times = np.where(is_copied, axis.size, 1)
            if self.numbers is None or self.copies is None:
                self.numbers, self.copies = np.arange(times.size), np.zeros(times.size, np.bool_)
            times = times[self.numbers]
            nth = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
            self.numbers = np.repeat(self.numbers, times)
            self.copies = np.repeat(self.copies, times) | (nth > 0)
            self.parts = np.repeat(self.parts, times)
            at = (coordinates[self.numbers] + nth) % axis.size
        else:
            at = coordinates if self.numbers is None else coordinates[self.numbers]
        self.parts = self.parts + at * axis.stride


class Dealer:
    """Deals the rows of one input to the cells of a layout.

    Args:
        name: the input, a key of ``layout.inputs``.
        split: keys whose rows are not all dealt by the hash of the key.
        counted: the axes along which frequent keys are counted.
    """

    def __init__(
        self,
        layout: Layout,
        name: str,
        split: Collection[SplitKey] = (),
        counted: Collection[int] = (),
    ) -> None:
        self._name = name
        axes = list(zip(layout.axes, layout.inputs[name], strict=True))
        strides = [0] * len(axes)  # 0: the cells along this axis have the same rows
        self._spread = 1
        for number, (axis, coordinate) in enumerate(axes):
            if isinstance(coordinate, Spread):
                strides[number] = self._spread
                self._spread *= axis.size
        self._parts = self._spread
        self._keyed: list[_KeyAxis] = []
        for number, (axis, coordinate) in enumerate(axes):
            if isinstance(coordinate, ByKey):
                of_axis = [s for s in split if s.axis == number]
                spread = [s.hash for s in of_axis if s.spread == name and s.spreads]
                self._keyed.append(
                    _KeyAxis(
                        number,
                        [compile_expr(e) for e in coordinate.key],
                        axis.size,
                        self._parts,
                        np.array(spread, np.int64),
                        np.array([s.hash for s in of_axis if s.spread != name], np.int64),
                        Sketch(axis.size) if number in counted else None,
                    )
                )
                strides[number] = self._parts
                self._parts *= axis.size
        self._part_of = tuple(
            sum(map(mul, layout.coordinates(cell), strides)) for cell in range(layout.cells)
        )

    @property
    def makes_copies(self) -> bool:
        """Whether a row can be in several parts."""
        return any(axis.copied.size for axis in self._keyed)

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
        found = _Parts(parts)
        for axis in self._keyed:
            keys = [e(rows) for e in axis.key]
            hashes = group_hashes(keys)
            if axis.sketch is not None:
                axis.sketch.add(hashes, partial(_text, keys))
            found.add(axis, axis.coordinates(hashes, turn), np.isin(hashes, axis.copied))
        order, starts = rows_by_cell(found.parts, self._parts)
        if found.numbers is None or found.copies is None:
            return Dealt(order, starts, self._part_of)
        return Dealt(found.numbers[order], starts, self._part_of, found.copies[order])

    def frequent(self) -> list[KeyCounts]:
        """The frequent keys of all rows dealt so far, along the axes that are counted."""
        return [
            KeyCounts(self._name, axis.number, axis.sketch.rows, axis.sketch.counts())
            for axis in self._keyed
            if axis.sketch is not None
        ]


def _text(keys: Sequence[pa.Array], row: int) -> str:
    return ", ".join(str(column[row].as_py()) for column in keys)


class _Rows:
    """Columns for the evaluation of expressions."""

    def __init__(self, columns: Sequence[pa.Array]) -> None:
        self._columns = columns

    def column(self, index: int) -> pa.Array:
        return self._columns[index]

    def __len__(self) -> int:
        return len(self._columns[0])
