"""Limits the share of time that a repeated task takes."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class RateLimiter:
    """Decides when a task may run again, so that it takes at most ``share`` of the time.

    Args:
        of_cpu: whether its CPU time counts, and not how long it waits.

    Attributes:
        next_s: when (``time.monotonic``).
    """

    def __init__(self, share: float = 0.05, *, of_cpu: bool = False) -> None:
        self._rest = 1 / share - 1
        self._of_cpu = of_cpu
        self.next_s = 0.0

    @property
    def due(self) -> bool:
        """Whether the task may run now."""
        return time.monotonic() >= self.next_s

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Measures the block, in which the task runs."""
        started = self._spent()
        yield
        self.next_s = time.monotonic() + self._rest * (self._spent() - started)

    def _spent(self) -> float:
        return time.thread_time() if self._of_cpu else time.monotonic()
