"""Some rows of each partition, by their place in it: the last ones, and those of given numbers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from eddyline.kernels.frames import NONE, Placed, earlier_rows, known_rows, numbered_rows
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, validity_of
from eddyline.runtime.stores.payload import Payload, gathered, reference
from eddyline.runtime.stores.slots import SlotArray


class RowsByPlace(ABC):
    """Columns of rows by their place in their partition, kept for as long as the partition.

    Args:
        read: a column, and the place of a row. types: of all columns of rows.
        width: how many rows of a partition are kept.
        known: whether only rows count that have a value in the column, of which there is one.
    """

    def __init__(
        self,
        read: Sequence[tuple[int, int]],
        types: Sequence[pa.DataType],
        width: int,
        *,
        known: bool = False,
    ) -> None:
        self._known = known
        self._read = list(read)
        self._columns = sorted({column for column, _ in read})
        self._places = sorted({place for _, place in read})
        self._payload = Payload([types[c] for c in self._columns])
        self._rows = SlotArray(np.int64, (width,), [NONE] * width)
        assert len(self._columns) == 1 or not known, "rows with a value in one column"

    def __len__(self) -> int:
        """How many rows are kept."""
        return len(self._payload)

    @abstractmethod
    def _placed(self, partition: Array, counts: Array, places: Array) -> Placed:
        """The rows at int64[k] places, as the rows of a chunk see them; counts: bool[n], of which
        rows places are counted.
        """

    def columns(
        self, partition: Array, columns: Sequence[pa.Array], partitions: int
    ) -> list[pa.Array]:
        """A column for each that is read, for the rows of a chunk in their order.

        Args:
            partition: int64[n], of the rows. columns: those in ``needs``.
            partitions: their numbers are below this.
        """
        self._rows.grow(partitions)
        counts = np.ones(partition.size, np.bool_)
        if self._known and (valid := validity_of(columns[0])) is not None:
            counts = valid
        placed = self._placed(partition, counts, np.array(self._places, np.int64))
        by_place = dict(zip(self._places, placed.found, strict=True))
        place = {c: i for i, c in enumerate(self._columns)}
        out = [
            gathered(by_place[rows], columns[place[c]], self._payload, place[c])
            for c, rows in self._read
        ]
        self._keep(placed, columns)
        return out

    @property
    def needs(self) -> list[int]:
        """The columns that are read."""
        return self._columns

    def _keep(self, placed: Placed, columns: Sequence[pa.Array]) -> None:
        rows = pa.array(placed.rows)
        numbers = self._payload.add([c.take(rows) for c in columns], placed.rows.size)
        self._rows.array.reshape(-1)[placed.at] = reference(numbers)
        self._payload.release(-2 - placed.left)

    def state(self) -> State:
        """Saved as plain arrays and rows."""
        return {"payload": self._payload.state(), "rows": self._rows.held()}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self._payload.restore(nested(state, "payload"))
        self._rows.restore(array(state, "rows"))


class EarlierRows(RowsByPlace):
    """What PREV and LAG read: rows that came so many rows before each one.

    Args:
        shifted: a column, and how many rows earlier. types: of all columns of rows.
        known: whether only rows with a value in the column count.
    """

    def __init__(
        self,
        shifted: Sequence[tuple[int, int]],
        types: Sequence[pa.DataType],
        *,
        known: bool = False,
    ) -> None:
        super().__init__(shifted, types, max(rows for _, rows in shifted), known=known)
        self._following = SlotArray(np.int64)

    def _placed(self, partition: Array, counts: Array, places: Array) -> Placed:
        self._following.grow(self._rows.end)
        return earlier_rows(partition, counts, self._rows.array, self._following.array, places)

    def state(self) -> State:
        return {**super().state(), "following": self._following.held()}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._following.restore(array(state, "following"))


class NthRows(RowsByPlace):
    """What FIRST_VALUE and NTH_VALUE read: rows of given numbers, counted from 1.

    Args:
        read: a column, and the number of a row. types: of all columns of rows.
        known: whether only rows with a value in the column have a number.
    """

    def __init__(
        self, read: Sequence[tuple[int, int]], types: Sequence[pa.DataType], *, known: bool = False
    ) -> None:
        super().__init__(read, types, len({number for _, number in read}), known=known)
        self._count = SlotArray(np.int64)

    def _placed(self, partition: Array, counts: Array, places: Array) -> Placed:
        self._count.grow(self._rows.end)
        return numbered_rows(partition, counts, self._rows.array, self._count.array, places)

    def state(self) -> State:
        return {**super().state(), "count": self._count.held()}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._count.restore(array(state, "count"))


class KnownRows(RowsByPlace):
    """What functions that ignore NULLs read: rows with a value in a column.

    Args:
        read: the column, and a place (see ``kernels/frames.py``). types: of all columns of rows.
    """

    def __init__(self, read: Sequence[tuple[int, int]], types: Sequence[pa.DataType]) -> None:
        super().__init__(read, types, 2, known=True)

    def _placed(self, partition: Array, counts: Array, places: Array) -> Placed:
        return known_rows(partition, counts, self._rows.array, places)
