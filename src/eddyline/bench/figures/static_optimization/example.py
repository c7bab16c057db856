"""Example 1 and Figure 6: three plans of one query, by what a join costs per row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from eddyline.bench.comparison.shedding import shed
from eddyline.bench.comparison.static_joins import PerTuple, join_query
from eddyline.bench.figures.experiment import Claim, Experiment
from eddyline.bench.figures.plots import Panel, draw_panels
from eddyline.bench.figures.verdicts import Judgment
from eddyline.optimizer.joins.functions import PlanFunctions
from eddyline.optimizer.joins.query import Source
from eddyline.optimizer.joins.trees import Tree

QUERY: Final = join_query(
    [Source.last(name, rate, rows=10) for name, rate in {"A": 10, "B": 70, "C": 20}.items()],
    {("A", "B"): 0.5, ("B", "C"): 0.2},
)
PLANS: Final[Mapping[str, Tree]] = {
    "(a) (A ⋈ B) ⋈ C": ((0, 1), 2),
    "(b) (B ⋈ C) ⋈ A": ((1, 2), 0),
    "(c) (A ⋈ C) ⋈ B": ((0, 2), 1),
}
_A, _B, _C = PLANS
#: Milliseconds that a join takes per row.
MS: Final = (0.5, 1, 2, 3, 3.5, 4, 4.25, 4.5, 5, 7, 10, 12, 14, 16, 18, 20, 30, 50, 70, 100)
_CLOSE_BY: Final = (3.0, 5.0)


@dataclass(frozen=True)
class ExamplePoint:
    """A plan at some cost of a join.

    Attributes:
        ms: that a join takes per row. utilisation: if nothing is dropped.
        output: results per second, with drop boxes if need be.
    """

    plan: str
    ms: float
    utilisation: float
    output: float


def measure(quick: bool) -> list[ExamplePoint]:
    """All plans at all costs."""
    return [_point(plan, ms) for plan in PLANS for ms in MS]


def _point(plan: str, ms: float) -> ExamplePoint:
    setting = shed(PlanFunctions(QUERY, PLANS[plan], PerTuple(ms / 1_000)))
    return ExamplePoint(plan, ms, setting.needed, setting.output)


def draw(points: Sequence[ExamplePoint], out: Path) -> None:
    """``figure-06.png``."""
    draw_outputs(points, PLANS, "Figure 6: the query of Example 1", out / "figure-06.png")


def draw_outputs(
    points: Sequence[ExamplePoint], plans: Iterable[str], title: str, file: Path
) -> None:
    """Results over the cost of a join, and where the plans change places, magnified."""
    near = [ms for ms in MS if _CLOSE_BY[0] <= ms <= _CLOSE_BY[1]]
    panels = [
        Panel(
            called,
            places,
            {plan: [at(points, plan, ms).output for ms in places] for plan in plans},
            "ms per row of a join",
            "results/s",
            log=False,
            x_axis="linear",
        )
        for called, places in (("all costs", MS), ("where plans change places", near))
    ]
    draw_panels(file, title, "results per second with optimally set drop boxes", panels)


def table(points: Sequence[ExamplePoint]) -> list[Mapping[str, Any]]:
    """A row per cost."""
    return [
        {"ms per row": f"{ms:g}"}
        | {f"{plan[:3]} utilisation": f"{at(points, plan, ms).utilisation:.0%}" for plan in PLANS}
        | {f"{plan[:3]} results/s": f"{at(points, plan, ms).output:,.0f}" for plan in PLANS}
        for ms in MS
    ]


def at(points: Sequence[ExamplePoint], plan: str, ms: float) -> ExamplePoint:
    """One point."""
    return next(p for p in points if (p.plan, p.ms) == (plan, ms))


def _outputs(points: Sequence[ExamplePoint], ms: float) -> list[float]:
    """Of plans (a), (b) and (c)."""
    return [at(points, plan, ms).output for plan in PLANS]


def _utilisations(ms: float, percent: Sequence[float]) -> Claim[ExamplePoint]:
    said = " / ".join(f"{p:g} %" for p in percent)

    def judge(points: Sequence[ExamplePoint]) -> Judgment:
        found = [100 * at(points, plan, ms).utilisation for plan in PLANS]
        same = all(abs(x - p) < 1e-9 for x, p in zip(found, percent, strict=True))
        return Judgment(" / ".join(f"{x:g} %" for x in found), "yes" if same else "no")

    text = f"at {ms:g} ms the plans (a), (b), (c) take {said}"
    return Claim("Example 1", text, "exactly", judge)


def _switches(points: Sequence[ExamplePoint]) -> Judgment:
    best = {ms: max(PLANS, key=lambda plan: at(points, plan, ms).output) for ms in (4, 4.25, 4.5)}
    text = ", ".join(f"{ms:g} ms: {plan[:3]}" for ms, plan in best.items())
    return Judgment(f"best at {text}", "yes" if (best[4], best[4.5]) == (_B, _C) else "no")


def _stays(points: Sequence[ExamplePoint]) -> Judgment:
    later = [ms for ms in MS if ms >= 4.5]
    good = [_outputs(points, ms)[2] >= max(_outputs(points, ms)) - 1e-6 for ms in later]
    return Judgment(f"(c) is the best at {sum(good)} of {len(good)} costs", _all(good))


def _widest(points: Sequence[ExamplePoint]) -> Judgment:
    gaps = {ms: _outputs(points, ms)[2] - _outputs(points, ms)[1] for ms in MS}
    at = max(gaps, key=lambda ms: gaps[ms])
    ratio = _outputs(points, at)[2] / _outputs(points, at)[1]
    text = f"widest at {at:g} ms, where (c) makes {ratio:.2f}x the results of (b)"
    return Judgment(text, "yes" if 12 <= at <= 16 and ratio > 2 else "no")


def _worst(points: Sequence[ExamplePoint]) -> Judgment:
    later = [ms for ms in MS if 17 < ms < 100]
    good = [_outputs(points, ms)[1] <= min(_outputs(points, ms)) + 1e-6 for ms in later]
    return Judgment(f"(b) makes least at {sum(good)} of {len(good)} costs above 17 ms", _all(good))


def _all_equal(points: Sequence[ExamplePoint]) -> Judgment:
    outputs = _outputs(points, 100)
    text = " / ".join(f"{x:.6g}" for x in outputs)
    return Judgment(f"results/s: {text}", _all([max(outputs) - min(outputs) < 1e-6]))


def _all(good: Sequence[bool]) -> Any:
    return "yes" if all(good) else "no"


EXPERIMENT: Final = Experiment(
    "figure-06",
    "Figure 6: the query of Example 1",
    measure,
    draw,
    table,
    (
        _utilisations(0.5, (25, 14, 20)),
        _utilisations(3, (150, 84, 120)),
        Claim(
            "Figure 6",
            "the best plan changes from (b) to (c) between 4 and 4.5 ms",
            "so at 4 and at 4.5 ms",
            _switches,
        ),
        Claim("Figure 6", "from 4.5 ms on (c) is the best", "at each cost", _stays),
        Claim(
            "Figure 6",
            "the gap grows until about 14 ms, where the best plan makes more than twice as much",
            "widest between 12 and 16 ms, more than 2x there",
            _widest,
        ),
        Claim(
            "Figure 6",
            "above 17 ms the plan of lowest utilisation is the worst",
            "at each cost below 100 ms",
            _worst,
        ),
        Claim("Figure 6", "at 100 ms all plans make the same", "exactly", _all_equal),
    ),
)
