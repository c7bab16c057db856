"""Runs of all strategies over the same arrivals."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from eddyline.bench.figures.shared_windows.arrivals import arrivals, at_once
from eddyline.bench.figures.shared_windows.blocks import Blocks, JoinLoad, blocks
from eddyline.bench.figures.shared_windows.driver import (
    Drive,
    Pace,
    Responses,
    RunOutcome,
    drive_together,
    undisturbed,
)
from eddyline.bench.figures.shared_windows.server import LWO, STRATEGIES, TABLE_1, Server
from eddyline.bench.figures.verdicts import Spread
from eddyline.runtime.stores.columns import Array

#: By strategy and blocks, a server with full windows, and the clock of its work.
Make = Callable[[str, Blocks], tuple[Server, Callable[[], float]]]

#: Units from which the service time is taken, after the first tenth of them.
_CALIBRATE: Final = 220
#: A server's turn, in service times of a unit.
_TURN: Final = 20.0


@dataclass(frozen=True)
class RunPoint:
    """One strategy over one distribution of windows.

    Attributes:
        method: hash, nested loops, simulated, or end to end.
        burst: units that arrive at once, on average.
        unit_s: seconds that a lone unit takes, from its arrival until it is through.
        outcomes: of runs with other arrivals.
        scaled: whether clocks are scaled so that a scan takes every strategy as long as LWO.
    """

    method: str
    distribution: str
    burst: float
    strategy: str
    unit_s: float
    outcomes: tuple[RunOutcome, ...]
    scaled: bool = False

    @property
    def outcome(self) -> RunOutcome:
        """That of the run with the median average."""
        return sorted(self.outcomes, key=lambda o: o.average)[(len(self.outcomes) - 1) // 2]

    @property
    def average(self) -> Spread:
        """Seconds: over all windows, by run."""
        return Spread(tuple(o.average for o in self.outcomes))

    @property
    def busy(self) -> Spread:
        """Utilisation, by run."""
        return Spread(tuple(o.busy_s / o.elapsed_s for o in self.outcomes))

    def by_window(self, value: Callable[[Responses], float]) -> list[Spread | None]:
        """A value of each window, by run; None where there are no results."""
        return [
            Spread(tuple(map(value, runs))) if runs[0].results else None
            for runs in zip(*(o.windows for o in self.outcomes), strict=True)
        ]

    @property
    def windows_s(self) -> tuple[int, ...]:
        """Of the queries."""
        return TABLE_1[self.distribution]


def measure_runs(
    make: Make,
    load: JoinLoad,
    distribution: str,
    burst: float,
    strategies: Sequence[str] = STRATEGIES,
    pace_s: float | None = None,
    repeats: int = 1,
) -> list[RunPoint]:
    """A point per strategy.

    Args:
        pace_s: what a unit is to take LWO; None: what it takes it now.
        repeats: runs, each with other arrivals.

    Raises:
        AssertionError: strategies disagree on the number of results.
    """
    windows = TABLE_1[distribution]
    runs: dict[str, list[RunOutcome]] = {s: [] for s in strategies}
    unit_s: dict[str, float] = {}
    for seed in range(1, repeats + 1):
        come = arrivals(load.units, burst, seed)
        work = blocks(load, windows, come, windows[-1])
        unit_s = unit_s or calibrate(make, work, strategies)
        pace_s = unit_s[LWO] if pace_s is None else pace_s
        # two units arrive per mean gap of a stream
        instants = come.at * (2 * pace_s / load.utilisation)
        for strategy, outcome in _driven(make, work, instants, strategies, pace_s).items():
            runs[strategy].append(outcome)
    return [
        RunPoint(load.method, distribution, burst, s, unit_s[s], tuple(found), load.alike)
        for s, found in runs.items()
    ]


def _driven(
    make: Make, work: Blocks, instants: Array, strategies: Sequence[str], pace_s: float
) -> dict[str, RunOutcome]:
    """One run of each strategy, in turns."""
    load, levels = work.load, len(work.windows_s)
    servers = [make(s, work) for s in strategies]
    drives = [Drive(server, instants, work.preloaded, levels, clock) for server, clock in servers]
    assert strategies[0] == LWO, "whose units all cost the same"
    paced = drives if load.alike else drives[:1] * len(drives)
    paces = {id(drive): Pace(drive, pace_s) for drive in paced}
    turn_s = _TURN * pace_s / load.utilisation
    drive_together(drives, turn_s, [paces[id(drive)] for drive in paced])
    outcomes = dict(zip(strategies, (drive.outcome() for drive in drives), strict=True))
    require_equal_results(outcomes)
    return outcomes


def require_equal_results(outcomes: Mapping[str, RunOutcome]) -> None:
    """Strategies must have the same number of results in each window.

    Raises:
        AssertionError: they have not.
    """
    found = {s: tuple(w.results for w in o.windows) for s, o in outcomes.items()}
    assert len(set(found.values())) == 1, f"results differ: {found}"


def calibrate(make: Make, work: Blocks, strategies: Sequence[str]) -> dict[str, float]:
    """Seconds that each strategy takes to build and join a lone unit."""
    units = range(work.preloaded, min(work.preloaded + _CALIBRATE, len(work.stream)))
    tenth = max(len(units) // 10, 1)
    servers = {s: make(s, work) for s in strategies}
    seconds = dict.fromkeys(strategies, 0.0)
    with undisturbed():
        for start in range(0, len(units), tenth):  # in turns, of which the first does not count
            for strategy, (server, clock) in servers.items():
                begin = clock()
                _work_off(server, units[start : start + tenth])
                seconds[strategy] += (clock() - begin) if start else 0.0
    return {s: spent / (len(units) - tenth) for s, spent in seconds.items()}


def _work_off(server: Server, units: Sequence[int]) -> None:
    for unit in units:
        server.arrive(unit)
        while server.waiting:
            server.step()


def serve_at_once(
    make: Make, load: JoinLoad, windows_s: Sequence[int], strategy: str, m: int, largest_s: int
) -> RunOutcome:
    """``m`` units of one stream that arrive at one instant, at an idle server."""
    work = blocks(load, windows_s, at_once(m), largest_s)
    server, clock = make(strategy, work)
    drive = Drive(server, np.zeros(m), work.preloaded, len(windows_s), clock)
    with undisturbed():
        drive.advance()
    return drive.outcome()
