"""The joins of ``fan_out`` and ``no_help`` in a flow: an eddy with feedback (section V)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from eddyline.bench.figures.experiment import Claim, Experiment
from eddyline.bench.figures.jit import fan_out, no_help
from eddyline.bench.figures.jit.in_turns import TurnSize, TurnWork, measure_work
from eddyline.bench.figures.jit.runs import AUTO, JIT, REF, JitPoint
from eddyline.bench.figures.plots import draw_bars
from eddyline.bench.figures.verdicts import Judgment, factor

FAN_OUT: Final = "a hundred partners, a twentieth wanted"
NO_HELP: Final = "one partner, all wanted"
_CONTENDERS: Final = (REF, JIT, AUTO)
_LITTLE: Final = 0.05


def measure(quick: bool) -> list[JitPoint]:
    """Both joins, without feedback, with it, and with it while it saves rows."""
    many, one = _sizes(quick)
    works = [
        (TurnWork(FAN_OUT, fan_out.query, fan_out.streams(many), "eddy"), many),
        (TurnWork(NO_HELP, no_help.left_deep, no_help.streams("abc", one), "eddy"), one),
    ]
    return [p for work, size in works for p in measure_work(work, 3, size, _CONTENDERS)]


def _sizes(quick: bool) -> tuple[TurnSize, TurnSize]:
    """Of the two joins."""
    return (
        TurnSize(window_rows=10_000, stretch_calls=4, rounds=3 if quick else 5, call_rows=2_500),
        TurnSize(window_rows=10_000, stretch_calls=16, rounds=5 if quick else 15, call_rows=2_500),
    )


def draw(points: Sequence[JitPoint], out: Path) -> None:
    """``flows.png``."""
    groups: dict[str, dict[str, float]] = {}
    for p in points:
        groups.setdefault(p.case, {})[p.contender] = 1e6 * p.cpu / p.rows
    title, about = "A, B and C joined in an eddy", "hash joins; windows of 10,000 rows"
    draw_bars(out / "flows.png", title, about, groups, "CPU microseconds per row")


def _of(case: str, points: Sequence[JitPoint]) -> list[JitPoint]:
    return [p for p in points if p.case == case]


def _less_cpu(points: Sequence[JitPoint]) -> Judgment:
    cpu = {p.contender: p.cpu for p in _of(FAN_OUT, points)}
    ratios = {contender: cpu[REF] / cpu[contender] for contender in (JIT, AUTO)}
    text = ", ".join(f"{contender}: {ratio:.1f}x" for contender, ratio in ratios.items())
    return Judgment(f"CPU of REF over {text}", factor(min(ratios.values()), 2.0))


def _costs_little(points: Sequence[JitPoint]) -> Judgment:
    (over,) = no_help.overheads(_of(NO_HELP, points)).values()
    return Judgment(f"{over:+.1%}", "yes" if over <= _LITTLE else "no")


EXPERIMENT: Final = Experiment(
    "flows",
    "Flows: feedback between the SteMs of an eddy",
    measure,
    draw,
    no_help.table,
    (
        Claim(
            "this project",
            "eddy, a hundred partners, a twentieth wanted: half the CPU with feedback",
            "2x",
            _less_cpu,
        ),
        Claim(
            "this project",
            "eddy, where feedback cannot help: the default (auto) takes at most 5 % more CPU",
            f"at most {_LITTLE:.0%} more",
            _costs_little,
        ),
    ),
)
