"""The disk of the checkpoint, or of a sink, is full for a while."""

from __future__ import annotations

import os
import random
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from eddyline import StateError
from fault_record import survived
from faulty_jobs import FaultyJob
from spark_cases import wait

pytestmark = [pytest.mark.spark, pytest.mark.fault]
SIZE = 64 * 2**20
ROUNDS = [1, pytest.param(4, marks=pytest.mark.long)]


class SmallDisk:
    """A file system of some MB."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._ballast = place / "ballast"

    def fill(self) -> None:
        with self._ballast.open("wb") as file:
            try:
                while True:
                    os.write(file.fileno(), bytes(4096))
            except OSError:
                pass

    def empty(self) -> None:
        self._ballast.unlink()


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    place = tmp_path / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(place)]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("no file system can be mounted: this needs root")
    yield SmallDisk(place)
    subprocess.run(["umount", "-l", str(place)], check=True)


@pytest.mark.parametrize("rounds", ROUNDS)
def test_of_the_checkpoint(
    spark: SparkSession, tmp_path: Path, disk: SmallDisk, rounds: int
) -> None:
    rng = random.Random(rounds)
    job = FaultyJob(
        spark, tmp_path, seed=7, files=4 * rounds + 2, checkpoint=disk.place / "checkpoint"
    )
    job.write(2)
    job.run_over_all()
    for _ in range(rounds):
        run = job.session().start()
        job.write(2)
        time.sleep(rng.random())
        disk.fill()
        job.write(2)
        with pytest.raises(StateError, match=r"No space left|the disk is full|was not read or"):
            while not run.awaitTermination(60):
                pass
        disk.empty()
        job.run_over_all()
        job.check()
        survived("full disk of the checkpoint", "an error that names it; it continues")
    job.finish()


@pytest.mark.parametrize("rounds", ROUNDS)
def test_of_the_sinks(spark: SparkSession, tmp_path: Path, disk: SmallDisk, rounds: int) -> None:
    rng = random.Random(rounds)
    job = FaultyJob(spark, tmp_path, seed=8, files=4 * rounds + 2, sinks=disk.place / "out")
    job.write(2)
    job.run_over_all()
    run = job.session().start()
    for _ in range(rounds):
        job.write(2)
        time.sleep(rng.random())
        disk.fill()
        job.write(2)
        run.processAllAvailable()
        wait(run, lambda: bool(run.progress().undelivered))
        disk.empty()
        wait(run, lambda: not run.progress().undelivered)
        run.processAllAvailable()
        job.check()
        survived("full disk of the sinks", "results wait, and are delivered")
    run.stop(after_batch=True)
    job.finish()
