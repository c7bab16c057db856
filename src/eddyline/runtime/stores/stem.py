"""SteMs: the only store of base rows.

A SteM (state module; Madden et al. 2002, section 2.2) holds the rows of one stream, for all
queries, as long as the longest window that any of them needs. Joins probe it through its hash
indexes; everything else refers to its rows by id.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import pyarrow as pa

from eddyline.kernels.windows import push_out
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.buffers import Buffer
from eddyline.runtime.stores.columns import Array, Column, filled, taken
from eddyline.runtime.stores.index import Liveness
from eddyline.runtime.stores.keytable import KeyTable
from eddyline.runtime.stores.rowstore import RowStore
from eddyline.runtime.stores.slots import SlotArray
from eddyline.types import BEGINNING, FOREVER, Schema

_NO_ROWS: Final = np.zeros(0, np.int64)
_NO_TIMES: Final = (_NO_ROWS, _NO_ROWS)
#: Of some rows; nothing writes into expiries.
_FOREVER: Final = np.full(64, FOREVER, np.int64)


@dataclass(frozen=True, slots=True)
class Evicted:
    """Rows that left a ROWS window: their ids, and numbers of the chunk's rows that evict them."""

    ids: Array
    by: Array


class StemWindow(Protocol):
    """One window over a stream: how long it needs rows, and which rows leave it.

    Attributes:
        pins: whether positions must stay as they are.
        lanes: of the SteM, which it has added.
    """

    liveness: Liveness

    @property
    def pins(self) -> bool:
        """See above."""

    @property
    def lanes(self) -> tuple[str, ...]:
        """See above."""

    def expiry(self, ts: Array) -> Array:
        """int64[n]: when rows with these timestamps expire."""

    def advance(self, stem: Stem, fresh: Array) -> Evicted | None:
        """Take in the chunk's rows (ids); returns the rows that they evict."""

    def needed(self, stem: Stem, clock: int) -> int | Array:
        """The first position still needed, or bool[len(stem)] where that is no suffix."""

    def state(self) -> State:
        """Saved as plain arrays."""

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""


