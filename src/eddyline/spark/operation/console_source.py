"""A running job as the console shows it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Protocol

import pyarrow as pa

from eddyline.console.markup import seconds_text
from eddyline.console.plan_graph import Node, added, summarised
from eddyline.console.source import Follower, Health, Look, QueryLine, StreamLine
from eddyline.engine.query import Query
from eddyline.errors import CatalogError, did_you_mean
from eddyline.rate_limiter import RateLimiter
from eddyline.spark.operation.job_metrics import WatchedJob, watermarks
from eddyline.spark.operation.progress import JobProgress
from eddyline.sql.parser import parse
from eddyline.sql.statements import AlterQuery, CreateQuery, Drop, ResetWatermark

#: How long the page waits for an answer.
_WAIT_S: Final = 20.0
#: The share of the time that reading the metrics of the queries may take.
_SHARE: Final = 0.01


class ShownJob(WatchedJob, Protocol):
    """What the console shows and changes: see :class:`eddyline.spark.Run`."""

    def graphs(self) -> list[list[dict[str, Any]]]:
        """The plan of each shard."""

    def follow(self, query: str, call: Follower) -> Callable[[], None]:
        """Follow the changes of a query."""

    def check(self, script: str) -> None:
        """Check statements."""

    def sql(self, script: str) -> list[Query | None]:
        """Execute statements."""


class JobSource:
    """Reads what the shards of a job have reported."""

    kind = "job"

    def __init__(self, job: ShownJob) -> None:
        self._job = job
        self._stats: Mapping[str, Mapping[str, Any]] = {}
        self._limiter = RateLimiter(_SHARE, of_cpu=True)

    def look(self) -> Look:
        """As of the last delivered batch."""
        job = self._job
        progress, shards = job.progress(), job.shards()
        graphs = [[Node.of(fields) for fields in graph] for graph in job.graphs()]
        nodes, _ = summarised(added(graphs))
        members = {n.id: [n.name] for n in nodes if n.kind == "query" and n.queries == 1}
        streams = list(_streams(progress, shards))
        health = Health(
            problem=job.problem(),
            advice=None,
            cores=progress.cores,
            memory=progress.memory,
            facts=_facts(progress, job.restarts),
            phases=_phases(progress, shards),
            shards=[_shard(report) for report in sorted(shards, key=lambda r: r["shard"])],
        )
        now = time.time_ns() // 1_000
        return Look(time.monotonic(), now, streams, nodes, health, len(job.queries), members)

    def names(self) -> Sequence[str]:
        """The names of all queries."""
        return list(self._job.queries)

    def lines(self, names: Iterable[str]) -> list[QueryLine]:
        """Queries as of one of the last batches."""
        if self._limiter.due:
            with self._limiter.measured():
                self._stats = self._job.stats()
        queries, progress = self._job.queries, self._job.progress()
        known = (queries[name] for name in names if name in queries)
        return [_line(query, progress, self._stats.get(query.name, {})) for query in known]

    def explain(self, name: str) -> str:
        """EXPLAIN."""
        return self._query(name).explain()

    def answer(self, name: str) -> pa.Table:
        """Q(now), with the next batch."""
        return self._job.answer(name, _WAIT_S)

    def follow(self, name: str, follower: Follower) -> Callable[[], None]:
        """Follow the changes of the batches."""
        return self._job.follow(name, follower)

    def check(self, text: str) -> None:
        """Check what :meth:`run` would do."""
        self._job.check(text)

    def run(self, text: str) -> list[str]:
        """Statements that a running job accepts."""
        self._job.sql(text)
        kinds = (AlterQuery, CreateQuery, Drop, ResetWatermark)
        return [s.name for s in parse(text) if isinstance(s, kinds)]

    def _query(self, name: str) -> Query:
        query = self._job.queries.get(name)
        if query is None:
            raise CatalogError(f"there is no query '{name}'; {did_you_mean(name, self.names())}")
        return query


def _streams(progress: JobProgress, shards: Sequence[Mapping[str, Any]]) -> Iterator[StreamLine]:
    known = watermarks(shards)
    held: dict[str, tuple[int, int, str]] = {}
    for group in (group for report in shards for group in report["groups"]):
        rows, size, _ = held.get(group["held_by"] or "", (0, 0, ""))
        if group["held_by"] is not None:
            by = str(group["held_by"])
            held[by] = rows + group["held"], size + group["held_bytes"], by
    for name, n in progress.rows_in.items():
        rows, size, by = held.get(name, (0, 0, ""))
        keep = min((report["keep"].get(name, 1.0) for report in shards), default=1.0)
        yield StreamLine(
            name,
            rows_in=n,
            late=progress.late.get(name, 0),
            bad=progress.bad.get(name, 0),
            dropped=progress.dropped.get(name, 0),
            keep=keep,
            watermark_us=known.get(name),
            held=rows,
            held_bytes=size,
            held_by=by,
        )


def _line(query: Query, progress: JobProgress, stats: Mapping[str, Any]) -> QueryLine:
    """A query; where results reach a sink, the latency is that until they are there."""
    delivery = progress.latency.get(query.name)
    latency = stats.get("latency", {}) if delivery is None else vars(delivery)
    return QueryLine(
        query.name,
        query.sql,
        rows_out=progress.rows_out.get(query.name, 0),
        bad=progress.bad.get(query.name, 0),
        p50_s=latency.get("p50_seconds"),
        p99_s=latency.get("p99_seconds"),
        seconds=stats.get("seconds"),
        state=stats.get("state_bytes"),
        shared_with=stats.get("shared_with"),
        runs_as=stats.get("executor", ""),
        why=stats.get("why", ""),
        set_aside=stats.get("set_aside"),
        sink=query.options.get("sink", "print"),
    )


def _facts(progress: JobProgress, restarts: int) -> dict[str, str]:
    times = progress.delivery
    found = {"batches": f"{times.batches:,}", "restarts": f"{restarts:,}"}
    if times.batches:
        mean = times.total_seconds / times.batches
        found["time of a batch"] = (
            f"{seconds_text(times.last_seconds)}, {seconds_text(mean)} on average"
        )
    for name, waiting in progress.undelivered.items():
        found[f"not delivered: {name}"] = waiting.text
    return found


def _phases(progress: JobProgress, shards: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Of the slowest shard of the last batch; what is not measured there is Spark's and the
    delivery's.
    """
    if not shards:
        return {}
    slowest: Mapping[str, float] = max(
        (report["seconds"] for report in shards), key=lambda of: sum(of.values())
    )
    rest = (progress.delivery.last_seconds or 0.0) - sum(slowest.values())
    return {**slowest, "Spark and delivery": max(0.0, rest)}


def _shard(report: Mapping[str, Any]) -> dict[str, str]:
    state = report["state"]
    restored = report["restore_seconds"]
    return {
        "shard": str(report["shard"]),
        "layout": str(report["layout"]),
        "cell": str(report["cell"]),
        "rows of the last batch": f"{sum(report['received'].values()):,}",
        "seconds": f"{sum(report['seconds'].values()):.3f}",
        "snapshot": f"{state['snapshot_bytes'] / 1e6:,.2f} MB",
        "log": f"{state['log_bytes'] / 1e6:,.2f} MB",
        "restored in": "-" if restored is None else f"{restored:.2f} s",
    }
