"""A job as the console reads it, from the reports of its shards."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import pyarrow as pa
import pytest

from console_scenes import demo_engine, demo_rows, market_rows, overloaded_engine
from eddyline import CatalogError, Engine
from eddyline.console import parts
from eddyline.console.rates import Rates
from eddyline.engine.operator_graph import operator_graph
from eddyline.engine.query import Query
from eddyline.spark.operation.console_source import JobSource
from eddyline.spark.operation.progress import JobProgress
from eddyline.spark.operation.progress_tracker import ProgressTracker


class ReportedJob:
    """A job whose shards have reported; it does not run."""

    restarts = 2

    def __init__(self, queries: Mapping[str, Query], tracker: ProgressTracker) -> None:
        self.queries = queries
        self.tracker = tracker

    def problem(self) -> str | None:
        return None

    def progress(self) -> JobProgress:
        return self.tracker.progress()

    def shards(self) -> list[dict[str, Any]]:
        return self.tracker.shards()

    def stats(self) -> dict[str, dict[str, Any]]:
        return self.tracker.stats()

    def graphs(self) -> list[list[dict[str, Any]]]:
        return self.tracker.graphs()

    def answer(self, name: str, timeout: float) -> pa.Table:
        raise NotImplementedError

    def follow(self, query: str, call: Callable[[pa.Table, int], None]) -> Callable[[], None]:
        raise NotImplementedError

    def check(self, script: str) -> None:
        raise NotImplementedError

    def sql(self, script: str) -> list[Query | None]:
        raise NotImplementedError


def report(shard: int, engine: Engine, **more: Any) -> dict[str, Any]:
    """What a shard with this engine reports."""
    streams, _ = engine.parts.inputs.stats()
    counts = {
        what: {n: of[what] for n, of in streams.items()} for what in ("late", "bad", "dropped")
    }
    rows = {n: of["rows_in"] for n, of in streams.items()}
    keep = {n: of["keep"] for n, of in engine.shedding.items() if of["keep"] < 1}
    overload = engine.parts.overload
    found = {
        "shard": shard,
        "layout": "by k",
        "cell": shard,
        "now_us": 0,
        "clock_us": 7,
        "rows": rows,
        "arrived": rows,
        "received": rows,
        "covered": {},
        "keys": (),
        **counts,
        "out": {},
        "totals": {n: q.rows_out for n, q in engine.queries.items()},
        "groups": engine.groups(),
        "keep": keep,
        "aside": {},
        "restore_seconds": 0.5,
        "seconds": {"read": 0.01, "process": 0.03},
        "state": {"snapshot_bytes": 1_000_000, "log_bytes": 0},
        "cores": overload.cores(),
        "memory": overload.memory_needs(),
        **more,
    }
    return dict(json.loads(json.dumps(found)))


def graph(engine: Engine) -> list[dict[str, Any]]:
    return [node.as_dict() for node in operator_graph(engine.parts, engine.lock, sizes=True)[0]]


@pytest.fixture(scope="module")
def demo() -> Engine:
    engine = demo_engine()
    for rows in list(demo_rows(200))[:3]:
        engine.process(rows)
    return engine


def test_what_two_shards_have_reported(demo: Engine) -> None:
    tracker = ProgressTracker({0: "all", 1: "all"})
    source = JobSource(ReportedJob(demo.queries, tracker))
    assert source.look().nodes == [] and tracker.is_watched
    stats = json.dumps(demo.stats()["queries"]).encode()
    reports = [report(shard, demo, graph=graph(demo)) for shard in (0, 1)]
    tracker.record(0, reports, {"0": stats})
    look = source.look()
    (one,) = [n for n in look.nodes if n.kind == "stream" and n.name == "newark"]
    (query,) = [n for n in look.nodes if n.name == "very_late"]
    assert query.queries == 1 and list(look.members[query.id]) == ["very_late"]
    assert one.queries == 4, "queries that read it"
    lines = {line.name: line for line in look.streams}
    rows_in = demo.stats()["streams"]["newark"]["rows_in"]
    assert lines["newark"].rows_in == 2 * rows_in
    assert list(look.health.phases) == ["read", "process", "Spark and delivery"]
    assert look.health.facts["restarts"] == "2"
    shown = parts.health_html(look)
    assert "1.00 MB" in shown and "0.50 s" in shown and "by k" in shown
    (line,) = source.lines(["airline_day"])
    assert line.rows_out == 2 * demo.queries["airline_day"].rows_out
    assert line.runs_as == "tree" and line.state is not None and line.why
    assert "StreamScan" in source.explain("very_late")
    with pytest.raises(CatalogError, match="did you mean 'very_late'"):
        source.explain("very_lat")
    assert source.lines(["dropped"]) == []


def test_a_job_that_sheds_says_so() -> None:
    engine = overloaded_engine()
    for rows in market_rows(20, 500, 500):
        engine.process(rows)
    assert engine.shedding["trades"]["keep"] < 1
    tracker = ProgressTracker({0: "all"})
    tracker.graphs()
    tracker.record(0, [report(0, engine, graph=graph(engine))], {})
    look = JobSource(ReportedJob(engine.queries, tracker)).look()
    assert {s.name: s.keep < 1 for s in look.streams} == {"trades": True, "quotes": True}
    assert "load shedding: trades, quotes" in parts.head_html(look, Rates())
    assert any(node.dropped for node in look.nodes)


def test_plans_are_forgotten_without_a_viewer(
    demo: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    tracker = ProgressTracker({0: "all"})
    assert not tracker.is_watched
    tracker.graphs()
    tracker.record(0, [report(0, demo, graph=graph(demo))], {})
    assert len(tracker.graphs()) == 1
    clock = tracker._watched_until + 1
    monkeypatch.setattr("eddyline.spark.operation.progress_tracker.time.monotonic", lambda: clock)
    assert not tracker.is_watched
    assert tracker.graphs() == [], "it may be an old one"
    assert tracker.is_watched
