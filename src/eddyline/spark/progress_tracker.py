"""The progress of a job, from the reports of its shards."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

_RATE_WINDOW_S: Final = 10.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class JobProgress:
    """The progress of a job. Counts are since its first start, including those before restarts.

    Attributes:
        batch_id: Spark's id of the last delivered batch; None before the first.
        rows_in: rows received by stream (``numInputRows``), including late and bad ones.
        rows_out: changes emitted by query.
        late, bad: rows in the side outputs by stream.
        dropped: rows dropped by drop boxes, by stream.
        watermark_us: by group of streams ("a, b"); None until each stream has had a row.
        rows_per_second: rows received, over the last ten seconds (``processedRowsPerSecond``).
        restore_seconds: by group, of the last time that a worker has rebuilt an engine from the
            checkpoint, of its slowest shard; empty if none has since this start.
        waiting: rows that wait in scheduled joins for the next batch, by group; see ``latency`` of
            ``EngineOptions``.
    """

    batch_id: int | None = None
    rows_in: Mapping[str, int] = field(default_factory=dict)
    rows_out: Mapping[str, int] = field(default_factory=dict)
    late: Mapping[str, int] = field(default_factory=dict)
    bad: Mapping[str, int] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    watermark_us: Mapping[str, int | None] = field(default_factory=dict)
    rows_per_second: float = 0.0
    restore_seconds: Mapping[str, float] = field(default_factory=dict)
    waiting: Mapping[str, int] = field(default_factory=dict)


class ProgressTracker:
    """Collects the reports of the shards; written by the delivery, read by other threads."""

    def __init__(self, groups: Mapping[int, str]) -> None:
        self._groups = groups
        self._shards: dict[int, dict[str, Any]] = {}
        self._query_stats: dict[str, bytes] = {}  # JSON by shard, parsed when read
        self._out: dict[int, dict[str, int]] = {}
        self._restored: dict[int, float] = {}
        self._batch_id: int | None = None
        self._arrivals: list[tuple[float, int]] = [(time.monotonic(), -1)]
        self._lock = threading.Lock()

    def record(
        self, batch_id: int, reports: list[dict[str, Any]], query_stats: Mapping[str, bytes]
    ) -> None:
        """Record the reports of one delivered batch, and the metrics of queries (JSON) by shard."""
        with self._lock:
            self._batch_id = batch_id
            before = self._received()
            known = bool(self._shards)
            for report in reports:
                shard = report["shard"]
                self._shards[shard] = report
                self._count(shard, report.pop("out"), report.pop("totals", None))
                self._note_restore(shard, report.pop("restore_seconds"))
            self._query_stats |= query_stats
            now = time.monotonic()
            if not known:  # the counts of a restarted job include rows before its start
                before = self._received() - sum(sum(r["arrived"].values()) for r in reports)
                self._arrivals = [(self._arrivals[0][0], before)]
            self._arrivals.append((now, self._received()))
            while len(self._arrivals) > 2 and now - self._arrivals[1][0] > _RATE_WINDOW_S:
                self._arrivals.pop(0)

    def progress(self) -> JobProgress:
        """The progress after the last delivered batch."""
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
                self._restore_seconds(),
                self._waiting(),
            )

    def shards(self) -> list[dict[str, Any]]:
        """The last report of each shard: state sizes, seconds by phase."""
        with self._lock:
            return list(self._shards.values())

    def stats(self) -> dict[str, dict[str, Any]]:
        """The last reported metrics by query: ``Engine.stats()["queries"]``."""
        with self._lock:
            query_stats = list(self._query_stats.values())
        return {name: s for text in query_stats for name, s in json.loads(text).items()}

    def _count(self, shard: int, new: dict[str, int], totals: dict[str, int] | None) -> None:
        """Update the number of changes by query: by those of a batch, or to the totals if sent."""
        if totals is not None:
            self._out[shard] = totals
            return
        out = self._out[shard]
        for name, n in new.items():
            out[name] = out.get(name, 0) + n

    def _note_restore(self, shard: int, seconds: float | None) -> None:
        """Record and log that the engine of a shard has been rebuilt."""
        if seconds is None:
            return
        self._restored[shard] = seconds
        _log.info("shard %d (%s): engine restored in %.2f s", shard, self._groups[shard], seconds)

    def _restore_seconds(self) -> dict[str, float]:
        longest: dict[str, float] = {}
        for shard, seconds in self._restored.items():
            group = self._groups[shard]
            longest[group] = max(seconds, longest.get(group, 0.0))
        return longest

    def _received(self) -> int:
        return sum(sum(report["rows"].values()) for report in self._shards.values())

    def _waiting(self) -> dict[str, int]:
        waiting: dict[str, int] = {}
        for shard, report in self._shards.items():
            if rows := sum(group["waiting"] for group in report["groups"]):
                name = self._groups[shard]
                waiting[name] = waiting.get(name, 0) + rows
        return waiting

    def _sums(self, what: str) -> dict[str, int]:
        sums: dict[str, int] = {}
        for report in self._shards.values():
            for name, n in report[what].items():
                sums[name] = sums.get(name, 0) + n
        return sums

    def _rate(self) -> float:
        (t0, n0), (t1, n1) = self._arrivals[0], self._arrivals[-1]
        return (n1 - n0) / (t1 - t0) if t1 > t0 else 0.0
