"""Query metrics: changes, computing time, filter checks and latencies, per query.

The latency of a result is the time from when its rows could be processed (handed over, and reached
by the watermark) until its release. Latencies are counted in buckets whose bounds grow by a quarter
of a power of two, so that quantiles are right within a tenth; average and maximum are exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import log2
from typing import Final

import numpy as np

from eddyline.runtime.recipients import Recipients
from eddyline.runtime.stores.columns import Array

_LEAST_S: Final = 1e-6
_PER_OCTAVE: Final = 4
_BUCKETS: Final = 32 * _PER_OCTAVE


class QueryMetrics:
    """Counts of several queries, in arrays by query number.

    Attributes:
        rows_out: int64, changes. seconds: float64, of computing, where operators are shared.
        checks: float64, tests of rows in grouped filters.
    """

    def __init__(self) -> None:
        self.rows_out = np.zeros(0, np.int64)
        self.seconds = np.zeros(0)
        self.checks = np.zeros(0)
        self._buckets = np.zeros((0, _BUCKETS), np.int64)
        self._latency_sum = np.zeros(0)
        self._latency_max = np.zeros(0)

    def add_results(self, counts: Array) -> None:
        """Query q got ``counts[q]`` changes (int64[q])."""
        self._fit(counts.size)
        self.rows_out[: counts.size] += counts

    def add_work(self, seconds: Array, checks: Array) -> None:
        """Computing time and filter checks per query (float64[q] each)."""
        self._fit(seconds.size)
        self.seconds[: seconds.size] += seconds
        self.checks[: checks.size] += checks

    def add_latency(self, counts: Array, seconds: float) -> None:
        """Query q got ``counts[q]`` results (int64[q]) after ``seconds``."""
        self._fit(counts.size)
        (queries,) = (counts > 0).nonzero()  # of bool, three times as fast
        mine = counts[queries]
        self._buckets[queries, _bucket(seconds)] += mine
        self._latency_sum[queries] += mine * seconds
        self._latency_max[queries] = np.maximum(self._latency_max[queries], seconds)

    def add_of_one(self, counts: Sequence[int], seconds: Sequence[float | None]) -> None:
        """Query 0 got ``counts[i]`` results after ``seconds[i]`` (None: not known), for each i."""
        self._fit(1)
        self.rows_out[0] += sum(counts)
        after = np.array(seconds, np.float64)  # NaN: not known
        known = ~np.isnan(after)
        after, mine = after[known], np.array(counts)[known]
        if after.size:
            self._buckets[0] += np.bincount(_buckets(after), mine, _BUCKETS).astype(np.int64)
            self._latency_sum[0] += after @ mine
            self._latency_max[0] = max(self._latency_max[0], after.max())

    def add_latencies(self, recipients: Recipients, seconds: Array) -> None:
        """Row i reached its recipients after ``seconds[i]`` (float64[n])."""
        values, group = np.unique(seconds, return_inverse=True)
        counts = recipients.counts_by(group, values.size)
        for value, of_queries in zip(values.tolist(), counts, strict=True):
            self.add_latency(of_queries, value)

    def add(self, other: QueryMetrics, numbers: Array) -> None:
        """Count what ``other`` has for these queries as query 0's."""
        self._fit(1)
        known = numbers[numbers < other.rows_out.size]
        self.rows_out[0] += other.rows_out[known].sum()
        self.seconds[0] += other.seconds[known].sum()
        self.checks[0] += other.checks[known].sum()
        self._buckets[0] += other._buckets[known].sum(axis=0)
        self._latency_sum[0] += other._latency_sum[known].sum()
        self._latency_max[0] = max(self._latency_max[0], other._latency_max[known].max(initial=0.0))

    def clear(self, number: int) -> None:
        """Reset the counts of a number: another query has it from now on."""
        if number < self.rows_out.size:
            for counts in self._arrays():
                counts[number] = 0

    def latency(self, number: int) -> dict[str, float]:
        """``average_seconds``, ``p50_``, ``p99_`` and ``max_`` of one query; {} without results."""
        if number >= self.rows_out.size or not self._buckets[number].any():
            return {}
        most = float(self._latency_max[number])
        up_to = np.cumsum(self._buckets[number])
        below = [int(np.searchsorted(up_to, share * up_to[-1])) for share in (0.5, 0.99)]
        p50, p99 = (min(_LEAST_S * 2 ** ((b + 0.5) / _PER_OCTAVE), most) for b in below)
        return {
            "average_seconds": float(self._latency_sum[number] / up_to[-1]),
            "p50_seconds": p50,
            "p99_seconds": p99,
            "max_seconds": most,
        }

    def _arrays(self) -> tuple[Array, ...]:
        counts = (self.rows_out, self.seconds, self.checks)
        return (*counts, self._buckets, self._latency_sum, self._latency_max)

    def _fit(self, size: int) -> None:
        have = self.rows_out.size
        if size <= have:
            return
        end = max(size, 2 * have)
        larger = [np.zeros((end, *counts.shape[1:]), counts.dtype) for counts in self._arrays()]
        for counts, before in zip(larger, self._arrays(), strict=True):
            counts[:have] = before
        self.rows_out, self.seconds, self.checks, *latencies = larger
        self._buckets, self._latency_sum, self._latency_max = latencies


def _buckets(seconds: Array) -> Array:
    """int64[n], as ``_bucket``."""
    octaves = np.log2(np.maximum(seconds, _LEAST_S) / _LEAST_S)
    return np.minimum((octaves * _PER_OCTAVE).astype(np.int64), _BUCKETS - 1)


def _bucket(seconds: float) -> int:
    octaves = log2(max(seconds, _LEAST_S) / _LEAST_S)
    return min(int(octaves * _PER_OCTAVE), _BUCKETS - 1)
