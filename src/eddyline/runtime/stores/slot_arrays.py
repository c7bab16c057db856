"""Arrays by slot, which grow in place, and the numbers of slots.

Slots are dense numbers of keys, groups or rows, used again when they are released. Their state
grows with them: a large array is not copied (``buffers.py``), and of the new rows only those that
are wanted are touched.
"""

from __future__ import annotations

from math import prod
from typing import Any, Final

import numpy as np

from eddyline.runtime.state import State, array
from eddyline.runtime.stores.buffers import Buffer, roomy
from eddyline.runtime.stores.columns import Array

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
