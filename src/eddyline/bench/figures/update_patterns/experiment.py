"""What is measured: traces, windows, eager intervals; and the measuring of it all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from eddyline.bench.figures.console import progress_bar
from eddyline.bench.figures.on_off import on_off_trace
from eddyline.bench.figures.points import Effort, Point, PointCase, measure
from eddyline.bench.figures.recorded import flights_trace, lbl_trace
from eddyline.bench.figures.synthetic import synthetic_trace
from eddyline.bench.figures.trace import Trace
from eddyline.bench.figures.update_patterns.cases import CASES
from eddyline.bench.measure import apart


@dataclass(frozen=True)
class Series:
    """Cases that are measured over some windows on one trace.

    Attributes:
        make: makes the trace; in each measuring process anew, from files or a seed.
        windows: in time units, ascending.
        cases: names.
    """

    make: Callable[[], Trace]
    windows: tuple[int, ...]
    effort: Effort
    cases: tuple[str, ...] = tuple(CASES)

    def tasks(self) -> Iterator[tuple[PointCase, int]]:
        """Every case over every window."""
        for name in self.cases:
            for window in self.windows:
                yield CASES[name], window


@dataclass(frozen=True)
class PatternExperiment:
    """One run.

    Attributes:
        main: what the paper's figures show.
        on_off: the rest of them, whose data is made for each window.
        recorded: the same queries on recorded traces.
        eager: some queries under other eager intervals than the main series'.
    """

    main: Series
    on_off: tuple[Series, ...]
    recorded: tuple[Series, ...]
    eager: tuple[Series, ...] = ()

    def series(self) -> list[Series]:
        """All of them, the main one first."""
        return [self.main, *self.on_off, *self.recorded, *self.eager]


def _eager(rows: int) -> Series:
    effort = Effort(chunk_rows=rows, least_rows=10_000)
    return Series(synthetic_trace, (50_000,), effort, ("query1-telnet", "query2-src", "query3"))


def _main(windows: tuple[int, ...], effort: Effort) -> tuple[Series, tuple[Series, ...]]:
    """The synthetic trace, and for Query 5 that of sources that come and go in such windows."""
    others = tuple(name for name in CASES if name != _NEGATED_JOIN)
    return Series(synthetic_trace, windows, effort, others), tuple(
        Series(partial(on_off_trace, window), (window,), effort, (_NEGATED_JOIN,))
        for window in windows
    )


_NEGATED_JOIN: Final = "query5"

#: The recorded hour of LBL holds windows of a few hundred time units only: smaller chunks there, so
#: that several fit into a window.
FULL: Final = PatternExperiment(
    *_main((2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000), Effort(rounds=5)),
    (
        Series(lbl_trace, (500,), Effort(least_rows=3_000, chunk_rows=100)),
        Series(flights_trace, (20_000,), Effort()),
    ),
    tuple(_eager(rows) for rows in (10, 100, 1_000, 10_000)),
)
QUICK: Final = PatternExperiment(
    *_main((2_000, 20_000), Effort(rounds=2)),
    (
        Series(lbl_trace, (500,), Effort(rounds=1, least_rows=5_000, chunk_rows=100)),
        Series(flights_trace, (20_000,), Effort(rounds=1)),
    ),
)


def measure_all(experiment: PatternExperiment) -> list[list[Point]]:
    """The points of each series; those of one case and window come from a process of their own.

    Raises:
        SetupError: the examples are missing. AssertionError: strategies disagree on an answer.
    """
    points: list[list[Point]] = []
    with progress_bar() as progress:
        bar = progress.add_task("", total=sum(len(list(s.tasks())) for s in experiment.series()))
        for series in experiment.series():
            points.append([])
            for case, window in series.tasks():
                progress.update(bar, description=f"{case.name}, window {window:,}")
                points[-1] += apart(partial(measure, series.make, case, window, series.effort))
                progress.advance(bar)
    return points
