"""Response times of one server for units that arrive at given instants.

Instants are of a virtual clock, which advances by the time that each piece of work really took and
jumps to the next arrival where nothing waits. So a run takes as long as its work, and other
programs on the machine do not count as service: the clock of work is the CPU time of the thread.
"""

from __future__ import annotations

import ctypes
import gc
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import numpy as np

from eddyline.bench.figures.shared_windows.server import BlockRelease, Server
from eddyline.runtime.stores.columns import Array


@dataclass(frozen=True)
class Responses:
    """Response times of the results that the queries of one window got, in seconds."""

    results: int
    average: float
    median: float
    p99: float
    longest: float


@dataclass(frozen=True)
class RunOutcome:
    """What became of a run.

    Attributes:
        windows: responses by window, from the smallest.
        busy_s: seconds of work. elapsed_s: from the first arrival to the last release.
        input_share, output_share: largest size of the input and of the output buffer, as a share of
            the join buffers.
        input_rows, output_rows: the same in rows.
    """

    windows: tuple[Responses, ...]
    busy_s: float
    elapsed_s: float
    input_share: float
    output_share: float
    input_rows: int
    output_rows: int

    @property
    def average(self) -> float:
        """Seconds: the mean over all windows of their averages, as in Figures 7 and 10."""
        return sum(w.average for w in self.windows) / len(self.windows)


class Drive:
    """A server at work.

    Args:
        arrivals: float64, seconds; when the units ``first``, ``first`` + 1, ... arrive, ascending.
        levels: how many windows there are.
        clock: seconds of work so far, for the server of a test or of a simulation.

    Attributes:
        now: the instant. busy_s: how much of it was work.
        speed: what a second of work counts for.
    """

    def __init__(
        self,
        server: Server,
        arrivals: Array,
        first: int,
        levels: int,
        clock: Callable[[], float] = time.thread_time,
    ) -> None:
        self.now = self.busy_s = 0.0
        self.speed = 1.0
        self._server = server
        self._arrivals = arrivals
        self._first = first
        self._clock = clock
        self._come = 0
        self._released: list[list[tuple[float, int, Sequence[int]]]] = [[] for _ in range(levels)]
        self._most_input = self._most_output = 0
        self._input_share = self._output_share = 0.0

    @property
    def done(self) -> bool:
        """Whether all units have been processed."""
        return self._come == self._arrivals.size and not self._server.waiting

    @property
    def scanned(self) -> float:
        """By the server so far, in largest windows."""
        return self._server.scanned

    def advance(self, until: float = float("inf")) -> None:
        """Work until the virtual clock has passed an instant, or everything is done."""
        arrivals, server, clock = self._arrivals.tolist(), self._server, self._clock
        while self.now < until:
            begin = clock()
            came = self._come
            while self._come < len(arrivals) and arrivals[self._come] <= self.now:
                server.arrive(self._first + self._come)
                self._come += 1
            if self._come > came:
                self._work(clock() - begin)
                self._look()
            if server.waiting:
                begin = clock()
                released = server.step()
                self._work(clock() - begin)
                self._note(released)
            elif self._come < len(arrivals):
                self.now = max(self.now, arrivals[self._come])
            else:
                return

    def outcome(self) -> RunOutcome:
        """What became of it; everything is done."""
        assert self.done, "units are still waiting"
        return RunOutcome(
            tuple(self._responses(level) for level in range(len(self._released))),
            self.busy_s,
            self.now - float(self._arrivals[0]),
            self._input_share,
            self._output_share,
            self._most_input,
            self._most_output,
        )

    def _work(self, seconds: float) -> None:
        self.busy_s += seconds * self.speed
        self.now += seconds * self.speed

    def _note(self, released: Sequence[BlockRelease]) -> None:
        for r in released:
            self._released[r.level].append((self.now, r.first - self._first, r.results))

    def _look(self) -> None:
        """At the buffers: they are fullest after arrivals."""
        server = self._server
        held, found = server.input_rows, server.output_rows
        if held > self._most_input:
            self._most_input = held
            self._input_share = held / server.join_rows
        if found > self._most_output:
            self._most_output = found
            self._output_share = found / server.join_rows

    def _responses(self, level: int) -> Responses:
        notes = self._released[level]
        sizes = [len(results) for _, _, results in notes]
        counts = np.concatenate([np.asarray(r, np.int64) for _, _, r in notes] or [_NONE])
        units = np.concatenate(
            [f + np.arange(n) for (_, f, _), n in zip(notes, sizes, strict=True)] or [_NONE]
        )
        at = np.repeat([now for now, _, _ in notes], sizes)
        found = counts > 0
        return weighted(at[found] - self._arrivals[units[found]], counts[found])


_NONE = np.zeros(0, np.int64)


def weighted(seconds: Array, counts: Array) -> Responses:
    """Response times, weighted by numbers of results."""
    if not seconds.size:
        return Responses(0, 0.0, 0.0, 0.0, 0.0)
    order = np.argsort(seconds)
    sums = np.cumsum(counts[order])
    total = int(sums[-1])
    at = [int(np.searchsorted(sums, share * total)) for share in (0.5, 0.99)]
    median, p99 = (float(seconds[order[i]]) for i in at)
    average = float(np.dot(seconds, counts)) / total
    return Responses(total, average, median, p99, float(seconds.max()))


class Pace:
    """How long a server takes at the moment to scan a largest window.

    Args:
        drive: of that server. unit_s: seconds that it should take.
    """

    def __init__(self, drive: Drive, unit_s: float) -> None:
        self._drive, self._unit_s = drive, unit_s
        self._units = self._seconds = self._read_units = self._read_seconds = 0.0

    def read(self) -> float:
        """What a second of work should count for now. What was read before fades."""
        spent = (self._drive.busy_s - self._read_seconds) / self._drive.speed
        self._seconds = _FADING * self._seconds + spent
        self._units = _FADING * self._units + self._drive.scanned - self._read_units
        self._read_seconds, self._read_units = self._drive.busy_s, self._drive.scanned
        return self._unit_s * self._units / self._seconds if self._units > 1.0 else 1.0


_FADING: Final = 0.8


def drive_together(
    drives: Sequence[Drive], slice_s: float, paces: Sequence[Pace] | None = None
) -> None:
    """Let servers take turns, each for a slice of its virtual time.

    So whatever else slows the machine down for a while meets all of them, and with paces none.

    Args:
        paces: that the drives keep to, one each; the same may be of all.
    """
    until = slice_s
    with undisturbed():
        while not all(drive.done for drive in drives):
            for drive in drives:
                drive.advance(until)
            if paces is not None:
                speeds = {pace: pace.read() for pace in dict.fromkeys(paces)}
                for drive, pace in zip(drives, paces, strict=True):
                    drive.speed = speeds[pace]
            until += slice_s


@contextmanager
def undisturbed() -> Iterator[None]:
    """Without interruptions within a step: garbage collection, and getting from
    the system the memory that was given back to it a step before.
    """
    _keep_memory()
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def _keep_memory() -> None:
    """Let freed memory stay with the process, where the C library is one that can be told so."""
    trim_threshold, mmap_threshold = -1, -3
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(trim_threshold, 1 << 30)
        mallopt(mmap_threshold, 1 << 30)
