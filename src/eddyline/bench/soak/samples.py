"""What a soak measures: processes, the checkpoint, batches."""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.csv as pa_csv

from eddyline.spark.run import Run

_PROCESSES: Final = Path("/proc")
_MB: Final = 2**20
_BLOCK: Final = 512
_WORKER: Final = b"eddyline.spark.daemon"


@dataclass(frozen=True)
class Sample:
    """The state of the job at an instant. Sizes in MB.

    Attributes:
        t_s: since the start.
        jvm: resident size of Java. jvm_heap: used of its heap. jvm_live: of the heap after the last
            collection of all garbage.
        driver: proportional size of the driver's Python. workers: the sum of those of the Python
            workers with their daemon; pages that they share count once. worker_count: of them.
        disk: size of the files of the checkpoint. disk_blocks: what they occupy. files: of them.
        jvm_files, driver_files, worker_files: open files.
        batches: so far. batch_s: median of the batches since the last sample.
        latency_s: median of the results of the join, from the source to the sink.
        rows: received so far. queries: that run.
    """

    t_s: float
    jvm: float
    jvm_heap: float
    jvm_live: float
    driver: float
    workers: float
    worker_count: int
    disk: float
    disk_blocks: float
    files: int
    jvm_files: int
    driver_files: int
    worker_files: int
    batches: int
    batch_s: float | None
    latency_s: float | None
    rows: int
    queries: int


class Sampler:
    """Takes samples of a job.

    Args:
        jvm: of the Spark session (py4j). checkpoint: its directory.
        live_every_s: all garbage of the heap is collected that often, as Spark itself does every 30
            minutes; what is left is what is in use.
    """

    def __init__(self, run: Run, jvm: Any, checkpoint: Path, live_every_s: float) -> None:
        self._run, self._jvm, self._checkpoint = run, jvm, checkpoint
        self._live_every_s = live_every_s
        self._heap = jvm.java.lang.management.ManagementFactory.getMemoryMXBean()
        self._pid = int(jvm.java.lang.ProcessHandle.current().pid())
        self._begin = time.monotonic()
        self._live, self._live_at = 0.0, -live_every_s
        self._batches = _Batches()
        run.on_batch(self._batches)
        self.samples: list[Sample] = []

    @property
    def elapsed_s(self) -> float:
        return time.monotonic() - self._begin

    def workers(self) -> list[int]:
        """The Python workers that are there, without their daemon."""
        return [pid for pid in self._workers() if _parent(pid) != self._pid]

    def take(self) -> Sample:
        """Measure now."""
        t, heap = self.elapsed_s, self._used()
        if t - self._live_at >= self._live_every_s:
            self._jvm.java.lang.System.gc()
            self._live, self._live_at = self._used(), t
        workers, progress = self._workers(), self._run.progress()
        sizes = list(_sizes(self._checkpoint))
        count, seconds = self._batches.since_last()
        latency = progress.latency.get("pairs")
        sample = Sample(
            t_s=round(t, 1),
            jvm=_memory(self._pid, "Rss"),
            jvm_heap=heap,
            jvm_live=self._live,
            driver=_memory(os.getpid(), "Pss"),
            workers=round(sum(_memory(pid, "Pss") for pid in workers), 2),
            worker_count=len(workers) - 1,
            disk=round(sum(size for size, _ in sizes) / _MB, 3),
            disk_blocks=round(sum(blocks for _, blocks in sizes) / _MB, 3),
            files=len(sizes),
            jvm_files=_open_files(self._pid),
            driver_files=_open_files(os.getpid()),
            worker_files=sum(map(_open_files, workers)),
            batches=count,
            batch_s=seconds,
            latency_s=None if latency is None else round(latency.p50_seconds, 3),
            rows=sum(progress.rows_in.values()),
            queries=len(self._run.queries),
        )
        self.samples.append(sample)
        return sample

    def _used(self) -> float:
        return float(self._heap.getHeapMemoryUsage().getUsed() / _MB)

    def _workers(self) -> list[int]:
        return [pid for pid in _descendants(self._pid) if _WORKER in _command(pid)]


class _Batches:
    """Listens to the batches."""

    def __init__(self) -> None:
        self._count, self._seconds = 0, list[float]()
        self._lock = threading.Lock()

    def __call__(self, batch: Any) -> None:
        with self._lock:
            self._count += 1
            self._seconds.append(batch.seconds)

    def since_last(self) -> tuple[int, float | None]:
        """The number of all batches, and the median time of the new ones."""
        with self._lock:
            new, self._seconds = self._seconds, []
            return self._count, round(statistics.median(new), 3) if new else None


def write_samples(samples: list[Sample], file: Path) -> None:
    """As CSV, a row per sample."""
    pa_csv.write_csv(pa.Table.from_pylist([asdict(sample) for sample in samples]), file)


def _memory(pid: int, field: str) -> float:
    """MB of a process; 0 if it has ended."""
    with suppress(OSError):
        for line in (_PROCESSES / str(pid) / "smaps_rollup").read_text().splitlines():
            if line.startswith(f"{field}:"):
                return float(int(line.split()[1]) / 1024)
    return 0.0


def _open_files(pid: int) -> int:
    with suppress(OSError):
        return len(os.listdir(_PROCESSES / str(pid) / "fd"))
    return 0


def _command(pid: int) -> bytes:
    with suppress(OSError):
        return (_PROCESSES / str(pid) / "cmdline").read_bytes()
    return b""


def _parent(pid: int) -> int:
    with suppress(OSError):
        return int((_PROCESSES / str(pid) / "stat").read_text().rpartition(")")[2].split()[1])
    return 0


def _descendants(pid: int) -> list[int]:
    found = [pid]
    for parent in found:
        with suppress(OSError):  # it has just ended
            for task in (_PROCESSES / str(parent) / "task").iterdir():
                found += map(int, (task / "children").read_text().split())
    return found[1:]


def _sizes(directory: Path) -> Iterator[tuple[int, int]]:
    """Bytes of each file, and what it occupies."""
    for folder, _, names in os.walk(directory):
        for name in names:
            with suppress(OSError):
                stat = os.stat(os.path.join(folder, name))
                yield stat.st_size, stat.st_blocks * _BLOCK
