"""How often something is done that only informs: never so often that it costs much."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class RateLimiter:
    """Says when something may be done again, so that it takes at most a share of the time.

    Args:
        share: of the time.
    """

    def __init__(self, share: float = 0.05) -> None:
        self._rest = 1 / share - 1
        self._next = 0.0

    @property
    def due(self) -> bool:
        """Whether it may be done now."""
        return time.monotonic() >= self._next

    @contextmanager
    def measured(self) -> Iterator[None]:
        """The time in which it is done."""
        started = time.monotonic()
        yield
        ended = time.monotonic()
        self._next = ended + self._rest * (ended - started)
