"""The last join keys of an input, from which the number of partners of a row is estimated."""

from __future__ import annotations

from typing import Final

import numpy as np

from eddyline.runtime.batch import Batch
from eddyline.runtime.stores.columns import Array

#: Number of rows of a sample.
_ROWS: Final = 1_024


class KeySample:
    """The keys of the last rows that came, suspended or not, with their lifespans.

    Args:
        scanned: rows are compared with all rows of the other input: each is a pair.
    """

    def __init__(self, *, scanned: bool) -> None:
        self._scanned = scanned
        self._keys = self._ts = self._exp = np.zeros(0, np.int64)

    def see(self, batch: Batch, keys: Array) -> None:
        """Note new rows of the input and their join keys."""
        if keys.size >= _ROWS:
            new = (keys, batch.ts, batch.exp)
            self._keys, self._ts, self._exp = (lane[-_ROWS:].copy() for lane in new)
        elif keys.size:
            kept = _ROWS - keys.size
            self._keys = np.concatenate((self._keys[-kept:], keys))
            self._ts = np.concatenate((self._ts[-kept:], batch.ts))
            self._exp = np.concatenate((self._exp[-kept:], batch.exp))

    @property
    def alive(self) -> float:
        """How many rows of the input are alive at a time, by those of the sample."""
        if self._keys.size == 0:
            return 0.0
        lifespan = float((self._exp - self._ts).mean(dtype=np.float64))
        span = max(int(self._ts[-1] - self._ts[0]), 1)
        return self._keys.size * max(lifespan / span, 1.0)

    def partners_in(self, other: KeySample) -> float:
        """How many rows of another input that are alive have the key of a row of this one."""
        if self._keys.size == 0 or other._keys.size == 0:
            return 0.0
        if self._scanned:
            return other.alive
        known = np.sort(other._keys)
        pairs = np.searchsorted(known, self._keys, "right") - np.searchsorted(known, self._keys)
        return float(pairs.mean()) * other.alive / other._keys.size
