"""Figures 10 to 17: one parameter of Table III at a time, the others at their defaults."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final, Literal

from eddyline.bench.figures.experiment import Claim, Experiment
from eddyline.bench.figures.jit import judges, pictures
from eddyline.bench.figures.jit.cliques import CliqueEffort, CliqueSetting, measure_clique
from eddyline.bench.figures.jit.runs import AUTO, REACTIVE, JitPoint

Parameter = Literal["window_s", "sources", "rate", "dmax"]

_LABELS: Final[dict[Parameter, str]] = {
    "window_s": "window w, minutes",
    "rate": "rate \N{GREEK SMALL LETTER LAMDA}, tuples per second and source",
    "sources": "sources N",
    "dmax": "largest value d_max",
}


#: Each contender runs three times, however long it takes.
_FULL: Final = CliqueEffort(hours=5.0, rounds=3, enough_s=math.inf, all_values=True)
_QUICK: Final = CliqueEffort(hours=0.25, rounds=1, enough_s=math.inf, all_values=False)


@dataclass(frozen=True)
class Sweep:
    """One figure: a parameter, and its values in ascending order."""

    figure: int
    defaults: CliqueSetting
    parameter: Parameter
    values: tuple[float, ...]

    @property
    def title(self) -> str:
        """As in the paper, about."""
        name = _LABELS[self.parameter].split(",")[0]
        return f"Figure {self.figure}: {self.defaults.plan} plans, by {name}"

    def settings(self, all_values: bool) -> list[CliqueSetting]:
        """One per value, or for the first, the middle and the last; sources always vary fully."""
        values = self.values
        if not all_values and self.parameter != "sources":
            values = (values[0], values[len(values) // 2], values[-1])
        return [_with(self.defaults, self.parameter, value) for value in values]

    def x(self, setting: CliqueSetting) -> float:
        """The place of a setting on the axis."""
        value: float = getattr(setting, self.parameter)
        return value / 60 if self.parameter == "window_s" else value


def _with(setting: CliqueSetting, parameter: Parameter, value: float) -> CliqueSetting:
    changed: dict[str, Any] = {parameter: value if parameter == "rate" else int(value)}
    return replace(setting, **changed)


_BUSHY: Final = CliqueSetting(
    "bushy", sources=6, window_s=1_200, rate=1.0, dmax=200, special_factor=1, call_s=300
)
_LEFT_DEEP: Final = CliqueSetting(
    "left-deep", sources=4, window_s=600, rate=1.0, dmax=50, special_factor=100, call_s=150
)
_RATES: Final = (0.4, 0.7, 1.0, 1.3, 1.6)

#: Table III.
SWEEPS: Final = (
    Sweep(10, _BUSHY, "window_s", (600, 900, 1_200, 1_500, 1_800)),
    Sweep(11, _BUSHY, "rate", _RATES),
    Sweep(12, _BUSHY, "sources", (4, 5, 6, 7, 8)),
    Sweep(13, _BUSHY, "dmax", (100, 150, 200, 250, 300)),
    Sweep(14, _LEFT_DEEP, "window_s", (300, 450, 600, 750, 900)),
    Sweep(15, _LEFT_DEEP, "rate", _RATES),
    Sweep(16, _LEFT_DEEP, "sources", (3, 4, 5, 6)),
    Sweep(17, _LEFT_DEEP, "dmax", (30, 40, 50, 60, 70)),
)


def measure(sweep: Sweep, quick: bool) -> list[JitPoint]:
    """The points of one figure.

    Raises:
        AssertionError: contenders disagree on the results.
    """
    effort = _QUICK if quick else _FULL
    points = []
    for setting in sweep.settings(effort.all_values):
        points += measure_clique(setting, sweep.x(setting), effort)
    return points


def _claims(sweep: Sweep) -> tuple[Claim[JitPoint], ...]:
    figure = f"Figure {sweep.figure}"
    said = _SAID[sweep.figure]
    return (
        *(Claim(figure, text, asked, judges.of(REACTIVE, judge)) for text, asked, judge in said),
        *(
            Claim(f"{figure}, by default", text, asked, judges.of(AUTO, judge))
            for text, asked, judge in said
        ),
        Claim(
            f"section II ({figure})",
            "DOE is subsumed by JIT",
            "JIT at most 1.1x DOE's CPU and rows at each x",
            judges.doe_is_subsumed,
        ),
        Claim(
            f"this project ({figure})",
            "with hash joins JIT keeps fewer intermediate rows, and takes at most 1.1x the CPU",
            "at each x",
            judges.hash_joins_gain,
        ),
        Claim(
            f"this project ({figure})",
            "feedback (auto) takes no more CPU than the optimized plan without it",
            "at most 1.1x at each x, by both methods",
            judges.gains_over_the_optimized,
        ),
        Claim(
            f"this project ({figure})",
            "the default (auto) holds no more bytes than REF",
            "at each x, by both methods",
            judges.fewer_bytes,
        ),
    )


_LESS: Final = "JIT takes less CPU than REF by more than an order of magnitude"
_CLEARLY: Final = "1.5x at each x, less than 10x somewhere"
_PRONOUNCED: Final = "less pronounced than on bushy plans, but a clear advantage"
_GROW: Final = "CPU and rows: larger at the end than at the beginning, no step falls by a tenth"

#: What the paper says, when that holds, and how it is judged.
_SAID: Final[dict[int, Sequence[tuple[str, str, judges.Judge]]]] = {
    10: (
        (_LESS, "10x at each x", judges.less_cpu(10.0)),
        ("JIT saves up to 62 % of memory", "62 % at some x", judges.saves_up_to(0.62)),
        ("the gains grow with w", _GROW, judges.gains_grow),
    ),
    11: (
        (_LESS, "10x at each x", judges.less_cpu(10.0)),
        ("the larger the rate, the larger the savings", _GROW, judges.gains_grow),
    ),
    12: (
        (
            "JIT outperforms REF by large margins on both metrics",
            "2x the CPU and rows at each x",
            judges.large_margins,
        ),
        (
            "JIT's overhead increases slower with N",
            "from the least N to the most, CPU and rows",
            judges.grows_slower,
        ),
        (
            "REF's memory grows step-wise: N = 4 and 5, and 6 and 7, need alike",
            "at most 1.15x to 5 and 7, at least 1.25x to 6 and 8",
            judges.steps,
        ),
        ("JIT's memory has no such pattern", "not these steps", judges.no_steps),
    ),
    13: (
        (
            "a larger d_max decreases the overhead of both",
            "CPU and rows less at the end than at the beginning",
            judges.falls,
        ),
        (
            "JIT's overhead is relatively stable where d_max exceeds 200",
            "largest over smallest at most 1.5x, CPU and rows",
            judges.stable_from(200),
        ),
    ),
    14: (
        (_PRONOUNCED, _CLEARLY, judges.clear),
        ("especially for higher w", _GROW, judges.gains_grow),
    ),
    15: (
        (_PRONOUNCED, _CLEARLY, judges.clear),
        ("especially for higher rates", _GROW, judges.gains_grow),
    ),
    16: (
        ("JIT outperforms REF", "less CPU at each x", judges.less_cpu(1.0)),
        (
            "JIT scales more gracefully with N, especially in CPU time",
            "from the least N to the most, CPU and rows",
            judges.grows_slower,
        ),
    ),
    17: (
        (
            "below d_max = 50 the cost of REF is high, JIT handles it",
            "REF's CPU grows more than JIT's, to 1.5x of it or more",
            judges.handles_below(50),
        ),
    ),
}

EXPERIMENTS: Final = tuple(
    Experiment(
        f"figure-{sweep.figure}",
        sweep.title,
        partial(measure, sweep),
        partial(
            pictures.draw_sweep, sweep.title, f"figure-{sweep.figure}", _LABELS[sweep.parameter]
        ),
        pictures.table,
        _claims(sweep),
    )
    for sweep in SWEEPS
)
