"""What more windows cost: whole engines with one query, with seven, and with a thousand.

There is no such experiment in the paper; that one join serves all windows is its premise.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

import eddyline
from eddyline.bench.feeding import process_all
from eddyline.bench.figures.experiment import Claim, Experiment
from eddyline.bench.figures.plots import draw_bars
from eddyline.bench.figures.shared_windows.server import TABLE_1
from eddyline.bench.figures.verdicts import Judgment, Spread

#: By how many windows, the windows in parts of the largest.
_UNIFORM: Final = tuple(w / 600 for w in TABLE_1["Uniform"])
_SCRIPT: Final = """
    CREATE STREAM a (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts;
    CREATE STREAM b (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts
"""
_ROW_US: Final = 1_000  # from a row of a stream to the next
_CALLS_IN_A_ROW: Final = 5  # of an engine: as where it has the machine to itself
_MATCHES: Final = 10  # of a row in the largest window


@dataclass(frozen=True)
class Effort:
    """Rows of the largest window and of a call, of each stream; turns of each engine."""

    window_rows: int
    call_rows: int
    rounds: int
    many: int


_FULL: Final = Effort(100_000, 20_000, 7, 1_000)
_QUICK: Final = Effort(20_000, 10_000, 3, 100)


@dataclass(frozen=True)
class CpuPoint:
    """One engine.

    Attributes:
        rows: of both streams in a call. results: of the call, each once.
        cpu_s: CPU seconds of each call and of taking its changes.
    """

    windows: int
    rows: int
    results: int
    cpu_s: tuple[float, ...]

    @property
    def us_per_row(self) -> float:
        """CPU microseconds per row of the median call."""
        return 1e6 * statistics.median(self.cpu_s) / self.rows


def measure(quick: bool) -> list[CpuPoint]:
    """The largest window alone, seven windows, and many, in engines that take turns."""
    effort = _QUICK if quick else _FULL
    counts = {
        1: (1.0,),
        len(_UNIFORM): _UNIFORM,
        effort.many: tuple((i + 1) / effort.many for i in range(effort.many)),
    }
    runs = [_Run(effort, parts) for parts in counts.values()]
    order = random.Random(1)
    for _ in range(-(-effort.window_rows // effort.call_rows) + 1):  # fills the windows
        for run in runs:
            run.call()
    for run in runs:
        run.forget()
    for _ in range(effort.rounds):
        for run in order.sample(runs, len(runs)):
            for _ in range(_CALLS_IN_A_ROW):
                run.call()
    return [run.point() for run in runs]


class _Run:
    """An engine at work."""

    def __init__(self, effort: Effort, parts: Sequence[float]) -> None:
        self.engine = eddyline.Engine()
        self.engine.sql(_SCRIPT)
        self._effort, self._windows = effort, len(parts)
        largest_us = effort.window_rows * _ROW_US
        for number, part in enumerate(parts):
            window = f"[RANGE {max(round(part * largest_us), 1)} MICROSECONDS]"
            self.engine.query(
                f"SELECT a.k, a.ts AS a_ts, b.ts AS b_ts FROM a {window}, b {window} "
                "WHERE a.k = b.k",
                name=f"q{number}",
            )
        self._calls = 0
        self.forget()

    def forget(self) -> None:
        """What has been measured so far."""
        self._seconds: list[float] = []
        self._results: list[int] = []

    def call(self) -> None:
        """The next rows: those of one call are those of every other."""
        rows, count = {}, self._effort.call_rows
        for number, name in enumerate("ab"):
            rng = np.random.default_rng(number)
            keys = rng.integers(0, self._effort.window_rows // _MATCHES, count)
            ts = (self._calls * count + np.arange(count)) * _ROW_US + number * _ROW_US // 2
            rows[name] = pa.table({"ts": ts, "k": keys})
        self._calls += 1
        begin = time.process_time()
        changes = process_all(self.engine, rows)
        self._results.append(sum(table.num_rows for table, _ in changes.sets()))
        self._seconds.append(time.process_time() - begin)

    def point(self) -> CpuPoint:
        """What was measured."""
        return CpuPoint(
            self._windows,
            2 * self._effort.call_rows,
            round(statistics.median(self._results)),
            tuple(self._seconds),
        )


def _alone(points: Sequence[CpuPoint]) -> CpuPoint:
    return next(p for p in points if p.windows == 1)


def draw(points: Sequence[CpuPoint], out: Path) -> None:
    """``cpu.png``."""
    groups = {
        f"{p.windows:,} windows" if p.windows > 1 else "1 window": {
            "one engine": Spread(tuple(1e6 * s / p.rows for s in p.cpu_s))
        }
        for p in points
    }
    draw_bars(
        out / "cpu.png",
        "CPU time of whole engines, by number of windows",
        f"two streams, {_MATCHES} matches per row in the largest window",
        groups,
        "CPU microseconds per row",
    )


def table(points: Sequence[CpuPoint]) -> list[Mapping[str, Any]]:
    """A row per engine."""
    alone = _alone(points).us_per_row
    return [
        {
            "windows": f"{p.windows:,}",
            "CPU µs per row": f"{p.us_per_row:.2f}",
            "of the largest alone": f"{p.us_per_row / alone:.2f}x",
            "results per row": f"{p.results / p.rows:.1f}",
        }
        for p in points
    ]


def _at_most(points: Sequence[CpuPoint], count: int, wanted: float) -> Judgment:
    """``count``: which of the numbers of windows, from the smallest."""
    windows = sorted({p.windows for p in points})[count]
    alone = _alone(points).us_per_row
    (mine,) = (p for p in points if p.windows == windows)
    ratio = mine.us_per_row / alone
    return Judgment(
        f"{windows:,} windows: {ratio:.2f}x",
        "yes" if ratio <= wanted else "in part" if ratio <= 1.5 * wanted else "no",
    )


def _more(points: Sequence[CpuPoint]) -> Judgment:
    """Whether each further window costs less than the one before."""
    mine = sorted(points, key=lambda p: p.windows)
    each = [
        1e3 * (b.us_per_row - a.us_per_row) / (b.windows - a.windows) for a, b in pairwise(mine)
    ]
    text = ", ".join(
        f"{ns:,.1f} ns per row and window up to {p.windows:,}"
        for ns, p in zip(each, mine[1:], strict=True)
    )
    return Judgment(text, "yes" if each[-1] <= each[0] else "no")


EXPERIMENT: Final = Experiment(
    "cpu",
    "CPU time of whole engines",
    measure,
    draw,
    table,
    (
        Claim(
            "this project",
            "the seven windows of Uniform cost at most 1.3x the CPU of the largest alone",
            "at most 1.3x",
            lambda points: _at_most(points, 1, 1.3),
        ),
        Claim(
            "this project",
            "a thousand windows cost at most 3x the CPU of the largest alone",
            "at most 3x",
            lambda points: _at_most(points, 2, 3.0),
        ),
        Claim(
            "this project",
            "the more windows, the less each costs",
            "less per window up to the most than up to seven",
            _more,
        ),
    ),
)
