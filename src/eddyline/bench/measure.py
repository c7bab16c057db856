"""Repeat a piece of work and keep the median; each case alone in a process of its own."""

from __future__ import annotations

import os
import platform
import resource
import statistics
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, Final, NamedTuple, TypeVar

import eddyline

T = TypeVar("T")

REPEATS: Final = 5
#: A case that has used this many seconds is not repeated; its figure has the number of runs.
BUDGET_S: Final = 120.0


class Sample(NamedTuple):
    """One run: input rows, result rows, and the seconds from the first to the last of them."""

    rows: int
    results: int
    seconds: float


@dataclass(frozen=True)
class Figure:
    """The runs of one case.

    Attributes:
        name: of the case.
        rows, results: input and result rows of one run.
        seconds: of each run, warm-up excluded.
        peak_mb: largest resident size of the process, input data included; None where the work is
            done by another process (Spark's JVM and workers).
        note: a remark for the reader.
    """

    name: str
    rows: int
    results: int
    seconds: tuple[float, ...]
    peak_mb: float | None = None
    note: str = ""

    @property
    def rows_per_s(self) -> float:
        """Input rows per second of the median run."""
        return self.rows / statistics.median(self.seconds)

    @property
    def results_per_s(self) -> float:
        """Result rows per second of the median run."""
        return self.results / statistics.median(self.seconds)

    def as_dict(self) -> dict[str, Any]:
        """For machines."""
        return {
            "name": self.name,
            "rows": self.rows,
            "results": self.results,
            "rows_per_s": round(self.rows_per_s),
            "results_per_s": round(self.results_per_s),
            "peak_mb": None if self.peak_mb is None else round(self.peak_mb),
            "seconds": [round(s, 4) for s in self.seconds],
            "note": self.note,
        }


def repeat(
    name: str, run: Callable[[], Sample], *, note: str = "", in_process: bool = True
) -> Figure:
    """Run once to warm up (compile, load), then up to :data:`REPEATS` times within the budget.

    Raises:
        AssertionError: the runs do not agree on the number of results.
    """
    begin = time.perf_counter()
    run()
    samples: list[Sample] = []
    while len(samples) < REPEATS and (not samples or time.perf_counter() - begin < BUDGET_S):
        samples.append(run())
    first = samples[0]
    assert all(s[:2] == first[:2] for s in samples), f"{name}: runs differ: {samples}"
    seconds = tuple(s.seconds for s in samples)
    return Figure(
        name, first.rows, first.results, seconds, _peak_mb() if in_process else None, note
    )


def apart(case: Callable[[], T]) -> T:
    """Call a function of a module in a fresh process, so that its peak memory is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(case).result()


def machine() -> dict[str, Any]:
    """What figures depend on."""
    return {
        "eddyline": eddyline.__version__,
        "python": platform.python_version(),
        "cpu": platform.machine(),
        "cores": os.cpu_count(),
    }


def _peak_mb() -> float:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # KiB, but bytes on macOS
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10
