"""Runs of clique joins: the synthetic data of section VI, under every contender."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from eddyline.bench.figures.jit.plans import (
    PLANS,
    PlanName,
    clique_join,
    columns,
    flat_join,
    script,
    source_name,
)
from eddyline.bench.figures.jit.runs import (
    CONTENDERS,
    OPTIMIZED,
    OPTIMIZED_AUTO,
    JitPoint,
    JitRun,
    Rows,
    require_equal_answers,
)
from eddyline.optimizer.statistics import UNKNOWN, Statistics
from eddyline.runtime.stores.columns import Array

NESTED_LOOPS: Final = "nested loops"
HASH: Final = "hash"
METHODS: Final = (NESTED_LOOPS, HASH)

_SECOND_US: Final = 1_000_000


class Hot(NamedTuple):
    """Rows whose columns have few values, so that they have partners everywhere.

    Attributes:
        share: of the rows of each source. most: their columns hold 1 to ``most``.
    """

    share: float
    most: int


_NONE: Final = Hot(0.0, 1)


@dataclass(frozen=True)
class CliqueSetting:
    """The parameters of Table III.

    Attributes:
        sources: N. window_s: w, in seconds. rate: lambda, tuples per second of each source.
        dmax: columns hold 1 to ``dmax``.
        special_factor: those of the special source hold up to this many times as much.
        call_s: seconds of rows per call of the engine (ours).
        hot: rows that have results (ours).
    """

    plan: PlanName
    sources: int
    window_s: int
    rate: float
    dmax: int
    special_factor: int
    call_s: int
    hot: Hot = _NONE

    @property
    def special(self) -> int:
        """The special source: D, or C where there are three."""
        return min(self.sources - 1, 3)

    def largest(self, source: int) -> int:
        """The largest value of the columns of a source."""
        return self.dmax * (self.special_factor if source == self.special else 1)

    @property
    def statistics(self) -> Statistics:
        """What an optimizer may know of the sources."""
        numbers = range(self.sources)
        return Statistics(
            rates={source_name(s): self.rate for s in numbers},
            values={
                (source_name(s), c): self.largest(s)
                for s in numbers
                for c in columns(s, self.sources)
            },
        )


@dataclass(frozen=True)
class CliqueEffort:
    """How much is measured.

    Attributes:
        hours: of application time, in each run.
        rounds: how often each contender runs at most.
        enough_s: a contender that has used as many CPU seconds is not run again.
        all_values: whether all values of a parameter are measured, or three of them.
    """

    hours: float
    rounds: int
    enough_s: float
    all_values: bool


def measure_clique(setting: CliqueSetting, x: float, effort: CliqueEffort) -> list[JitPoint]:
    """A point per method and contender.

    Args:
        x: of the points.

    Raises:
        AssertionError: contenders disagree on the results.
    """
    feed = clique_feed(setting, effort.hours)
    points = []
    for method in METHODS:
        rehearse(setting, method)
        points += _take_turns(setting, method, feed, x, effort)
    return points


def _take_turns(
    setting: CliqueSetting, method: str, feed: list[Rows], x: float, effort: CliqueEffort
) -> list[JitPoint]:
    rows = sum(table.num_rows for batch in feed for table in batch.values())
    last: dict[str, JitRun] = {}
    cpu_s: dict[str, list[float]] = {contender: [] for contender in CONTENDERS}
    for _ in range(effort.rounds):
        for contender, seconds in cpu_s.items():
            if not seconds or sum(seconds) < effort.enough_s:
                last[contender] = _run(setting, method, contender, feed)
                seconds += last[contender].cpu_s
    require_equal_answers(f"{setting}, {method}", last.values())
    return [run.point(method, x, rows, cpu_s[contender]) for contender, run in last.items()]


def _run(setting: CliqueSetting, method: str, contender: str, feed: list[Rows]) -> JitRun:
    query = clique_join(PLANS[setting.plan][setting.sources], setting.window_s)
    known = UNKNOWN
    if contender in (OPTIMIZED, OPTIMIZED_AUTO):
        query, known = flat_join(setting.sources, setting.window_s), setting.statistics
    run = JitRun(
        script(setting.sources),
        query,
        contender,
        nested_loops=method == NESTED_LOOPS,
        statistics=known,
    )
    run.play(feed)
    return run


def rehearse(setting: CliqueSetting, method: str) -> list[JitRun]:
    """Load the kernels with a small join that has results at every level.

    At most of the paper's parameters a clique join has none, so agreement says more here.

    Raises:
        AssertionError: contenders disagree on the results.
    """
    small = replace(setting, window_s=14, rate=1.0, dmax=2, special_factor=1, call_s=5)
    feed = clique_feed(small, hours=1 / 20)
    runs = [_run(small, method, contender, feed) for contender in CONTENDERS]
    require_equal_answers(f"{small}, {method}", runs)
    return runs


def clique_feed(setting: CliqueSetting, hours: float) -> list[Rows]:
    """Batches, one per call, of every source; the same for the same arguments."""
    rng = np.random.default_rng(2008)
    tables = {source_name(s): _source(s, setting, hours, rng) for s in range(setting.sources)}
    end_us = round(hours * 3600 * _SECOND_US)
    call_us = setting.call_s * _SECOND_US
    edges = np.append(np.arange(0, end_us, call_us), end_us)
    cuts = {name: np.searchsorted(t["ts"].to_numpy(), edges) for name, t in tables.items()}
    return [_slices(tables, cuts, call) for call in range(edges.size - 1)]


def _source(
    source: int, setting: CliqueSetting, hours: float, rng: np.random.Generator
) -> pa.Table:
    """Its rows, at random instants (microseconds), with random values."""
    seconds = hours * 3600
    rows = round(setting.rate * seconds)
    most = setting.largest(source)
    ts = np.sort(rng.integers(0, round(seconds * _SECOND_US), rows))
    values = {c: rng.integers(1, most + 1, rows) for c in columns(source, setting.sources)}
    if setting.hot.share:
        is_hot = rng.random(rows) < setting.hot.share
        for column in values.values():
            column[is_hot] = rng.integers(1, setting.hot.most + 1, int(is_hot.sum()))
    return pa.table({"ts": ts, **values})


def _slices(
    tables: Mapping[str, pa.Table], cuts: Mapping[str, Array], call: int
) -> dict[str, pa.Table]:
    return {
        name: table.slice(cuts[name][call], cuts[name][call + 1] - cuts[name][call])
        for name, table in tables.items()
    }
