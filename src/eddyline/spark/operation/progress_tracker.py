"""The progress of a job, from the reports of its shards."""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from heapq import nlargest
from operator import itemgetter
from typing import Any, Final

from eddyline.spark.delivery.final_stage import MergedCounts
from eddyline.spark.delivery.result_latencies import ResultLatency
from eddyline.spark.delivery.undelivered import Undelivered
from eddyline.spark.operation.delivery_times import DeliveryTimes
from eddyline.spark.operation.progress import BatchListener, BatchProgress, JobProgress

_RATE_WINDOW_S: Final = 10.0
#: After this time without a look the shards do not report their plans any more.
_WATCHED_S: Final = 30.0
#: Metrics of a query that are not added over shards.
_LARGEST: Final = ("shared_with", "reordered", "keep")
#: Number of the largest needs of CPU cores that are shown.
_MOST_NEEDS: Final = 5
_log = logging.getLogger(__name__)


class ProgressTracker:
    """Collects the reports of the shards; written by the delivery, read by other threads.

    Args:
        groups: by shard, the streams of its group, which have one watermark; it may grow.
        merged: what the final stage has made. undelivered: what waits for sinks.
        latencies: of queries.
    """

    def __init__(
        self,
        groups: Mapping[int, str],
        merged: Callable[[], MergedCounts] = MergedCounts,
        undelivered: Callable[[], Mapping[str, Undelivered]] = dict,
        latencies: Callable[[], Mapping[str, ResultLatency]] = dict,
    ) -> None:
        self._groups = groups
        self._merged = merged
        self._undelivered = undelivered
        self._latencies = latencies
        self._listeners: list[BatchListener] = []
        self._shards: dict[int, dict[str, Any]] = {}
        self._query_stats: dict[str, bytes] = {}  # JSON by shard, parsed when read
        self._out: dict[int, dict[str, int]] = {}
        self._restored: dict[int, float] = {}
        self._split_keys: Sequence[Mapping[str, Any]] = ()
        self._graphs: dict[int, list[dict[str, Any]]] = {}
        self._watched_until = 0.0
        self._batch_id: int | None = None
        self._delivery = DeliveryTimes()
        self._arrivals: list[tuple[float, int]] = [(time.monotonic(), -1)]
        self._lock = threading.Lock()

    def record(
        self,
        batch_id: int,
        reports: list[dict[str, Any]],
        query_stats: Mapping[str, bytes],
        split_keys: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        """Record the reports of one delivered batch, the metrics of queries (JSON) by shard, and
        the split keys of the next batch; then call the listeners.
        """
        batch = self._batch(batch_id, reports)
        with self._lock:
            self._batch_id = batch_id
            self._split_keys = split_keys
            before = self._received()
            known = bool(self._shards)
            for report in reports:
                shard = report["shard"]
                self._shards[shard] = report
                self._count(shard, report.pop("out"), report.pop("totals", None))
                self._note_restore(shard, report["restore_seconds"])
                report["restore_seconds"] = self._restored.get(shard)
                report.pop("keys")
                report.pop("ages", None)
                if (graph := report.pop("graph", None)) is not None:
                    self._graphs[shard] = graph
            if reports:
                self._delivery = self._delivery.with_batch(batch.seconds)
            self._query_stats |= query_stats
            now = time.monotonic()
            if not known:  # the counts of a restarted job include rows before its start
                before = self._received() - sum(sum(r["arrived"].values()) for r in reports)
                self._arrivals = [(self._arrivals[0][0], before)]
            self._arrivals.append((now, self._received()))
            while len(self._arrivals) > 2 and now - self._arrivals[1][0] > _RATE_WINDOW_S:
                self._arrivals.pop(0)
        for listener in self._listeners:
            try:
                listener(batch)
            except Exception:  # which must not end the job
                _log.exception("a listener failed after batch %d", batch_id)

    def listen(self, listener: BatchListener) -> None:
        """Call a function after each delivered batch, in the thread that runs the batches. An error
        that it raises is logged.
        """
        self._listeners = [*self._listeners, listener]

    def _batch(self, batch_id: int, reports: Sequence[Mapping[str, Any]]) -> BatchProgress:
        """The figures of one batch; those of its first launch again if it is repeated."""
        planned_s = max((report["now_us"] / 1e6 for report in reports), default=time.time())
        out = _sums([*(report["out"] for report in reports), self._merged().new])
        return BatchProgress(
            batch_id,
            _sums(report["arrived"] for report in reports),
            {query: n for query, n in out.items() if n},
            max(0.0, time.time() - planned_s),
        )

    def progress(self) -> JobProgress:
        """The progress after the last delivered batch."""
        with self._lock:
            return JobProgress(
                self._batch_id,
                self._sums("rows"),
                _sums([*self._out.values(), self._merged().out]),
                self._sums("late"),
                _sums([*(report["bad"] for report in self._shards.values()), self._merged().bad]),
                self._sums("dropped"),
                self._watermarks(),
                self._rate(),
                self._restore_seconds(),
                self._waiting(),
                self._cells(),
                self._split_keys,
                self._delivery,
                self._undelivered(),
                self._latencies(),
                {name: n for name, n in self._sums("covered").items() if n},
                needs_of(report["cores"] for report in self._shards.values()),
                needs_of(report["memory"] for report in self._shards.values()),
            )

    def shards(self) -> list[dict[str, Any]]:
        """The last report of each shard: state sizes, seconds by phase, seconds of the last restore
        since this start.
        """
        with self._lock:
            return list(self._shards.values())

    @property
    def is_watched(self) -> bool:
        """Whether a page has shown the graphs of the shards in the last time."""
        return time.monotonic() < self._watched_until

    def graphs(self) -> list[list[dict[str, Any]]]:
        """The last reported plan of each shard, as the nodes of the console. They report it with
        the batches after this was called, for some time.
        """
        with self._lock:
            if not self.is_watched:
                self._graphs = {}
            self._watched_until = time.monotonic() + _WATCHED_S
            return list(self._graphs.values())

    def aside(self) -> list[tuple[str, str]]:
        """The queries that shards have set aside, each with the reason."""
        with self._lock:
            return [item for report in self._shards.values() for item in report["aside"].items()]

    def stats(self) -> dict[str, dict[str, Any]]:
        """The last reported metrics by query: ``Engine.stats()["queries"]``, of all its shards."""
        with self._lock:
            query_stats = list(self._query_stats.values())
        by_query: dict[str, list[dict[str, Any]]] = {}
        for text in query_stats:
            for name, metrics in json.loads(text).items():
                by_query.setdefault(name, []).append(metrics)
        found = {name: _of_all(metrics) for name, metrics in by_query.items()}
        merged = self._merged()
        for name in found.keys() & merged.out.keys():  # what its shards have made are parts
            found[name] |= {"rows_out": merged.out[name]}
        for name in found.keys() & merged.bad.keys():
            found[name] |= {"bad": found[name]["bad"] + merged.bad[name]}
        return found

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

    def _cells(self) -> dict[str, list[int]]:
        """By group and layout, the rows received by each cell."""
        found: dict[str, list[int]] = {}
        for shard, report in sorted(self._shards.items(), key=lambda item: item[1]["cell"]):
            place = f"{self._groups[shard]}, {report['layout']}"
            found.setdefault(place, []).append(sum(report["received"].values()))
        return found

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
        return _sums(report[what] for report in self._shards.values())

    def _watermarks(self) -> dict[str, int | None]:
        """By group, the watermark up to which all its shards have come."""
        found: dict[str, list[int | None]] = {}
        for shard, report in self._shards.items():
            found.setdefault(self._groups[shard], []).append(report["clock_us"])
        known = {group: [us for us in of if us is not None] for group, of in found.items()}
        return {g: min(us) if len(us) == len(found[g]) else None for g, us in known.items()}

    def _rate(self) -> float:
        (t0, n0), (t1, n1) = self._arrivals[0], self._arrivals[-1]
        return (n1 - n0) / (t1 - t0) if t1 > t0 else 0.0


def needs_of(shards: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The CPU cores, or bytes of state, of all shards: the sums of known amounts, such as ``had``
    and ``needed``, and the ``largest`` needs by what runs; {} without shards.
    """
    known = list(shards)
    if not known:
        return {}
    sums = {}
    for what in known[0].keys() - {"largest"}:
        amounts = [of[what] for of in known if of[what] is not None]
        sums[what] = sum(amounts) if amounts else None
    needs: dict[str, float] = {}
    for label, cores in (item for of in known for item in of["largest"].items()):
        needs[label] = needs.get(label, 0.0) + cores
    largest = dict(nlargest(_MOST_NEEDS, needs.items(), key=itemgetter(1)))
    return {**sums, "largest": largest}


def _sums(counts: Iterable[Mapping[str, int]]) -> dict[str, int]:
    sums: dict[str, int] = {}
    for of_one in counts:
        for name, n in of_one.items():
            sums[name] = sums.get(name, 0) + n
    return sums


def _of_all(metrics: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The metrics of a query from those in its shards: amounts are added; of ``latency`` the
    average is that of all results, and the others are the largest; texts are those of one shard.
    """
    if len(metrics) == 1:
        return metrics[0]
    merged: dict[str, Any] = {}
    for key in dict.fromkeys(key for of in metrics for key in of):
        values = [of[key] for of in metrics if of.get(key) is not None]
        if key == "latency":
            merged[key] = _latency([(of["latency"], of["rows_out"]) for of in metrics])
        elif key in _LARGEST:
            merged[key] = max(values, default=0)
        elif values and all(isinstance(v, int | float) for v in values):
            merged[key] = sum(values)
        else:
            merged[key] = values[0] if values else None
    return merged


def _latency(of_shards: Sequence[tuple[dict[str, float], int]]) -> dict[str, float]:
    known = [(latency, n) for latency, n in of_shards if latency]
    if not known:
        return {}
    merged = {key: max(latency[key] for latency, _ in known) for key in known[0][0]}
    total = sum(n for _, n in known)
    if total:
        of_all = sum(latency["average_seconds"] * n for latency, n in known)
        merged["average_seconds"] = of_all / total
    return merged
