"""The driver of jobs in a cluster, run by ``spark-submit``: ``cluster_driver.py jobs.json``.

The file has by job its ``script``, its ``checkpoint`` and the ids of the batches in which it is to
lose an executor, ``losses``, and how many seconds after their begin, ``delays``. The last line of
the output is a JSON object.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from eddyline.spark import Session


def main(jobs: str) -> None:
    spark = SparkSession.builder.getOrCreate()
    report = {
        "workers": sorted(set(spark.sparkContext.range(40, numSlices=8).map(place).collect())),
        "jobs": {n: run(spark, **job) for n, job in json.loads(Path(jobs).read_text()).items()},
    }
    spark.stop()
    print(json.dumps(report))


def run(
    spark: SparkSession, script: str, checkpoint: str, losses: list[int], delays: list[float]
) -> dict[str, Any]:
    """Run a job to the end of its input, and kill an executor in each of some batches."""
    session = Session(spark, checkpoint=checkpoint, shards=2)
    session.sql(script)
    started = session.start()
    lost_in_batch = 0
    for batch, delay in zip(losses, delays, strict=True):
        while not Path(checkpoint, f"spark/offsets/{batch}").exists():
            assert started.isActive, started.exception()
            time.sleep(0.01)
        time.sleep(delay)
        os.kill(oldest_executor(), signal.SIGKILL)
        lost_in_batch += not Path(checkpoint, f"spark/commits/{batch}").exists()
    started.finish()
    return {
        "lost_in_batch": lost_in_batch,
        "restarts": started.restarts,
        "rows_in": started.progress().rows_in,
    }


def place(_: int) -> tuple[str, str, str]:
    """In an executor: its working directory, interpreter and package."""
    import eddyline

    return os.getcwd(), sys.executable, str(Path(eddyline.__file__).parent)


def oldest_executor() -> int:
    """The executor of this driver's JVM that was started first."""
    found: list[int] = []
    while not found:
        for pid in children(os.getppid()):
            with suppress(OSError):
                if b"CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_bytes():
                    found.append(pid)
    return min(found, key=started_at)


def started_at(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[19])


def children(parent: int) -> Iterator[int]:
    """The processes that a process has started."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # PID (NAME) STATE PARENT ..., where the name may hold anything
            if int(stat.read_bytes().rpartition(b")")[2].split()[1]) == parent:
                yield int(stat.parent.name)


if __name__ == "__main__":
    main(sys.argv[1])
