"""The scheduling queues of a shared window join, which are stretches of one sequence of rows."""

from __future__ import annotations

from eddyline.runtime.stores.buffers import Buffer, roomy
from eddyline.runtime.stores.columns import Array

_SMALLEST = 64


class SchedulingQueues:
    """The queued rows, by number in order of arrival.

    Attributes:
        first, end: number of the first row, and one more than that of the last.
    """

    def __init__(self) -> None:
        self.first = self.end = 0
        self._start = 0  # place of the first row
        self._columns: dict[str, Array] = {}
        self._buffers: dict[str, Buffer] = {}  # of the columns, once there was no room in them

    def __len__(self) -> int:
        return self.end - self.first

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def __getitem__(self, name: str) -> Array:
        """A view of one column, from the first row on."""
        return self._columns[name][self._start : self._start + len(self)]

    def append(self, rows: dict[str, Array]) -> None:
        """Add rows at the end."""
        count = rows["seq"].size
        if not len(self):
            self._columns, self._buffers, self._start = rows, {}, 0
        else:
            self._make_room(count)
            place = self._start + len(self)
            for name, values in rows.items():
                self._columns[name][place : place + count] = values
        self.end += count

    def _make_room(self, count: int) -> None:
        end, capacity = self._start + len(self), self._columns["seq"].size
        if end + count <= capacity:
            return
        capacity = roomy(len(self) + count, max(capacity if self._buffers else 0, _SMALLEST))
        for name, values in self._columns.items():
            if name in self._buffers:
                self._buffers[name].shift(self._start, end, capacity)
            else:
                self._buffers[name] = Buffer(capacity, values.dtype, values.shape[1:])
                self._buffers[name].array[: len(self)] = values[self._start : end]
        self._columns = {name: buffer.array for name, buffer in self._buffers.items()}
        self._start = 0

    def drop_before(self, number: int) -> None:
        """Forget the rows before ``number``."""
        self._start += number - self.first
        self.first = number
