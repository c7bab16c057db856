"""Records by number, and the numbers that are free."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from eddyline.runtime.state import State, array
from eddyline.runtime.stores.columns import Array


class Lanes:
    """Records by number, in one array; ``lanes[name]`` is the view of one field.

    Args:
        dtype: of a record.
        fills: by field, its value in new records; others are 0.
    """

    def __init__(self, dtype: np.dtype[Any], fills: Mapping[str, Any]) -> None:
        self.records: Array = np.zeros(0, dtype)
        self._fills = dict(fills)

    def __getitem__(self, name: str) -> Array:
        return self.records[name]

    def grow(self, capacity: int) -> None:
        """Make room for numbers below ``capacity``."""
        held = self.records.size
        if held < capacity:
            grown = np.zeros(capacity, self.records.dtype)
            grown[:held] = self.records
            for name, fill in self._fills.items():
                grown[name][held:] = fill
            self.records = grown

    def state(self) -> State:
        """Saved as plain arrays."""
        names = self.records.dtype.names or ()
        return {name: np.ascontiguousarray(self.records[name]) for name in names}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        names = self.records.dtype.names or ()
        self.records = np.zeros(array(state, names[0]).size, self.records.dtype)
        for name in names:
            self.records[name] = array(state, name)


class FreeNumbers:
    """Numbers below a growing capacity, acquired and released: a stack."""

    def __init__(self) -> None:
        self._stack = np.zeros(0, np.int64)
        self._height = 0

    @property
    def capacity(self) -> int:
        """All numbers are below this."""
        return int(self._stack.size)

    def __len__(self) -> int:
        return self.capacity - self._height

    def take(self, count: int) -> Array:
        """``count`` free numbers."""
        if self._height < count:
            self._grow(max(2 * self.capacity, self.capacity + count, 64))
        self._height -= count
        return self._stack[self._height : self._height + count].copy()

    def release(self, numbers: Array) -> None:
        """Release distinct numbers."""
        self._stack[self._height : self._height + numbers.size] = numbers
        self._height += numbers.size

    def _grow(self, capacity: int) -> None:
        stack = np.zeros(capacity, np.int64)
        fresh = capacity - self.capacity
        stack[:fresh] = np.arange(capacity - 1, self.capacity - 1, -1)
        stack[fresh : fresh + self._height] = self._stack[: self._height]
        self._stack, self._height = stack, fresh + self._height

    def state(self) -> State:
        """Saved as plain arrays."""
        return {"free": self._stack[: self._height], "capacity": np.array([self.capacity])}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        free = array(state, "free")
        self._stack = np.zeros(int(array(state, "capacity")[0]), np.int64)
        self._stack[: free.size] = free
        self._height = free.size
