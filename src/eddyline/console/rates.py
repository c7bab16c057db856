"""Rates of counters between two looks."""

from __future__ import annotations

import threading
from typing import Final

#: After this time without a look rates are not known.
_LONGEST_S: Final = 60.0


class Rates:
    """Rates per second of counters that several threads look at from time to time."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[float, float, float | None]] = {}
        self._lock = threading.Lock()

    def rate(self, name: str, count: float, at: float) -> float | None:
        """The rate of a counter since the look before; None: there was none, or long ago.

        Args:
            count: so far. at: when, in seconds.

        >>> rates = Rates()
        >>> rates.rate("a", 10, at=1.0), rates.rate("a", 30, at=2.0), rates.rate("a", 30, at=2.0)
        (None, 20.0, 20.0)
        """
        with self._lock:
            before, rate = self._known.get(name), None
            if before is not None and before[0] >= at:
                return before[2]
            if before is not None and at - before[0] <= _LONGEST_S and count >= before[1]:
                rate = (count - before[1]) / (at - before[0])
            self._known[name] = at, count, rate
            return rate

    def forget(self, before: float) -> None:
        """Forget the counters that were last looked at before this time."""
        with self._lock:
            self._known = {name: of for name, of in self._known.items() if of[0] >= before}
