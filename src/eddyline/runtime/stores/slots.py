"""Dense slot numbers of keys, groups or rows, arrays by slot, and the slots of 64-bit hashes.

Slots are used again when they are released. Their state grows with them: a large array is not
copied (``buffers.py``), and of the new rows only those that are wanted are touched. No call takes
longer because the table of hashes is large: it grows bucket by bucket.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from eddyline.kernels import chains
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.buckets import Buckets
from eddyline.runtime.stores.buffers import Buffer, roomy
from eddyline.runtime.stores.columns import Array

SMALLEST: Final = 64
#: This number of slots is put into another table at once: one without split buckets is faster.
_SMALL: Final = 1 << 13
_SMALLEST: Final = 64


class SlotArray:
    """An array of rows by slot.

    Args:
        dtype: of an item. shape: of a row; () for one item.
        fill: a row, or the item of all rows, that new rows have.

    Attributes:
        array: [capacity, *shape], another one after some calls of ``grow``. Rows from ``end`` on
            are zeros.
        end: slots are below this number.
    """

    def __init__(self, dtype: Any, shape: tuple[int, ...] = (), fill: Any = 0) -> None:
        self._dtype, self._shape, self._width = np.dtype(dtype), shape, prod(shape)
        self._fill = fill if np.any(np.asarray(fill, dtype) != np.zeros((), dtype)) else None
        self._items = Buffer(0, dtype, scattered=True)
        self.end = 0
        self._cut_rows()

    def _cut_rows(self) -> None:
        items, width = self._items.array, self._width
        rows = items if width == 1 else items[: len(items) // width * width]
        self.array: Array = rows.reshape(-1, *self._shape)

    def grow(self, end: int) -> None:
        """Let there be rows below ``end``."""
        if end <= self.end:
            return
        if end > len(self.array):
            capacity = roomy(end * self._width, max(len(self._items.array), _SMALLEST))
            self._items.shift(0, self.end * self._width, capacity)
            self._cut_rows()
        if self._fill is not None:
            self.array[self.end : end] = self._fill
        self.end = end

    def clear(self, slots: Array) -> None:
        """Let rows be as new ones."""
        self.array[slots] = 0 if self._fill is None else self._fill

    def held(self) -> Array:
        """A view of the rows below ``end``."""
        return self.array[: self.end]

    def restore(self, rows: Array) -> None:
        """Hold these rows and no others."""
        self._items = Buffer(roomy(rows.size, _SMALLEST), self._dtype, scattered=True)
        self._cut_rows()
        self.array[: len(rows)] = rows
        self.end = len(rows)


class FreeNumbers:
    """Numbers from 0 on, taken and released: the last one released is taken first.

    Attributes:
        end: all numbers are below this; those that were never taken are not.
        count: how many below it are free.
    """

    def __init__(self) -> None:
        self._stack = SlotArray(np.int64)
        self.end = 0
        self.count = 0

    def __len__(self) -> int:
        """How many are taken."""
        return self.end - self.count

    @property
    def stack(self) -> Array:
        """int64[capacity]: the first ``count`` are the free numbers."""
        return self._stack.array

    def take(self, count: int) -> Array:
        """``count`` free numbers."""
        again = min(count, self.count)
        self.count -= again
        fresh = np.arange(self.end, self.end + count - again)
        self.end += fresh.size
        return np.concatenate((self.stack[self.count : self.count + again], fresh))

    def make_room(self, count: int) -> None:
        """Make room on the stack for ``count`` more numbers."""
        self._stack.grow(self.count + count)

    def release(self, numbers: Array) -> None:
        """Release distinct numbers."""
        self.make_room(numbers.size)
        self.stack[self.count : self.count + numbers.size] = numbers
        self.count += numbers.size

    def state(self) -> State:
        """Saved as plain arrays."""
        return {"free": self.stack[: self.count], "end": np.array([self.end])}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        free = array(state, "free")
        self._stack.restore(free)
        self.end, self.count = int(array(state, "end")[0]), free.size


class SlotTable:
    """A table of distinct hashes."""

    def __init__(self) -> None:
        self._numbers = FreeNumbers()
        self._buckets = Buckets(2 * SMALLEST)
        self._nodes = SlotArray(np.int64, (2,))  # see ``kernels/chains.py``

    @property
    def end(self) -> int:
        """All slots that there have been are below this number."""
        return self._numbers.end

    def __len__(self) -> int:
        return len(self._numbers)

    def take_one(self) -> None:
        """Take the next slot for a key without a hash."""
        self._numbers.take(1)
        self._nodes.grow(self.end)

    def find(self, hashes: Array) -> tuple[Array, Array]:
        """int64[n] slots of hashes; and int64[k], the numbers of those that claimed a new slot."""
        numbers, nodes = self._numbers, self._nodes
        room = 2 * self._buckets.count - len(self)  # the rest after the table has grown
        nodes.grow(self.end + max(min(room, hashes.size) - numbers.count, 0))
        found, claims, numbers.count, numbers.end = chains.find_or_claim(
            *self._buckets.table,
            nodes.array,
            numbers.stack,
            numbers.count,
            numbers.end,
            room,
            hashes,
        )
        if claims.size:
            nodes.grow(self.end)
            self._follow(claims.size)
        if found.size == hashes.size:
            return found, claims
        self._rebuild(2 * len(self))
        more, its_claims = self.find(hashes[found.size :])
        return np.concatenate((found, more)), np.concatenate((claims, its_claims + found.size))

    def release(self, slots: Array) -> None:
        """Give back distinct slots."""
        numbers = self._numbers
        numbers.make_room(slots.size)
        numbers.count = chains.release_slots(
            *self._buckets.table, self._nodes.array, numbers.stack, numbers.count, slots
        )

    def is_used(self) -> Array:
        """bool[end]: whether a slot is in use."""
        used: Array = self._nodes.array[: self.end, chains.LINK] != chains.NOT_INDEXED
        return used

    def _follow(self, new: int) -> None:
        """Let there be more buckets after ``new`` claims."""
        used = len(self)
        if used > _SMALL:
            self._buckets.split(2 * used, 2 * new, self._nodes.array, 0, 0)
        elif 8 * used > self._buckets.count:
            self._rebuild(4 * used)

    def _rebuild(self, rows: int) -> None:
        """Rebuild the chains with buckets for this number of rows."""
        self._buckets.renew_for(rows)
        chains.reinsert_all(*self._buckets.table, self._nodes.array, 0, 0, self.end)

    def state(self) -> State:
        """Saved as plain arrays."""
        return {
            "numbers": self._numbers.state(),
            "hashes": self._nodes.array[: self.end, chains.KEY],
            "used": self.is_used(),
        }

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        used = array(state, "used")
        self._numbers.restore(nested(state, "numbers"))
        links = np.where(used, chains.NOTHING, chains.NOT_INDEXED)
        self._nodes.restore(np.stack((array(state, "hashes"), links), axis=1))
        self._rebuild(4 * len(self) if len(self) <= _SMALL else len(self))