class Stem(RowStore):
    """The rows of one stream or table.

    Attributes:
        fresh: ids of the rows that the current chunk brought. fresh_times: their ts and seq.
        evicted: by window, the rows that left it.
    """

    def __init__(self, name: str, schema: Schema) -> None:
        super().__init__(schema, ["ts", "seq"])
        self.name = name
        self.fresh: Array = _NO_ROWS
        self.fresh_times: tuple[Array, Array] = _NO_TIMES
        self._came: Sequence[pa.Array] = ()  # the columns of the fresh rows, as they came
        self._places: Array | None = None  # of these rows in them; None: they have no others
        self._is_own = False  # whether callers cannot change these columns
        self._unwritten: set[int] = set()  # columns of which the store has not these rows
        self.evicted: dict[StemWindow, Evicted] = {}
        self.arrived = 0
        self._windows: dict[object, StemWindow] = {}
        self._opened: Counter[object] = Counter()  # how often each window has been opened
        self.compact_at = 1024

    def add(
        self,
        ts: Array,
        seq: Array,
        columns: Sequence[pa.Array],
        places: Array | None = None,
        *,
        is_own: bool = False,
    ) -> None:
        """Append a chunk's rows, which are in (ts, seq) order.

        Their columns are written when the chunk is over, if windows need the rows then, or when one
        is read at places of the store.

        Args:
            columns: with the rows at ``places`` (int64[n]); None: with these rows only.
            is_own: whether callers cannot change the columns: they are not in memory of theirs.
        """
        if self._unwritten:
            self._settle()
        positions = self.append(ts.size, {"ts": ts, "seq": seq}, None)
        self.arrived += ts.size
        self.fresh = self.ids(np.arange(positions.start, positions.stop))
        self.fresh_times = ts, seq
        self._came, self._places, self._is_own = columns, places, is_own
        self._unwritten = set(range(len(columns)))
        for window in self._windows.values():
            self._evict(window)

    def gather(self, column: int, ids: Array) -> pa.Array:
        if self._came and ids is self.fresh:
            came = self._came[column]
            if self._places is not None:
                return taken([came], self._places)[0]
            return came if self._is_own else pa.concat_arrays([came])
        if column in self._unwritten:
            if ids.size and np.minimum.reduce(ids) >= self.fresh[0]:
                rows = ids - self.fresh[0]
                places = rows if self._places is None else self._places.take(rows)
                return taken([self._came[column]], places)[0]
            self._write(column)
        return super().gather(column, ids)

    def part(self, column: int, ids: Array, names: Sequence[str]) -> pa.Array:
        self._write(column)
        return super().part(column, ids, names)

    def column(self, number: int) -> Column:
        self._write(number)
        return super().column(number)

    def _write(self, column: int) -> None:
        """Write a column of the fresh rows into the store, unless it is there."""
        if column in self._unwritten:
            self._unwritten.remove(column)
            self._write_all((column,))

    def _settle(self) -> None:
        """Write all columns."""
        unwritten, self._unwritten = self._unwritten, set()
        self._write_all(unwritten)

    def _write_all(self, columns: Collection[int]) -> None:
        """Write columns of the fresh rows into the store."""
        place, places = self._end - self.fresh.size, self._places
        for column in columns:
            values = self._came[column]
            if places is not None:
                values = taken([values], places)[0]
            self._columns[column].write(place, values)

    def _buffers(self) -> Iterator[Buffer | Column]:
        self._settle()
        return super()._buffers()

    def _part(self, start: int, end: int) -> pa.RecordBatch:
        self._settle()
        return super()._part(start, end)

    @property
    def used_bytes(self) -> int:
        self._settle()
        return super().used_bytes

    def _evict(self, window: StemWindow) -> None:
        """Let the fresh rows evict others from a window, and set their death lanes."""
        evicted = window.advance(self, self.fresh)
        if evicted is None:
            return
        assert window.liveness.death is not None, "only ROWS windows evict rows"
        pushers = self.positions(self.fresh[evicted.by])
        at = self.positions(evicted.ids) - self.base
        death_ts, death_seq = window.liveness.death
        self.lane(death_ts)[at] = self.lane_at("ts", pushers)
        self.lane(death_seq)[at] = self.lane_at("seq", pushers) - 1
        self.evicted[window] = evicted

    def open_window(self, key: object, make: Callable[[], StemWindow]) -> StemWindow:
        """Register a window; equal keys share one. It takes in the rows that are already here."""
        if key not in self._windows:
            window = self._windows[key] = make()
            self._settle()
            self.fresh, self._came = self.ids(np.arange(self.first, self.end)), ()
            self._evict(window)
            self.fresh = _NO_ROWS
            self.evicted.clear()
        self._opened[key] += 1
        return self._windows[key]

    def close_window(self, key: object) -> None:
        """Remove a window, once it has been closed as often as it was opened."""
        self._opened[key] -= 1
        if self._opened[key]:
            return
        del self._opened[key]
        window = self._windows.pop(key)
        for lane in window.lanes:
            self.remove_lane(lane)

    @property
    def unbroken(self) -> int:
        """The id of the oldest row behind which no row of the stream is missing."""
        oldest = self.next_id - len(self)  # if none is missing

        def is_behind(row: int) -> bool:
            return int(self.ids(np.array([self.first + row]))[0]) == oldest + row

        return oldest + bisect_left(range(len(self)), x=True, key=is_behind)

    def purge(self, clock: int) -> None:
        """Drop the rows that no window needs at ``clock``; the chunk is over."""
        self.evicted.clear()
        start, masks = self.end, []
        for window in self._windows.values():
            needed = window.needed(self, clock)
            if isinstance(needed, np.ndarray):
                masks.append(needed)
            elif needed < start:
                start = needed
        if not masks:
            self.drop_before(start)
        elif len(self) >= self.compact_at and not any(w.pins for w in self._windows.values()):
            alive = np.logical_or.reduce(masks)
            alive[max(start - self.first, 0) :] = True
            self.keep(alive)
            self.compact_at = 2 * len(self) + 1024
        if self._end > self._start:
            self._settle()
        else:
            self._unwritten.clear()
        self.fresh, self.fresh_times = _NO_ROWS, _NO_TIMES
        self._came, self._places = (), None

    def state(self) -> State:
        return {
            **super().state(),
            "arrived": np.array([self.arrived]),
            "windows": {str(key): w.state() for key, w in self._windows.items()},
        }

    def restore(self, state: State) -> None:
        super().restore(state)
        self.arrived = int(array(state, "arrived")[0])
        for key, window in self._windows.items():
            window.restore(nested(nested(state, "windows"), str(key)))


