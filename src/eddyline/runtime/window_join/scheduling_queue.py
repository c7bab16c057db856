"""The scheduling queues of a shared window join, which are stretches of one sequence of rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eddyline.runtime.join_inputs.access import Access
from eddyline.runtime.stores.buffers import Buffer, roomy
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import Probes

_SMALLEST = 64


@dataclass(frozen=True, slots=True)
class Arrivals:
    """New rows of one side, in (ts, seq) order, that are in its store already.

    Attributes:
        ids, ts, seq, key: int64[n].
        lineage: uint64[n, W], of the queries that require them; None: all queries.
        probing: int64[m], numbers of the rows that probe; None: all. The others only evict rows
            from windows.
    """

    ids: Array
    ts: Array
    seq: Array
    key: Array
    lineage: Array | None = None
    probing: Array | None = None


def queued(side: int, new: Arrivals, other: Access) -> dict[str, Array]:
    """The columns of new rows of a side, with cursors into the rows of the other one."""
    probing = slice(None) if new.probing is None else new.probing
    probes = Probes(new.key[probing], new.ts[probing], new.seq[probing])
    cursor = np.full(new.ids.size, -1, np.int64)
    cursor[probing] = other.begin(probes, inclusive=side == 1)
    rows = {
        "side": np.full(new.ids.size, side, np.int64),
        "id": new.ids,
        "ts": new.ts,
        "seq": new.seq,
        "key": new.key,
        "cursor": cursor,
        "version": np.full(new.ids.size, other.version, np.int64),
    }
    return rows if new.lineage is None else {**rows, "lineage": new.lineage}


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
