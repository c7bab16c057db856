"""Python workers die at random instants: their batch goes on, and no result is lost or doubled."""

from __future__ import annotations

import os
import random
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from fault_record import survived
from faulty_jobs import FaultyJob
from worker_processes import end_engine_workers, engine_workers

pytestmark = [pytest.mark.spark, pytest.mark.fault]
#: Longer than a batch of a file takes.
MOST_S = 1.0
ONE = "SIGKILL of a Python worker"
EVERY = "SIGKILL of all Python workers"
#: Between two batches: until the system has reaped the workers, Spark takes them to be alive.
DAEMON = "SIGKILL of the Python daemon and its workers"
FAULTS = (ONE, ONE, EVERY, DAEMON)


@pytest.mark.parametrize("count", [3, pytest.param(42, marks=pytest.mark.long)])
def test_workers_are_killed(spark: SparkSession, tmp_path: Path, count: int) -> None:
    rng = random.Random(count)
    job = FaultyJob(spark, tmp_path, seed=count, files=2 * count + 2)
    job.write(2)
    run = job.session().start()
    run.processAllAvailable()
    for _ in range(count):
        fault = rng.choice(FAULTS)
        if fault == DAEMON:
            end_engine_workers(daemons=True)
        job.write(rng.randint(1, 2))
        if fault != DAEMON:
            time.sleep(rng.random() * MOST_S)
            while not (workers := engine_workers(daemons=False)):
                time.sleep(0.01)  # the batch has not begun
            for pid in workers if fault == EVERY else [rng.choice(workers)]:
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
        run.processAllAvailable()
        job.check()
        survived(fault, "the batch goes on")
    assert run.restarts == 0 and run.exception() is None
    run.stop(after_batch=True)
    job.finish()
