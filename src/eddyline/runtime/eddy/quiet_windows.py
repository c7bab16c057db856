"""Which cells of windows over row lists may be shown by HAVING, and the rows of the others.

Arrays and kernels: ``kernels/running_values.py``, ``kernels/quiet_windows.py``.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from eddyline.kernels import quiet_windows as kernels
from eddyline.kernels.row_lists import BLOCK, CAPACITY, NONE
from eddyline.kernels.running_values import (
    AT,
    COUNT,
    LIST_COLUMNS,
    PIECES,
    SIZE,
    SPOT_COLUMNS,
    STALE,
    Running,
    add,
    renew,
)
from eddyline.kernels.shared_groups import Walk
from eddyline.runtime.eddy.row_lists import RowLists
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.regions import Regions
from eddyline.runtime.stores.slots import SlotArray

#: Minimum size of a piece. Running values are recomputed when the entries added since exceed this
#: multiple of those in the list, plus a constant.
_LEAST_SIZE: Final = 128
_ANEW: Final = 4
_ANEW_MORE: Final = 4_096

#: Slope, and float64 by window weights and offsets, of conditions.
Terms = tuple[float, Array, Array]


class QuietWindows:
    """Watches the windows over lists of rows."""

    def __init__(self, lists: RowLists) -> None:
        self._lists = lists
        self._numbers = SlotArray(np.int64, (LIST_COLUMNS,), fill=(0, 0, 0, 0, 1))
        self._weights = SlotArray(np.float64, fill=-np.inf)
        self._largest = SlotArray(np.float64)
        self._spots = SlotArray(np.float64, (SPOT_COLUMNS,))
        self._newest = SlotArray(np.int64)
        self._before = SlotArray(np.float64)
        self._older = SlotArray(np.int64)
        self._heads = SlotArray(np.int64)
        self._lowest = SlotArray(np.float64)
        self._kept = SlotArray(np.int64, fill=NONE)
        self._regions = Regions()
        self._rooms: dict[int, tuple[int, int]] = {}  # by list, the region of its pieces

    def move(self, cells: Array, to: Array) -> None:
        """Move what is known of cells to others."""
        self._kept.grow(int(to.max(initial=-1)) + 1)
        self._kept.array[to] = self._kept.array[cells]
        self.forget(cells)

    def forget(self, cells: Array) -> None:
        """Let cells be as new ones."""
        self._kept.grow(int(cells.max(initial=-1)) + 1)
        self._kept.array[cells] = NONE

    def watch(self, terms: Terms, valid: Array, value: Array, walk: Walk) -> tuple[Array, Array]:
        """Mark the cells that are not quiet.

        Args:
            valid, value: by row number, what conditions are about.

        Returns:
            As of ``kernels.watch``.
        """
        slope, weights, offsets = terms
        longest = self._lists.longest_windows
        self._grow()
        self._age(weights, walk, longest)
        running = self._running
        renew(running, walk, longest)
        add(slope, valid, value, running, walk, longest)
        found = kernels.watch(offsets, running, walk)
        self._heads.array[: len(walk.spans)] += walk.spans[:, 2]
        return found

    def rows_of(self, missing: Array, walk: Walk) -> tuple[Array, Array]:
        """The cells and rows, int64[n], that cells (as of ``watch``) have before a call. They are
        kept up to date from now on.
        """
        starts, rows = kernels.rows_of(missing, self._running, walk.entries)
        counts = np.diff(starts)
        self._kept.array[missing[:, 0]] = counts
        return np.repeat(missing[:, 0], counts), rows

    def processed(self, cells: Array) -> None:
        """Rows of these cells (int64[n]) have been processed one by one."""
        np.subtract.at(self._kept.array, cells, 1)
        self._kept.array[cells] = np.maximum(self._kept.array[cells], 0)

    @property
    def _running(self) -> Running:
        return Running(
            self._numbers.array,
            self._weights.array,
            self._largest.array,
            self._spots.array,
            self._newest.array,
            self._before.array,
            self._older.array,
            self._heads.array,
            self._lowest.array,
            self._kept.array,
        )

    def _grow(self) -> None:
        lists = self._lists
        for lane in (self._numbers, self._weights, self._largest):
            lane.grow(lists.lists.end)
        for lane in (self._spots, self._newest, self._kept):
            lane.grow(lists.cells)
        for lane in (self._before, self._older):
            lane.grow(BLOCK * lists.blocks)
        self._heads.grow(lists.windows.end)

    def _age(self, weights: Array, walk: Walk, longest: Array) -> None:
        """Find the lists whose running values have to begin anew, and give them room."""
        numbers, lists = self._numbers.array, walk.lists
        for number in self._lists.take_changed():
            numbers[number, STALE] = 1
        mine = walk.windows[longest, 0]
        loosest = np.full(len(lists), -np.inf)
        np.maximum.at(loosest, walk.windows[walk.of_list, 0], weights[walk.of_list])
        stale = numbers[mine, STALE] != 0
        stale |= loosest[mine] > self._weights.array[mine]
        counts, heads = numbers[mine, COUNT], self._heads.array[longest]
        held = counts - heads
        stale |= counts > _ANEW * held + _ANEW_MORE
        size = np.maximum(numbers[mine, SIZE], 1)
        end = counts + walk.grown[mine, 2]
        stale |= end // size - heads // size + 1 > numbers[mine, PIECES]
        for window, number in zip(longest[stale].tolist(), mine[stale].tolist(), strict=True):
            numbers[number, STALE] = 1
            self._weights.array[number] = loosest[number]
            entries = self._lists.entries_from(number, walk.spans[window])
            capacity = int(lists[number, CAPACITY])
            numbers[number, SIZE] = piece = max(_LEAST_SIZE, capacity)
            pieces = 2 * (entries // piece + 2)
            numbers[number, PIECES] = pieces
            numbers[number, AT] = self._room(number, pieces * capacity)

    def _room(self, number: int, size: int) -> int:
        """Where a list has room for this many lowest values, instead of what it had."""
        size = 1 << (size - 1).bit_length()
        before = self._rooms.get(number)
        if before is not None:
            if before[1] == size:
                return before[0]
            self._regions.release(*before)
        first = self._regions.take(size)
        self._lowest.grow(self._regions.end)
        self._rooms[number] = first, size
        return first
