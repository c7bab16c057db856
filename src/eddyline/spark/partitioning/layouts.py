"""Layouts: how the rows of each input are dealt to the cells of a grid.

A *layout* is a partitioning that some queries of a group have in common. Its cells form a grid with
an axis for each class of equal join keys, or for the rows of one stream. A row is sent to the cells
whose coordinates it fits: along an axis to one coordinate, by the hash of its key or by its
position, or to all coordinates where it has no such key. Each result is then made in exactly one
cell. One axis is partitioning by key; several are HyperCube shares; no axis is one engine for all
rows. Each cell is run by an engine of its own, a *shard*.

Source: Afrati and Ullman 2010, "Optimizing joins in a map-reduce environment" (shares).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

from eddyline.algebra.expressions import Expr


@dataclass(frozen=True)
class ByKey:
    """The coordinate is the hash of a key; rows with equal keys meet.

    Attributes:
        key: expressions over the columns of the input, of the same types in all inputs with this
            axis.
    """

    key: tuple[Expr, ...]


@dataclass(frozen=True)
class Spread:
    """Any one coordinate: rows are dealt evenly, by their position in the input."""


@dataclass(frozen=True)
class Copied:
    """All coordinates of the axis have the row."""


Coordinate: TypeAlias = ByKey | Spread | Copied


@dataclass(frozen=True)
class Axis:
    """An axis of a grid.

    Attributes:
        label: what the axis is about, for EXPLAIN: ``a.x = b.x``, or ``rows of a``.
        size: number of coordinates, at least 1.
    """

    label: str
    size: int


@dataclass(frozen=True)
class Layout:
    """A partitioning of the inputs of queries.

    Attributes:
        axes: of the grid.
        inputs: by stream or changing table, the coordinate of its rows along each axis.
        reason: why there is one cell only, in words; empty if there are several, or one is wanted.
        counted: streams of which every cell gets the timestamps of all rows, for windows of rows;
            empty if there is one cell.
    """

    axes: tuple[Axis, ...]
    inputs: Mapping[str, tuple[Coordinate, ...]]
    reason: str = ""
    counted: frozenset[str] = frozenset()

    def __hash__(self) -> int:
        return hash((self.axes, frozenset(self.inputs.items()), self.reason, self.counted))

    @property
    def cells(self) -> int:
        """Number of cells."""
        return math.prod(axis.size for axis in self.axes)

    def copies(self, name: str) -> int:
        """In how many cells each row of an input is."""
        coordinates = zip(self.axes, self.inputs[name], strict=True)
        return math.prod(axis.size for axis, c in coordinates if isinstance(c, Copied))

    def coordinates(self, cell: int) -> tuple[int, ...]:
        """The coordinates of a cell; the last axis varies fastest."""
        found = []
        for axis in reversed(self.axes):
            cell, coordinate = divmod(cell, axis.size)
            found.append(coordinate)
        return tuple(reversed(found))

    def counts(self, name: str, cell: int) -> bool:
        """Whether this cell reports the late and bad rows of an input.

        Of the cells that have a copy of a row, exactly one does.
        """
        along = zip(self.coordinates(cell), self.inputs[name], strict=True)
        return all(at == 0 for at, c in along if isinstance(c, Copied))


def one_cell(inputs: Mapping[str, object], reason: str = "") -> Layout:
    """The layout without axes.

    >>> one_cell({"a": None}).cells
    1
    """
    return Layout((), dict.fromkeys(inputs, ()), reason)


SPREAD: Final = Spread()
COPIED: Final = Copied()
