"""Rows that are kept until a length of time after theirs."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.rowstore import RowStore
from eddyline.runtime.stores.slots import SlotArray
from eddyline.types import Field


class LaterRows:
    """Rows that enter frames later than they come, until they enter.

    Args:
        us: the length. types: of the columns that aggregates are computed of.
    """

    def __init__(self, us: int, types: Sequence[pa.DataType]) -> None:
        self._us = us
        fields = tuple(Field(str(i), t) for i, t in enumerate(types))
        self._rows = RowStore(fields, ["ts", "partition"])
        self._coming = SlotArray(np.int64)  # by partition

    def __len__(self) -> int:
        return len(self._rows)

    def keep(self, ts: Array, partition: Array, columns: Sequence[pa.Array]) -> None:
        """Keep rows until a length of time after ``ts``."""
        self._rows.append(ts.size, {"ts": ts + self._us, "partition": partition}, columns)
        if ts.size:
            self._coming.grow(int(partition.max()) + 1)
        np.add.at(self._coming.array, partition, 1)

    def enter(self, clock: int) -> tuple[Array, Array, list[pa.Array]]:
        """The times, partitions and columns of the rows that enter up to ``clock``."""
        rows = self._rows
        n = int(np.searchsorted(rows.held("ts"), clock, "right"))
        at, of = (rows.held(lane)[:n].copy() for lane in ("ts", "partition"))
        ids = np.arange(rows.first, rows.first + n)
        entering = [rows.gather(i, ids) for i in range(len(rows.schema))]
        rows.drop_before(rows.first + n)
        np.add.at(self._coming.array, of, -1)
        return at, of, entering

    def none_of(self, partitions: Array) -> Array:
        """Those of some partitions of which no row is to come."""
        alone: Array = partitions[self._coming.array[partitions] == 0]
        return alone

    def state(self) -> State:
        """Saved as plain arrays."""
        return {"rows": self._rows.state(), "coming": self._coming.held()}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self._rows.restore(nested(state, "rows"))
        self._coming.restore(array(state, "coming"))
