"""64-bit hashes to dense slot numbers, which can be released.

No call takes longer because the table is large: the table grows bucket by bucket.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from eddyline.kernels import chains
from eddyline.kernels import slots as kernels
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.buckets import Buckets
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.slot_arrays import FreeNumbers, SlotArray

SMALLEST: Final = 64
#: This number of slots is put into another table at once: one without split buckets is faster.
_SMALL: Final = 1 << 13


class SlotTable:
    """A table of distinct hashes."""

    def __init__(self) -> None:
        self._numbers = FreeNumbers()
        self._buckets = Buckets(2 * SMALLEST)
        self._nodes = SlotArray(np.int64, (2,))  # see ``kernels/slots.py``

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
        room = self._buckets.room(len(self))
        nodes.grow(self.end + max(min(room, hashes.size) - numbers.count, 0))
        found, claims, numbers.count, numbers.end = kernels.find_or_claim(
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
        numbers.count = kernels.release(
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
