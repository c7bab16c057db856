"""Equations 1 and 2 against the operator: units that arrive at once, at an idle server."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from eddyline.bench.figures.experiment import Claim, Experiment
from eddyline.bench.figures.plots import Panel, draw_panels
from eddyline.bench.figures.shared_windows.blocks import JoinLoad, Method
from eddyline.bench.figures.shared_windows.driver import RunOutcome
from eddyline.bench.figures.shared_windows.model import (
    AT_ONCE,
    ISOLATED,
    WINDOWS_S,
    isolated,
    largest_window_only,
    smallest_window_first,
)
from eddyline.bench.figures.shared_windows.operator import shared_join
from eddyline.bench.figures.shared_windows.runs import serve_at_once
from eddyline.bench.figures.shared_windows.server import LWO, SWF
from eddyline.bench.figures.verdicts import Judgment

#: Large blocks, so that the fixed cost of a step, which the equations leave out, is little.
_LOADS: Final = (
    JoinLoad("nested loops", 256, 1200, 0.2, 0),
    JoinLoad("hash", 2048, 600, 120.0, 0),
)
_QUICK_LOADS: Final = (
    JoinLoad("nested loops", 128, 600, 0.2, 0),
    JoinLoad("hash", 1024, 600, 120.0, 0),
)
_METHODS: Final[tuple[Method, ...]] = ("nested loops", "hash")
_ROUNDS: Final = 3
#: Windows whose scan is short beside the fixed cost of a step are reported, but not judged.
_JUDGED_S: Final = 100
_NEAR: Final = 0.15


@dataclass(frozen=True)
class EquationPoint:
    """One window under one strategy.

    Attributes:
        unit_s: seconds that a unit took, all windows together: ``t_p`` times the largest window.
        measured_s, reckoned_s: average response times.
    """

    method: Method
    strategy: str
    window_s: int
    unit_s: float
    measured_s: float
    reckoned_s: float

    @property
    def ratio(self) -> float:
        """Measured over reckoned."""
        return self.measured_s / self.reckoned_s if self.reckoned_s else 1.0


def measure(quick: bool) -> list[EquationPoint]:
    """Every method and strategy; the median of some rounds."""
    rounds = 1 if quick else _ROUNDS
    return [p for load in (_QUICK_LOADS if quick else _LOADS) for p in _measure(load, rounds)]


def _measure(load: JoinLoad, rounds: int) -> list[EquationPoint]:
    serve_at_once(shared_join, load, WINDOWS_S, SWF, 2, WINDOWS_S[-1])  # compiles
    points = [p for s in (LWO, SWF) for p in _together(load, s, rounds)]
    return points + [p for w in WINDOWS_S for p in _alone(load, w, rounds)]


def _together(load: JoinLoad, strategy: str, rounds: int) -> list[EquationPoint]:
    unit_s, measured = _served(load, WINDOWS_S, strategy, rounds)
    scan_s = [unit_s * w / WINDOWS_S[-1] for w in WINDOWS_S]
    if strategy == LWO:
        reckoned = largest_window_only(scan_s, _pair_s(load, unit_s), AT_ONCE)
    else:
        reckoned = smallest_window_first(scan_s, AT_ONCE)
    each = zip(WINDOWS_S, measured, reckoned, strict=True)
    return [EquationPoint(load.method, strategy, w, unit_s, m, r) for w, m, r in each]


def _alone(load: JoinLoad, window_s: int, rounds: int) -> list[EquationPoint]:
    unit_s, (measured,) = _served(load, (window_s,), LWO, rounds)
    (reckoned,) = isolated([unit_s], _pair_s(load, unit_s), AT_ONCE)
    return [EquationPoint(load.method, ISOLATED, window_s, unit_s, measured, reckoned)]


def _served(
    load: JoinLoad, windows_s: Sequence[int], strategy: str, rounds: int
) -> tuple[float, list[float]]:
    """Seconds per unit, and the average response by window."""
    outcomes: list[RunOutcome] = [
        serve_at_once(shared_join, load, windows_s, strategy, AT_ONCE, WINDOWS_S[-1])
        for _ in range(rounds)
    ]
    unit_s = statistics.median(o.busy_s for o in outcomes) / AT_ONCE
    averages = zip(*([w.average for w in o.windows] for o in outcomes), strict=True)
    return unit_s, [statistics.median(each) for each in averages]


def _pair_s(load: JoinLoad, unit_s: float) -> float:
    """Seconds per pair of a unit and a unit of the window."""
    return unit_s / load.window_blocks


def draw(points: Sequence[EquationPoint], out: Path) -> None:
    """``equations.png``."""
    panels = []
    for method in dict.fromkeys(p.method for p in points):
        for strategy in (LWO, SWF):
            lines = {
                called if how == "measured" else f"{called}, reckoned": [
                    1e3 * (p.measured_s if how == "measured" else p.reckoned_s)
                    for p in points
                    if (p.method, p.strategy) == (method, name)
                ]
                for called, name in ((strategy, strategy), (ISOLATED, ISOLATED))
                for how in ("measured", "reckoned")
            }
            places = [str(w) for w in WINDOWS_S]
            title = f"{strategy}, {method}"
            panels.append(Panel(title, places, lines, "window, s", "average response, ms"))
    draw_panels(
        out / "equations.png",
        "Equations 1 and 2, reckoned and measured",
        f"{AT_ONCE} units come at once, at an idle server",
        panels,
    )


def table(points: Sequence[EquationPoint]) -> list[Mapping[str, Any]]:
    """A row per point."""
    return [
        {
            "method": p.method,
            "strategy": p.strategy,
            "window, s": p.window_s,
            "unit, ms": f"{1e3 * p.unit_s:.2f}",
            "measured, ms": f"{1e3 * p.measured_s:.1f}",
            "reckoned, ms": f"{1e3 * p.reckoned_s:.1f}",
            "ratio": f"{p.ratio:.2f}",
        }
        for p in points
    ]


def _near(points: Sequence[EquationPoint], strategy: str, method: Method) -> Judgment:
    mine = [p for p in points if (p.strategy, p.method) == (strategy, method)]
    judged = [p for p in mine if p.window_s >= _JUDGED_S]
    off = [p for p in judged if abs(p.ratio - 1.0) > _NEAR]
    least, most = min(p.ratio for p in judged), max(p.ratio for p in judged)
    text = f"measured over reckoned: {least:.2f} to {most:.2f}; "
    text += f"window of {mine[0].window_s} s: {mine[0].ratio:.2f}"
    return Judgment(text, "no" if len(off) == len(judged) else "in part" if off else "yes")


EXPERIMENT: Final = Experiment(
    "equations",
    "Reckoned and measured: Equations 1 and 2",
    measure,
    draw,
    table,
    tuple(
        Claim(
            source,
            f"{strategy}, {method}: within 15 % for windows from {_JUDGED_S} s on",
            f"measured within {_NEAR:.0%} of reckoned, for each of these windows",
            partial(_near, strategy=strategy, method=method),
        )
        for source, strategy in (
            ("Equation 1", LWO),
            ("Equation 2", SWF),
            ("section 3.1.1", ISOLATED),
        )
        for method in _METHODS
    ),
)
