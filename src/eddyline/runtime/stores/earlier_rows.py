"""The last rows of each partition: what PREV reads."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from eddyline.kernels import row_patterns as kernels
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.payload import NONE, Payload, gathered, reference
from eddyline.runtime.stores.slot_arrays import SlotArray


class EarlierRows:
    """Columns of the last rows of each partition, which are kept for as long as the partition.

    Args:
        shifted: a column, and how many rows earlier. types: of all columns of rows.
    """

    def __init__(self, shifted: Sequence[tuple[int, int]], types: Sequence[pa.DataType]) -> None:
        self._shifted = list(shifted)
        self._columns = sorted({column for column, _ in shifted})
        self._offsets = sorted({rows for _, rows in shifted})
        self._payload = Payload([types[c] for c in self._columns])
        self._last = SlotArray(np.int64, (self._offsets[-1],), [NONE] * self._offsets[-1])

    def __len__(self) -> int:
        """How many rows are kept."""
        return len(self._payload)

    def columns(
        self, partition: Array, columns: Sequence[pa.Array], partitions: int
    ) -> list[pa.Array]:
        """The shifted columns of the rows of a chunk, int64[n] partitions, in their order.

        Args:
            columns: those in ``needs``. partitions: their numbers are below this.
        """
        self._last.grow(partitions)
        last = self._last.array
        touched = np.unique(partition)
        before = last[touched].ravel()
        found = kernels.earlier_rows(partition, last, np.array(self._offsets, np.int64))
        by_offset = dict(zip(self._offsets, found, strict=True))
        place = {c: i for i, c in enumerate(self._columns)}
        out = [
            gathered(by_offset[rows], columns[place[c]], self._payload, place[c])
            for c, rows in self._shifted
        ]
        self._keep(touched, before, columns)
        return out

    @property
    def needs(self) -> list[int]:
        """The columns that are read."""
        return self._columns

    def _keep(self, touched: Array, before: Array, columns: Sequence[pa.Array]) -> None:
        now = self._last.array[touched]
        new = now >= 0
        rows = now[new]
        numbers = self._payload.add([c.take(pa.array(rows)) for c in columns], rows.size)
        now[new] = reference(numbers)
        self._last.array[touched] = now
        gone = np.setdiff1d(before[before < NONE], now[now < NONE])
        self._payload.release(-2 - gone)

    def state(self) -> State:
        """Saved as plain arrays and rows."""
        return {"payload": self._payload.state(), "last": self._last.held()}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self._payload.restore(nested(state, "payload"))
        self._last.restore(array(state, "last"))
