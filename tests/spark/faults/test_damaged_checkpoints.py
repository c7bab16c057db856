"""The newest files of a checkpoint are truncated, missing or changed.

Either the job goes on with the right results, or it ends with an error; with the files as they were
it continues then. It never goes on with other results.
"""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from eddyline.errors import EddylineError
from fault_record import survived
from faulty_jobs import FaultyJob

pytestmark = [pytest.mark.spark, pytest.mark.fault]
#: Of whose newest file something happens.
GROUPS = {
    "offsets": "spark/offsets/[0-9]*",
    "commits": "spark/commits/[0-9]*",
    "sources": "spark/sources/*/[0-9]*",
    "state": "spark/state/*/*/*.*",
    "state metadata": "spark/state/*/_metadata/**/*",
    "program": "program.json",
    "lease": "lease.json",
    "job": "job_id",
}
DAMAGES = ("truncated", "missing", "corrupt")


def newest(checkpoint: Path, pattern: str) -> Path | None:
    """The file with the largest number in its name, or the last written one."""
    found = [f for f in checkpoint.glob(pattern) if f.is_file() and not f.name.startswith(".")]
    return max(found, key=lambda f: (f.stat().st_mtime_ns, f.name), default=None)


def damage(file: Path, how: str, rng: random.Random) -> None:
    content = bytearray(file.read_bytes())
    if how == "missing" or not content:
        file.unlink()
    elif how == "truncated":
        file.write_bytes(content[: rng.randrange(len(content))])
    else:
        for _ in range(3):
            content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        file.write_bytes(content)


def cases(seed: int, count: int) -> list[tuple[str, str]]:
    every = [(group, how) for group in GROUPS for how in DAMAGES]
    random.Random(seed).shuffle(every)
    return [every[i % len(every)] for i in range(count)]


@pytest.mark.parametrize("count", [3, pytest.param(24, marks=pytest.mark.long)])
def test_the_newest_file_is_damaged(spark: SparkSession, tmp_path: Path, count: int) -> None:
    rng = random.Random(count)
    job = FaultyJob(spark, tmp_path, seed=count, files=4 + 2 * count)
    job.write(4)
    job.run_over_all()
    for group, how in cases(count, count):
        job.check()
        copy = tmp_path / "copy"
        shutil.copytree(job.checkpoint, copy)
        file = newest(job.checkpoint, GROUPS[group])
        if file is None:  # the lease of a job that does not run
            shutil.rmtree(copy)
            continue
        job.write(2)
        damage(file, how, rng)
        try:
            job.run_over_all()
            outcome = "it goes on"
        except (EddylineError, StreamingQueryException):
            shutil.rmtree(job.checkpoint)
            copy.rename(job.checkpoint)
            job.run_over_all()
            outcome = "an error; it goes on with the file restored"
        job.check()
        shutil.rmtree(copy, ignore_errors=True)
        survived(f"newest file of {group} {how}", outcome)
    job.finish()
