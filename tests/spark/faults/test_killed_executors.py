"""Executors of a cluster are killed at random instants of batches."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from test_cluster import Job, run_jobs

from fault_record import survived
from spark_cases import embedded

pytestmark = [pytest.mark.spark, pytest.mark.fault, pytest.mark.long]
LOSSES = 8


def test_executors_are_killed(tmp_path: Path) -> None:
    rng = random.Random(8)
    losses = list(range(1, 2 * LOSSES, 2))
    delays = [rng.random() for _ in losses]
    job = Job("random", (7, 8), 2 * LOSSES + 2, losses, delays)
    cluster = run_jobs(tmp_path, {job.root: job})
    report = cluster.report["jobs"][job.root]
    assert cluster.changes(job.root) == embedded(job.streams())
    assert report["lost_in_batch"] > 0 and report["restarts"] == 0
    for _ in losses:
        survived("SIGKILL of an executor", "its tasks are repeated")
