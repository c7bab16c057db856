"""The measurement of the durable state."""

from __future__ import annotations

import json
from dataclasses import replace
from io import StringIO
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from eddyline.bench import state
from eddyline.spark.workers import durable


@pytest.fixture(scope="module")
def figures() -> dict[str, Any]:
    runs = [state.run_large_windows(4_000) for _ in range(2)]
    return {"small": state.small_batches(40), "windows": state.large_windows(4_000, runs)}


def test_small_batches(figures: dict[str, Any]) -> None:
    small = figures["small"]
    assert small["compared"] == 20 and 900 < small["batch_bytes"] < 1_300
    for part in ("first", "last"):
        assert small[part]["written_bytes"] > small["batch_bytes"], "each batch is logged"
        assert small[part]["engine_ms"] > 0 and small[part]["commit_ms"] > 0
    assert small["stored_bytes"] > 39 * small["batch_bytes"], "the log since the first batch"


def test_large_windows(figures: dict[str, Any]) -> None:
    windows = figures["windows"]
    assert (windows["rows"], windows["batch_rows"], windows["batches"]) == (4_000, 20, 200)
    assert windows["largest_over_median"] >= 1 and windows["restart_s"] > 0
    assert windows["runs"] == 2
    for part in ("engine_ms", "commit_ms"):
        assert windows[f"largest_{part}"] > windows[f"mean_{part}"] > 0
    assert windows["replayed_batches"] == 399, "no snapshot after that of the first batch"


def test_a_batch_that_is_slow_in_one_run_only_is_not_slow() -> None:
    runs = [state.run_large_windows(400) for _ in range(3)]
    calm, disturbed = np.full_like(runs[0].seconds, 0.01), np.full_like(runs[0].seconds, 0.01)
    disturbed[7] = 1.0
    twice = [replace(r, seconds=s) for r, s in zip(runs, (calm, disturbed, disturbed), strict=True)]
    once = [replace(r, seconds=s) for r, s in zip(runs, (calm, calm, disturbed), strict=True)]
    assert state.large_windows(400, once)["largest_over_median"] == 1
    assert state.large_windows(400, twice)["largest_over_median"] == 100


def test_segments_and_snapshots_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durable, "MIN_LOG_BYTES", 20_000)
    windows = state.large_windows(4_000, [state.run_large_windows(4_000)])
    assert windows["replayed_batches"] < 100
    assert windows["largest_written_bytes"] > windows["mean_written_bytes"]


def test_what_is_shown(
    figures: dict[str, Any], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state, "_RUNS", 2)  # each in a process of its own
    console = Console(file=StringIO(), width=120)
    state.show(figures, console)
    assert isinstance(console.file, StringIO)
    text = console.file.getvalue()
    for expected in (
        "first 20",
        "last 20",
        "written, bytes",
        "largest over median",
        "restart, s",
        "replayed batches",
    ):
        assert expected in text, text
    state.run_state(batches=4, rows=2_000, json=True)
    printed = json.loads(capsys.readouterr().out)
    assert printed["small"]["batches"] == 4 and printed["windows"]["rows"] == 2_000
