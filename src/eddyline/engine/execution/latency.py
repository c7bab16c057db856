"""Latency: how long results take, from when their rows could be processed until they are released.

A row can be processed once it has been handed over and the watermark has reached it. Latencies are
kept as counts in buckets whose ends grow by a quarter of a power of two, so that quantiles are
right within a tenth; average and maximum are exact.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from eddyline.runtime.eddy.fanout import Fanout
from eddyline.runtime.stores.columns import Array

_LEAST_S: Final = 1e-6
_PER_OCTAVE: Final = 4
_BUCKETS: Final = 32 * _PER_OCTAVE


class Latencies:
    """Latencies of the results of several queries, by their number."""

    def __init__(self) -> None:
        self._counts = np.zeros((0, _BUCKETS), np.int64)
        self._sums = np.zeros(0)
        self._most = np.zeros(0)

    def add(self, counts: Array, seconds: float) -> None:
        """Query q got ``counts[q]`` results (int64[q]) after so many seconds."""
        self._fit(counts.size)
        self._counts[: counts.size, _bucket(np.array(seconds))] += counts
        self._sums[: counts.size] += counts * seconds
        slower = np.flatnonzero(counts)
        self._most[slower] = np.maximum(self._most[slower], seconds)

    def add_each(self, fanout: Fanout, seconds: Array) -> None:
        """Its results took float64[n] seconds."""
        values, group = np.unique(seconds, return_inverse=True)
        for value, counts in zip(
            values.tolist(), fanout.counts_by(group, values.size), strict=True
        ):
            self.add(counts, value)

    def add_all(self, others: Latencies, numbers: Array) -> None:
        """Count what those had with these numbers as the first query's."""
        self._fit(1)
        known = numbers[numbers < others._sums.size]
        self._counts[0] += others._counts[known].sum(axis=0)
        self._sums[0] += others._sums[known].sum()
        self._most[0] = max(self._most[0], others._most[known].max(initial=0.0))

    def forget(self, number: int) -> None:
        """The number is another query's from now on."""
        if number < self._sums.size:
            self._counts[number] = 0
            self._sums[number] = self._most[number] = 0

    def summary(self, number: int) -> dict[str, float]:
        """``average_seconds``, ``p50_``, ``p99_`` and ``max_`` of one query; {} without results."""
        if number >= self._sums.size or not self._counts[number].any():
            return {}
        counts = self._counts[number]
        most = float(self._most[number])
        up_to = np.cumsum(counts)
        below = [int(np.searchsorted(up_to, share * up_to[-1])) for share in (0.5, 0.99)]
        p50, p99 = (min(_LEAST_S * 2 ** ((b + 0.5) / _PER_OCTAVE), most) for b in below)
        average = float(self._sums[number] / up_to[-1])
        return {
            "average_seconds": average,
            "p50_seconds": p50,
            "p99_seconds": p99,
            "max_seconds": most,
        }

    def _fit(self, size: int) -> None:
        have = self._sums.size
        if size > have:
            size = max(size, 2 * have)
            self._counts = np.pad(self._counts, ((0, size - have), (0, 0)))
            self._sums = np.pad(self._sums, (0, size - have))
            self._most = np.pad(self._most, (0, size - have))


def _bucket(seconds: Array) -> Array:
    octaves = np.log2(np.maximum(seconds, _LEAST_S) / _LEAST_S)
    return np.minimum((octaves * _PER_OCTAVE).astype(np.int64), _BUCKETS - 1)
