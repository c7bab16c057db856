"""Key values to dense slot numbers, exactly, with slots that can be released.

Look-up is by 64-bit hash; where equal hashes do not already mean equal values they are verified,
and a row whose hash belongs to another value tries again with the next of its hashes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count

import numpy as np
import pyarrow as pa

from eddyline.kernels import slots as kernels
from eddyline.kernels.hashing import mix_all
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, TextColumn
from eddyline.runtime.stores.keys import group_hashes, is_exact, same_values
from eddyline.runtime.stores.rowstore import RowStore
from eddyline.types import Field

_SMALLEST = 64


class KeyTable:
    """A table of distinct key rows.

    Args:
        types: the types of the key columns; none means one single key, slot 0.
        hashes: for tests of collisions; default: ``group_hashes``.
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
        self._heads = np.full(2 * _SMALLEST, -1, np.int64)
        self._link = np.full(_SMALLEST, -1, np.int64)
        self._hashes = np.zeros(_SMALLEST, np.int64)
        self._row = np.full(_SMALLEST, -1, np.int64)  # slot -> position of its key; -1: free
        self._pinned = np.zeros(_SMALLEST, np.bool_)  # another value was sent on from this hash
        self._free = np.arange(_SMALLEST - 1, -1, -1, dtype=np.int64)
        self._free_count = _SMALLEST

    @property
    def capacity(self) -> int:
        """Slots are below this number."""
        return int(self._row.size)

    def __len__(self) -> int:
        return self.capacity - self._free_count

    def slots(self, columns: Sequence[pa.Array], rows: int) -> Array:
        """int64[n] slots of the key rows; unknown ones get a new slot."""
        if not self._types:
            if len(self) == 0:
                self._reserve(1)
                self._free_count -= 1
                self._row[0] = 0
            return np.zeros(rows, np.int64)
        self._reserve(rows)
        self._has_null = self._has_null or any(c.null_count for c in columns)
        hashes = self._group_hashes(columns)
        out = np.empty(rows, np.int64)
        todo = np.arange(rows)
        for _ in count():
            found, claims, self._free_count = kernels.find_or_claim(
                self._heads, self._link, self._hashes, self._free, self._free_count, hashes
            )
            out[todo] = found
            if claims.size:
                self._store(found[claims], _taken(columns, todo[claims]))
            if self._exact and not self._has_null:
                return out
            wrong = np.flatnonzero(~same_values(_taken(columns, todo), self.keys(found)))
            if wrong.size == 0:
                return out
            self._pinned[found[wrong]] = True
            todo = todo[wrong]
            hashes = mix_all(hashes[wrong] + 1)
        raise AssertionError("unreachable")

    def keys(self, slots: Array) -> list[pa.Array]:
        """The key columns of slots."""
        positions = self._row.take(slots)
        ids = self._rows.ids(positions)
        return [self._rows.gather(i, ids) for i in range(len(self._types))]

    def text_of(self, column: int) -> tuple[Array, Array, Array]:
        """Place by slot, and text buffers by place, of a string column."""
        strings = self._rows.column(column)
        assert isinstance(strings, TextColumn), "only texts have buffers of their own"
        texts = strings.texts()
        assert texts.origin == 0, "rows of keys leave by compaction only"
        return self._row - self._rows.base, texts.offsets, texts.data

    def release(self, slots: Array) -> None:
        """Give back distinct slots; what is pinned stays."""
        if not self._types:
            return
        slots = slots[~self._pinned[slots]]
        if slots.size == 0:
            return
        self._rows.lane("slot")[self._row[slots] - self._rows.base] = -1
        self._row[slots] = -1
        self._free_count = kernels.release(
            self._heads, self._link, self._hashes, self._free, self._free_count, slots
        )
        if len(self._rows) > 2 * len(self) + _SMALLEST:
            self._compact()

    def used(self) -> Array:
        """All slots in use."""
        return np.flatnonzero(self._row >= 0)

    def _store(self, slots: Array, columns: list[pa.Array]) -> None:
        positions = self._rows.append(slots.size, {"ts": 0, "slot": slots}, columns)
        self._row[slots] = np.arange(positions.start, positions.stop)

    def _compact(self) -> None:
        self._rows.keep(self._rows.held("slot") >= 0)
        self._renumber()

    def _renumber(self) -> None:
        slots = self._rows.held("slot")
        rows = np.flatnonzero(slots >= 0)  # the others were released and wait for compaction
        self._row[slots[rows]] = rows + self._rows.first

    def _reserve(self, claims: int) -> None:
        """Make sure that ``claims`` slots are free."""
        if self._free_count >= claims:
            return
        old = self.capacity
        new = old
        while new - len(self) < claims:
            new *= 2
        self._grow(new)
        self._free[self._free_count : self._free_count + new - old] = np.arange(
            new - 1, old - 1, -1
        )
        self._free_count += new - old

    def _grow(self, capacity: int) -> None:
        self._link = _extended(self._link, capacity, -1)
        self._hashes = _extended(self._hashes, capacity, 0)
        self._row = _extended(self._row, capacity, -1)
        self._pinned = _extended(self._pinned, capacity, False)
        self._free = _extended(self._free, capacity, 0)
        self._heads = np.full(2 * capacity, -1, np.int64)
        kernels.rebuild(self._heads, self._link, self._hashes, self._row >= 0)

    def state(self) -> State:
        """Saved as plain arrays."""
        return {
            "rows": self._rows.state(),
            "hashes": self._hashes,
            "pinned": self._pinned,
            "free": self._free[: self._free_count],
            "used": self._row >= 0,
            "has_null": np.array([self._has_null]),
        }

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        used = array(state, "used")
        self._rows.restore(nested(state, "rows"))
        self._hashes = array(state, "hashes").copy()
        self._pinned = array(state, "pinned").copy()
        self._has_null = bool(array(state, "has_null")[0])
        self._free = np.zeros(used.size, np.int64)
        free = array(state, "free")
        self._free_count = free.size
        self._free[: free.size] = free
        self._link = np.full(used.size, -1, np.int64)
        self._row = np.where(used, 0, -1)
        if self._types:
            self._renumber()
        self._grow(used.size)


def _taken(columns: Sequence[pa.Array], rows: Array) -> list[pa.Array]:
    index = pa.array(rows)
    return [c.take(index) for c in columns]


def _extended(values: Array, capacity: int, fill: object) -> Array:
    out = np.full(capacity, fill, values.dtype)
    out[: values.size] = values
    return out
