"""Figures 10 to 17, and tables: CPU time and state side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from eddyline.bench.figures.jit.cliques import METHODS
from eddyline.bench.figures.jit.judges import cpu, line, state
from eddyline.bench.figures.jit.runs import PAPERS, REF, JitPoint
from eddyline.bench.figures.plots import Panel, draw_panels

CPU_LABEL: Final = "CPU seconds"
STATE_LABEL: Final = "rows held at most"
#: The part of the state that all contenders have.
BASE: Final = "base rows alone"


def draw_sweep(title: str, name: str, x_label: str, points: Sequence[JitPoint], out: Path) -> None:
    """``NAME.png``: a row of panels for each join method."""
    panels = [panel for method in METHODS for panel in _panels(points, method, x_label)]
    about = "above: nested loops, as in the paper; below: hash joins"
    draw_panels(out / f"{name}.png", title, about, panels)


def _panels(points: Sequence[JitPoint], method: str, x_label: str) -> tuple[Panel, Panel]:
    times = {c: line(points, c, cpu, method) for c in PAPERS}
    rows = {c: line(points, c, state, method) for c in PAPERS}
    rows[BASE] = line(points, REF, lambda p: float(p.base), method)
    places = [f"{x:g}" for x in times[REF]]
    return (
        Panel(f"{method}: CPU time", places, _values(times), x_label, CPU_LABEL),
        Panel(f"{method}: state", places, _values(rows), x_label, STATE_LABEL, log=False),
    )


def _values(lines: Mapping[str, Mapping[float, float]]) -> dict[str, list[float]]:
    return {name: list(by_x.values()) for name, by_x in lines.items()}


def table(points: Sequence[JitPoint]) -> list[Mapping[str, Any]]:
    """A row per point."""
    return [
        {
            "case": p.case,
            "x": f"{p.x:g}",
            "contender": p.contender,
            "CPU s": f"{p.cpu:.3f}",
            "measured": len(p.cpu_s),
            "intermediate rows": f"{p.intermediate:,}",
            "base rows": f"{p.base:,}",
            "results": f"{p.results:,}",
        }
        for p in points
    ]
