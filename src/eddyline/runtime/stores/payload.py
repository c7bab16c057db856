"""Columns of rows that are kept for different times: each row has a number until it is released.

Rows are appended to a row store; when most of those in it have been released, the oldest of the
others are appended again and the front is dropped, so no call takes longer because rows stay long.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.kernels.frames import NONE
from eddyline.kernels.references import drop, refer
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.keytable import KeyTable
from eddyline.runtime.stores.rowstore import RowStore
from eddyline.runtime.stores.slots import FreeNumbers, SlotArray
from eddyline.types import Field

_SMALLEST: Final = 64


class Payload:
    """Columns by the number of a row.

    Args:
        types: of the columns.
    """

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self._types = list(types)
        self._rows = RowStore(tuple(Field(str(i), t) for i, t in enumerate(types)), ["ts"])
        self._rows.add_lane("slot", -1)
        self._numbers = FreeNumbers()
        self._position = SlotArray(np.int64)

    def __len__(self) -> int:
        """How many rows are kept."""
        return len(self._numbers)

    def add(self, columns: Sequence[pa.Array], count: int) -> Array:
        """Keep rows; returns their numbers."""
        numbers = self._numbers.take(count)
        self._position.grow(self._numbers.end)
        self._store(numbers, columns)
        return numbers

    def _store(self, numbers: Array, columns: Sequence[pa.Array]) -> None:
        added = self._rows.append(numbers.size, {"ts": 0, "slot": numbers}, columns)
        self._position.array[numbers] = np.arange(added.start, added.stop)

    def column(self, place: int, numbers: Array) -> pa.Array:
        """The values of a column for rows."""
        return self._rows.gather(place, self._position.array[numbers])

    def release(self, numbers: Array) -> None:
        """Forget distinct rows."""
        if numbers.size == 0:
            return
        self._rows.lane("slot")[self._position.array[numbers] - self._rows.base] = -1
        self._numbers.release(numbers)
        if len(self._rows) > 2 * len(self) + _SMALLEST:
            self._clean(2 * numbers.size)

    def _clean(self, rows: int) -> None:
        rows = min(rows, len(self._rows))
        numbers = self._rows.held("slot")[:rows]
        numbers = numbers[numbers >= 0]
        columns = [self.column(i, numbers) for i in range(len(self._types))]
        self._rows.drop_before(self._rows.first + rows)
        self._store(numbers, columns)

    def state(self) -> State:
        """Saved as plain arrays and rows."""
        return {"rows": self._rows.state(), "numbers": self._numbers.state()}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self._rows.restore(nested(state, "rows"))
        self._numbers.restore(nested(state, "numbers"))
        numbers = self._rows.held("slot")
        kept = np.flatnonzero(numbers >= 0)
        self._position.restore(np.zeros(self._numbers.end, np.int64))
        self._position.array[numbers[kept]] = kept + self._rows.first


def reference(numbers: Array) -> Array:
    """References to kept rows, which are below NONE; those from 0 on are rows of a chunk."""
    return -2 - numbers


def gathered(references: Array, column: pa.Array, payload: Payload, place: int) -> pa.Array:
    """The values of a column for references; NULL for NONE.

    Args:
        column: of the chunk. place: of the column in the payload.
    """
    kept = np.flatnonzero(references < NONE)
    if kept.size == 0 and (references >= 0).all():
        return column.take(pa.array(references))
    index = references.copy()
    if kept.size:
        index[kept] = len(column) + np.arange(kept.size)
        column = pa.concat_arrays([column, payload.column(place, -2 - references[kept])])
    return column.take(pa.array(index, mask=references == NONE))


class TextNumbers:
    """Numbers for texts: equal texts that are in use have equal numbers."""

    def __init__(self) -> None:
        self._table = KeyTable([pa.string()])
        self._uses = SlotArray(np.int64)

    def take(self, texts: pa.Array) -> Array:
        """int64[n]; each is in use once more, also that of NULL."""
        numbers = self._table.slots([texts], len(texts))
        self._uses.grow(self._table.end)
        refer(self._uses.array, numbers)
        return numbers

    def release(self, numbers: Array) -> None:
        """End uses; numbers may occur several times."""
        self._table.release(drop(self._uses.array, numbers))

    def state(self) -> State:
        """Saved as plain arrays."""
        return {"table": self._table.state(), "uses": self._uses.held()}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self._table.restore(nested(state, "table"))
        self._uses.restore(array(state, "uses"))
