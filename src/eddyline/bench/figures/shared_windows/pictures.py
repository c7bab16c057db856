"""Figures 7 to 10, and tables, of runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from eddyline.bench.figures.plots import Panel, draw_panels
from eddyline.bench.figures.shared_windows.driver import Responses, RunOutcome
from eddyline.bench.figures.shared_windows.judges import point_of
from eddyline.bench.figures.shared_windows.runs import RunPoint
from eddyline.bench.figures.shared_windows.server import LWO, TABLE_1
from eddyline.bench.figures.verdicts import Spread


@dataclass(frozen=True)
class Unit:
    """Of response times."""

    name: str
    per_second: float


MS = Unit("ms", 1e3)
S = Unit("s", 1.0)

_AVERAGE: Callable[[Responses], float] = lambda w: w.average  # noqa: E731
_LONGEST: Callable[[Responses], float] = lambda w: w.longest  # noqa: E731


def draw_averages(points: Sequence[RunPoint], file: Path, title: str, unit: Unit) -> None:
    """Figure 7."""
    draw_panels(file, title, _about(points), [_averages(points, unit)])


def draw_windows(points: Sequence[RunPoint], file: Path, title: str, unit: Unit) -> None:
    """Figure 8: averages above, maxima below."""
    names = _distributions(points)
    panels = [
        _by_window(points, d, None, value, f"{what}, {unit.name}", unit)
        for what, value in (("average", _AVERAGE), ("maximum", _LONGEST))
        for d in names
    ]
    draw_panels(file, title, _about(points), panels)


def draw_by_window(points: Sequence[RunPoint], file: Path, title: str, unit: Unit) -> None:
    """Averages and maxima of one distribution."""
    (name,) = _distributions(points)
    panels = [
        _by_window(points, name, None, value, f"{what}, {unit.name}", unit)
        for what, value in (("average", _AVERAGE), ("maximum", _LONGEST))
    ]
    draw_panels(file, title, _about(points), panels)


def draw_nested_loops(points: Sequence[RunPoint], file: Path, title: str, unit: Unit) -> None:
    """Figure 9."""
    name = _distributions(points)[0]
    panels = [
        _averages(points, unit),
        _by_window(points, name, None, _AVERAGE, f"average, {unit.name}", unit),
        _by_window(points, name, None, _LONGEST, f"maximum, {unit.name}", unit),
    ]
    draw_panels(file, title, _about(points), panels)


def draw_bursts(points: Sequence[RunPoint], file: Path, title: str, unit: Unit) -> None:
    """Figure 10."""
    bursts = sorted({p.burst for p in points})
    lines = {
        s: [_scaled(point_of(points, s, "Small-Large", b).average, unit) for b in bursts]
        for s in _strategies(points)
    }
    places = [f"{b:g}" for b in bursts]
    panels = [
        Panel("over all windows", places, lines, "units per burst", f"average, {unit.name}"),
        _by_window(points, "Small-Large", bursts[-1], _AVERAGE, f"average, {unit.name}", unit),
        _by_window(points, "Small-Large", bursts[-1], _LONGEST, f"maximum, {unit.name}", unit),
    ]
    draw_panels(file, title, _about(points), panels)


def table(points: Sequence[RunPoint], unit: Unit) -> list[Mapping[str, Any]]:
    """A row per run: over all windows, by window, and what was kept."""

    def time(seconds: float) -> str:
        return f"{unit.per_second * seconds:,.2f}"

    def by_window(o: RunOutcome, value: Callable[[Responses], float]) -> str:
        return " / ".join(time(value(w)) for w in o.windows)

    return [
        {
            "windows": p.distribution,
            "burst": f"{p.burst:g}",
            "strategy": p.strategy,
            f"average, {unit.name}": _spread(p.average, unit),
            f"average by window, {unit.name}": by_window(p.outcome, _AVERAGE),
            f"99 % by window, {unit.name}": by_window(p.outcome, lambda w: w.p99),
            f"maximum by window, {unit.name}": by_window(p.outcome, _LONGEST),
            "lone unit, ms": f"{1e3 * p.unit_s:.2f}",
            "runs": len(p.outcomes),
            "busy": f"{p.busy.median:.0%}",
            "input buffer": f"{p.outcome.input_share:.1%}",
            "output buffer": f"{p.outcome.output_share:.1%}",
        }
        for p in points
    ]


def _distributions(points: Sequence[RunPoint]) -> list[str]:
    return list(dict.fromkeys(p.distribution for p in points))


def _strategies(points: Sequence[RunPoint]) -> list[str]:
    return list(dict.fromkeys(p.strategy for p in points))


def _about(points: Sequence[RunPoint]) -> str:
    """The method, whose clocks are scaled, and how busy LWO and the busiest strategy are."""
    first = points[0]
    busiest = max(points, key=lambda p: p.busy.median).strategy
    busy = " and ".join(
        f"{s} {_range([p.busy.median for p in points if p.strategy == s])}"
        for s in dict.fromkeys((LWO, LWO if first.scaled else busiest))
    )
    clocks = "clocks scaled to LWO's scans" if first.scaled else "own costs"
    runs = f"; {len(first.outcomes)} runs" if len(first.outcomes) > 1 else ""
    return (
        f"{first.method}, {clocks}; a unit takes LWO {1e3 * first.unit_s:.2g} ms; {busy} busy{runs}"
    )


def _range(shares: Sequence[float]) -> str:
    low, high = f"{100 * min(shares):.0f}", f"{100 * max(shares):.0f}"
    return f"{low} %" if low == high else f"{low} to {high} %"


def _scaled(spread: Spread, unit: Unit) -> Spread:
    return Spread(tuple(unit.per_second * value for value in spread.values))


def _spread(spread: Spread, unit: Unit) -> str:
    median, least, most = (
        f"{unit.per_second * v:,.2f}" for v in (spread.median, spread.least, spread.most)
    )
    return median if len(spread.values) == 1 else f"{median} ({least} to {most})"


def _averages(points: Sequence[RunPoint], unit: Unit) -> Panel:
    names = _distributions(points)
    lines = {
        s: [_scaled(point_of(points, s, d).average, unit) for d in names]
        for s in _strategies(points)
    }
    y_label = f"average over all windows, {unit.name}"
    return Panel("", [n.replace("-", "-\n") for n in names], lines, "", y_label, False, True)


def _by_window(
    points: Sequence[RunPoint],
    distribution: str,
    burst: float | None,
    value: Callable[[Responses], float],
    y_label: str,
    unit: Unit,
) -> Panel:
    lines = {
        s: [
            None if spread is None else _scaled(spread, unit)
            for spread in point_of(points, s, distribution, burst).by_window(value)
        ]
        for s in _strategies(points)
    }
    places = [str(w) for w in TABLE_1[distribution]]
    title = distribution if burst is None else f"{distribution}, bursts of {burst:g}"
    return Panel(title, places, lines, "window, s", y_label)
