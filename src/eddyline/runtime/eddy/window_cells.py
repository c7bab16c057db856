"""Windows over lists of rows, and their cells: one per window and group.

Arrays and kernels: ``kernels/row_lists.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Final

import numpy as np

from eddyline.kernels import row_lists as kernels
from eddyline.kernels.row_lists import (
    CAPACITY,
    DUE,
    END,
    LENGTH,
    LIST,
    NONE,
    PLACE,
    REGION,
)
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.regions import Regions
from eddyline.runtime.stores.slots import SlotArray
from eddyline.types import FOREVER

LEAST_SPOTS: Final = 2
ABSENT: Final = (NONE, 0, 0, 0, 0, FOREVER)


class WindowCells:
    """Lists, windows over them, and the cells of these.

    Args:
        move: moves what is kept of cells (int64[k]) to others.

    Attributes:
        windows, lists: a row for each, columns as named in ``kernels/row_lists.py``.
    """

    def __init__(self, move: Callable[[Array, Array], None]) -> None:
        self._move = move
        self.lists = SlotArray(np.int64, (kernels.LIST_COLUMNS,))
        self.windows = SlotArray(np.int64, (kernels.WINDOW_COLUMNS,), fill=ABSENT)
        self._of: dict[int, list[int]] = {}  # by list, the window in each place of its region
        self._regions = Regions()
        self._spot_node = SlotArray(np.int64)  # by region + spot
        self._spot_group = SlotArray(np.int64)
        self._spot_rows = SlotArray(np.int64)  # by region + spot: how many
        self._window_of = SlotArray(np.int64)  # by cell
        self._order: tuple[Array, Array, Array] | None = None  # None: not computed
        self._changed: set[int] = set()  # lists

    @property
    def cells(self) -> int:
        """All cells are below this number."""
        return self._regions.end

    def windows_of(self, number: int) -> list[int]:
        """The windows over a list."""
        return [w for w in self._of[number] if w != NONE]

    def windows_of_lists(self, numbers: Array) -> tuple[Array, Array]:
        """int64, the windows over lists (int64[k]), and the place of the list of each."""
        windows, starts, _ = self._windows_by_list()
        counts = starts[numbers + 1] - starts[numbers]
        place = np.repeat(np.arange(numbers.size), counts)
        first = starts[numbers] - (np.cumsum(counts) - counts)
        return windows[first[place] + np.arange(place.size)], place

    def list_of(self, window: int) -> int:
        """The list of a window."""
        return int(self.windows.array[window, LIST])

    def has_list(self, number: int) -> bool:
        """Whether there is a list with this number."""
        return number in self._of

    def longest(self, windows: Sequence[int]) -> int:
        """The first one of the longest windows."""
        return max(windows, key=lambda w: int(self.windows.array[w, LENGTH]))

    def note_changed(self, numbers: Iterable[int]) -> None:
        """Rows of these lists have been replaced."""
        self._changed.update(numbers)

    def take_changed(self) -> set[int]:
        """The lists of which cells, windows or rows have been replaced since this was called."""
        changed, self._changed = self._changed, set()
        return changed

    @property
    def next_due(self) -> int:
        """When the next row leaves a window, as of ``advance``."""
        return int(self.windows.array[self.present, DUE].min(initial=FOREVER))

    @property
    def longest_windows(self) -> Array:
        """int64, the longest window of each list."""
        return self._windows_by_list()[2]

    @property
    def present(self) -> Array:
        """int64, all windows."""
        return self._windows_by_list()[0]

    def _windows_by_list(self) -> tuple[Array, Array, Array]:
        """The windows of list l, ``[starts[l], starts[l + 1])`` of the first; and the longest of
        each list.
        """
        if self._order is None:
            windows = np.flatnonzero(self.windows.held()[:, LIST] != NONE)
            mine = self.windows.array[windows]
            by_list = np.argsort(mine[:, LIST], kind="stable")
            starts = np.zeros(self.lists.end + 1, np.int64)
            np.cumsum(np.bincount(mine[:, LIST], minlength=self.lists.end), out=starts[1:])
            longest_first = np.lexsort((-mine[:, LENGTH], mine[:, LIST]))
            longest = windows[longest_first[starts[:-1][np.diff(starts) > 0]]]
            self._order = windows[by_list], starts, longest
        return self._order

    def cells_of(self, windows: Array) -> Array:
        """int64, all cells of windows whose group may have rows."""
        mine = self.windows.array[windows]
        theirs = self.lists.array[mine[:, LIST]]
        counts = theirs[:, END]
        first = theirs[:, REGION] + mine[:, PLACE] * theirs[:, CAPACITY]
        before = np.cumsum(counts) - counts
        cells: Array = np.repeat(first - before, counts) + np.arange(counts.sum())
        return cells

    def named(self, cells: Array) -> tuple[Array, Array]:
        """int64[n] windows and groups of cells."""
        arrays = self._window_of.array, self.windows.array, self.lists.array
        return kernels.named(cells, *arrays, self._spot_group.array)

    def _spots(self, number: int) -> int:
        return int(self.lists.array[number, CAPACITY])

    def _cells(self, window: int) -> slice:
        """All cells of a window."""
        number, _, place, *_ = self.windows.array[window].tolist()
        capacity = self._spots(number)
        first = int(self.lists.array[number, REGION]) + place * capacity
        return slice(first, first + capacity)

    def _resize(self, number: int, windows: int, spots: int) -> None:
        """Move a list's cells to a region with room for these numbers of windows and spots."""
        self._changed.add(number)
        mine = self.lists.array[number]
        before, end = self._spots(number), int(mine[END])
        old, size = int(mine[REGION]), before * len(self._of[number])
        region = self._take_cells(windows * spots)
        mine[REGION], mine[CAPACITY] = region, spots
        for place, window in enumerate(self._of[number]):
            if window != NONE:
                used = np.arange(end)
                self._move(old + place * before + used, region + place * spots + used)
                self._window_of.array[region + place * spots :][:spots] = window
        for spot in (self._spot_node, self._spot_group, self._spot_rows):
            spot.array[region : region + end] = spot.array[old : old + end]
        self._spot_rows.array[old : old + end] = 0
        self._of[number] += [NONE] * (windows - len(self._of[number]))
        self._regions.release(old, size)

    def _take_cells(self, size: int) -> int:
        """The first cell of a region."""
        first = self._regions.take(size)
        for lane in (self._spot_node, self._spot_group, self._spot_rows, self._window_of):
            lane.grow(self.cells)
        return first
