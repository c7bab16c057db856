"""What the shards of a job report, batch by batch, and how far the job is by that."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

_RATE_WINDOW_S: Final = 10.0


@dataclass(frozen=True)
class JobProgress:
    """How far a job is. Counts are since the checkpoint was new, so they survive restarts.

    Attributes:
        batch_id: Spark's id of the last delivered batch; None before the first.
        rows_in: rows received by stream (``numInputRows``), with late and bad ones.
        rows_out: changes emitted by query.
        late, bad: rows in the side outputs by stream.
        dropped: rows that drop boxes did not keep, by stream.
        watermark_us: event time by group of streams ("a, b"); None until each has had a row.
        rows_per_second: rows received, over the last ten seconds (``processedRowsPerSecond``).
    """

    batch_id: int | None = None
    rows_in: Mapping[str, int] = field(default_factory=dict)
    rows_out: Mapping[str, int] = field(default_factory=dict)
    late: Mapping[str, int] = field(default_factory=dict)
    bad: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    watermark_us: Mapping[str, int | None] = field(default_factory=dict)
    rows_per_second: float = 0.0


class ProgressTracker:
    """Collects what the shards report, batch by batch; the delivery writes, others read."""

    def __init__(self, groups: Mapping[int, str]) -> None:
        self._groups = groups
        self._shards: dict[int, dict[str, Any]] = {}
        self._query_stats: dict[str, bytes] = {}  # read when somebody asks
        self._out: dict[int, dict[str, int]] = {}
        self._batch_id: int | None = None
        self._arrivals: list[tuple[float, int]] = [(time.monotonic(), -1)]
        self._lock = threading.Lock()

    def record(
        self, batch_id: int, reports: list[dict[str, Any]], query_stats: Mapping[str, bytes]
    ) -> None:
        """Take in the reports of one delivered batch, and by shard the figures of its queries."""
        with self._lock:
            self._batch_id = batch_id
            before = self._received()
            known = bool(self._shards)
            for report in reports:
                shard = report["shard"]
                self._shards[shard] = report
                self._count(shard, report.pop("out"), report.pop("totals", None))
            self._query_stats |= query_stats
            now = time.monotonic()
            if not known:  # a restarted job reports what it received before: that is no rate
                before = self._received() - sum(sum(r["arrived"].values()) for r in reports)
                self._arrivals = [(self._arrivals[0][0], before)]
            self._arrivals.append((now, self._received()))
            while len(self._arrivals) > 2 and now - self._arrivals[1][0] > _RATE_WINDOW_S:
                self._arrivals.pop(0)

    def progress(self) -> JobProgress:
        """The state after the last delivered batch."""
        with self._lock:
            return JobProgress(
                self._batch_id,
                self._sums("rows"),
                {name: n for out in self._out.values() for name, n in out.items()},
                self._sums("late"),
                self._sums("bad"),
                self._sums("dropped"),
                {self._groups[s]: r["clock_us"] for s, r in self._shards.items()},
                self._rate(),
            )

    def shards(self) -> list[dict[str, Any]]:
        """The last report of each shard as it came: state sizes, seconds spent."""
        with self._lock:
            return list(self._shards.values())

    def stats(self) -> dict[str, dict[str, Any]]:
        """What the engines last said of each query: ``Engine.stats()["queries"]``."""
        with self._lock:
            query_stats = list(self._query_stats.values())
        return {name: s for text in query_stats for name, s in json.loads(text).items()}

    def _count(self, shard: int, new: dict[str, int], totals: dict[str, int] | None) -> None:
        """Add what a batch brought to the changes of each query, unless all counts came along."""
        if totals is not None:
            self._out[shard] = totals
            return
        out = self._out[shard]
        for name, n in new.items():
            out[name] = out.get(name, 0) + n

    def _received(self) -> int:
        return sum(sum(report["rows"].values()) for report in self._shards.values())

    def _sums(self, what: str) -> dict[str, int]:
        sums: dict[str, int] = {}
        for report in self._shards.values():
            for name, n in report[what].items():
                sums[name] = sums.get(name, 0) + n
        return sums

    def _rate(self) -> float:
        (t0, n0), (t1, n1) = self._arrivals[0], self._arrivals[-1]
        return (n1 - n0) / (t1 - t0) if t1 > t0 else 0.0
