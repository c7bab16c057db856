"""The progress of a job from the reports of its shards."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from eddyline.spark.operation.progress_tracker import ProgressTracker


def report(shard: int, out: dict[str, int], **more: Any) -> dict[str, Any]:
    counts = {
        "rows": {f"s{shard}": 1},
        "arrived": {},
        "late": {},
        "bad": {},
        "dropped": {},
        "covered": {},
    }
    fixed = {"shard": shard, "clock_us": 7, "restore_seconds": None, "keys": (), "now_us": 0}
    groups = [{"waiting": shard}, {"waiting": 2 * shard}]
    cores: dict[str, Any] = {"had": 1.0, "needed": None if shard else 0.5, "largest": {}}
    memory = {"had": None, "needed": 1e6, "used": None, "largest": {"rows of s": 1e6}}
    needs = {"cores": cores, "memory": memory}
    dealt = {"layout": "by k", "cell": shard, "received": {f"s{shard}": shard + 1}}
    return {**fixed, **dealt, **needs, "groups": groups, "out": out, **counts, **more}


def test_shards_report_what_a_batch_adds() -> None:
    tracker = ProgressTracker({0: "s0", 1: "s1"})
    tracker.record(0, [report(0, {"q": 2}, totals={"q": 12, "r": 0})], {})
    tracker.record(1, [report(1, {}, totals={"t": 5}), report(0, {"r": 3})], {})
    tracker.record(2, [report(1, {"t": 1, "u": 1})], {})
    progress = tracker.progress()
    assert progress.rows_out == {"q": 12, "r": 3, "t": 6, "u": 1}
    assert progress.cores == {"had": 2.0, "needed": 0.5, "largest": {}}
    largest = {"rows of s": 2e6}
    assert progress.memory == {"had": None, "needed": 2e6, "used": None, "largest": largest}
    tracker.record(3, [report(0, {"q": 1}, totals={"q": 13, "r": 3})], {})
    assert tracker.progress().rows_out == {"q": 13, "r": 3, "t": 6, "u": 1}, "launched anew"
    assert tracker.progress().waiting == {"s1": 3}
    assert all("out" not in shard and "totals" not in shard for shard in tracker.shards())


def test_rows_received_by_the_cells_of_a_layout_and_split_keys_are_reported() -> None:
    tracker = ProgressTracker({0: "s", 1: "s", 2: "t"})
    tracker.record(0, [report(s, {}, totals={}) for s in (2, 1, 0)], {}, [{"key": "7"}])
    assert tracker.progress().received == {"s, by k": [1, 2], "t, by k": [3]}
    assert tracker.progress().split_keys == [{"key": "7"}]
    assert not any("keys" in shard for shard in tracker.shards())


def test_the_last_metrics_are_reported() -> None:
    def query_stats(**rows: int) -> bytes:
        return json.dumps({name: {"rows_out": n} for name, n in rows.items()}).encode()

    tracker = ProgressTracker({0: "s0", 1: "s1"})
    tracker.record(0, [], {"0": query_stats(q=1, r=1), "1": query_stats(t=4)})
    tracker.record(1, [], {})
    tracker.record(2, [], {"0": query_stats(q=2)})
    assert tracker.stats() == {"q": {"rows_out": 2}, "t": {"rows_out": 4}}


def test_the_last_restores_are_reported_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    tracker = ProgressTracker({0: "s", 1: "s", 2: "t"})
    with caplog.at_level(logging.INFO, "eddyline"):
        tracker.record(0, [report(s, {}, totals={}, restore_seconds=s + 0.5) for s in (0, 1)], {})
        tracker.record(1, [report(0, {}), report(1, {}), report(2, {}, totals={})], {})
    assert tracker.progress().restore_seconds == {"s": 1.5}, "of the slowest shard"
    assert caplog.messages == [
        "shard 0 (s): engine restored in 0.50 s",
        "shard 1 (s): engine restored in 1.50 s",
    ]


def test_the_metrics_of_several_shards_are_merged() -> None:
    def metrics(rows_out: int, average_s: float, **more: Any) -> dict[str, Any]:
        latency = dict.fromkeys(("average_seconds", "p50_seconds", "max_seconds"), average_s)
        fixed = {"rows_out": rows_out, "seconds": 0.5, "bad": 1, "executor": "eddy"}
        return {**fixed, "latency": latency if rows_out else {}, **more}

    tracker = ProgressTracker({0: "s", 1: "s", 2: "s"})
    of_shards = {
        "0": {"q": metrics(30, 1.0, shared_with=2, reordered=0, set_aside=None, checks=7)},
        "1": {"q": metrics(10, 5.0, shared_with=1, reordered=3, set_aside="it failed", checks=1)},
        "2": {"q": metrics(0, 9.0, shared_with=0, reordered=0, set_aside=None), "r": metrics(4, 2)},
    }
    tracker.record(0, [], {shard: json.dumps(of).encode() for shard, of in of_shards.items()})
    stats = tracker.stats()
    assert stats["q"] == {
        "rows_out": 40,
        "seconds": 1.5,
        "bad": 3,
        "executor": "eddy",
        "latency": {"average_seconds": 2.0, "p50_seconds": 5.0, "max_seconds": 5.0},
        "shared_with": 2,
        "reordered": 3,
        "set_aside": "it failed",
        "checks": 8,
    }
    assert stats["r"] == of_shards["2"]["r"], "in one shard"
    tracker.record(1, [], {"1": json.dumps({"q": metrics(20, 5.0)}).encode()})
    assert tracker.stats()["q"]["rows_out"] == 50, "the last of each shard"


def test_queries_that_are_set_aside_are_reported_by_shard() -> None:
    tracker = ProgressTracker({0: "s", 1: "s"})
    tracker.record(0, [report(0, {}, totals={}, aside={}), report(1, {}, totals={}, aside={})], {})
    assert tracker.aside() == []
    tracker.record(1, [report(1, {}, aside={"q": "no 13", "r": "no 7"})], {})
    tracker.record(2, [report(0, {}, aside={"q": "no 13, too"})], {})
    assert tracker.aside() == [("q", "no 13, too"), ("q", "no 13"), ("r", "no 7")]
