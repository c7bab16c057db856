"""The queries that rows are for."""

from __future__ import annotations

import numpy as np

from eddyline.runtime.state import State, array
from eddyline.runtime.stores.columns import Array

#: In place of the number of a query that has been dropped.
NO_OWNER = -1


class RowOwners:
    """Numbers of queries, one row's behind the other's.

    Places count from the first number ever; those of an early time are forgotten.
    """

    def __init__(self) -> None:
        self._numbers = np.zeros(0, np.int64)
        self._base = self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def end(self) -> int:
        """The place of the next number."""
        return self._base + self._count

    def add(self, numbers: Array) -> None:
        """Add numbers."""
        end = self._count + numbers.size
        if end > self._numbers.size:
            grown = np.empty(2 * end, np.int64)
            grown[: self._count] = self._numbers[: self._count]
            self._numbers = grown
        self._numbers[self._count : end] = numbers
        self._count = end

    def of(self, first: Array, count: Array) -> tuple[Array, Array]:
        """The numbers of rows that have ``count`` of them from ``first`` on.

        Returns:
            int64[m] each: the places of the rows, and the numbers.
        """
        by = np.repeat(np.arange(first.size), count)
        before = np.cumsum(count) - count
        return by, self._numbers[np.arange(by.size) + (first - self._base - before)[by]]

    def drop(self, number: int) -> None:
        """Let a query have no rows."""
        mine = self._numbers[: self._count]
        mine[mine == number] = NO_OWNER

    def forget(self, first: int) -> None:
        """Forget the numbers before a place."""
        gone = max(first - self._base, 0)
        self._numbers = self._numbers[gone : self._count].copy()
        self._base, self._count = self._base + gone, self._count - gone

    def state(self) -> State:
        """Saved as plain arrays."""
        return {"numbers": self._numbers[: self._count], "base": np.array([self._base])}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self._numbers = array(state, "numbers").copy()
        self._base, self._count = int(array(state, "base")[0]), self._numbers.size
