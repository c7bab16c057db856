"""A shared window join in simulated time: seconds per row scanned.

It does what the schedules do and nothing else, so it can run at the paper's scale, of 60,000 tuples
per window, and shows what is due to a schedule and what to an implementation.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from eddyline.bench.figures.shared_windows.server import (
    GREEDY,
    LWO,
    STATE_SLICE,
    STRATEGIES,
    BlockRelease,
)


class SimulatedServer:
    """Hammad et al. 2003, section 3, for units that all scan and find the same.

    A unit sees the windows as slices, from the youngest rows to the oldest. Each scan is that of
    one slice. Greedy prefers the smaller of two windows whose slices are equal, as the paper's does
    (section 5.1.1: on Uniform it has the order of SWF).

    Args:
        scanned: by slice, the rows that a unit scans in it.
        found: by slice, the results that it has there.
        seconds_per_row: per row scanned. seconds_per_scan: per slice scanned, whatever its size.
        join_rows: of the join buffers.
        unit_rows: of a unit.
    """

    def __init__(
        self,
        strategy: str,
        scanned: Sequence[int],
        found: Sequence[int],
        seconds_per_row: float,
        *,
        seconds_per_scan: float = 0.0,
        join_rows: int = 1,
        unit_rows: int = 1,
    ) -> None:
        assert strategy in STRATEGIES, strategy
        self.seconds = 0.0
        self.join_rows = join_rows
        self.output_rows = 0
        self._strategy = strategy
        self._cost = [seconds_per_row * rows + seconds_per_scan for rows in scanned]
        self._found = [0]
        for results in found:
            self._found.append(self._found[-1] + results)
        self._levels = range(len(scanned))
        self._order = (
            sorted(self._levels, key=lambda i: scanned[i])
            if strategy == GREEDY
            else [*self._levels]
        )
        self._unit_rows = unit_rows
        self._queues: list[deque[int]] = [deque() for _ in self._levels]
        self._turn = -1
        self._inside = 0
        self._scans: dict[int, int] = {}  # by unit, the slices it has scanned
        self._had: list[dict[int, int]] = [{} for _ in self._levels]  # and those released
        self._complete = [-1 for _ in self._levels]  # the last unit that has seen the window

    @property
    def waiting(self) -> bool:
        return self._inside > 0

    @property
    def input_rows(self) -> int:
        return self._inside * self._unit_rows

    @property
    def scanned(self) -> float:
        return self.seconds / sum(self._cost)

    def clock(self) -> float:
        """Seconds of work so far."""
        return self.seconds

    def arrive(self, unit: int) -> None:
        if not self._scans and self._complete[0] < 0:
            self._complete = [unit - 1 for _ in self._levels]
        self._scans[unit] = 0
        self._queues[0].append(unit)
        self._inside += 1

    def step(self) -> list[BlockRelease]:
        level = self._next()
        unit = self._queues[level].popleft()
        self.seconds += self._cost[level]
        self._scans[unit] = level + 1
        self.output_rows += self._found[level + 1] - self._found[level]
        self._complete[level] = unit
        last = level == self._levels[-1]
        if not last:
            following = self._queues[level + 1]
            following.append(unit)
        released = self._release(unit, level)
        if not last:
            for larger in self._levels[level + 1 :]:  # it is first there
                if self._complete[larger] == unit - 1:
                    released += self._release(unit, larger)
        if self._strategy == GREEDY and self._scans.get(unit + 1, 0) > 0:
            released += self._release(unit + 1, level)  # it is its turn next
        if last:
            self._inside -= 1
            del self._scans[unit]
            for had in self._had:
                had.pop(unit, None)
        return released

    def _next(self) -> int:
        """The slice of which the next unit is to be scanned."""
        queues = self._queues
        if self._strategy == LWO:  # the unit that has begun continues
            return max(level for level in self._levels if queues[level])
        if self._strategy == STATE_SLICE:  # each slice in turn
            while True:
                self._turn = (self._turn + 1) % len(queues)
                if queues[self._turn]:
                    return self._turn
        return next(level for level in self._order if queues[level])

    def _release(self, unit: int, level: int) -> list[BlockRelease]:
        """What the window has not yet had of a unit's results."""
        had = self._had[level]
        before, now = had.get(unit, 0), min(self._scans[unit], level + 1)
        results = self._found[now] - self._found[before]
        if now == before:
            return []
        had[unit] = now
        if level == self._levels[-1]:
            self.output_rows -= results
        return [BlockRelease(level, unit, (results,))] if results else []
