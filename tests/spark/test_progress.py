"""The progress of a job from the reports of its shards."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from eddyline.spark.progress_tracker import ProgressTracker


def report(shard: int, out: dict[str, int], **more: Any) -> dict[str, Any]:
    counts = {"rows": {f"s{shard}": 1}, "arrived": {}, "late": {}, "bad": {}, "dropped": {}}
    fixed = {"shard": shard, "clock_us": 7, "restore_seconds": None, "keys": ()}
    groups = [{"waiting": shard}, {"waiting": 2 * shard}]
    dealt = {"layout": "by k", "cell": shard, "received": {f"s{shard}": shard + 1}}
    return {**fixed, **dealt, "groups": groups, "out": out, **counts, **more}


def test_shards_report_what_a_batch_adds() -> None:
    tracker = ProgressTracker({0: "s0", 1: "s1"})
    tracker.record(0, [report(0, {"q": 2}, totals={"q": 12, "r": 0})], {})
    tracker.record(1, [report(1, {}, totals={"t": 5}), report(0, {"r": 3})], {})
    tracker.record(2, [report(1, {"t": 1, "u": 1})], {})
    assert tracker.progress().rows_out == {"q": 12, "r": 3, "t": 6, "u": 1}
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
