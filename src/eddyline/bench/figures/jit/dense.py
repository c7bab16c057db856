"""Clique joins of four sources that have results. Not in the paper.

At the paper's parameters a clique join has no result at all in five hours: whatever an intermediate
result costs, it is never required. Here a few rows of each source, with few values, have partners
everywhere; the others are the paper's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

from eddyline.bench.figures.experiment import Claim, Experiment
from eddyline.bench.figures.jit.cliques import (
    NESTED_LOOPS,
    CliqueEffort,
    CliqueSetting,
    Hot,
    measure_clique,
)
from eddyline.bench.figures.jit.pictures import draw_cases, table
from eddyline.bench.figures.jit.runs import (
    AUTO,
    OPTIMIZED,
    OPTIMIZED_AUTO,
    REACTIVE,
    REF,
    JitPoint,
)
from eddyline.bench.figures.verdicts import Holds, Judgment, Regime, Spread, ratios

#: The paper's defaults but for the rows that have results: some thousand of these are alive.
SETTINGS: Final = (
    CliqueSetting(
        "bushy",
        sources=4,
        window_s=1_200,
        rate=1.0,
        dmax=200,
        special_factor=1,
        call_s=300,
        hot=Hot(0.03, 3),
    ),
    CliqueSetting(
        "left-deep",
        sources=4,
        window_s=600,
        rate=1.0,
        dmax=50,
        special_factor=1,
        call_s=150,
        hot=Hot(0.05, 3),
    ),
)
_FULL: Final = CliqueEffort(hours=2.0, rounds=5, enough_s=math.inf, all_values=True)
_QUICK: Final = CliqueEffort(hours=0.5, rounds=2, enough_s=math.inf, all_values=True)
_LEAST_RESULTS: Final = 1_000
_LITTLE: Final = 1.05


def measure(quick: bool) -> list[JitPoint]:
    """Both plans, by both methods."""
    return [
        replace(p, case=f"{setting.plan}, {p.case}")
        for setting in SETTINGS
        for p in measure_clique(setting, setting.dmax, _QUICK if quick else _FULL)
    ]


def draw(points: Sequence[JitPoint], out: Path) -> None:
    """``dense.png``."""
    title = "Clique joins of four sources that have results"
    least = min(p.results for p in points)
    draw_cases(title, f"{least:,} results or more", points, out / "dense.png")


def _gains(points: Sequence[JitPoint], over: str, under: str) -> Mapping[str, Spread]:
    """CPU of one contender over the other, by case."""
    by_key = {(p.case, p.contender): p for p in points}
    cases = dict.fromkeys(p.case for p in points)
    return {case: ratios(by_key[case, over].cpu_s, by_key[case, under].cpu_s) for case in cases}


def _less_than_ref(points: Sequence[JitPoint], contender: str) -> Judgment:
    found = _gains(points, REF, contender)
    loops = [ratio.median for case, ratio in found.items() if NESTED_LOOPS in case]
    holds: Holds = "yes" if min(loops) > 1 else "in part" if max(loops) > 1 else "no"
    return Judgment(f"CPU of REF over {contender}: {_each(found)}", holds)


def _costs_little(points: Sequence[JitPoint]) -> Judgment:
    found = {c: _gains(points, c, u) for c, u in ((REF, AUTO), (OPTIMIZED, OPTIMIZED_AUTO))}
    least = min(r.median for ratio in found.values() for r in ratio.values())
    text = "; ".join(f"{c} over auto: {_each(ratio)}" for c, ratio in found.items())
    return Judgment(f"CPU of {text}", "yes" if least >= 1 / _LITTLE else "no")


def _each(found: Mapping[str, Spread]) -> str:
    return ", ".join(f"{ratio.times(2)} ({case})" for case, ratio in found.items())


def _has_results(points: Sequence[JitPoint]) -> Judgment:
    found = {p.case: p.results for p in points}
    text = ", ".join(f"{n:,} ({case})" for case, n in found.items())
    return Judgment(text, "yes" if min(found.values()) >= _LEAST_RESULTS else "no")


_REGIME: Final = Regime[Sequence[JitPoint]](f"{_LEAST_RESULTS:,} results or more", _has_results)

EXPERIMENT: Final = Experiment(
    "dense",
    "Dense: clique joins that have results",
    measure,
    draw,
    table,
    (
        Claim(
            "this project",
            "with results, the paper's algorithm takes less CPU than REF by nested loops",
            "in both plans",
            lambda points: _less_than_ref(points, REACTIVE),
            _REGIME,
        ),
        Claim(
            "this project",
            "with results, the default (auto) takes less CPU than REF by nested loops",
            "in both plans",
            lambda points: _less_than_ref(points, AUTO),
            _REGIME,
        ),
        Claim(
            "this project",
            "with results, the default takes at most 5 % more CPU than no feedback, in the "
            "paper's plans and in the optimized one",
            f"{_LITTLE:g}x in each case",
            _costs_little,
            _REGIME,
        ),
    ),
)
