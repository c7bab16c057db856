"""A join with a hundred results per row, of which few are required. Not in the paper."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np

from eddyline.bench.figures.experiment import Claim, Experiment
from eddyline.bench.figures.jit.in_turns import TurnSize, TurnWork, measure_work
from eddyline.bench.figures.jit.pictures import CPU_LABEL, table
from eddyline.bench.figures.jit.runs import JIT, REACTIVE, REF, JitPoint
from eddyline.bench.figures.plots import Panel, draw_panels
from eddyline.bench.figures.verdicts import Judgment, factor
from eddyline.runtime.stores.columns import Array

_FULL: Final = TurnSize(window_rows=10_000, stretch_calls=4, rounds=5, call_rows=2_500)
_QUICK: Final = TurnSize(window_rows=10_000, stretch_calls=4, rounds=3, call_rows=2_500)
_PARTNERS: Final = 100  # rows of B for each of A
_WANTED: Final = 0.05  # of the rows of A have a partner in C


def measure(quick: bool) -> list[JitPoint]:
    """(A join B) join C, without feedback, with it, and in its purely reactive form."""
    size = _QUICK if quick else _FULL
    work = TurnWork("fan-out", query, streams(size))
    return measure_work(work, _PARTNERS, size, (REF, JIT, REACTIVE))


def query(window: str) -> str:
    """(A join B) join C."""
    return (
        "SELECT ab.id AS a_id, ab.b_id, c.id AS c_id "
        f"FROM (SELECT a.id, a.y, b.id AS b_id FROM a {window}, b {window} WHERE a.x = b.x) AS ab, "
        f"c {window} WHERE ab.y = c.y"
    )


def streams(size: TurnSize) -> dict[str, dict[str, Array]]:
    """A window of C has each of its values once; they are few of those of A."""
    rng = np.random.default_rng(100)
    ids, window = np.arange(size.rows), size.window_rows
    keys = window // _PARTNERS
    return {
        "a": {
            "id": ids,
            "x": rng.integers(0, keys, size.rows),
            "y": rng.integers(0, round(window / _WANTED), size.rows),
        },
        "b": {"id": ids, "x": rng.integers(0, keys, size.rows)},
        "c": {"id": ids, "y": ids % window},
    }


def _pair(points: Sequence[JitPoint]) -> tuple[JitPoint, JitPoint]:
    by_name = {p.contender: p for p in points}
    return by_name[REF], by_name[JIT]


def draw(points: Sequence[JitPoint], out: Path) -> None:
    """``fan-out.png``: CPU time and intermediate rows."""
    times = {p.contender: [p.cpu] for p in points}
    rows = {p.contender: [float(p.intermediate)] for p in points}
    place = [f"{points[0].rows:,} rows in"]
    panels = [
        Panel("CPU time", place, times, "", CPU_LABEL, bars=True, log=False),
        Panel("state", place, rows, "", "intermediate rows at most", bars=True, log=False),
    ]
    about = (
        f"{_PARTNERS} rows of B for each of A; {_WANTED:.0%} of A has a partner in C; hash joins"
    )
    draw_panels(out / "fan-out.png", "(A join B) join C", about, panels)


def _less_cpu(points: Sequence[JitPoint]) -> Judgment:
    ref, jit = _pair(points)
    ratio = ref.cpu / jit.cpu
    return Judgment(f"{ref.cpu:.3f} s against {jit.cpu:.3f} s: {ratio:.1f}x", factor(ratio, 8.0))


def _fewer_rows(points: Sequence[JitPoint]) -> Judgment:
    ref, jit = _pair(points)
    ratio = ref.intermediate / max(jit.intermediate, 1)
    text = f"{ref.intermediate:,} against {jit.intermediate:,} rows: {ratio:.1f}x"
    return Judgment(text, factor(ratio, 8.0))


def _asks_first(points: Sequence[JitPoint]) -> Judgment:
    jit, reactive = (p for p in points if p.contender != REF)
    text = (
        f"{reactive.cpu:.3f} s against {jit.cpu:.3f} s, "
        f"{reactive.intermediate:,} against {jit.intermediate:,} rows"
    )
    good = [reactive.cpu > jit.cpu, reactive.intermediate > jit.intermediate]
    return Judgment(text, "yes" if all(good) else "in part" if any(good) else "no")


EXPERIMENT: Final = Experiment(
    "fan-out",
    "Fan-out: a hundred partners, a twentieth wanted",
    measure,
    draw,
    table,
    (
        Claim(
            "this project", "fan-out, hash joins: JIT takes an eighth of REF's CPU", "8x", _less_cpu
        ),
        Claim(
            "this project",
            "fan-out, hash joins: JIT holds an eighth of REF's intermediate rows",
            "8x",
            _fewer_rows,
        ),
        Claim(
            "this project",
            "to ask before anything is made (admission) beats asking after it (the paper)",
            "less CPU and fewer rows",
            _asks_first,
        ),
    ),
)
