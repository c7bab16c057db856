"""The keep rate of a stream by event time, as a step function.

A rate that is decided holds for rows that are later than all before; a row that comes out of order
is kept by the rate of its own time. So the rate by which a row was kept follows from its timestamp,
also long after: that is what ``_kept`` says in queries.
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np

from eddyline.runtime.stores.columns import Array
from eddyline.types import BEGINNING

#: Maximum number of steps that are remembered; earlier rows have the rate of the first one.
_MOST = 10_000


class KeepSteps:
    """Keep rates, each from an instant on."""

    def __init__(self) -> None:
        self._since = [BEGINNING]
        self._rates = [1.0]

    @property
    def current(self) -> float:
        """The rate of the latest rows."""
        return self._rates[-1]

    @property
    def since(self) -> int:
        """The first instant with this rate, in us."""
        return self._since[-1]

    def step(self, since_us: int, rate: float) -> None:
        """Another rate for rows from an instant on."""
        if rate == self.current:
            return
        while self._since and self._since[-1] >= since_us:
            self._since.pop()
            self._rates.pop()
        if not self._rates or self._rates[-1] != rate:
            self._since.append(since_us)
            self._rates.append(rate)
        del self._since[:-_MOST], self._rates[:-_MOST]
        self._since[0] = BEGINNING

    def at(self, ts: Array) -> Array:
        """float64[n]: the rates of rows with these timestamps (int64[n], us)."""
        if len(self._rates) == 1 or (ts.size and ts.min() >= self.since):
            return np.full(ts.size, self.current)
        places = np.searchsorted(self._since, ts, "right") - 1
        return np.array(self._rates)[np.maximum(places, 0)]

    def largest(self, from_us: int) -> float:
        """The largest rate of rows from an instant on."""
        return max(self._rates[max(bisect_right(self._since, from_us) - 1, 0) :])

    def state(self) -> Array:
        """int64[2, steps]: the instants, and the bits of the rates."""
        return np.stack((np.array(self._since), np.array(self._rates).view(np.int64)))

    def restore(self, state: Array) -> None:
        """Take over what ``state`` returned."""
        since, rates = np.ascontiguousarray(state)
        self._since, self._rates = since.tolist(), rates.view(np.float64).tolist()
