"""Which queries of a filter bank are found by boxes, and which by grouped filters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, TypeAlias

import numpy as np

from eddyline.runtime.predicates.boxes import Boxes, Ranges, is_range
from eddyline.runtime.predicates.grouped_filter import Attribute, GroupedFilter
from eddyline.runtime.stores.columns import Array

#: Minimum number of queries that boxes are built for; they are rebuilt when one in this many waits.
_LEAST: Final = 256
_SHARE: Final = 8
#: Number of batches without a new query after which the waiting ones get boxes, however few.
_PATIENCE: Final = 8

#: The numbers of the columns that a query has ranges of, ascending.
_Columns: TypeAlias = tuple[int, ...]


class BoxSets:
    """Queries by the columns that they have ranges of, those that boxes find and those that wait.

    Attributes:
        sets: the boxes that rows are looked up in.
    """

    def __init__(self) -> None:
        self._sets: dict[_Columns, Boxes] = {}
        self._waiting: dict[_Columns, dict[int, Ranges]] = {}
        self._attributes: dict[_Columns, list[Attribute]] = {}
        self._refused: dict[_Columns, int] = {}  # how many queries boxes did not pay for
        self._columns_of: dict[int, _Columns] = {}  # by bit
        self._unchanged = 0  # batches since the last query came

    @property
    def sets(self) -> Iterable[Boxes]:
        return self._sets.values()

    def __len__(self) -> int:
        """How many queries boxes find."""
        return sum(boxes.alive for boxes in self.sets)

    def offer(self, bit: int, filters: Sequence[GroupedFilter]) -> None:
        """Let a query be found by boxes some time, if its predicates are ranges of columns."""
        by_column = {f.attribute.column: f for f in filters}
        columns = tuple(sorted(c for c in by_column if c is not None))
        ordered = [by_column[c] for c in columns]
        ranges = tuple(f.steps(bit) for f in ordered)
        if len(columns) < len(filters) or not all(map(is_range, ranges)):
            return
        self._unchanged = 0
        self._attributes.setdefault(columns, [f.attribute for f in ordered])
        self._waiting.setdefault(columns, {})[bit] = ranges
        self._columns_of[bit] = columns

    def remove(self, bit: int) -> bool:
        """Remove a query; returns whether boxes found it."""
        columns = self._columns_of.pop(bit, None)
        if columns is None or self._waiting[columns].pop(bit, None) is not None:
            return False
        boxes = self._sets[columns]
        boxes.remove(bit)
        if 2 * boxes.alive < len(boxes):
            del self._sets[columns]
            if boxes.alive:
                self._sets[columns] = Boxes(self._attributes[columns], boxes.ranges)
        return True

    def settle(self) -> list[int]:
        """Let boxes find queries that wait, if there are many or no other has come for batches;
        returns their bits.
        """
        found: list[int] = []
        self._unchanged += 1
        is_settled = self._unchanged == _PATIENCE
        for columns, waiting in self._waiting.items():
            there = self._sets.get(columns)
            held = {} if there is None else there.ranges
            least = max(_LEAST, len(held) // _SHARE, 2 * self._refused.get(columns, 0))
            if len(waiting) < (1 if is_settled and there is not None else least):
                continue
            boxes = Boxes(self._attributes[columns], {**held, **waiting})
            if there is None and not boxes.pays:
                self._refused[columns] = len(waiting)
                continue
            self._sets[columns] = boxes
            found += waiting
            waiting.clear()
        return found

    def mask(self, words: int) -> Array:
        """uint64[words], the queries that boxes find."""
        mask = np.zeros(words, np.uint64)
        for boxes in self.sets:
            mask |= boxes.mask(words)
        return mask
