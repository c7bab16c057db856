"""The figures of a running job for Prometheus, collected when they are asked for."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from itertools import accumulate
from typing import Any, Protocol

import pyarrow as pa
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
    SummaryMetricFamily,
)

from eddyline.engine.query import Query
from eddyline.spark.operation.delivery_times import BOUNDS_S, DeliveryTimes
from eddyline.spark.operation.progress import JobProgress
from eddyline.types import FIRST_INSTANT
from eddyline.version import VERSION

_QUANTILES = {"0.5": "p50_seconds", "0.99": "p99_seconds"}
_LATENCY = (
    "query_latency_seconds",
    "Time in the engine from when rows could be processed until results were released.",
)
_OF_MEMORY = {
    "available": ("had", "State that the queries may have, if there is a limit."),
    "needed": ("needed", "State that the queries of shards with known rates need for all rows."),
    "used": ("used", "State at the last decision, if there is a limit."),
}
_DELIVERY = (
    "query_delivery_seconds",
    "Time from the arrival of rows at the source until their results were in the sink.",
)


class WatchedJob(Protocol):
    """What is shown of a job: see :class:`eddyline.spark.Run`."""

    @property
    def queries(self) -> Mapping[str, Query]:
        """The current queries."""

    @property
    def restarts(self) -> int:
        """Number of restarts after failures."""

    def problem(self) -> str | None:
        """Why the job does not run now."""

    def progress(self) -> JobProgress:
        """Rows in and out."""

    def shards(self) -> list[dict[str, Any]]:
        """The last reports of the shards."""

    def stats(self) -> dict[str, dict[str, Any]]:
        """Metrics by query."""

    def answer(self, name: str, timeout: float) -> pa.Table:
        """The answer of a query."""


class JobMetrics:
    """A collector of ``prometheus_client``.

    Args:
        job: what is collected from.
    """

    def __init__(self, job: WatchedJob) -> None:
        self._job = job

    def collect(self) -> Iterator[Metric]:
        """The metrics as of the last delivered batch."""
        progress, shards = self._job.progress(), self._job.shards()
        queries = self._job.queries
        yield from self._of_job(progress, shards)
        yield from _of_streams(progress, shards, queries)
        yield from _of_groups(shards)
        yield from _of_queries(progress, shards, self._job.stats(), queries)
        yield from _of_shards(shards)

    def _of_job(self, progress: JobProgress, shards: list[dict[str, Any]]) -> Iterator[Metric]:
        yield _gauge("info", "Version of Eddyline.", {VERSION: 1}, "version")
        running = self._job.problem() is None
        yield _single("running", "Whether the job runs.", int(running))
        yield CounterMetricFamily(
            "eddyline_restarts", "Restarts after failures.", value=self._job.restarts
        )
        yield from _of_delivery(progress.delivery)
        cores = [report["cores"] for report in shards]
        if cores:
            have = sum(of["had"] for of in cores)
            yield _single("cores_available", "CPU cores that the queries may use.", have)
        needed = [of["needed"] for of in cores if of["needed"] is not None]
        if needed:
            text = "CPU cores that the queries of shards with known rates need for all rows."
            yield _single("cores_needed", text, sum(needed))
        for name, (what, text) in _OF_MEMORY.items():
            known = [of["memory"][what] for of in shards if of["memory"][what] is not None]
            if known:
                yield _single(f"state_bytes_{name}", text, sum(known))


def _of_delivery(times: DeliveryTimes) -> Iterator[Metric]:
    yield CounterMetricFamily("eddyline_batches", "Delivered batches.", value=times.batches)
    if times.last_seconds is not None:
        text = "Time of the last batch from its plan until it was delivered."
        yield _single("last_batch_seconds", text, times.last_seconds)
    counts = accumulate(times.buckets)
    bounds = [*map(str, BOUNDS_S), "+Inf"]
    yield HistogramMetricFamily(
        "eddyline_batch_delivery_seconds",
        "Times of batches from when they were planned until their results were in the sinks.",
        buckets=list(zip(bounds, counts, strict=True)),
        sum_value=times.total_seconds,
    )


def _of_streams(
    progress: JobProgress, shards: Iterable[Mapping[str, Any]], queries: Mapping[str, Query]
) -> Iterator[Metric]:
    yield _counter("rows_in", "Rows received, with late and bad ones.", progress.rows_in, "stream")
    yield _counter("late_rows", "Rows behind the watermark.", progress.late, "stream")
    bad = {name: n for name, n in progress.bad.items() if name in progress.rows_in}
    yield _counter("bad_rows", "Rows that cannot be read.", bad, "stream")
    yield _counter("dropped_rows", "Rows dropped by drop boxes.", progress.dropped, "stream")
    instants = {name: us / 1e6 for name, us in watermarks(shards).items()}
    text = "Watermark of the stream's group, in seconds since 1970."
    yield _gauge("watermark_timestamp_seconds", text, instants, "stream")
    now = time.time()
    lags = {name: now - seconds for name, seconds in instants.items() if seconds <= now}
    text = "Wall clock minus watermark; not where the watermark is ahead of the wall clock."
    yield _gauge("watermark_lag_seconds", text, lags, "stream")


def watermarks(shards: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """By stream, the watermark up to which all its shards have come, in us; only where it is known
    in all of them.
    """
    found: dict[str, int] = {}
    for group in (group for report in shards for group in report["groups"]):
        for name in group["members"]:
            found[name] = min(group["watermark"], found.get(name, group["watermark"]))
    return {name: us for name, us in found.items() if us >= FIRST_INSTANT}


def _of_groups(shards: Iterable[Mapping[str, Any]]) -> Iterator[Metric]:
    held: dict[str, int] = {}
    held_bytes: dict[str, int] = {}
    waiting: dict[str, int] = {}
    for group in (group for report in shards for group in report["groups"]):
        name = ", ".join(group["members"])
        held[name] = held.get(name, 0) + group["held"]
        held_bytes[name] = held_bytes.get(name, 0) + group["held_bytes"]
        waiting[name] = waiting.get(name, 0) + group["waiting"]
    yield _gauge("held_rows", "Rows that wait for the watermark.", held, "streams")
    yield _gauge("held_bytes", "Size of rows that wait for the watermark.", held_bytes, "streams")
    yield _gauge("waiting_rows", "Rows that wait by latency.", waiting, "streams")


def _of_queries(
    progress: JobProgress,
    shards: Iterable[Mapping[str, Any]],
    stats: Mapping[str, Mapping[str, Any]],
    queries: Mapping[str, Query],
) -> Iterator[Metric]:
    out = {name: progress.rows_out.get(name, 0) for name in queries}
    yield _counter("query_rows_out", "Changes emitted.", out, "query")
    bad = {name: progress.bad.get(name, 0) for name in queries}
    yield _counter("query_bad_rows", "Rows for which the query has no value.", bad, "query")
    yield from _of_undelivered(progress)
    known = {name: stats[name] for name in queries if name in stats}
    aside = {name for report in shards for name in report["aside"]}
    aside |= {name for name, of in known.items() if of.get("set_aside") is not None}
    state = {name: int(name in aside) for name in queries}
    yield _gauge("query_set_aside", "Whether the query is set aside.", state, "query")
    seconds = {name: of["seconds"] for name, of in known.items() if "seconds" in of}
    text = "Computing time, a share where it is shared; since the engine was built."
    yield _counter("query_seconds", text, seconds, "query")
    sizes = {name: of["state_bytes"] for name, of in known.items() if "state_bytes" in of}
    text = "State in memory, a share where it is shared."
    yield _gauge("query_state_bytes", text, sizes, "query")
    yield _quantiles(*_LATENCY, {name: of.get("latency", {}) for name, of in known.items()})
    delivery = {name: vars(progress.latency[name]) for name in queries if name in progress.latency}
    yield _quantiles(*_DELIVERY, delivery)


def _quantiles(name: str, text: str, values: Mapping[str, Mapping[str, float]]) -> Metric:
    """By query, the quantiles that are known."""
    family = SummaryMetricFamily(f"eddyline_{name}", text)
    for query, of in values.items():
        for quantile, key in _QUANTILES.items():
            if key in of:
                family.add_sample(family.name, {"query": query, "quantile": quantile}, of[key])
    return family


def _of_undelivered(progress: JobProgress) -> Iterator[Metric]:
    """Of side outputs, too: their names as of ``Session.results``."""
    waiting = progress.undelivered.items()
    batches = {name: of.batches for name, of in waiting}
    yield _gauge("query_undelivered_batches", "Batches that wait for a sink.", batches, "query")
    sizes = {name: of.bytes for name, of in waiting}
    text = "Size of what waits for the sink, of all queries that share it."
    yield _gauge("query_undelivered_bytes", text, sizes, "query")
    info = GaugeMetricFamily(
        "eddyline_query_undelivered_info",
        "Why results wait.",
        labels=("query", "sink", "cause"),
    )
    for name, of in waiting:
        info.add_metric((name, of.sink, of.cause), 1)
    yield info


def _of_shards(shards: Iterable[Mapping[str, Any]]) -> Iterator[Metric]:
    info = GaugeMetricFamily(
        "eddyline_shard_info", "How rows are divided.", labels=("shard", "layout", "cell")
    )
    phases = GaugeMetricFamily(
        "eddyline_shard_phase_seconds", "Times of the last batch.", labels=("shard", "phase")
    )
    sizes: dict[str, dict[str, int]] = {"snapshot_bytes": {}, "log_bytes": {}}
    restored: dict[str, float] = {}
    for report in shards:
        shard = str(report["shard"])
        info.add_metric((shard, report["layout"], str(report["cell"])), 1)
        for phase, seconds in report["seconds"].items():
            phases.add_metric((shard, phase), seconds)
        for name, by_shard in sizes.items():
            by_shard[shard] = report["state"][name]
        if report["restore_seconds"] is not None:
            restored[shard] = report["restore_seconds"]
    yield info
    yield phases
    yield _gauge("shard_snapshot_bytes", "Size of the snapshot.", sizes["snapshot_bytes"], "shard")
    text = "Size of the log since the snapshot."
    yield _gauge("shard_log_bytes", text, sizes["log_bytes"], "shard")
    text = "Time of the last rebuild of the engine from the checkpoint."
    yield _gauge("shard_restore_seconds", text, restored, "shard")


def _single(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(f"eddyline_{name}", text, value=value)


def _gauge(name: str, text: str, values: Mapping[str, float], label: str) -> Metric:
    family = GaugeMetricFamily(f"eddyline_{name}", text, labels=(label,))
    for key, value in values.items():
        family.add_metric((key,), value)
    return family


def _counter(name: str, text: str, values: Mapping[str, float], label: str) -> Metric:
    family = CounterMetricFamily(f"eddyline_{name}", text, labels=(label,))
    for key, value in values.items():
        family.add_metric((key,), value)
    return family
