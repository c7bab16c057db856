"""Several jobs over the same input in one Spark session, batch by batch in turns.

All jobs run the whole time and keep their workers, so start and warm-up are paid once. A round
gives one batch of files to each job in turn and waits until it has been delivered; so what else
happens on the machine, and in the JVM, affects all jobs alike.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from eddyline.bench.cpu_time import cpu_seconds
from eddyline.spark.environment import local_session
from eddyline.spark.run import Run

CORES: Final = 2
#: Files of a stream in a batch, so that all cores can read.
FILES: Final = 2
#: Long enough that a job without input leaves the cores to the others.
TRIGGER: Final = "500 milliseconds"
#: Java compiles the code of a job for more than a minute: first batches take 1.5 times as long.
_WARM_UP: Final = 16
#: A round in which a trigger came between the files of two streams is repeated.
_TRIES: Final = 3


class Round(NamedTuple):
    """One batch of a job.

    Attributes:
        seconds: from trigger to commit. stage: longest time of a shard. engine: of its engine.
        cpu: seconds of all processes.
    """

    seconds: float
    stage: float
    engine: float
    cpu: float


@dataclass(frozen=True)
class Input:
    """The streams of a measurement.

    Attributes:
        folder: of their files. streams: their names. rows: of one stream in a batch.
        make: the rows of a stream, by its number, the number of the first row, and of rows.
    """

    folder: Path
    streams: Sequence[str]
    rows: int
    make: Callable[[int, int, int], pa.Table]

    @property
    def batch_rows(self) -> int:
        """Rows of a batch, of all streams."""
        return len(self.streams) * self.rows

    def path(self, job: str, stream: str) -> Path:
        """The directory in which a job finds the files of a stream."""
        path = self.folder / job / stream
        path.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, batch: int) -> None:
        """Write the files of a batch, for all jobs. Spark takes files by age: that of the batch."""
        for number, stream in enumerate(self.streams):
            rows = self.rows // FILES
            for part in range(FILES):
                file = self.path("all", stream) / f"{batch:03}-{part}.parquet"
                pq.write_table(self.make(number, batch * self.rows + part * rows, rows), file)
                at = 1e9 + FILES * batch + part
                os.utime(file, (at, at))

    def give(self, job: str, batch: int) -> None:
        """Show the files of a batch to a job."""
        for stream in self.streams:
            for file in self.path("all", stream).glob(f"{batch:03}-*.parquet"):
                os.link(file, self.path(job, stream) / file.name)


def side_by_side(jobs: Mapping[str, Run], rows: Input, rounds: int) -> dict[str, list[Round]]:
    """Measure jobs that have been started and read ``rows.path(job, stream)``; then stop them.

    Raises:
        RuntimeError: batches are cut in other places than the files again and again.
    """
    found: dict[str, list[Round]] = {name: [] for name in jobs}
    batch = measured = 0
    while measured < rounds:
        if batch == _WARM_UP + _TRIES * rounds:
            raise RuntimeError("the files of a round were not read as one batch")
        rows.write(batch)
        order = list(jobs) if batch % 2 else list(jobs)[::-1]
        made = {name: _round(jobs[name], rows, name, batch) for name in order}
        whole = {name: one for name, one in made.items() if one is not None}
        if batch >= _WARM_UP and len(whole) == len(jobs):
            measured += 1
            for name, round_ in whole.items():
                found[name].append(round_)
        batch += 1
    for job in jobs.values():
        job.stop(after_batch=True)
    return found


def _round(job: Run, rows: Input, name: str, batch: int) -> Round | None:
    """Give a batch to a job; None if it was read as several."""
    known = max((p.batchId for p in _filled(job)), default=-1)
    cpu = cpu_seconds()
    rows.give(name, batch)
    job.processAllAvailable()
    cpu = cpu_seconds() - cpu
    batches = [p for p in _filled(job) if p.batchId > known]
    if len(batches) != 1:
        return None
    phases = [shard["seconds"] for shard in job.shards()]
    return Round(
        batches[0].batchDuration / 1_000,
        max(sum(of.values()) for of in phases),
        max(of["process"] for of in phases),
        cpu,
    )


def _filled(job: Run) -> list[Any]:
    """The batches with rows. While there are none, Spark reports the id of the next batch."""
    return [p for p in job.recentProgress if p.numInputRows]


@contextmanager
def two_cores(log: Path) -> Iterator[SparkSession]:
    """A Spark session on two cores, which the JVM and the workers inherit."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:CORES])
    os.environ.setdefault("EDDYLINE_DRIVER_MEMORY", "8g")
    spark = local_session(CORES, log)
    try:
        yield spark
    finally:
        spark.stop()


def note(text: str) -> None:
    """Say what is being measured."""
    print(f"{text} ...", file=sys.stderr, flush=True)
