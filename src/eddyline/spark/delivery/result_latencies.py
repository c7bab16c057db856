"""How long results take, from the arrival of their rows at the source until a sink has them."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from eddyline.rate_limiter import RateLimiter
from eddyline.runtime.stores.columns import Array

#: Latencies are counted in buckets that grow by a quarter of a power of two, from 1 ms to 50 days.
_LEAST_S: Final = 1e-3
_PER_OCTAVE: Final = 4
_BUCKETS: Final = 32 * _PER_OCTAVE
#: Quantiles are of the results of the last one to two of these periods.
_PERIOD_S: Final = 300.0
#: Batches that wait for a sink and whose arrivals are kept, at most.
_MOST_WAITING: Final = 1_000


@dataclass(frozen=True)
class ResultLatency:
    """The time from the arrival of rows until their results are in the sink, of one query.

    Attributes:
        p50_seconds, p99_seconds: quantiles over the results of the last five to ten minutes, right
            within a tenth.
    """

    p50_seconds: float
    p99_seconds: float


@dataclass
class _Batch:
    """A batch with results that are not delivered: by query, ages in s with numbers of results."""

    planned_s: float
    ages: dict[str, list[tuple[float, float]]] = field(default_factory=dict)


class ResultLatencies:
    """Counts the results of all queries by latency, in a fixed number of buckets per query.

    Args:
        wall_clock, monotonic: in seconds.

    Attributes:
        waiting: batches that are not delivered yet, by number.
        limiter: of the time that showing takes.
    """

    def __init__(
        self,
        wall_clock: Callable[[], float] = time.time,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._wall_clock = wall_clock
        self._monotonic = monotonic
        self.waiting: dict[int, _Batch] = {}
        self._counts: dict[str, Array] = {}
        self._former: dict[str, Array] = {}
        self._until = monotonic() + _PERIOD_S
        self.limiter = RateLimiter()
        self._shown: dict[str, ResultLatency] = {}
        self._lock = threading.Lock()

    def begin(
        self, batch_id: int, reports: Sequence[Mapping[str, Any]], counts: Mapping[str, int]
    ) -> None:
        """Note the results of a batch before they are delivered.

        Args:
            reports: of the shards, with ``ages``: see :meth:`ResultAges.of`.
            counts: number of results by query, of all shards.
        """
        if not reports:
            return
        batch = _Batch(max(report["now_us"] for report in reports) / 1e6)
        now = [pair for report in reports for pair in report["ages"]["now"]]
        now_of: dict[str, list[tuple[float, float]]] = {}
        left = dict(counts)
        for report in reports:
            ages = report["ages"]
            for query, calls in ages["of"].items():
                found = batch.ages.setdefault(query, [])
                for call, n in calls.items():
                    found += [(ms / 1e3, n * share) for ms, share in ages["before"][int(call)]]
                    left[query] = left.get(query, 0) - n
            for query in report["out"]:
                now_of.setdefault(query, []).extend(ages["now"])
        for query, n in left.items():
            if n > 0:
                of_rows = now_of.get(query, now)
                total = sum(share for _, share in of_rows)
                found = batch.ages.setdefault(query, [])
                found += [(ms / 1e3, n * share / total) for ms, share in of_rows]
        with self._lock:
            self.waiting[batch_id] = batch
            while len(self.waiting) > _MOST_WAITING:
                del self.waiting[min(self.waiting)]

    def delivered(self, batch_id: int, queries: Iterable[str]) -> None:
        """A sink has the results of these queries of a batch."""
        now = self._wall_clock()
        with self._lock:
            batch = self.waiting.get(batch_id)
            if batch is None:
                return
            for query in queries:
                ages = batch.ages.pop(query, None)
                if ages:
                    self._add(query, ages, now - batch.planned_s)
            if not batch.ages:
                del self.waiting[batch_id]

    def end(self, batch_id: int, waiting: Collection[str]) -> None:
        """All results of a batch are delivered, except those of some queries, which wait."""
        with self._lock:
            batch = self.waiting.get(batch_id)
            queries = [] if batch is None else [q for q in batch.ages if q not in waiting]
        self.delivered(batch_id, queries)

    def shown(self) -> dict[str, ResultLatency]:
        """By query; those without results in the last minutes are left out."""
        with self._lock:
            if self.limiter.due:
                with self.limiter.measured():
                    self._rotate()
                    self._shown = self._quantiles()
            return self._shown

    def _add(self, query: str, ages: Iterable[tuple[float, float]], since_plan_s: float) -> None:
        self._rotate()
        counts = self._counts.get(query)
        if counts is None:
            counts = self._counts[query] = np.zeros(_BUCKETS)
        for age_s, n in ages:
            octaves = math.log2(max(age_s + since_plan_s, _LEAST_S) / _LEAST_S)
            counts[min(int(octaves * _PER_OCTAVE), _BUCKETS - 1)] += n

    def _rotate(self) -> None:
        """Forget what is older than two periods."""
        now = self._monotonic()
        if now < self._until:
            return
        is_recent = now < self._until + _PERIOD_S
        self._former, self._counts = (self._counts if is_recent else {}), {}
        self._until = now + _PERIOD_S

    def _quantiles(self) -> dict[str, ResultLatency]:
        names = list(dict.fromkeys([*self._former, *self._counts]))
        if not names:
            return {}
        zero = np.zeros(_BUCKETS)
        counts = np.stack([self._former.get(n, zero) + self._counts.get(n, zero) for n in names])
        up_to = np.cumsum(counts, axis=1)
        total = up_to[:, -1:]
        p50, p99 = (
            _LEAST_S * 2 ** (((up_to < share * total).sum(axis=1) + 0.5) / _PER_OCTAVE)
            for share in (0.5, 0.99)
        )
        each = zip(names, p50.tolist(), p99.tolist(), strict=True)
        return {name: ResultLatency(low, high) for name, low, high in each}
