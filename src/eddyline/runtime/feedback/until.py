"""Until when pairs of keys are required."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from eddyline.kernels import until as kernels
from eddyline.kernels.until import NEVER
from eddyline.runtime.state import State, array
from eddyline.runtime.stores.columns import Array

_SMALLEST = 64

#: Nodes of an index, and places of rows.
Nodes: TypeAlias = tuple[Array, Array]


class Until:
    """A table of pairs of int64 keys, and the end of the time that each is required."""

    def __init__(self) -> None:
        self._used = 0
        self._make_room(_SMALLEST)

    def __len__(self) -> int:
        return self._used

    def at(self, left: Array, right: Array) -> Array:
        """int64[n]: until when pairs are required; NEVER if they are not in the table."""
        return kernels.until_of(self._left, self._right, self._until, left, right)

    def exceeds(self, left: Nodes, right: Nodes, clock: int) -> Array:
        """bool[n]: which pairs of rows (their index nodes) are required after ``clock``."""
        table = self._left, self._right, self._until
        return kernels.pairs_wanted(*table, *left, *right, clock)

    def extend(self, left: Array, right: Array, until: Array) -> Array:
        """Require pairs at least until then; int64[n], until when each was required before."""
        if 2 * (self._used + left.size) > self._until.size:
            self._resize(left.size)
        before, added = kernels.extend(self._left, self._right, self._until, left, right, until)
        self._used += added
        return before

    @property
    def is_full(self) -> bool:
        """Whether it is about to grow: a good time for ``forget``."""
        return 4 * self._used > self._until.size > _SMALLEST

    def forget(self, before: int) -> None:
        """Drop pairs that have not been required since ``before``."""
        self._until[self._until <= before] = NEVER
        self._resize(0)

    def _resize(self, more: int) -> None:
        """Make room for the pairs in it and ``more`` others."""
        known = self._until != NEVER
        left, right, until = self._left[known], self._right[known], self._until[known]
        self._make_room(4 * (until.size + more))
        _, self._used = kernels.extend(self._left, self._right, self._until, left, right, until)

    def _make_room(self, least: int) -> None:
        size = 1 << max(least - 1, _SMALLEST - 1).bit_length()
        self._left, self._right = np.zeros(size, np.int64), np.zeros(size, np.int64)
        self._until = np.full(size, NEVER, np.int64)

    def state(self) -> State:
        """Saved as plain arrays."""
        known = self._until != NEVER
        return {
            "left": self._left[known],
            "right": self._right[known],
            "until": self._until[known],
        }

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self._used = 0
        self._make_room(_SMALLEST)
        self.extend(array(state, "left"), array(state, "right"), array(state, "until"))
