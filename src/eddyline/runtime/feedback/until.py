"""Until when pairs of keys are required."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from eddyline.kernels import until as kernels
from eddyline.kernels.until import NEVER, PairTable
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
        return kernels.until_of(self._table, left, right)

    def exceeds(self, left: Nodes, right: Nodes, clock: int) -> Array:
        """bool[n]: which pairs of rows, by the keys of their index nodes, are required longer."""
        return kernels.pairs_wanted(self._table, *left, *right, clock)

    def extend(self, left: Array, right: Array, until: Array) -> Array:
        """Require pairs until then at least; int64[n], until when each was required before."""
        if 2 * (self._used + left.size) > self._table.until.size:
            self._resize(left.size)
        before, added = kernels.extend(self._table, left, right, until)
        self._used += added
        return before

    @property
    def is_full(self) -> bool:
        """Whether it is about to grow: a good time for ``forget``."""
        return 4 * self._used > self._table.until.size > _SMALLEST

    def forget(self, before: int) -> None:
        """Remove the pairs that have not been required since then."""
        self._table.until[self._table.until <= before] = NEVER
        self._resize(0)

    def _resize(self, more: int) -> None:
        """Make room for ``more`` pairs."""
        left, right, until = self._known()
        self._make_room(4 * (until.size + more))
        _, self._used = kernels.extend(self._table, left, right, until)

    def _make_room(self, least: int) -> None:
        size = 1 << max(least - 1, _SMALLEST - 1).bit_length()
        self._table = PairTable(
            np.zeros(size, np.int64), np.zeros(size, np.int64), np.full(size, NEVER, np.int64)
        )

    def _known(self) -> list[Array]:
        """The pairs in the table, with their times."""
        known = self._table.until != NEVER
        return [lane[known] for lane in self._table]

    def state(self) -> State:
        """Saved as plain arrays."""
        return dict(zip(("left", "right", "until"), self._known(), strict=True))

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self._used = 0
        self._make_room(_SMALLEST)
        self.extend(array(state, "left"), array(state, "right"), array(state, "until"))
