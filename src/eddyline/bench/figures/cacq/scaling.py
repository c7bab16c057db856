"""Throughput against the number of queries and of sources, shared and query by query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from eddyline.bench.figures.cacq.experiment import Claim, Experiment, Speed, take_turns
from eddyline.bench.figures.cacq.workloads import (
    Where,
    bank_of,
    random_queries,
    single_predicates,
    tuples,
    wanted_by,
)
from eddyline.bench.figures.plots import draw_series
from eddyline.bench.figures.verdicts import Verdict, factor
from eddyline.runtime.batch import Batch
from eddyline.runtime.columns import Array
from eddyline.runtime.eddy.fanout import fan_out
from eddyline.runtime.eddy.filter_bank import FilterBank
from eddyline.runtime.eddy.policies import TicketPolicy

SHARED: Final = "one eddy for all queries"
SEPARATE: Final = "an eddy per query"
_MODES: Final = (SHARED, SEPARATE)

_ROWS: Final = 4_096
_QUERIES: Final = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1_024)
_QUICK_QUERIES: Final = (1, 8, 64)
_SOURCES: Final = (1, 2, 4, 6, 8, 10)
_QUICK_SOURCES: Final = (1, 4)
#: Queries over all sources together.
_OVER_SOURCES: Final = 128


@dataclass(frozen=True)
class ScalePoint:
    """Throughput of some queries over some sources."""

    mode: str
    queries: int
    sources: int
    speed: Speed


@dataclass(frozen=True)
class _Feed:
    """A filter bank, a batch for it, and the queries that want it."""

    bank: FilterBank
    batch: Batch
    wanted: Array

    def run(self) -> int:
        """Filter and deliver; returns the number of results."""
        blocks = self.bank.blocks(self.batch, self.wanted)
        return fan_out(self.batch, blocks, 64 * self.wanted.size, []).rows.size


def measure_queries(quick: bool) -> list[ScalePoint]:
    """One source, more and more random queries."""
    rng = np.random.default_rng(5)
    sizes = _QUICK_QUERIES if quick else _QUERIES
    queries = random_queries(sizes[-1], rng)
    batch = tuples(_ROWS, rng)
    return [p for n in sizes for p in _measure([queries[:n]], [batch], quick)]


def measure_sources(quick: bool) -> list[ScalePoint]:
    """As many queries, over more and more sources, each over one of them."""
    rng = np.random.default_rng(6)
    sizes = _QUICK_SOURCES if quick else _SOURCES
    queries = single_predicates(_OVER_SOURCES, rng)
    homes = rng.random(_OVER_SOURCES)
    batches = [tuples(_ROWS, rng) for _ in range(sizes[-1])]
    points = []
    for n in sizes:
        of = (homes * n).astype(np.int64)
        by_source = [[q for q, s in zip(queries, of, strict=True) if s == k] for k in range(n)]
        points += _measure(by_source, batches[:n], quick)
    return points


def _measure(
    queries: Sequence[Sequence[Where]], batches: Sequence[Batch], quick: bool
) -> list[ScalePoint]:
    """Both modes, on queries and a batch per source."""
    sources = list(zip(queries, batches, strict=True))
    feeds = {
        SHARED: [_feed(mine, batch) for mine, batch in sources],
        SEPARATE: [_feed([query], batch) for mine, batch in sources for query in mine],
    }
    work = {mode: partial(_run_all, feeds[mode]) for mode in _MODES}
    speeds = take_turns(work, _ROWS * len(batches), rounds=3 if quick else 9)
    assert speeds[SHARED].results == speeds[SEPARATE].results, "sharing changes the answers"
    count = sum(map(len, queries))
    return [ScalePoint(mode, count, len(batches), speeds[mode]) for mode in _MODES]


def _feed(queries: Sequence[Where], batch: Batch) -> _Feed:
    return _Feed(bank_of(queries, TicketPolicy()), batch, wanted_by(len(queries)))


def _run_all(feeds: Sequence[_Feed]) -> int:
    return sum(feed.run() for feed in feeds)


def draw_queries(points: Sequence[ScalePoint], out: Path) -> None:
    """``queries.png``."""
    draw_series(
        out / "queries.png",
        "Tuples delivered per second, by number of queries",
        "random queries over one source, a predicate on each of five fields by a chance of 1/2",
        _lines(points, "queries"),
        "queries",
        "million tuples delivered per second",
    )


def draw_sources(points: Sequence[ScalePoint], out: Path) -> None:
    """``sources.png``."""
    draw_series(
        out / "sources.png",
        "Tuples delivered per second, by number of sources",
        f"{_OVER_SOURCES} queries with one predicate each, over one of the sources",
        _lines(points, "sources"),
        "sources",
        "million tuples delivered per second",
    )


def _lines(points: Sequence[ScalePoint], by: str) -> dict[str, list[Any]]:
    return {
        mode: [p.speed.spot(getattr(p, by), p.speed.results) for p in points if p.mode == mode]
        for mode in _MODES
    }


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


def _twice_the_peak(points: Sequence[ScalePoint]) -> Verdict:
    """The most that each mode delivers, at whatever number of queries."""
    best = {m: max(_of(points, m), key=lambda p: p.speed.results_per_s) for m in _MODES}
    ratio = best[SHARED].speed.results_per_s / best[SEPARATE].speed.results_per_s
    text = (
        f"{ratio:.1f}x: at most {best[SHARED].speed.results_per_s / 1e6:.1f} M/s with "
        f"{best[SHARED].queries:,} queries, {best[SEPARATE].speed.results_per_s / 1e6:.1f} M/s "
        f"with {best[SEPARATE].queries:,}"
    )
    return Verdict(text, factor(ratio, 2.0))


def _rises(points: Sequence[ScalePoint]) -> Verdict:
    shared = _of(points, SHARED)
    first, last = shared[0].speed.results_per_s, shared[-1].speed.results_per_s
    text = f"{first / 1e6:.1f} M/s with {shared[0].queries}, "
    text += f"{last / 1e6:.1f} M/s with {shared[-1].queries:,} queries"
    return Verdict(text, factor(last / first, 2.0))


def _scales_further(points: Sequence[ScalePoint]) -> Verdict:
    shared, separate = _of(points, SHARED)[-1], _of(points, SEPARATE)[-1]
    ratio = shared.speed.rows_per_s / separate.speed.rows_per_s
    return Verdict(f"{ratio:.1f}x as fast with {shared.queries:,} queries", factor(ratio, 2.0))


def _somewhat_slower(points: Sequence[ScalePoint]) -> Verdict:
    shared = _of(points, SHARED)
    ratio = shared[-1].speed.results_per_s / shared[0].speed.results_per_s
    text = f"{ratio:.2f}x the tuples delivered with {shared[-1].sources} sources as with one"
    return Verdict(text, "yes" if 0.5 <= ratio < 1.0 else "in part" if ratio >= 1.0 else "no")


QUERIES: Final = Experiment(
    "queries",
    "Number of queries (section 2.2)",
    measure_queries,
    draw_queries,
    table,
    (
        Claim(
            "section 2.2",
            "with the number of queries, the tuples delivered per second rise sharply at first",
            _rises,
        ),
        Claim(
            "section 2.2",
            "eddies that share nothing reach a maximum of half of that",
            _twice_the_peak,
        ),
        Claim("this project", "most queries: sharing is twice as fast", _scales_further),
    ),
)
SOURCES: Final = Experiment(
    "sources",
    "Number of sources (section 2.2)",
    measure_sources,
    draw_sources,
    table,
    (
        Claim(
            "section 2.2",
            "additional sources decrease the throughput somewhat",
            _somewhat_slower,
        ),
        Claim("this project", "most sources: sharing is twice as fast", _scales_further),
    ),
)
