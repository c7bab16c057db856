"""Lanes: named arrays by number that grow together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from eddyline.runtime.state import State, array
from eddyline.runtime.stores.columns import Array


class Lanes:
    """Arrays of one length; new places hold each array's fill.

    Args:
        fills: name to (dtype, fill).
    """

    def __init__(self, fills: Mapping[str, tuple[Any, Any]]) -> None:
        self._fills = dict(fills)
        self._arrays: dict[str, Array] = {n: np.zeros(0, d) for n, (d, _) in fills.items()}

    def __getitem__(self, name: str) -> Array:
        return self._arrays[name]

    def grow(self, capacity: int) -> None:
        """Make room for numbers below ``capacity``."""
        for name, (dtype, fill) in self._fills.items():
            have = self._arrays[name]
            if have.size < capacity:
                more = np.full(capacity - have.size, fill, dtype)
                self._arrays[name] = np.concatenate((have, more))

    def state(self) -> State:
        """Saved as plain arrays."""
        return dict(self._arrays)

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        for name in self._arrays:
            self._arrays[name] = array(state, name).copy()


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
