"""CPU time of rows before and besides the operators, per row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from typing import Any

from eddyline.algebra.plan import StreamScan
from eddyline.algebra.reads import stream_scans
from eddyline.engine.placement.cpu_times import CpuTimes
from eddyline.optimizer.statistics import Statistics
from eddyline.optimizer.work import IntakeWork, Work

_READ, _PASSED = "read", "passed"


class IntakeTimes:
    """Measures what calls take that is not the time of operators: to read rows, up to the drop
    boxes, and to order, store and count those that are kept.

    Args:
        operators: CPU seconds of all operators so far.

    Attributes:
        calls: CPU seconds of all calls so far. reading: those of them that rows were read in.
    """

    def __init__(self, operators: Callable[[], float]) -> None:
        self._operators = operators
        self._times = CpuTimes()
        self._before: tuple[int, int] | None = None  # rows read and kept, at the last look
        self.reading = self.calls = 0.0

    def look(self, read: int, kept: int) -> bool:
        """Compare the CPU time since the last look with the number of rows.

        Args:
            read: rows read so far, also those that were dropped then. kept: the others.

        Returns:
            Whether the time per row has changed.
        """
        before, self._before = self._before or (read, kept), (read, kept)
        rest = self.calls - self.reading - self._operators()
        changed = self._times.look(_READ, self.reading, read - before[0], inf)
        return self._times.look(_PASSED, rest, kept - before[1], inf) or changed

    def works(self, works: Iterable[Work], statistics: Statistics) -> Iterator[IntakeWork]:
        """What the rows of the streams cost that these works read; nothing before the first look.

        Args:
            statistics: of all rows.
        """
        read_s, pass_s = (self._times.factor(k, default=0.0) for k in (_READ, _PASSED))
        if not (read_s or pass_s):
            return
        scans: dict[str, StreamScan] = {}
        for work in works:
            for scan in stream_scans(work.plan):
                scans.setdefault(scan.stream, scan)
        for stream, scan in scans.items():
            rate = statistics.rate(stream)
            yield IntakeWork(scan, (), count=0, arriving=rate, read_s=read_s, pass_s=pass_s)

    def saved(self) -> list[Any]:
        """For JSON."""
        return [self._times.saved(_READ), self._times.saved(_PASSED)]

    def restore(self, saved: Sequence[Any]) -> None:
        """Take over what ``saved`` returned; rows and time are counted from now on."""
        spent = self.reading, self.calls - self.reading - self._operators()
        for key, record, seconds in zip((_READ, _PASSED), saved, spent, strict=True):
            if record is not None:
                self._times.restore(key, record, seconds)
