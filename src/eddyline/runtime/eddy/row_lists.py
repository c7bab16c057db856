"""Rows of a stream that queries with filters and windows of their own hold.

Queries whose filters are the same read one *list* of rows, each through a window of its own length;
a row is kept once, with its number in the lists. Windows have *cells*, one per group of rows.
Arrays and kernels: ``kernels/row_lists.py``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from eddyline.kernels import row_lists as kernels
from eddyline.kernels.row_lists import (
    BLOCK,
    CAPACITY,
    DUE,
    FILL,
    HEAD,
    LAST,
    LENGTH,
    LIST,
    NONE,
    OFFSET,
    PLACE,
    REGION,
    USED,
)
from eddyline.kernels.shared_groups import Walk
from eddyline.runtime.eddy.entering_rows import NewRows
from eddyline.runtime.eddy.window_cells import ABSENT, LEAST_SPOTS, WindowCells
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.slots import FreeNumbers, SlotArray, SlotTable
from eddyline.types import FOREVER


class RowLists(WindowCells):
    """Lists of rows in the order of time, and windows over them.

    Args:
        dtypes: of the lanes of rows.
        move: moves what is kept of cells (int64[k]) to others.

    Attributes:
        ts, seq, group, lanes: by row number. of_group: by group, the number of rows.
    """

    def __init__(self, dtypes: Sequence[Any], move: Callable[[Array, Array], None]) -> None:
        super().__init__(move)
        self._rows = FreeNumbers()
        self.ts, self.seq, self.group = (SlotArray(np.int64) for _ in range(3))
        self.lanes = [SlotArray(d) for d in dtypes]
        self._uses = SlotArray(np.int32)  # by row: how many lists have it
        self.of_group = SlotArray(np.int64)
        self._blocks = FreeNumbers()
        self._next = SlotArray(np.int64)  # by block
        self._entries = SlotArray(np.int32, (2,))
        self._pairs = SlotTable()  # (list, group)
        self._spot_of = SlotArray(np.int64)  # by pair
        self._numbers = FreeNumbers()  # of lists

    def __len__(self) -> int:
        """Number of rows."""
        return len(self._rows)

    # -- lists and windows ---------------------------------------------

    def add_list(self) -> int:
        """A list without rows; returns its number."""
        number = int(self._numbers.take(1)[0])
        self.lists.grow(number + 1)
        [block] = self._take_blocks(1).tolist()
        self._next.array[block] = NONE
        region = self._take_cells(LEAST_SPOTS)
        self.lists.array[number] = (block, block, 0, region, LEAST_SPOTS, 0, NONE, 0)
        self._of[number] = [NONE]
        self._changed.add(number)
        return number

    def add_window(self, window: int, number: int, length_us: int) -> None:
        """Add a window over a list, of which it holds the rows that come."""
        if NONE not in self._of[number]:
            self._resize(number, 2 * len(self._of[number]), self._spots(number))
        place = self._of[number].index(NONE)
        self._of[number][place] = window
        self.windows.grow(window + 1)
        mine = self.lists.array[number]
        self.windows.array[window] = (number, length_us, place, mine[LAST], mine[FILL], FOREVER)
        self._window_of.array[self._cells(window)] = window
        self._order = None
        self._changed.add(number)

    def remove_window(self, window: int) -> Array:
        """Remove a window, and the list if no other one reads it.

        Returns:
            int64, the groups of rows that no list has any more; they may have other rows, and some
            are repeated.
        """
        mine = self.windows.array[window]
        number = int(mine[LIST])
        theirs = self.lists.array[number]
        siblings = self._of[number]
        siblings[int(mine[PLACE])] = NONE
        others = [w for w in siblings if w != NONE]
        spans = np.zeros((self.windows.end, kernels.SPAN_COLUMNS), np.int64)
        if others:  # rows stay as long as another window holds them
            longest = self.longest(others)
            to = self.windows.array[longest, [HEAD, OFFSET]]
        else:
            longest, to = window, theirs[[LAST, FILL]]
        begin = mine[[HEAD, OFFSET]].copy()
        spans[longest, :2] = begin
        if mine[LENGTH] >= self.windows.array[longest, LENGTH]:  # it held all of them
            spans[longest, 2] = self._distance(begin, to)
        mine[[HEAD, OFFSET]] = theirs[[LAST, FILL]]
        groups = self._leave(np.array([longest]), spans)
        mine[:] = ABSENT
        self._order = None
        if not others:
            del self._of[number]
            self._blocks.release(theirs[[LAST]])
            self._regions.release(int(theirs[REGION]), self._spots(number) * len(siblings))
            self._numbers.release(np.array([number]))
        return groups

    def empty(self, number: int, longest: int, *, keeps: bool = True) -> Array:
        """Remove the rows of a list.

        Args:
            longest: the window that holds them all.
            keeps: whether groups keep their cells, as ``enter`` follows, with all of these rows.

        Returns:
            Groups, likewise.
        """
        self._changed.add(number)
        theirs, mine = self.lists.array[number], self.windows.array[longest]
        begin, end = mine[[HEAD, OFFSET]].tolist(), theirs[[LAST, FILL]].tolist()
        spans = np.zeros((self.windows.end, kernels.SPAN_COLUMNS), np.int64)
        spans[longest] = (*begin, self._distance(begin, end))
        for window in self.windows_of(number):
            self.windows.array[window, [HEAD, OFFSET, DUE]] = (*end, FOREVER)
        return self._leave(np.array([longest]), spans, keeps=keeps)

    def follow(self, window: int, other: int, clock: int) -> None:
        """Let a window of a list hold rows that a longer one does, as far as they are alive."""
        mine, theirs = self.windows.array[window], self.windows.array[other]
        mine[[HEAD, OFFSET]], mine[DUE] = theirs[[HEAD, OFFSET]], -FOREVER
        self.advance(clock, np.array([window]), None)

    def _distance(self, begin: Sequence[int] | Array, end: Sequence[int] | Array) -> int:
        """Number of entries from one block and place of a list to a later one."""
        return kernels.distance(begin[0], begin[1], end[0], end[1], self._next.array)

    # -- rows ----------------------------------------------------------

    def enter(self, new: NewRows) -> Array:
        """Append rows to lists.

        Returns:
            int64[lists, 3]: where the new entries of each begin, and how many they are.
        """
        rows, starts = new.recipients.rows, new.recipients.starts
        hashes = kernels.pair_hashes(rows, starts, new.list_of, new.group)
        pairs, claims = self._pairs.find(hashes)
        if claims.size:
            self._claim(new, pairs, claims)
        numbers = self._rows.take(new.ts.size)
        end = self._rows.end
        kept = [self.ts, self.seq, self.group, *self.lanes]
        for lane, values in zip(kept, [new.ts, new.seq, new.group, *new.lanes], strict=True):
            lane.grow(end)
            lane.array[numbers] = values
        self._uses.grow(end)
        blocks = self._take_blocks(pairs.size // BLOCK + self.lists.end)
        taken, grown = kernels.append(
            rows,
            starts,
            new.list_of,
            numbers,
            pairs,
            self._spot_of.array,
            self.lists.held(),
            self._entries.array,
            self._next.array,
            blocks,
            self._uses.array,
            self._spot_rows.array,
        )
        self._blocks.release(blocks[taken:][::-1])
        self.of_group.grow(int(new.group.max(initial=-1)) + 1)
        np.add.at(self.of_group.array, new.group, 1)
        return grown

    def advance(self, clock: int, chosen: Array, grown: Array | None) -> Array:
        """Move windows (int64[k]) behind what expires by ``clock``.

        Args:
            grown: as of ``enter``; None: nothing entered.

        Returns:
            int64[windows, 3]: where each was, and how many entries it has passed.
        """
        spans = np.zeros((self.windows.end, kernels.SPAN_COLUMNS), np.int64)
        has_grown = np.zeros(self.lists.end, np.int64) if grown is None else grown[:, 2]
        kernels.advance(
            clock,
            chosen,
            self.windows.array,
            self.lists.array,
            has_grown,
            self._entries.array,
            self._next.array,
            self.ts.array,
            spans,
        )
        return spans

    def leave(self, spans: Array) -> Array:
        """Remove rows that no window holds any more, after ``advance``.

        Returns:
            As ``remove_window``.
        """
        return self._leave(self._windows_by_list()[2], spans)

    def walk(self, grown: Array, spans: Array, loud: Array) -> Walk:
        """What enters and leaves windows, for kernels."""
        of_list, starts, _ = self._windows_by_list()
        return Walk(
            self.windows.array,
            of_list,
            starts,
            self.lists.held(),
            self._entries.array,
            self._next.array,
            grown,
            spans,
            loud,
        )

    def pieces(self, window: int, most: int) -> Iterator[tuple[int, int, int]]:
        """The entries that a window holds in pieces, oldest first, at least one: the block and the
        place where each begins, and how many entries it has.
        """
        mine = self.windows.array[window]
        theirs = self.lists.array[int(mine[LIST])]
        block, at = mine[[HEAD, OFFSET]].tolist()
        left = self._distance((block, at), theirs[[LAST, FILL]])
        while True:
            count = min(left, most)
            yield block, at, count
            left -= count
            if not left:
                return
            block, at = kernels.moved(block, at, count, self._next.array)

    def held(self, window: int, piece: tuple[int, int, int]) -> tuple[Array, Array]:
        """The entries of a piece: cells in this window, and row numbers, int64[n] each."""
        cells = self._cells(window).start
        return kernels.held(cells, *piece, self._entries.array, self._next.array)

    @property
    def blocks(self) -> int:
        """All blocks are below this number."""
        return self._blocks.end

    def entries_from(self, number: int, begin: Array) -> int:
        """The number of entries of a list from a block and place on."""
        return self._distance(begin, self.lists.array[number, [LAST, FILL]])

    def _leave(self, longest: Array, spans: Array, *, keeps: bool = False) -> Array:
        rows, pairs, blocks = kernels.leave(
            longest,
            spans,
            self.windows.array,
            self.lists.array,
            self._entries.array,
            self._next.array,
            self._uses.array,
            self._spot_rows.array,
            self._spot_node.array,
            self._spot_group.array,
            keeps,
        )
        self._pairs.release(pairs)
        self._blocks.release(blocks)
        self._rows.release(rows)
        groups: Array = self.group.array[rows]
        np.subtract.at(self.of_group.array, groups, 1)
        return groups

    # -- cells ---------------------------------------------------------

    def _claim(self, new: NewRows, pairs: Array, claims: Array) -> None:
        """Give new pairs of a list and a group a spot in the list."""
        starts, lists = new.recipients.starts, self.lists.end
        owner, counts = kernels.claims_by_list(claims, starts, new.list_of, lists)
        used = self.lists.array[:lists, USED] + counts
        for number in np.flatnonzero(used > self.lists.array[:lists, CAPACITY]).tolist():
            spots = 1 << (int(used[number]) - 1).bit_length()
            self._resize(number, len(self._of[number]), spots)
        self._spot_of.grow(self._pairs.end)
        rows = kernels.pair_rows(new.recipients.rows, starts, new.list_of, claims)
        kernels.claim_spots(
            owner,
            pairs[claims],
            new.group[rows],
            self.lists.array,
            self._spot_of.array,
            self._spot_node.array,
            self._spot_group.array,
        )

    def _take_blocks(self, count: int) -> Array:
        blocks = self._blocks.take(count)
        self._next.grow(self._blocks.end)
        self._entries.grow(BLOCK * self._blocks.end)
        return blocks
