"""The engine's shared window join as a server for the driver."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Final

import numpy as np

from eddyline.bench.comparison.state_slices import SlicedAccess
from eddyline.bench.figures.shared_windows.blocks import Blocks
from eddyline.bench.figures.shared_windows.server import (
    GREEDY,
    LWO,
    STATE_SLICE,
    SWF,
    BlockRelease,
    Server,
)
from eddyline.runtime.join_inputs.access import Access, ScanIndex
from eddyline.runtime.join_inputs.flow_windows import Levels
from eddyline.runtime.stores.index import HashIndex
from eddyline.runtime.stores.rowstore import RowStore
from eddyline.runtime.window_join.output_buffer import Release
from eddyline.runtime.window_join.schedules import ScheduleName, make_schedule
from eddyline.runtime.window_join.scheduling_queue import Arrivals
from eddyline.runtime.window_join.shared_join import SharedJoin

_SCHEDULES: Final[dict[str, ScheduleName]] = {
    LWO: "lwo",
    SWF: "swf",
    GREEDY: "greedy",
    STATE_SLICE: "swf",
}
_NOTHING: Final = np.zeros(0, np.int64)
_NO_ROWS: Final = Arrivals(_NOTHING, _NOTHING, _NOTHING, _NOTHING)


def shared_join(strategy: str, work: Blocks) -> tuple[Server, Callable[[], float]]:
    """A join with full windows, whose clock is the CPU time of the thread."""
    return _JoinServer(strategy, work), time.thread_time


class _JoinServer:
    """A unit is a step's rows; what it releases is routed to the windows, which counts as work."""

    def __init__(self, strategy: str, work: Blocks) -> None:
        self._work = work
        self._rows = work.load.block_rows
        self._stores = [RowStore((), ["ts", "seq"]) for _ in range(2)]
        self._access = [_access(strategy, work, store) for store in self._stores]
        self._join = SharedJoin(
            self._stores,
            self._access,
            make_schedule(_SCHEDULES[strategy], self._rows),
        )
        self._lengths = np.asarray(work.windows_us, np.int64)
        bits = np.arange(self._lengths.size)
        self._join.fit(Levels.of([self._lengths] * 2, bits, words=1))
        for side in (0, 1):
            mine = np.flatnonzero(work.stream[: work.preloaded] == side)
            self._insert(side, mine)

    @property
    def waiting(self) -> bool:
        return self._join.waiting

    @property
    def input_rows(self) -> int:
        return self._join.input_rows

    @property
    def output_rows(self) -> int:
        return self._join.output_rows

    @property
    def join_rows(self) -> int:
        return sum(map(len, self._stores))

    @property
    def scanned(self) -> float:
        ends = self._lengths[self._join.classes]
        slices = np.diff(ends, prepend=0) / ends[-1]
        return float((self._join.served * slices).sum()) / self._rows

    def arrive(self, unit: int) -> None:
        side = int(self._work.stream[unit])
        rows = self._insert(side, np.array([unit]))
        self._access[1 - side].insert(_NOTHING, _NOTHING)
        self._join.arrive([rows, _NO_ROWS] if side == 0 else [_NO_ROWS, rows])
        self._forget(int(self._work.ts_us[unit]))

    def step(self) -> list[BlockRelease]:
        return [r for release in self._join.step() for r in self._routed(release)]

    def _insert(self, side: int, units: np.ndarray) -> Arrivals:
        """Put units into the store of their side."""
        work, store = self._work, self._stores[side]
        ts = np.repeat(work.ts_us[units], self._rows)
        seq = (units[:, None] * self._rows + np.arange(self._rows)).ravel()
        key = work.keys[units].ravel()
        held = store.append(ts.size, {"ts": ts, "seq": seq})
        positions = np.arange(held.start, held.stop)
        self._access[side].insert(positions, key)
        return Arrivals(store.ids(positions), ts, seq, key)

    def _forget(self, clock: int) -> None:
        """Drop what no row that waits, or that is still to come, can be joined with."""
        since = self._join.queued_since
        oldest = (clock if since is None else since) - int(self._lengths[-1])
        for store in self._stores:
            store.drop_before(store.first + int(np.searchsorted(store.held("ts"), oldest, "right")))

    def _routed(self, release: Release) -> list[BlockRelease]:
        """By window its results, in arrays of their own, as all strategies have to deliver them."""
        classes, pairs = self._join.classes, release.pairs
        first = int(classes[release.window_class - 1]) + 1 if release.window_class else 0
        last = int(classes[release.window_class])
        unit = release.first // self._rows + self._work.preloaded
        if first == last:
            return [BlockRelease(last, unit, (len(pairs),))]
        age = np.abs(pairs.instants[0] - pairs.instants[1])
        level = np.searchsorted(self._lengths[first:last], age, "right") + first
        cut = [pairs.take(np.flatnonzero(level <= i)) for i in range(first, last)]
        return [BlockRelease(first + i, unit, (len(mine),)) for i, mine in enumerate([*cut, pairs])]


def _access(strategy: str, work: Blocks, store: RowStore) -> Access:
    if strategy == STATE_SLICE:
        return SlicedAccess(store)
    if work.load.method == "nested loops":
        return ScanIndex(store)
    return HashIndex(store)
