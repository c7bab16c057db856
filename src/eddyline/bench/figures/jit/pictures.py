"""Figures 10 to 17, and tables: CPU time and state side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from eddyline.bench.figures.jit.cliques import METHODS
from eddyline.bench.figures.jit.judges import line, megabytes, state
from eddyline.bench.figures.jit.runs import CONTENDERS, REF, JitPoint
from eddyline.bench.figures.plots import Panel, Value, draw_panels
from eddyline.bench.figures.verdicts import Spread

CPU_LABEL: Final = "CPU seconds"
STATE_LABEL: Final = "rows held at most"
BYTES_LABEL: Final = "MB held at most"
#: The part of the state that all contenders have.
BASE: Final = "base rows alone"


def draw_sweep(title: str, name: str, x_label: str, points: Sequence[JitPoint], out: Path) -> None:
    """``NAME.png``: a column of panels for each join method."""
    columns = [_panels(points, method, x_label) for method in METHODS]
    panels = [panel for row in zip(*columns, strict=True) for panel in row]
    about = "left: nested loops, as in the paper; right: hash joins"
    draw_panels(out / f"{name}.png", title, about, panels)


def _panels(points: Sequence[JitPoint], method: str, x_label: str) -> tuple[Panel, ...]:
    times = {c: _cpu(points, method, c) for c in CONTENDERS}
    rows = {c: list(line(points, c, state, method).values()) for c in CONTENDERS}
    base = line(points, REF, lambda p: float(p.base), method)
    held = {c: list(line(points, c, megabytes, method).values()) for c in CONTENDERS}
    places = [f"{x:g}" for x in base]
    return (
        Panel(f"{method}: CPU time", places, times, x_label, CPU_LABEL),
        Panel(
            f"{method}: rows",
            places,
            {**rows, BASE: list(base.values())},
            x_label,
            STATE_LABEL,
        ),
        Panel(f"{method}: bytes", places, held, x_label, BYTES_LABEL),
    )


def _cpu(points: Sequence[JitPoint], method: str, contender: str) -> list[Value]:
    mine = (p for p in points if (p.case, p.contender) == (method, contender))
    return [Spread(p.cpu_s) for p in sorted(mine, key=lambda p: p.x)]


def draw_cases(title: str, about: str, points: Sequence[JitPoint], file: Path) -> None:
    """CPU time, rows and bytes of cases side by side."""
    cases = list(dict.fromkeys(p.case for p in points))
    names = list(dict.fromkeys(p.contender for p in points))
    by_key = {(p.case, p.contender): p for p in points}
    values: Mapping[str, Callable[[JitPoint], Value]] = {
        CPU_LABEL: lambda p: Spread(p.cpu_s),
        STATE_LABEL: state,
        BYTES_LABEL: megabytes,
    }
    places = [case.replace(", ", ",\n", 1) for case in cases]
    panels = [
        Panel(
            "",
            places,
            {n: [value(by_key[case, n]) for case in cases] for n in names},
            "",
            label,
            dots=True,
        )
        for label, value in values.items()
    ]
    draw_panels(file, title, about, panels, across=1)


def table(points: Sequence[JitPoint]) -> list[Mapping[str, Any]]:
    """A row per point."""
    return [
        {
            "case": p.case,
            "x": f"{p.x:g}",
            "contender": p.contender,
            "CPU s": f"{p.cpu:.3f} ({min(p.cpu_s):.3f} to {max(p.cpu_s):.3f})",
            "measured": len(p.cpu_s),
            "intermediate rows": f"{p.intermediate:,}",
            "base rows": f"{p.base:,}",
            "MB": f"{megabytes(p):.2f}",
            "results": f"{p.results:,}",
        }
        for p in points
    ]
