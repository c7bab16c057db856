"""Key values to dense slot numbers, exactly, with slots that can be released.

Look-up is by 64-bit hash; where equal hashes do not already mean equal values they are verified,
and a row whose hash belongs to another value tries again with the next of its hashes.

No call takes longer because the table is large: arrays by slot grow in place, and the keys of
released slots are removed some at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from eddyline.kernels.hashing import mix_all
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, TextColumn, taken
from eddyline.runtime.stores.keys import group_hashes, is_exact, same_values
from eddyline.runtime.stores.rowstore import RowStore
from eddyline.runtime.stores.slots import SMALLEST, SlotArray, SlotTable
from eddyline.types import Field


class KeyTexts(NamedTuple):
    """The texts of a key column, for kernels.

    Attributes:
        row: int64[capacity] by slot; the text of a slot has the place ``row[slot] - base``.
        offsets: int64, by place; the bytes of a text begin at ``data[offsets[place] - origin]``.
    """

    row: Array
    base: int
    offsets: Array
    origin: int
    data: Array


class KeyTable:
    """A table of distinct key rows.

    Args:
        types: the types of the key columns; none means one single key, slot 0.
        hashes: for tests of collisions; default: ``group_hashes``.

    Attributes:
        collided: whether different keys have had equal hashes.
    """

    def __init__(
        self,
        types: Sequence[pa.DataType],
        hashes: Callable[[Sequence[pa.Array]], Array] = group_hashes,
    ) -> None:
        self._types = list(types)
        self._group_hashes = hashes
        self._exact = is_exact(self._types) and hashes is group_hashes
        self._has_null = False
        self._rows = RowStore(tuple(Field(str(i), t) for i, t in enumerate(types)), ["ts"])
        self._rows.add_lane("slot", -1)
        self._slots = SlotTable()
        self._row = SlotArray(np.int64)  # slot -> position of its key
        self._pinned = SlotArray(np.bool_)  # another value was sent on from this hash
        self.collided = False

    @property
    def end(self) -> int:
        """All slots that there have been are below this number."""
        return self._slots.end

    def __len__(self) -> int:
        return len(self._slots)

    def slots(self, columns: Sequence[pa.Array], rows: int) -> Array:
        """int64[n] slots of the key rows; unknown ones get a new slot."""
        if not self._types:
            if len(self) == 0:
                self._slots.take_one()
                self._grow()
            return np.zeros(rows, np.int64)
        self._has_null = self._has_null or any(c.null_count for c in columns)
        hashes = self._group_hashes(columns)
        out = found = self._claimed(columns, hashes)
        if self._exact and not self._has_null:
            return out
        todo, wanted = np.arange(rows), list(columns)
        while True:
            wrong = np.flatnonzero(~same_values(wanted, self.keys(found)))
            if wrong.size == 0:
                return out
            self._pinned.array[found[wrong]] = self.collided = True
            todo, wanted = todo[wrong], taken(wanted, wrong)
            hashes = mix_all(hashes[wrong] + 1)
            found = self._claimed(wanted, hashes)
            out[todo] = found

    def _claimed(self, columns: Sequence[pa.Array], hashes: Array) -> Array:
        """The slots of hashes; new ones are for the rows of ``columns``."""
        found, claims = self._slots.find(hashes)
        if claims.size:
            self._grow()
            self._store(found[claims], taken(columns, claims))
        return found

    def keys(self, slots: Array) -> list[pa.Array]:
        """The key columns of slots."""
        positions = self._row.array.take(slots)
        return [self._rows.gather(i, positions) for i in range(len(self._types))]

    def key(self, column: int, slots: Array) -> pa.Array:
        """One of these."""
        return self._rows.gather(column, self._row.array.take(slots))

    def texts(self, column: int) -> KeyTexts:
        """The texts of a string column."""
        strings = self._rows.column(column)
        assert isinstance(strings, TextColumn), "only texts have buffers of their own"
        texts = strings.texts()
        return KeyTexts(self._row.array, self._rows.base, texts.offsets, texts.origin, texts.data)

    def release(self, slots: Array) -> None:
        """Give back distinct slots; what is pinned stays."""
        if not self._types:
            return
        slots = slots[~self._pinned.array[slots]]
        if slots.size == 0:
            return
        self._rows.lane("slot")[self._row.array[slots] - self._rows.base] = -1
        self._slots.release(slots)
        if len(self._rows) > 2 * len(self) + SMALLEST:
            self._clean(2 * slots.size)

    def used(self) -> Array:
        """All slots in use."""
        return np.flatnonzero(self._slots.is_used())

    def _grow(self) -> None:
        self._row.grow(self.end)
        self._pinned.grow(self.end)

    def _store(self, slots: Array, columns: list[pa.Array]) -> None:
        positions = self._rows.append(slots.size, {"ts": 0, "slot": slots}, columns)
        self._row.array[slots] = np.arange(positions.start, positions.stop)

    def _clean(self, rows: int) -> None:
        """Remove the oldest ``rows`` keys that are stored; those in use are stored anew."""
        rows = min(rows, len(self._rows))
        slots = self._rows.held("slot")[:rows]
        slots = slots[slots >= 0]
        columns = self.keys(slots)
        self._rows.drop_before(self._rows.first + rows)
        self._store(slots, columns)

    def state(self) -> State:
        """Saved as plain arrays."""
        return {
            "rows": self._rows.state(),
            "slots": self._slots.state(),
            "pinned": self._pinned.held(),
            "has_null": np.array([self._has_null]),
        }

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self._rows.restore(nested(state, "rows"))
        self._slots.restore(nested(state, "slots"))
        self._has_null = bool(array(state, "has_null")[0])
        self._pinned.restore(array(state, "pinned"))
        self.collided = bool(self._pinned.held().any())
        slots = self._rows.held("slot")
        rows = np.flatnonzero(slots >= 0)  # the others were released
        self._row.restore(np.zeros(self.end, np.int64))
        self._row.array[slots[rows]] = rows + self._rows.first
