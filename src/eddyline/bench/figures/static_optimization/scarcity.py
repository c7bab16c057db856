"""Figures 7 to 10: random queries on machines that are too small for them, in the model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from eddyline.bench.figures.experiment import Claim, Experiment
from eddyline.bench.figures.plots import Panel, draw_panels
from eddyline.bench.figures.static_optimization.random_queries import (
    Floats,
    RandomQueries,
    filled,
    random_rates,
)
from eddyline.bench.figures.verdicts import Judgment

#: Resources in per cent of what the cheapest plan needs.
LEVELS: Final = (100, 90, 80, 70, 60, 50, 40, 30, 20, 10, 1)
_MORE: Final = 1 + 1e-9  # a better plan makes more than rounding does


@dataclass(frozen=True)
class LevelPoint:
    """All queries at one level of resources. Gains and errors are shares of 1.

    Attributes:
        percent: of the resources that the cheapest plan needs.
        other: queries of which the best plan is not the one of lowest utilisation; of plans that
            are equally good the first one counts, as an optimizer would have it.
        better: queries of which another plan makes more.
        gain: by how much the best plan makes more than that of lowest utilisation, on average.
        gain_of_better: the same over those queries where it does.
        most: the largest gain.
        error, most_error: by how much less the heuristic's plan makes, on average and at most.
    """

    percent: int
    other: float
    better: float
    gain: float
    gain_of_better: float
    most: float
    error: float
    most_error: float


def measure(cross_products: bool, quick: bool) -> list[LevelPoint]:
    """All levels, for plans with or without cross products."""
    queries = RandomQueries(random_rates(200 if quick else 1_000), cross_products)
    costs = queries.costs()
    return [_point(queries, costs, percent) for percent in LEVELS]


def _point(queries: RandomQueries, costs: Floats, percent: int) -> LevelPoint:
    needed = costs.sum(axis=2)
    lowest = needed.argmin(axis=1)
    resources = needed.min(axis=1) * percent / 100
    gains = np.broadcast_to(queries.outputs()[:, None], costs.shape)
    kept = filled(gains, costs, np.broadcast_to(resources[:, None], needed.shape))
    made = (gains * kept).sum(axis=2)
    objective = made / (costs * kept).sum(axis=2)  # R(p): cost decides among feasible plans
    every = np.arange(lowest.size)
    best, low = made[every, objective.argmax(axis=1)], made[every, lowest]
    gain, better = best / low - 1, best > low * _MORE
    error = 1 - queries.heuristic(resources).output / best
    return LevelPoint(
        percent=percent,
        other=float((objective.argmax(axis=1) != lowest).mean()),
        better=float(better.mean()),
        gain=float(gain.mean()),
        gain_of_better=float(gain[better].mean()) if better.any() else 0.0,
        most=float(gain.max()),
        error=float(error.mean()),
        most_error=float(error.max()),
    )


def draw(stem: str, title: str, points: Sequence[LevelPoint], out: Path) -> None:
    """Figures 7 to 10, a panel each."""
    places = [str(p.percent) for p in points]
    x = "resources, % of saturation"
    panels = [
        Panel(
            "7: another plan is better",
            places,
            {
                "other plan chosen": [100 * p.other for p in points],
                "other plan makes more": [100 * p.better for p in points],
            },
            x,
            "% of queries",
            log=False,
        ),
        Panel(
            "8: average gain",
            places,
            {"average gain": [100 * p.gain or None for p in points]},
            x,
            "gain, %",
        ),
        Panel(
            "9: gain where there is one",
            places,
            {
                "average gain": [100 * p.gain_of_better or None for p in points],
                "largest gain": [100 * p.most or None for p in points],
            },
            x,
            "gain, %",
        ),
        Panel(
            "10: the heuristic",
            places,
            {
                "average error": [100 * p.error for p in points],
                "largest error": [100 * p.most_error for p in points],
            },
            x,
            "error, %",
            log=False,
        ),
    ]
    draw_panels(out / f"{stem}.png", title, "five sources, Table 2, random rates", panels)


def table(points: Sequence[LevelPoint]) -> list[Mapping[str, Any]]:
    """A row per level."""
    return [
        {
            "resources": f"{p.percent} %",
            "other plan chosen": f"{p.other:.1%}",
            "other plan makes more": f"{p.better:.1%}",
            "average gain": f"{p.gain:.1%}",
            "where there is one": f"{p.gain_of_better:.1%}",
            "largest gain": f"{p.most:.0%}",
            "heuristic's error": f"{p.error:.3%}",
            "its largest": f"{p.most_error:.1%}",
        }
        for p in points
    ]


# -- claims ------------------------------------------------------------


def _at(points: Sequence[LevelPoint], percent: int) -> LevelPoint:
    return next(p for p in points if p.percent == percent)


def _half_at_60(points: Sequence[LevelPoint]) -> Judgment:
    p = _at(points, 60)
    text = f"at 60 %: {p.other:.0%} have another best plan, {p.better:.0%} one that makes more"
    return Judgment(text, "yes" if p.better > 0.5 else "in part" if p.other > 0.5 else "no")


def _certain_from_30(points: Sequence[LevelPoint]) -> Judgment:
    few = [p for p in points if p.percent <= 30]
    text = ", ".join(f"{p.percent} %: {p.other:.0%} and {p.better:.0%}" for p in few)
    certain = min(p.other for p in few) > 0.9
    return Judgment(f"another plan is best, and makes more, at {text}", "yes" if certain else "no")


def _eightfold(points: Sequence[LevelPoint]) -> Judgment:
    gain = _at(points, 1).gain
    return Judgment(f"{gain:.1f}-fold at 1 %", "yes" if 6 <= gain <= 10 else "no")


def _four_per_cent(points: Sequence[LevelPoint]) -> Judgment:
    gain = _at(points, 60).gain
    return Judgment(f"{gain:.1%} at 60 %", "yes" if 0.03 <= gain <= 0.05 else "no")


def _most_over_average(points: Sequence[LevelPoint]) -> Judgment:
    ratios = {p.percent: p.most / p.gain for p in points if p.gain > 1e-6}
    text = ", ".join(f"{percent} %: {ratio:.0f}x" for percent, ratio in ratios.items())
    falling = next(iter(ratios.values())) > 5 * ratios[10]
    return Judgment(f"largest over average gain at {text}", "yes" if falling else "no")


def _heuristic(points: Sequence[LevelPoint]) -> Judgment:
    worst = max((p for p in points if p.percent > 1), key=lambda p: p.error)
    text = f"at most {worst.error:.2%} on average, at {worst.percent} %"
    return Judgment(text, "yes" if worst.error <= 0.002 else "no")


def _heuristic_at_1(points: Sequence[LevelPoint]) -> Judgment:
    error = _at(points, 1).error
    return Judgment(f"{error:.1%} at 1 %", "yes" if 0.2 <= error <= 0.35 else "no")


def _within_two(points: Sequence[LevelPoint]) -> Judgment:
    worst = max(p.most_error for p in points)
    return Judgment(f"largest error {worst:.1%}", "yes" if worst <= 0.5 else "no")


def _rarely_without(points: Sequence[LevelPoint]) -> Judgment:
    most = max(points, key=lambda p: p.better)
    text = f"another plan makes more for {most.better:.0%} of the queries at most"
    return Judgment(f"{text}, at {most.percent} %", "yes" if most.better < 0.5 else "no")


def _experiment(
    stem: str, title: str, cross_products: bool, claims: tuple[Claim[LevelPoint], ...]
) -> Experiment[LevelPoint]:
    return Experiment(
        stem, title, partial(measure, cross_products), partial(draw, stem, title), table, claims
    )


EXPERIMENTS: Final = (
    _experiment(
        "figures-07-to-10",
        "Figures 7 to 10: random queries, all left-deep plans",
        True,
        (
            Claim(
                "Figure 7",
                "at about 60 % of resources most need reoptimization",
                "another plan makes more for more than half",
                _half_at_60,
            ),
            Claim(
                "Figure 7",
                "from about 30 % on it is almost certain",
                "for 90 % or more",
                _certain_from_30,
            ),
            Claim("Figure 8", "at 1 % the average gain is almost 8-fold", "6 to 10", _eightfold),
            Claim("Figure 8", "at 60 % it is about 4 %", "3 to 5 %", _four_per_cent),
            Claim(
                "Figure 9",
                "the largest gain comes closer to the average",
                "the ratio falls 5-fold to 10 % of resources",
                _most_over_average,
            ),
            Claim(
                "Figure 10", "the heuristic's average error is at most 0.2 %", "0.2 %", _heuristic
            ),
            Claim("Figure 10", "but for 28 % at 1 % of resources", "20 to 35 %", _heuristic_at_1),
            Claim(
                "Figure 10",
                "its plan is always within a factor of 2",
                "error at most 50 %",
                _within_two,
            ),
        ),
    ),
    _experiment(
        "no-cross-products",
        "The same without cross products",
        False,
        (
            Claim(
                "this project",
                "without plans that cross what nothing ties, few queries need reoptimization",
                "fewer than half",
                _rarely_without,
            ),
        ),
    ),
)