class _Stateless:
    lanes: tuple[str, ...] = ()

    @property
    def pins(self) -> bool:
        return False

    def advance(self, stem: Stem, fresh: Array) -> Evicted | None:
        return None

    def state(self) -> State:
        return {}

    def restore(self, state: State) -> None:
        """There is nothing to restore."""


class TimeWindow(_Stateless):
    """``[RANGE T]``: rows leave in the order in which they came.

    ``keep``: whether rows are probed while they are alive; DISTINCT, for one, does not.
    """

    def __init__(self, us: int, *, keep: bool = True) -> None:
        self._us = us
        self._keep = keep
        self.liveness = Liveness("ts", us, fifo=True)

    def expiry(self, ts: Array) -> Array:
        return ts + self._us

    def needed(self, stem: Stem, clock: int) -> int | Array:
        if not self._keep:
            return stem.end
        return stem.first + int(stem.held("ts").searchsorted(clock - self._us, "right"))


class EndlessWindow(_Stateless):
    """``[UNBOUNDED]``, and static tables. Rows are kept only where a join will probe for them."""

    def __init__(self, *, keep: bool) -> None:
        self._keep = keep
        self.liveness = Liveness("ts", FOREVER, fifo=False)

    def expiry(self, ts: Array) -> Array:
        return _forever(ts.size)

    def needed(self, stem: Stem, clock: int) -> int | Array:
        return stem.first if self._keep else stem.end


class CountWindow(_Stateless):
    """``[ROWS N]``: each row evicts the one that came N rows before it."""

    def __init__(self, stem: Stem, name: str, count: int) -> None:
        self._count = count
        self.lanes = death = _death_lanes(stem, name)
        self.liveness = Liveness("ts", FOREVER, fifo=False, death=death)
        # of the rows that are already here, those count behind which no row is missing
        held = stem.ids(np.arange(stem.first, stem.end))
        self._start = max(stem.unbroken, stem.next_id - count)
        stem.held(death[0])[held < self._start] = BEGINNING

    def expiry(self, ts: Array) -> Array:
        return _forever(ts.size)

    def advance(self, stem: Stem, fresh: Array) -> Evicted | None:
        out = fresh - self._count
        by = np.flatnonzero(out >= self._start)
        return Evicted(out[by], by)

    def needed(self, stem: Stem, clock: int) -> int | Array:
        return max(stem.end - self._count, stem.first)

    def state(self) -> State:
        return {"start": np.array([self._start])}

    def restore(self, state: State) -> None:
        self._start = int(array(state, "start")[0])


class PartitionWindow:
    """``[PARTITION BY c ROWS N]``: each row evicts the N-th before it of its own partition."""

    pins = False

    def __init__(self, stem: Stem, name: str, columns: Sequence[int], count: int) -> None:
        self._columns = list(columns)
        self._count = count
        self._table = KeyTable([stem.schema[c].type for c in columns])
        self._last = SlotArray(np.int64, (count,), fill=-1)  # ids, a ring per slot
        self._seen = SlotArray(np.int64)
        self.lanes = self._death = _death_lanes(stem, name)
        self.liveness = Liveness("ts", FOREVER, fifo=False, death=self._death)

    def expiry(self, ts: Array) -> Array:
        return _forever(ts.size)

    def advance(self, stem: Stem, fresh: Array) -> Evicted | None:
        slots = self._table.slots([stem.gather(c, fresh) for c in self._columns], fresh.size)
        self._last.grow(self._table.end)
        self._seen.grow(self._table.end)
        out = push_out(slots, fresh, self._last.array, self._seen.array)
        by = np.flatnonzero(out >= 0)
        return Evicted(out[by], by)

    def needed(self, stem: Stem, clock: int) -> int | Array:
        inside: Array = stem.held(self._death[0]) == FOREVER
        return inside

    def state(self) -> State:
        return {"table": self._table.state(), "last": self._last.held(), "seen": self._seen.held()}

    def restore(self, state: State) -> None:
        self._table.restore(nested(state, "table"))
        self._last.restore(array(state, "last"))
        self._seen.restore(array(state, "seen"))


def _forever(count: int) -> Array:
    """int64[count]: FOREVER."""
    return _FOREVER[:count] if count <= _FOREVER.size else filled(count, FOREVER)


def _death_lanes(stem: Stem, name: str) -> tuple[str, str]:
    """Two lanes with the instant at which a row left a window: FOREVER while it is inside."""
    lanes = (f"death_ts:{name}", f"death_seq:{name}")
    for lane in lanes:
        stem.add_lane(lane, FOREVER)
    return lanes
