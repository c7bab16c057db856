"""Groups of sessions, each closed when its session has ended.

A key has one session at a time, which only its later rows extend. Each session waits in a calendar
with the end that it had when it was put there: when that has come, it is closed or, if it has been
extended, waits again, so each row causes one such wait at most. Numbers of closed sessions are used
again when as many rows are of closed as of open sessions: then all are forgotten together.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.kernels import sessions as kernels
from eddyline.kernels.sessions import NONE, SessionArrays
from eddyline.runtime.aggregates import Aggregate
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.expiry import PartitionedStore
from eddyline.runtime.stores.keytable import KeyTable
from eddyline.runtime.stores.running import RunningAggregates
from eddyline.runtime.stores.slots import FreeNumbers, SlotArray
from eddyline.runtime.stores.window_groups import Closed

#: Partitions of the calendar in a gap.
_PARTITIONS: Final = 16
#: So many rows of closed sessions are kept in any case.
_LEAST_FORGOTTEN: Final = 4096


class Sessions:
    """The sessions of keys: which one each row is in, and which have ended.

    Args:
        types: of the key's columns. gap_us: the longest time between two rows of a session.
    """

    def __init__(self, types: Sequence[pa.DataType], gap_us: int) -> None:
        self._gap = gap_us
        self._table = KeyTable(types)
        self._current = SlotArray(np.int64, fill=NONE)  # by key
        self._lanes = [SlotArray(np.int64) for _ in SessionArrays._fields]
        self._numbers = FreeNumbers()
        self._waiting = PartitionedStore([np.int64] * 3, max(gap_us // _PARTITIONS, 1))
        self._begun = 0
        self._open = 0
        self._new = np.zeros(0, np.int64)  # sessions that do not wait yet

    def __len__(self) -> int:
        return self._open

    @property
    def arrays(self) -> SessionArrays:
        """The state by session; others after ``assign``."""
        return SessionArrays(*(lane.array for lane in self._lanes))

    @property
    def end(self) -> int:
        """All sessions are below this number."""
        return self._numbers.end

    def assign(self, ts: Array, keys: Sequence[pa.Array]) -> Array:
        """The sessions of rows, int64[n], in the order of time."""
        key = self._table.slots(keys, ts.size)
        self._current.grow(self._table.end)
        numbers = self._numbers
        for lane in self._lanes:
            lane.grow(numbers.end + max(ts.size - numbers.count, 0))
        session, opened, numbers.count, numbers.end = kernels.assign(
            key,
            ts,
            self._gap,
            self._current.array,
            self.arrays,
            numbers.stack,
            numbers.count,
            numbers.end,
            self._begun,
        )
        self._begun += opened.size
        self._open += opened.size
        self._new = np.concatenate((self._new, opened))
        return session

    def close(self, clock: int) -> Array:
        """The sessions that end before the clock, by their end, then by their beginning: a row at
        the clock may still come, and extend one that ends there.
        """
        _, _, due = self._waiting.pop(clock - 1)
        due = np.concatenate((due, self._new))
        self._new = due[:0]
        end, number = self.arrays.end[due], self.arrays.number[due]
        ended = end < clock
        self._waiting.push([lane[~ended] for lane in (end, number, due)])
        closed = np.flatnonzero(ended)
        closed = due[closed[np.lexsort((number[closed], end[closed]))]]
        self._open -= closed.size
        return closed

    def keys(self, sessions: Array) -> list[pa.Array]:
        """The key columns of sessions."""
        return self._table.keys(self.arrays.key[sessions])

    def drop_keys(self, closed: Array) -> None:
        """Forget the keys of closed sessions that have no later one."""
        key = self.arrays.key[closed]
        gone = key[self._current.array[key] == closed]
        self._current.array[gone] = NONE
        self._table.release(gone)

    def release(self, closed: Array) -> None:
        """Let the numbers of closed sessions be used again."""
        self._numbers.release(closed)

    def state(self) -> State:
        """Saved as plain arrays, between two chunks."""
        assert self._new.size == 0, "all sessions wait"
        used = self._numbers.end
        return {
            "table": self._table.state(),
            "current": self._current.held(),
            "lanes": {str(i): lane.array[:used] for i, lane in enumerate(self._lanes)},
            "numbers": self._numbers.state(),
            "waiting": self._waiting.state(),
            "counters": np.array([self._begun, self._open]),
        }

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self._table.restore(nested(state, "table"))
        self._current.restore(array(state, "current"))
        for i, lane in enumerate(self._lanes):
            lane.restore(array(nested(state, "lanes"), str(i)))
        self._numbers.restore(nested(state, "numbers"))
        self._waiting.restore(nested(state, "waiting"))
        self._begun, self._open = (int(n) for n in array(state, "counters"))


class SessionGroups:
    """Groups by session and further keys.

    Args:
        partition: types of the keys of sessions. further: of the other keys.
    """

    def __init__(
        self,
        partition: Sequence[pa.DataType],
        further: Sequence[pa.DataType],
        gap_us: int,
        aggregates: Sequence[Aggregate],
    ) -> None:
        self._sessions = Sessions(partition, gap_us)
        self._aggregates = RunningAggregates(aggregates)
        self._groups = KeyTable([pa.int64(), *further]) if further else None
        self._is_linked = SlotArray(np.bool_)  # by group
        self._before = SlotArray(np.int64)
        self._closed = np.zeros(0, np.int64)  # not forgotten yet
        self._rows = 0  # in groups of open sessions
        self._closed_rows = 0

    def __len__(self) -> int:
        """The number of sessions and groups that are kept."""
        kept = len(self._sessions) + self._closed.size
        return kept + (0 if self._groups is None else len(self._groups))

    def assign(self, ts: Array, keys: Sequence[pa.Array]) -> Array:
        """The sessions of rows, in the order of time; also of those that are in no group."""
        return self._sessions.assign(ts, keys)

    def starts(self, session: Array) -> Array:
        """When sessions began, int64[n]; of those of the last ``assign``."""
        return self._sessions.arrays.start[session]

    def add(
        self, session: Array, keys: Sequence[pa.Array], columns: Sequence[pa.Array | None]
    ) -> None:
        """Let rows into groups.

        Args:
            session: int64[n]. keys: the further ones. columns: arguments of the aggregates.
        """
        arrays = self._sessions.arrays
        kernels.count_rows(session, arrays.rows)
        self._rows += session.size
        group, end = session, self._sessions.end
        if self._groups is not None:
            group = self._groups.slots([pa.array(session), *keys], session.size)
            end = self._groups.end
            self._is_linked.grow(end)
            self._before.grow(end)
            kernels.link(group, session, self._is_linked.array, self._before.array, arrays.groups)
        self._aggregates.add(group, columns, end)

    def close(self, clock: int) -> tuple[Closed, Array]:
        """The groups of sessions that have ended, and when these began."""
        sessions = self._sessions.close(clock)
        arrays = self._sessions.arrays
        further: list[pa.Array] = []
        if self._groups is None:
            place = np.flatnonzero(arrays.rows[sessions])
            group = sessions[place]
        else:
            place, group = kernels.groups_of(sessions, arrays.groups, self._before.array)
            further = self._groups.keys(group)[1:]
        shown = sessions[place]
        keys = [*self._sessions.keys(shown), *further]
        closed = Closed(arrays.end[shown], keys, *self._aggregates.values(group))
        start = arrays.start[shown]
        self._forget(sessions)
        return closed, start

    def none(self) -> tuple[Closed, Array]:
        """No groups, as of ``close``."""
        nothing = np.zeros(0, np.int64)
        keys = self._sessions.keys(nothing)
        if self._groups is not None:
            keys += self._groups.keys(nothing)[1:]
        return Closed(nothing, keys, *self._aggregates.values(nothing)), nothing

    def _forget(self, sessions: Array) -> None:
        self._sessions.drop_keys(sessions)
        self._closed = np.concatenate((self._closed, sessions))
        rows = int(self._sessions.arrays.rows[sessions].sum())
        self._rows -= rows
        self._closed_rows += rows + sessions.size
        if self._closed_rows <= max(self._rows + len(self._sessions), _LEAST_FORGOTTEN):
            return
        group = self._closed
        if self._groups is not None:
            arrays = self._sessions.arrays
            _, group = kernels.groups_of(self._closed, arrays.groups, self._before.array)
            self._is_linked.clear(group)
        self._aggregates.forget(group)
        if self._groups is not None:
            self._groups.release(group)
        self._sessions.release(self._closed)
        self._closed, self._closed_rows = self._closed[:0], 0

    def state(self) -> State:
        """Saved as plain arrays."""
        return {
            "sessions": self._sessions.state(),
            "groups": {} if self._groups is None else self._groups.state(),
            "linked": self._is_linked.held(),
            "before": self._before.held(),
            "aggregates": self._aggregates.state(),
            "closed": self._closed,
            "counters": np.array([self._rows, self._closed_rows]),
        }

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self._sessions.restore(nested(state, "sessions"))
        end = self._sessions.end
        if self._groups is not None:
            self._groups.restore(nested(state, "groups"))
            end = self._groups.end
        self._is_linked.restore(array(state, "linked"))
        self._before.restore(array(state, "before"))
        self._aggregates.restore(nested(state, "aggregates"), end)
        self._closed = array(state, "closed")
        self._rows, self._closed_rows = (int(n) for n in array(state, "counters"))
