"""Whole engines: ``Engine.stream`` with arrivals at given instants, under each schedule.

Unlike the bare operator, this has all that a user waits for: intake, event-time order, the join,
and tables of results for each query. Clocks are not scaled: every schedule has the costs that it
has, and all get the same arrivals, at a rate that keeps the one with the most work busy for
``UTILISATION`` of the time.

The clock is virtual, as in ``driver.py``: it advances by the CPU time of the engine and jumps to
the next arrival where the engine has nothing to do. A row of the other stream comes with each unit
and matches nothing; it lets the watermark, the smaller of the two, follow at once.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Final

import numpy as np
import pyarrow as pa

import eddyline
from eddyline.bench.figures.experiment import Claim, Experiment
from eddyline.bench.figures.shared_windows import judges, pictures
from eddyline.bench.figures.shared_windows.arrivals import arrivals
from eddyline.bench.figures.shared_windows.blocks import Blocks, JoinLoad, blocks
from eddyline.bench.figures.shared_windows.driver import (
    Responses,
    RunOutcome,
    undisturbed,
    weighted,
)
from eddyline.bench.figures.shared_windows.runs import RunPoint, require_equal_results
from eddyline.bench.figures.shared_windows.server import GREEDY, LWO, SWF, TABLE_1
from eddyline.bench.figures.verdicts import Holds, Judgment, Regime, factor, ratios
from eddyline.physical.flows import Schedules
from eddyline.runtime.stores.columns import Array

END_TO_END: Final = "end to end"
UTILISATION: Final = 0.8

_SCHEDULES: Final[Mapping[str, Schedules]] = {LWO: "lwo", SWF: "swf", GREEDY: "greedy"}
_SCRIPT: Final = """
    CREATE STREAM a (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts;
    CREATE STREAM b (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts
"""
_NO_MATCH: Final = (-1, -2)  # keys of the rows that only move the watermark, by stream
_FULL: Final = JoinLoad("hash", 512, 600, 20.0, 600)
_QUICK: Final = JoinLoad("hash", 128, 60, 10.0, 40)
_BURST: Final = 4.0
#: Of the utilisation; of more work than LWO's; of the time for small windows, and which these are.
_NEAR: Final = 0.1
_MORE: Final = 1.05
_SOONER: Final = 5.0
_SMALL_S: Final = 15
_CALIBRATE: Final = 20  # units that come at once, to learn what each takes
_FILL_ROWS: Final = 16_384


def measure_end_to_end(
    load: JoinLoad, cases: Sequence[tuple[str, float]], repeats: int
) -> list[RunPoint]:
    """A point per schedule for each distribution and mean burst.

    Raises:
        AssertionError: schedules disagree on the number of results.
    """
    return [p for distribution, burst in cases for p in _case(load, distribution, burst, repeats)]


def _case(load: JoinLoad, distribution: str, burst: float, repeats: int) -> list[RunPoint]:
    windows = TABLE_1[distribution]
    unit_s: dict[str, float] = {}
    runs: dict[str, list[RunOutcome]] = {s: [] for s in _SCHEDULES}
    gap_s = 0.0
    for seed in range(1, repeats + 1):
        come = arrivals(load.units, burst, seed)
        work = blocks(load, windows, come, windows[-1])
        unit_s = unit_s or {s: _unit_s(s, work) for s in _SCHEDULES}
        gap_s = gap_s or _gap_s(work, come.at, max(unit_s.values()))
        instants = come.at * gap_s
        outcomes = {s: _PacedEngine(s, work, instants).run() for s in _SCHEDULES}
        require_equal_results(outcomes)
        for schedule, outcome in outcomes.items():
            runs[schedule].append(outcome)
    return [
        RunPoint(END_TO_END, distribution, burst, s, unit_s[s], tuple(found))
        for s, found in runs.items()
    ]


def _gap_s(work: Blocks, at: Array, unit_s: float) -> float:
    """The mean gap of a stream at which the schedule with the most work is as busy as it should be.

    A rehearsal tells: what a unit takes depends on how many wait beside it.

    Args:
        at: arrivals, in mean gaps. unit_s: what a lone unit takes.
    """
    gap_s = 2 * unit_s / UTILISATION  # two units arrive per mean gap of a stream
    outcomes = (_PacedEngine(s, work, at * gap_s).run() for s in _SCHEDULES)
    return max(o.busy_s for o in outcomes) / (float(at[-1]) * UTILISATION)


def _unit_s(schedule: str, work: Blocks) -> float:
    """Seconds that a unit takes: some that come one by one, after as many that do not count."""
    count = min(_CALIBRATE, (work.stream.size - work.preloaded) // 2)
    lone = np.arange(2 * count, dtype=np.float64) * 1e6
    engine = _PacedEngine(schedule, work, lone)
    engine.run()
    return engine.busy_after(count) / count


@dataclass
class _PacedEngine:
    """An engine that gets units at given instants of its virtual clock.

    Attributes:
        instants: float64, seconds, when the units behind the preloaded ones arrive, ascending.
        now: the instant. busy_s: how much of it was work; ``worked``: at each unit's arrival.
    """

    schedule: str
    work: Blocks
    instants: Array
    engine: eddyline.Engine = field(init=False)
    now: float = 0.0
    busy_s: float = 0.0
    worked: list[float] = field(default_factory=list)
    found: list[list[tuple[Array, Array, float]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        strategy = eddyline.StrategyOptions(executor="eddy", schedule=_SCHEDULES[self.schedule])
        options = eddyline.EngineOptions(chunk_rows=self.work.load.block_rows)
        self.engine = eddyline.Engine(options, strategy)
        self.engine.sql(_SCRIPT)
        for number, window_us in enumerate(self.work.windows_us):
            window = f"[RANGE {window_us} MICROSECONDS]"
            self.engine.query(
                f"SELECT a.k, a.ts AS a_ts, b.ts AS b_ts FROM a {window}, b {window} "
                "WHERE a.k = b.k",
                name=f"q{number}",
            )
        self.found = [[] for _ in self.work.windows_us]
        progress = self.engine.parts.progress
        progress.chunk_rows = _FILL_ROWS  # results do not depend on it
        self.engine.process(self._rows(np.arange(self.work.preloaded)))
        progress.chunk_rows = self.work.load.block_rows

    def run(self) -> RunOutcome:
        """Serve all units; the clock starts with the first arrival."""
        self.now = float(self.instants[0])
        with undisturbed():
            self._mark = time.thread_time()
            for name, changes in self.engine.stream(self._feed()):
                self._tick()
                ts, counts = np.unique(
                    changes["_ts"].cast(pa.int64()).to_numpy(), return_counts=True
                )
                self.found[int(name[1:])].append((ts, counts, self.now))
                self._mark = time.thread_time()
        return RunOutcome(
            tuple(map(self._responses, self.found)),
            self.busy_s,
            self.now - float(self.instants[0]),
            0.0,
            0.0,
            0,
            0,
        )

    def busy_after(self, unit: int) -> float:
        """Seconds of work since a unit arrived."""
        return self.busy_s - self.worked[unit]

    def _feed(self) -> Iterator[dict[str, pa.Table] | None]:
        """What has arrived by now; None while the engine still has work."""
        come, instants = 0, self.instants
        execution = self.engine.parts.queries.execution
        while come < instants.size:
            self._tick()
            due = int(np.searchsorted(instants, self.now, "right"))
            if due > come:
                rows = self._rows(self.work.preloaded + np.arange(come, due))
                self.worked += [self.busy_s] * (due - come)
                come = due
            elif execution.waiting:
                rows = None
            else:
                self.now = max(self.now, float(instants[come]))
                continue
            self._mark = time.thread_time()
            yield rows

    def _tick(self) -> None:
        """Let the clock advance by the work since the last mark."""
        spent = time.thread_time() - self._mark
        self._mark += spent
        self.now += spent
        self.busy_s += spent

    def _rows(self, units: Array) -> dict[str, pa.Table]:
        """The rows of units, and for each a row of the other stream that matches nothing."""
        work, found = self.work, {}
        for side, name in enumerate("ab"):
            mine = work.stream[units] == side
            sizes = np.where(mine, work.load.block_rows, 1)
            keys = np.full(int(sizes.sum()), _NO_MATCH[side])
            keys[np.repeat(mine, sizes)] = work.keys[units[mine]].ravel()
            found[name] = pa.table({"ts": np.repeat(work.ts_us[units], sizes), "k": keys})
        return found

    def _responses(self, notes: Sequence[tuple[Array, Array, float]]) -> Responses:
        """Results have the event time of the unit whose arrival caused them."""
        if not notes:
            return Responses(0, 0.0, 0.0, 0.0, 0.0)
        ts = np.concatenate([t for t, _, _ in notes])
        counts = np.concatenate([c for _, c, _ in notes])
        at = np.repeat([now for _, _, now in notes], [t.size for t, _, _ in notes])
        units = np.searchsorted(self.work.ts_us[self.work.preloaded :], ts)
        return weighted(at - self.instants[units], counts)


def measure(quick: bool) -> list[RunPoint]:
    """The distributions of Table 1, and bursts of four units."""
    load, repeats = (_QUICK, 1) if quick else (_FULL, 3)
    return measure_end_to_end(
        load, [*((d, 1.0) for d in TABLE_1), ("Small-Large", _BURST)], repeats
    )


def _single(points: Sequence[RunPoint]) -> list[RunPoint]:
    return [p for p in points if p.burst == 1.0]


def draw(points: Sequence[RunPoint], out: Path) -> None:
    """``end-to-end-07.png``, ``end-to-end-08.png`` and ``end-to-end-bursts.png``."""
    mine = _single(points)
    title = "As Figure 7, end to end over Engine.stream: average over all windows"
    pictures.draw_averages(mine, out / "end-to-end-07.png", title, pictures.MS)
    title = "As Figure 8, end to end over Engine.stream: by window"
    pictures.draw_windows(mine, out / "end-to-end-08.png", title, pictures.MS)
    bursts = [p for p in points if p.burst > 1.0]
    title = f"As Figure 10, end to end over Engine.stream: bursts of {_BURST:g}"
    pictures.draw_by_window(bursts, out / "end-to-end-bursts.png", title, pictures.MS)


def _busy(points: Sequence[RunPoint]) -> Judgment:
    """The schedule with the most work is to be as busy as planned."""
    most = {
        (p.distribution, p.burst): max(q.busy.median for q in _alike(points, p)) for p in points
    }
    low, high = min(most.values()), max(most.values())
    good = low >= UTILISATION - _NEAR and high <= UTILISATION + _NEAR
    return Judgment(f"{low:.0%} to {high:.0%}", "yes" if good else "no")


def _alike(points: Sequence[RunPoint], like: RunPoint) -> list[RunPoint]:
    return [p for p in points if (p.distribution, p.burst) == (like.distribution, like.burst)]


def _no_more_work(points: Sequence[RunPoint]) -> Judgment:
    found = {}
    for p in points:
        if p.strategy == GREEDY:
            (lwo,) = (q for q in _alike(points, p) if q.strategy == LWO)
            works = ([o.busy_s for o in q.outcomes] for q in (p, lwo))
            found[f"{p.distribution}, bursts of {p.burst:g}"] = ratios(*works)
    text = ", ".join(f"{ratio.times(2)} ({case})" for case, ratio in found.items())
    good = sum(ratio.median <= _MORE for ratio in found.values())
    holds: Holds = "yes" if good == len(found) else "in part" if good else "no"
    return Judgment(f"work of Greedy over LWO: {text}", holds)


def _sooner(points: Sequence[RunPoint]) -> Judgment:
    """The smallest windows that have results, in bursts."""
    lwo, greedy = (
        next(p for p in points if p.burst > 1.0 and p.strategy == s) for s in (LWO, GREEDY)
    )
    windows = zip(
        TABLE_1["Small-Large"],
        lwo.by_window(lambda w: w.average),
        greedy.by_window(lambda w: w.average),
        strict=True,
    )
    found = {
        f"{s} s": ratios(a.values, b.values)
        for s, a, b in windows
        if s <= _SMALL_S and a is not None and b is not None
    }
    text = ", ".join(f"{ratio.times()} ({window})" for window, ratio in found.items())
    least = min(ratio.median for ratio in found.values())
    return Judgment(f"LWO's time over Greedy's: {text}", factor(least, _SOONER))


_REGIME: Final = Regime[Sequence[RunPoint]](
    f"the schedule with the most work {UTILISATION:.0%} busy, give or take {_NEAR:.0%}", _busy
)
EXPERIMENT: Final = Experiment(
    "end-to-end",
    "End to end: Engine.stream with paced arrivals, clocks not scaled",
    measure,
    draw,
    partial(pictures.table, unit=pictures.MS),
    (
        Claim(
            "section 5.1, end to end",
            "Greedy has the lowest average over all windows, in every distribution",
            "lower than both others in each",
            lambda points: judges.greedy_is_best(_single(points)),
            _REGIME,
        ),
        Claim(
            "this project",
            "end to end: Greedy, the default, has no more work than LWO",
            f"at most {_MORE:g}x in each case",
            _no_more_work,
        ),
        Claim(
            "this project",
            "end to end, bursts: the smallest windows get their results sooner than under LWO",
            f"{_SOONER:g}x for each window up to {_SMALL_S} s",
            _sooner,
            _REGIME,
        ),
    ),
)
