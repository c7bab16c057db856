"""Joins over the same two streams whose selections and windows differ: in one engine, or each in
its own; and queries that are added while the others run.

The paper has no such experiment (its joins are those of section 4); it is what the shared
SteMs of section 2.3 are for.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pyarrow as pa

from eddyline.bench.figures.cacq.feeds import Feed, engine_of, name_of
from eddyline.bench.figures.experiment import Claim, Experiment, Speed, take_turns
from eddyline.bench.figures.plots import Spot, draw_series
from eddyline.bench.figures.verdicts import Judgment, factor

SHARED: Final = "one engine for all queries"
SEPARATE: Final = "an engine per query (reckoned from a sample)"

_COUNTS: Final = (1, 10, 100, 1_000)
_QUICK_COUNTS: Final = (1, 20)
#: Queries that also run in engines of their own.
_SAMPLE: Final = 8
#: Queries that are added while the others run.
_ADDED: Final = 20

_ROWS: Final = 100_000  # of each stream, a millisecond apart
_KEYS: Final = 20_000
_LONGEST_S: Final = 10
_DOMAIN: Final = 1_000_000
_PERIOD_US: Final = 10_000_000_000
_STREAMS: Final = """
    CREATE STREAM a (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts;
    CREATE STREAM b (ts TIMESTAMP, k BIGINT, y BIGINT) TIMESTAMP BY ts
"""


@dataclass(frozen=True)
class JoinPoint:
    """Some queries.

    Attributes:
        together: of the engine that runs all of them.
        alone: of the engines that each run one of a sample of them.
        added_ms: milliseconds that the engine with all of them took to add another one.
    """

    queries: int
    together: Speed
    alone: tuple[Speed, ...]
    added_ms: tuple[float, ...]

    @property
    def separate_rows_per_s(self) -> float:
        """Of as many engines as queries, one after the other, if all are like those measured."""
        seconds = statistics.fmean(statistics.median(speed.seconds) for speed in self.alone)
        return self.together.rows / (self.queries * seconds)

    @property
    def gain(self) -> float:
        """How many times the throughput of separate engines the shared one has."""
        return self.together.rows_per_s / self.separate_rows_per_s


def measure(quick: bool) -> list[JoinPoint]:
    """More and more queries."""
    rows = _rows()
    return [
        _measure(n, rows, rounds=3 if quick else 9) for n in (_QUICK_COUNTS if quick else _COUNTS)
    ]


def _measure(count: int, rows: Mapping[str, pa.Table], rounds: int) -> JoinPoint:
    selects = [select_of(n) for n in range(count)]
    sample = range(0, count, -(-count // _SAMPLE))
    shared = Feed(engine_of(_STREAMS, selects), rows, _PERIOD_US)
    alone = {n: Feed(engine_of(_STREAMS, [selects[n]]), rows, _PERIOD_US) for n in sample}
    changes = shared.process()
    for number, feed in alone.items():
        mine, theirs = feed.process()[name_of(0)], changes[name_of(number)]
        assert mine.num_rows == theirs.num_rows, f"sharing changes the answer of {number}"
    work = {-1: shared.run, **{n: feed.run for n, feed in alone.items()}}
    speeds = take_turns(work, sum(t.num_rows for t in rows.values()), rounds)
    together = speeds.pop(-1)
    return JoinPoint(count, together, tuple(speeds.values()), _added(shared, count))


def _added(feed: Feed, count: int) -> tuple[float, ...]:
    """Milliseconds that it takes to add a query, after one that does not count."""
    spent = []
    for number in range(count, count + _ADDED + 1):
        begin = time.perf_counter()
        feed.engine.query(select_of(number), name=name_of(number))
        spent.append(1e3 * (time.perf_counter() - begin))
        feed.engine.drop(name_of(number))
    return tuple(spent[1:])


def select_of(number: int) -> str:
    """A query with windows of whole seconds that selects a twentieth of the rows of each stream."""
    rng = np.random.default_rng(number)
    width = _DOMAIN // 20
    x, y = rng.integers(0, _DOMAIN - width, 2)
    left, right = rng.integers(1, _LONGEST_S, 2, endpoint=True)
    return (
        f"SELECT a.k, a.x, b.y FROM a [RANGE {left} SECONDS], b [RANGE {right} SECONDS] "
        f"WHERE a.k = b.k AND a.x BETWEEN {x} AND {x + width} AND b.y BETWEEN {y} AND {y + width}"
    )


def _rows() -> dict[str, pa.Table]:
    rng = np.random.default_rng(12)
    ts = 1_000 * np.arange(_ROWS)
    return {
        name: pa.table(
            {
                "ts": ts,
                "k": rng.integers(0, _KEYS, _ROWS),
                value: rng.integers(0, _DOMAIN, _ROWS),
            }
        )
        for name, value in (("a", "x"), ("b", "y"))
    }


def draw(points: Sequence[JoinPoint], out: Path) -> None:
    """``joins.png``."""
    draw_series(
        out / "joins.png",
        "Joins of two streams, by number of queries",
        f"selections and windows (1 to {_LONGEST_S} s) differ; separate: {_SAMPLE} engines at most "
        "were run",
        {
            SHARED: [p.together.spot(p.queries, p.together.rows) for p in points],
            SEPARATE: [Spot(p.queries, p.separate_rows_per_s / 1e6) for p in points],
        },
        "queries",
        "million tuples per second",
    )


def table(points: Sequence[JoinPoint]) -> list[Mapping[str, Any]]:
    """A row per number of queries."""
    return [
        {
            "queries": f"{p.queries:,}",
            "k tuples/s, one engine": f"{p.together.rows_per_s / 1e3:,.1f}",
            "k tuples/s, an engine per query": f"{p.separate_rows_per_s / 1e3:,.1f}",
            "engines run": len(p.alone),
            "gain": f"{p.gain:.1f}x",
            "results": f"{p.together.results:,}",
            "ms to add a query": f"{statistics.median(p.added_ms):.1f}",
        }
        for p in points
    ]


def _gain(points: Sequence[JoinPoint]) -> Judgment:
    most = points[-1]
    text = (
        f"{most.gain:.0f}x: {most.together.rows_per_s / 1e3:,.0f} k tuples/s, where "
        f"{most.queries:,} engines have {most.separate_rows_per_s / 1e3:,.1f} k "
        f"(by a sample of {len(most.alone)})"
    )
    return Judgment(text, factor(most.gain, 10.0))


def _soon(points: Sequence[JoinPoint]) -> Judgment:
    spent = points[-1].added_ms
    text = f"{statistics.median(spent):.1f} ms (the median of {len(spent)}), {max(spent):.1f} ms "
    text += f"at most, beside {points[-1].queries:,} queries"
    return Judgment(text, "yes" if statistics.median(spent) <= 100.0 else "no")


EXPERIMENT: Final = Experiment(
    "joins",
    "Joins whose selections and windows differ",
    measure,
    draw,
    table,
    (
        Claim(
            "this project",
            "most queries: one engine is ten times as fast as separate",
            "10x",
            _gain,
        ),
        Claim(
            "this project",
            "a running engine adds a query within 0.1 seconds",
            "median at most 100 ms",
            _soon,
        ),
    ),
)
