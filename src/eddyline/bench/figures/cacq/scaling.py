"""Throughput against the number of queries and of sources: all together, and each query alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from eddyline.bench.figures.cacq.workloads import Where
from eddyline.bench.figures.experiment import Claim, Experiment, Speed, take_turns
from eddyline.bench.figures.plots import Spot, draw_series
from eddyline.bench.figures.verdicts import Judgment, factor, ratios
from eddyline.runtime.stores.columns import Array

SHARED: Final = "all queries together"
SEPARATE: Final = "each query alone"
_MODES: Final = (SHARED, SEPARATE)

#: Queries over all sources together.
OVER_SOURCES: Final = 128


@dataclass(frozen=True)
class ScalePoint:
    """Throughput of some queries over some sources."""

    mode: str
    queries: int
    sources: int
    speed: Speed


def measure_both(
    shared: Callable[[], int],
    separate: Sequence[Callable[[], int]],
    sources: int,
    rows: int,
    rounds: int,
) -> list[ScalePoint]:
    """Both modes.

    Args:
        shared: all queries at work; returns how many results they have.
        separate: each query at work.
        rows: of all sources.

    Raises:
        AssertionError: the queries have other results together than alone.
    """
    work = {SHARED: shared, SEPARATE: lambda: sum(query() for query in separate)}
    speeds = take_turns(work, rows, rounds)
    assert speeds[SHARED].results == speeds[SEPARATE].results, "sharing changes the answers"
    return [ScalePoint(mode, len(separate), sources, speeds[mode]) for mode in _MODES]


def dealt(queries: Sequence[Where], homes: Array, sources: int) -> list[list[Where]]:
    """The queries of each source; ``homes`` has a number in [0, 1) for each query."""
    source_of = (homes * sources).astype(int).tolist()
    return [[q for q, s in zip(queries, source_of, strict=True) if s == k] for k in range(sources)]


Measure = Callable[[bool], list[ScalePoint]]


def by_queries(name: str, subject: str, measure: Measure) -> Experiment[ScalePoint]:
    """The experiment with more and more queries over one source.

    Args:
        name: of the experiment and its figure.
        subject: what runs the queries.
    """
    title = f"Number of queries, {subject} (section 2.2)"
    about = f"{subject}; random queries, a predicate on each of five fields by a chance of 1/2"
    claims: tuple[Claim[ScalePoint], ...] = (
        Claim(
            "section 2.2",
            f"{subject}: with the number of queries, the tuples delivered per second rise sharply "
            "at first",
            "2x from the fewest to the most queries",
            _rises,
        ),
        Claim(
            "section 2.2",
            f"{subject}: without sharing the maximum is half of that",
            "2x the other's maximum",
            _half_the_peak,
        ),
        Claim(
            "this project",
            f"{subject}, most queries: sharing is twice as fast",
            "2x",
            _twice_as_fast,
        ),
    )
    return Experiment(name, title, measure, _Drawing(name, "queries", about), table, claims)


def by_sources(name: str, subject: str, measure: Measure) -> Experiment[ScalePoint]:
    """The experiment with as many queries, over more and more sources, each over one of them."""
    title = f"Number of sources, {subject} (section 2.2)"
    about = f"{subject}; {OVER_SOURCES} queries with one predicate each, over one of the sources"
    claims: tuple[Claim[ScalePoint], ...] = (
        Claim(
            "section 2.2",
            f"{subject}: additional sources decrease the throughput somewhat",
            "0.5x to 1x with the most sources",
            _somewhat_slower,
        ),
        Claim(
            "this project",
            f"{subject}, most sources: sharing is twice as fast",
            "2x",
            _twice_as_fast,
        ),
    )
    return Experiment(name, title, measure, _Drawing(name, "sources", about), table, claims)


@dataclass(frozen=True)
class _Drawing:
    """``NAME.png``."""

    name: str
    by: str
    about: str

    def __call__(self, points: Sequence[ScalePoint], out: Path) -> None:
        draw_series(
            out / f"{self.name}.png",
            f"Tuples delivered per second, by number of {self.by}",
            self.about,
            {mode: [self._spot(p) for p in _of(points, mode)] for mode in _MODES},
            self.by,
            "million tuples delivered per second",
        )

    def _spot(self, point: ScalePoint) -> Spot:
        return point.speed.spot(getattr(point, self.by), point.speed.results)


def table(points: Sequence[ScalePoint]) -> list[Mapping[str, Any]]:
    """A row per point."""
    return [
        {
            "queries": f"{p.queries:,}",
            "sources": p.sources,
            "": p.mode,
            "k tuples in/s": f"{p.speed.rows_per_s / 1e3:,.0f}",
            "M delivered/s": f"{p.speed.results_per_s / 1e6:.2f}",
        }
        for p in points
    ]


def _of(points: Sequence[ScalePoint], mode: str) -> list[ScalePoint]:
    return [p for p in points if p.mode == mode]


def _half_the_peak(points: Sequence[ScalePoint]) -> Judgment:
    """The most that each mode delivers, at whatever number of queries."""
    best = {m: max(_of(points, m), key=lambda p: p.speed.results_per_s) for m in _MODES}
    ratio = best[SHARED].speed.results_per_s / best[SEPARATE].speed.results_per_s
    text = (
        f"{ratio:.1f}x: at most {best[SHARED].speed.results_per_s / 1e6:.1f} M/s with "
        f"{best[SHARED].queries:,} queries, {best[SEPARATE].speed.results_per_s / 1e6:.1f} M/s "
        f"with {best[SEPARATE].queries:,}"
    )
    return Judgment(text, factor(ratio, 2.0))


def _rises(points: Sequence[ScalePoint]) -> Judgment:
    shared = _of(points, SHARED)
    first, last = shared[0].speed.results_per_s, shared[-1].speed.results_per_s
    text = f"{first / 1e6:.1f} M/s with {shared[0].queries}, "
    text += f"{last / 1e6:.1f} M/s with {shared[-1].queries:,} queries"
    return Judgment(text, factor(last / first, 2.0))


def _twice_as_fast(points: Sequence[ScalePoint]) -> Judgment:
    shared, separate = _of(points, SHARED)[-1], _of(points, SEPARATE)[-1]
    ratio = ratios(separate.speed.seconds, shared.speed.seconds)
    text = f"{ratio.times()} as fast with {shared.queries:,} queries"
    return Judgment(text, factor(ratio.median, 2.0))


def _somewhat_slower(points: Sequence[ScalePoint]) -> Judgment:
    shared = _of(points, SHARED)
    ratio = shared[-1].speed.results_per_s / shared[0].speed.results_per_s
    text = f"{ratio:.2f}x the tuples delivered with {shared[-1].sources} sources as with one"
    return Judgment(text, "yes" if 0.5 <= ratio < 1.0 else "in part" if ratio >= 1.0 else "no")
