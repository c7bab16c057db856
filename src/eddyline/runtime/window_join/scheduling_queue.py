"""The scheduling queues of a shared window join, which are stretches of one sequence of rows."""

from __future__ import annotations

import numpy as np

from eddyline.runtime.stores.columns import Array


class SchedulingQueues:
    """The queued rows, by number in order of arrival.

    Attributes:
        first, end: number of the first row, and one more than that of the last.
    """

    def __init__(self) -> None:
        self.first = self.end = 0
        self._start = 0  # place of the first row
        self._columns: dict[str, Array] = {}

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
            self._columns, self._start = rows, 0
        else:
            self._make_room(count)
            place = self._start + len(self)
            for name, values in rows.items():
                self._columns[name][place : place + count] = values
        self.end += count

    def _make_room(self, count: int) -> None:
        if self._start + len(self) + count <= self._columns["seq"].size:
            return
        capacity = 2 * (len(self) + count)
        for name in self._columns:
            held = self[name]
            wider = np.empty((capacity, *held.shape[1:]), held.dtype)
            wider[: len(held)] = held
            self._columns[name] = wider
        self._start = 0

    def drop_before(self, number: int) -> None:
        """Forget the rows before ``number``."""
        self._start += number - self.first
        self.first = number
