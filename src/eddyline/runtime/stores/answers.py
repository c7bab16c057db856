"""The rows of a materialised answer, until they expire. Nothing here is sorted.

Who reads an answer skips what has expired, so expired rows may stay for a while: in the queue up to
the end of their chunk's piece, in the calendar up to the end of their partition, in the lazy list
until they may be half of it.

Source: Golab and Ozsu 2005, section 5.3.2.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Final, Protocol

import numpy as np

from eddyline.kernels import calendar
from eddyline.runtime.state import State, array
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.expiry import ListStore
from eddyline.runtime.stores.slots import FreeNumbers, SlotArray

#: So many rows are kept in any case.
_FEW: Final = 1_024


class AnswerStore(Protocol):
    """Rows of parallel int64 arrays, the first being ``exp``.

    Attributes:
        text: see ``Operator.kept_in``.
    """

    text: str

    def push(self, rows: Sequence[Array], clock: int) -> None:
        """Add rows, and forget those with ``exp <= clock``, now or later."""

    def rows(self) -> list[Array]:
        """All rows, among them perhaps some that have expired."""

    def __len__(self) -> int: ...


class AnswerQueue:
    """For WKS patterns: rows expire in the order in which they come."""

    text = "a queue by expiry (WKS)"

    def __init__(self, width: int) -> None:
        self._width = width
        self._pieces: deque[list[Array]] = deque()
        self._count = 0

    def push(self, rows: Sequence[Array], clock: int) -> None:
        if rows[0].size:
            self._pieces.append(list(rows))
            self._count += rows[0].size
        while self._pieces and self._pieces[0][0][-1] <= clock:
            self._count -= self._pieces.popleft()[0].size

    def rows(self) -> list[Array]:
        if not self._pieces:
            return [np.zeros(0, np.int64) for _ in range(self._width)]
        return [np.concatenate(lanes) for lanes in zip(*self._pieces, strict=True)]

    def __len__(self) -> int:
        return self._count


class AnswerCalendar:
    """For WK and STR patterns: a circular array of partitions by expiry time.

    Args:
        width: how many lanes rows have.
        partitions: over a lifespan.
        lifespan_us: no row expires later than this from the clock of its ``push`` on.
    """

    def __init__(self, width: int, partitions: int, lifespan_us: int) -> None:
        self._partition = max(lifespan_us // partitions, 1)
        self.text = f"partitions of {self._partition / 1_000:g} ms by expiry (WK, STR)"
        count = lifespan_us // self._partition + 2  # the first and the last are cut by the clock
        self._heads = np.full(count, calendar.NONE, np.int64)
        self._fill = np.zeros(count, np.int64)
        self._slab = SlotArray(np.int64, (width,))
        self._older = SlotArray(np.int64)
        self._blocks = FreeNumbers()
        self._count = 0
        self._first: int | None = None  # number of the oldest partition that may hold rows

    def push(self, rows: Sequence[Array], clock: int) -> None:
        self._clear_before(clock // self._partition)
        lanes = np.concatenate(rows).reshape(len(rows), -1)
        self._reserve(self._heads.size + rows[0].size // calendar.BLOCK + 1)
        blocks = self._blocks
        blocks.count, blocks.end, filed = calendar.file_rows(
            lanes,
            self._partition,
            clock,
            self._partitions(),
            blocks.stack,
            blocks.count,
            blocks.end,
        )
        self._count += filed

    def _partitions(self) -> calendar.Partitions:
        return calendar.Partitions(self._heads, self._fill, self._older.array, self._slab.array)

    def _clear_before(self, number: int) -> None:
        """Clear partitions that have expired."""
        first = number - self._heads.size if self._first is None else self._first
        blocks = self._blocks
        blocks.make_room(len(blocks))
        for over in range(max(first, number - self._heads.size), number):
            blocks.count, cleared = calendar.clear_partition(
                over % self._heads.size, self._partitions(), blocks.stack, blocks.count
            )
            self._count -= cleared
        self._first = max(first, number)

    def _reserve(self, blocks: int) -> None:
        """Let there be room for ``blocks`` more blocks."""
        end = self._blocks.end + max(blocks - self._blocks.count, 0)
        self._older.grow(end)
        self._slab.grow(end * calendar.BLOCK)

    def rows(self) -> list[Array]:
        block = calendar.all_rows(self._count, self._partitions())
        return [np.ascontiguousarray(lane) for lane in block.T]

    def __len__(self) -> int:
        return self._count


class LazyAnswerList:
    """For rows of which it is not known how long they stay: a list. Those that have expired are
    dropped when they may be half of it, so it is not scanned in each chunk.

    Args:
        width: how many lanes rows have.
        left: which rows are left besides (int64 numbers), as others have taken some back; None:
            all.
    """

    text = "a list that drops expired rows when they may be half of it"

    def __init__(self, width: int, left: Callable[[Array], Array] | None = None) -> None:
        self._left = left
        self._lanes = np.zeros((width, 0), np.int64)
        self._new: list[Array] = []
        self._count = 0
        self._most = _FEW

    def push(self, rows: Sequence[Array], clock: int) -> None:
        if rows[0].size:
            self._new.append(np.stack(rows))
            self._count += rows[0].size
        if self._count > self._most:
            self._take_in()
            self._lanes = self._lanes[:, self._lanes[0] > clock]
            self._count = self._lanes.shape[1]
            self._most = 2 * self._count + _FEW

    def rows(self) -> list[Array]:
        self._take_in()
        return list(self._lanes)

    def _take_in(self) -> None:
        """Put the new rows to the others."""
        if not self._new:
            return
        self._lanes = np.concatenate([self._lanes, *self._new], axis=1)
        self._new = []
        if self._left is not None:
            self._lanes = self._lanes[:, self._left(self._lanes)]
        self._count = self._lanes.shape[1]

    def __len__(self) -> int:
        return self._count


class AnswerList:
    """Rows in the order of arrival, all of them scanned for what has expired: DIRECT."""

    text = "a list that is scanned for expired rows"

    def __init__(self, width: int) -> None:
        self._store = ListStore([np.int64] * width)

    def push(self, rows: Sequence[Array], clock: int) -> None:
        self._store.push(rows)
        self._store.discard(clock)

    def rows(self) -> list[Array]:
        return self._store.peek()

    def __len__(self) -> int:
        return len(self._store)


def saved(store: AnswerStore) -> State:
    """The rows of a store as plain arrays."""
    return {str(i): lane for i, lane in enumerate(store.rows())}


def refill(store: AnswerStore, state: State, width: int, clock: int) -> None:
    """Put the rows that ``saved`` returned into an empty store."""
    rows = [array(state, str(i)) for i in range(width)]
    store.push(rows, clock)
