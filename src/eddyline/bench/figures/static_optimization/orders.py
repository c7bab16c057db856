"""A skewed chain of four streams in every order: is the order that is chosen the fastest?"""

from __future__ import annotations

import random
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from eddyline.bench.comparison.static_joins import all_bushy
from eddyline.bench.figures.experiment import Claim, Experiment
from eddyline.bench.figures.plots import Value, draw_bars
from eddyline.bench.figures.static_optimization.trial import (
    JoinCase,
    JoinTrial,
    TrialOutcome,
    WindowedStream,
    tree_of,
)
from eddyline.bench.figures.verdicts import Judgment, Spread, ratios
from eddyline.engine.calibration import prices_of_machine
from eddyline.optimizer.joins.trees import Tree, show

#: s0 and s1 have ten matches for each other's rows, s3 has few rows and s2 few that match them.
CASE: Final = JoinCase(
    tuple(WindowedStream(rate, seconds=2.0) for rate in (20_000.0, 20_000.0, 5_000.0, 250.0)),
    ((0, 1, 4_000), (1, 2, 10_000), (2, 3, 5_000)),
)
_NAMES: Final = tuple(f"s{i}" for i in range(len(CASE.streams)))
_EVERYTHING: Final = (1.0,) * len(CASE.streams)


@dataclass(frozen=True)
class OrderPoint:
    """One order.

    Attributes:
        chosen: whether the optimizer chose it. predicted_cores: of the model.
        cores: CPU seconds per second, by stretch. output: results per second.
    """

    tree: str
    chosen: bool
    predicted_cores: float
    cores: tuple[float, ...]
    output: float

    @property
    def median(self) -> float:
        """CPU seconds per second of the median stretch."""
        return statistics.median(self.cores)


def measure(quick: bool) -> list[OrderPoint]:
    """Engines for all orders that need no cross product take turns over the same rows.

    Raises:
        AssertionError: they disagree on the number of results.
    """
    rounds, seconds = (3, 2.0) if quick else (7, 5.0)
    chosen = tree_of(JoinTrial(CASE, CASE.flat, _EVERYTHING).query.plan)
    trees = list(all_bushy(CASE.query.neighbours()))
    runs = [JoinTrial(CASE, CASE.nested(tree), _EVERYTHING) for tree in trees]
    outcomes: list[list[TrialOutcome]] = [[] for _ in trees]
    order = random.Random(4)
    for _ in range(rounds):
        for number in order.sample(range(len(trees)), len(trees)):
            outcomes[number].append(runs[number].measure(seconds))
    assert len({tuple(o.output for o in found) for found in outcomes}) == 1, "answers differ"
    known, prices = CASE.statistics(_EVERYTHING), prices_of_machine()
    return [
        OrderPoint(
            show(tree, _NAMES),
            _same(tree, chosen),
            found[0].predicted_cores(known, prices),
            tuple(o.cores for o in found),
            found[0].output,
        )
        for tree, found in zip(trees, outcomes, strict=True)
    ]


def _same(a: Tree, b: Tree) -> bool:
    """Whether two trees are the same joins, whichever side is left."""
    if isinstance(a, int) or isinstance(b, int):
        return a == b
    return any(_same(a[0], x) and _same(a[1], y) for x, y in (b, b[::-1]))


def draw(points: Sequence[OrderPoint], out: Path) -> None:
    """``orders.png``."""
    groups: dict[str, dict[str, Value]] = {
        p.tree.replace(" ", ""): {"measured": Spread(p.cores), "model": p.predicted_cores}
        for p in points
    }
    title, label = "A skewed chain of four streams, by order", "cores"
    draw_bars(out / "orders.png", title, "process CPU seconds per second", groups, label)


def table(points: Sequence[OrderPoint]) -> list[Mapping[str, Any]]:
    """A row per order."""
    return [
        {
            "order": p.tree,
            "chosen": "yes" if p.chosen else "",
            "cores": f"{p.median:.3f}",
            "by the model": f"{p.predicted_cores:.3f}",
            "results/s": f"{p.output:,.0f}",
        }
        for p in points
    ]


def _fastest(points: Sequence[OrderPoint]) -> Judgment:
    best = min(points, key=lambda p: p.median)
    chosen = next(p for p in points if p.chosen)
    times = ratios(chosen.cores, best.cores)
    text = f"{chosen.tree} takes {times.times(2)} the CPU of {best.tree}, "
    text += f"the fastest of {len(points)}"
    return Judgment(text, "yes" if times.median <= 1.1 else "no")


def _as_written(points: Sequence[OrderPoint]) -> Judgment:
    written = next(p for p in points if p.tree == "((s0 ⋈ s1) ⋈ s2) ⋈ s3")
    chosen = next(p for p in points if p.chosen)
    times = ratios(written.cores, chosen.cores)
    text = f"the order as written takes {times.times()} the CPU"
    return Judgment(text, "yes" if times.median >= 2 else "no")


EXPERIMENT: Final = Experiment(
    "orders",
    "A skewed chain of four streams in every order",
    measure,
    draw,
    table,
    (
        Claim(
            "this project",
            "the chosen order is the fastest, within 10 %",
            "at most 1.1x the CPU of the fastest",
            _fastest,
        ),
        Claim(
            "this project",
            "choosing saves half of the CPU or more",
            "the order as written takes 2x the CPU",
            _as_written,
        ),
    ),
)
