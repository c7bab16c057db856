"""The paper's default joins with hash joins, at a rate that keeps an engine busy.

At the paper's rates an engine with hash joins has nothing to do: what is measured there is the cost
of a call. Here the rows of the same windows arrive as fast as they are processed, in
calls of a chunk.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from eddyline.bench.figures.experiment import Claim, Experiment
from eddyline.bench.figures.jit.in_turns import TurnSize, TurnWork, measure_work
from eddyline.bench.figures.jit.pictures import CPU_LABEL, table
from eddyline.bench.figures.jit.plans import PLANS, PlanName, clique_join, columns, source_name
from eddyline.bench.figures.jit.runs import JIT, REF, JitPoint
from eddyline.bench.figures.plots import draw_bars
from eddyline.bench.figures.verdicts import Judgment
from eddyline.runtime.stores.columns import Array

_BUSHY: Final = "bushy, N = 6"
_LEFT_DEEP: Final = "left-deep, N = 4"


def measure(quick: bool) -> list[JitPoint]:
    """Both plans at the defaults of Table III."""
    bushy, left = _sizes(quick)
    return [
        *measure_work(_work(_BUSHY, "bushy", 6, 200, None, bushy), 6, bushy),
        *measure_work(_work(_LEFT_DEEP, "left-deep", 4, 50, 3, left), 4, left),
    ]


def _sizes(quick: bool) -> tuple[TurnSize, TurnSize]:
    """Windows of the bushy and the left-deep plan's defaults; calls of 16,384 rows in all."""
    rounds = 3 if quick else 9
    return (
        TurnSize(window_rows=1_200, stretch_calls=20, rounds=rounds, call_rows=2_730),
        TurnSize(window_rows=600, stretch_calls=20, rounds=rounds, call_rows=4_096),
    )


def _work(
    case: str, plan: PlanName, sources: int, dmax: int, special: int | None, size: TurnSize
) -> TurnWork:
    """A clique join; values of the ``special`` source are spread a hundred times as wide."""
    rng = np.random.default_rng(2008)
    streams: dict[str, dict[str, Array]] = {}
    for source in range(sources):
        most = dmax * (100 if source == special else 1)
        streams[source_name(source)] = {
            c: rng.integers(1, most + 1, size.rows) for c in columns(source, sources)
        }
    query = clique_join(PLANS[plan][sources], size.window_s)
    return TurnWork(case, lambda _: query, streams)


def draw(points: Sequence[JitPoint], out: Path) -> None:
    """``busy.png``."""
    groups: dict[str, dict[str, float]] = {}
    for p in points:
        groups.setdefault(p.case, {})[p.contender] = p.cpu
    title = "The paper's default joins, hash joins, rows as fast as they are taken"
    draw_bars(out / "busy.png", title, f"calls of a chunk of rows; {CPU_LABEL}", groups, CPU_LABEL)


def _by_case(points: Sequence[JitPoint]) -> dict[str, dict[str, JitPoint]]:
    by_case: dict[str, dict[str, JitPoint]] = {}
    for p in points:
        by_case.setdefault(p.case, {})[p.contender] = p
    return by_case


def _less_cpu(points: Sequence[JitPoint]) -> Judgment:
    ratios = {case: p[REF].cpu / p[JIT].cpu for case, p in _by_case(points).items()}
    text = ", ".join(f"{case}: {r:.2f}x" for case, r in ratios.items())
    good = [r > 1.0 for r in ratios.values()]
    return Judgment(f"CPU of REF over JIT: {text}", "yes" if all(good) else "no")


def _less_state(points: Sequence[JitPoint]) -> Judgment:
    saved = {case: 1 - p[JIT].state / p[REF].state for case, p in _by_case(points).items()}
    text = ", ".join(f"{case}: {s:.0%}" for case, s in saved.items())
    return Judgment(f"rows saved: {text}", "yes" if min(saved.values()) >= 0.4 else "no")


EXPERIMENT: Final = Experiment(
    "busy",
    "Busy: the default joins with hash joins, rows as fast as they are taken",
    measure,
    draw,
    table,
    (
        Claim(
            "this project",
            "hash joins, busy: JIT takes less CPU than REF",
            "less in both plans",
            _less_cpu,
        ),
        Claim(
            "this project",
            "hash joins, busy: JIT saves 40 % of all rows held",
            "at least 40 % fewer rows in both",
            _less_state,
        ),
    ),
)
