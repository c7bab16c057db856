"""Joins whose intermediate results are all required: the cost of feedback. Not in the paper."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from eddyline.bench.figures.experiment import Claim, Experiment
from eddyline.bench.figures.jit import pictures
from eddyline.bench.figures.jit.in_turns import TurnSize, TurnWork, measure_work
from eddyline.bench.figures.jit.runs import AUTO, JIT, REF, JitPoint
from eddyline.bench.figures.plots import draw_bars
from eddyline.bench.figures.verdicts import Judgment
from eddyline.runtime.stores.columns import Array

_FULL: Final = TurnSize(window_rows=10_000, stretch_calls=16, rounds=15, call_rows=2_500)
_QUICK: Final = TurnSize(window_rows=10_000, stretch_calls=16, rounds=5, call_rows=2_500)
_LITTLE: Final = 0.05


def measure(quick: bool) -> list[JitPoint]:
    """The two joins, without feedback, with it, and with it while it saves rows."""
    size = _QUICK if quick else _FULL
    return [
        *measure_work(
            TurnWork("3-way, left-deep", left_deep, streams("abc", size)), 3, size, (REF, JIT, AUTO)
        ),
        *measure_work(
            TurnWork("4-way, bushy", _bushy, streams("abcd", size)), 4, size, (REF, JIT, AUTO)
        ),
    ]


def left_deep(window: str) -> str:
    """(A join B) join C."""
    return (
        f"SELECT ab.id AS a_id, ab.b_id, c.id AS c_id FROM ({_pairs('a', 'b', window)}) AS ab, "
        f"c {window} WHERE ab.y = c.y"
    )


def _bushy(window: str) -> str:
    return (
        "SELECT ab.id AS a_id, ab.b_id, cd.id AS c_id, cd.d_id "
        f"FROM ({_pairs('a', 'b', window)}) AS ab, ({_pairs('c', 'd', window)}) AS cd "
        "WHERE ab.y = cd.y"
    )


def _pairs(left: str, right: str, window: str) -> str:
    return (
        f"SELECT {left}.id, {left}.y, {right}.id AS {right}_id "
        f"FROM {left} {window}, {right} {window} WHERE {left}.x = {right}.x"
    )


def streams(names: str, size: TurnSize) -> dict[str, dict[str, Array]]:
    """Each window of a stream has every value once, so that each row has one partner."""
    rng = np.random.default_rng(1)
    repeats = size.rows // size.window_rows
    return {
        name: {"id": np.arange(size.rows)}
        | {c: np.tile(rng.permutation(size.window_rows), repeats) for c in "xy"}
        for name in names
    }


def overheads(points: Sequence[JitPoint], of: str = AUTO) -> dict[str, float]:
    """By case, what a contender takes more than REF: the median over the stretches, as a share of
    REF's CPU time.
    """
    by_case: dict[str, dict[str, JitPoint]] = {}
    for point in points:
        by_case.setdefault(point.case, {})[point.contender] = point
    return {
        case: statistics.median(
            one / ref for one, ref in zip(p[of].cpu_s, p[REF].cpu_s, strict=True)
        )
        - 1.0
        for case, p in by_case.items()
    }


def draw(points: Sequence[JitPoint], out: Path) -> None:
    """``no-help.png``."""
    groups: dict[str, dict[str, float]] = {}
    for p in points:
        groups.setdefault(p.case, {})[p.contender] = 1e6 * p.cpu / p.rows
    draw_bars(
        out / "no-help.png",
        "Joins whose intermediate results all find a partner",
        "one partner for each row, hash joins",
        groups,
        "CPU microseconds per row",
    )


def table(points: Sequence[JitPoint]) -> list[Mapping[str, Any]]:
    """A row per point, with the overhead."""
    over = {of: overheads(points, of) for of in (REF, JIT, AUTO)}
    return [
        {**row, "overhead": f"{over[p.contender][p.case]:+.1%}"}
        for p, row in zip(points, pictures.table(points), strict=True)
    ]


def _costs_little(points: Sequence[JitPoint]) -> Judgment:
    over = overheads(points)
    text = ", ".join(f"{case}: {o:+.1%}" for case, o in over.items())
    good = [o <= _LITTLE for o in over.values()]
    return Judgment(text, "yes" if all(good) else "in part" if any(good) else "no")


EXPERIMENT: Final = Experiment(
    "no-help",
    "No help: every intermediate result finds a partner",
    measure,
    draw,
    table,
    (
        Claim(
            "this project",
            "where feedback cannot help, the default (auto) takes at most 5 % more CPU",
            f"at most {_LITTLE:.0%} more in both",
            _costs_little,
        ),
    ),
)
