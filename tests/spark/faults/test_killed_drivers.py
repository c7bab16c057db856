"""Drivers are killed, terminated and doubled at random instants."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from eddyline import StateError
from fault_record import survived
from faulty_jobs import FaultyJob
from short_lived_java import SHORT_LIVED_RUN

pytestmark = [pytest.mark.spark, pytest.mark.fault]
WAIT_S = 240.0
#: Longer than the first batches take after the start.
MOST_S = 3.0
DOUBLED = 5


def end_in_the_middle(job: FaultyJob, rng: random.Random, sign: signal.Signals) -> str:
    """Run the job in a process, and send it a signal a random time after a batch has begun; returns
    where it was.
    """
    before = job.batches("offsets")
    command = [sys.executable, "-m", "eddyline", "run", str(job.script), "--continuous"]
    command += ["--checkpoint", str(job.checkpoint), "--shards", "2", *SHORT_LIVED_RUN]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        try:
            until = time.monotonic() + WAIT_S
            while job.batches("offsets") == before:
                assert process.poll() is None and time.monotonic() < until
                time.sleep(0.01)
            time.sleep(rng.random() * MOST_S)
            process.send_signal(sign)
            output, _ = process.communicate(timeout=WAIT_S)
        finally:
            process.kill()
    if sign == signal.SIGTERM:
        assert process.returncode == 0, output
        assert job.batches("offsets") - job.batches("commits") <= 1
        return "it stops after the batch"
    assert process.returncode == -signal.SIGKILL
    in_batch = job.batches("offsets") > job.batches("commits")
    return "the batch is repeated" if in_batch else "it continues"


@pytest.mark.parametrize(("kills", "terms"), [(1, 0), pytest.param(12, 4, marks=pytest.mark.long)])
def test_drivers_are_ended(spark: SparkSession, tmp_path: Path, kills: int, terms: int) -> None:
    rng = random.Random(kills)
    signals = [signal.SIGKILL] * kills + [signal.SIGTERM] * terms
    rng.shuffle(signals)
    job = FaultyJob(spark, tmp_path, seed=kills, files=8 + 6 * len(signals))
    for sign in signals:
        job.write(6)
        where = end_in_the_middle(job, rng, sign)
        job.run_over_all()
        job.check()
        survived(f"{sign.name} of the driver", where)
    job.write(8)
    job.finish()


def test_two_jobs_on_one_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    rng = random.Random(5)
    job = FaultyJob(spark, tmp_path, seed=5, files=10)
    run = job.session().start()
    for _ in range(DOUBLED):
        job.write(2)
        time.sleep(rng.random())
        with pytest.raises(StateError, match="in use by another session"):
            job.session().start()
        run.processAllAvailable()
        job.check()
        survived("a second job on the checkpoint", "it is refused")
    run.stop(after_batch=True)
    job.finish()
