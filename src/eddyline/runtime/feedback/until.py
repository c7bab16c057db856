"""Until when pairs of keys are required."""

from __future__ import annotations

from typing import Final, TypeAlias

import numpy as np

from eddyline.kernels import until as kernels
from eddyline.kernels.until import NEVER, PairTable, Replaced
from eddyline.runtime.state import State, array
from eddyline.runtime.stores.columns import Array

_SMALLEST: Final = 64
#: Slots of a table that is replaced, which are looked at for each pair that is extended.
_PACE: Final = 8

#: Nodes of an index, and places of rows.
Nodes: TypeAlias = tuple[Array, Array]


class Until:
    """A table of pairs of int64 keys, and the end of the time that each is required.

    A full table is replaced by another one while pairs are extended, so that no call pays for all
    pairs; fresh tables are zeros, which the system makes when they are touched. At most half of the
    slots are used, and ``_PACE`` is enough to be done before the new table is full.

    Attributes:
        table: the new one. unseen: slots of the old one that have not been looked at.
    """

    def __init__(self) -> None:
        self._renew(0)

    def __len__(self) -> int:
        """The number of pairs at most: some of the old table may be in the new one, or gone."""
        return self._used + self._left

    def at(self, left: Array, right: Array) -> Array:
        """int64[n]: until when pairs are required; NEVER if they are not in the table."""
        return kernels.until_of(self.table, self._old, left, right)

    def exceeds(self, left: Nodes, right: Nodes, clock: int) -> Array:
        """bool[n]: which pairs of rows, by the keys of their index nodes, are required longer."""
        return kernels.pairs_wanted(self.table, self._old, *left, *right, clock)

    def extend(self, left: Array, right: Array, until: Array) -> Array:
        """Require pairs until then at least; int64[n], until when each was required before."""
        if self._is_too_small(left.size):
            self._move(self.unseen)
            if self._is_too_small(left.size):
                self._replace(left.size, NEVER)
        before, added = kernels.extend(self.table, self._old, left, right, until)
        self._used += added
        self._move(_PACE * left.size)
        return before

    @property
    def is_full(self) -> bool:
        """Whether it is about to grow: a good time for ``forget``."""
        return self.unseen == 0 and 4 * self._used > self.table.times.size > _SMALLEST

    def forget(self, before: int) -> None:
        """Remove the pairs that have not been required since then."""
        self._move(self.unseen)
        self._replace(0, before)

    def _is_too_small(self, more: int) -> bool:
        return 2 * (len(self) + more) > self.table.times.size

    def _replace(self, more: int, limit: int) -> None:
        """Begin to move the pairs that are required longer to a table with room for ``more``."""
        old, pairs = self.table, self._used
        self._renew(pairs + more)
        self._old, self._left, self.unseen = Replaced(old, limit), pairs, old.times.size

    def _renew(self, pairs: int) -> None:
        """An empty table with room for twice these pairs."""
        self.table, self._used = _zeros(1 << max(4 * pairs - 1, _SMALLEST - 1).bit_length()), 0
        self._let_go()

    def _let_go(self) -> None:
        self._old, self._left = Replaced(_zeros(1), NEVER), 0
        self.unseen = 0  # slots of the old table, from the last one on

    def _move(self, slots: int) -> None:
        """Move the pairs in the last ``slots`` slots of the old table."""
        if self.unseen == 0:
            return
        start = max(self.unseen - slots, 0)
        added, seen = kernels.move(self.table, self._old, start, self.unseen)
        self._used += added
        self._left -= seen
        self.unseen = start
        if start == 0:
            self._let_go()

    def state(self) -> State:
        """Saved as plain arrays."""
        self._move(self.unseen)
        lefts, rights, times = self.table
        known = times != 0
        return {"left": lefts[known], "right": rights[known], "until": times[known] ^ NEVER}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self._renew(0)
        self.extend(array(state, "left"), array(state, "right"), array(state, "until"))


def _zeros(size: int) -> PairTable:
    """An empty table."""
    lefts, rights, times = (np.zeros(size, np.int64) for _ in range(3))
    return PairTable(lefts, rights, times)
