"""Figures as PNG files: lines over window sizes, bars over queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal

from eddyline.bench.figures.points import Point
from eddyline.bench.figures.results import Results
from eddyline.errors import SetupError

Measure = Literal["time", "state"]

#: Okabe and Ito's colours: told apart by colour-blind readers, as are the markers in print.
_COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_MARKERS: Final = ("o", "s", "^", "D", "v", "P")
_LABELS: Final[Mapping[Measure, str]] = {
    "time": "milliseconds per 1,000 tuples",
    "state": "rows kept on average",
}
_VALUES: Final[Mapping[Measure, Callable[[Point], float]]] = {
    "time": lambda point: point.median_ms,
    "state": lambda point: point.state_rows,
}


@dataclass(frozen=True)
class Plot:
    """A figure to draw: one case over its window sizes, a line per contender."""

    name: str
    title: str
    case: str
    measure: Measure


def require_matplotlib() -> None:
    """Fail early where matplotlib is missing.

    Raises:
        SetupError: with what to install.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError as missing:
        raise SetupError("figures need matplotlib: pip install 'eddyline[figures]'") from missing


def draw_lines(plot: Plot, results: Results, about: str, directory: Path) -> Path:
    """Draw a plot with logarithmic axes; times have bars from the least to the most."""
    figure, axes = _axes()
    windows = results.windows(plot.case)
    for number, contender in enumerate(results.contenders(plot.case)):
        points = [results.point(plot.case, w, contender) for w in windows]
        values = [_VALUES[plot.measure](p) for p in points]
        axes.errorbar(
            windows,
            values,
            yerr=_spread(points, values) if plot.measure == "time" else None,
            label=contender,
            color=_COLOURS[number],
            marker=_MARKERS[number],
            markersize=5,
            linewidth=1.6,
            capsize=2,
            elinewidth=0.8,
        )
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xticks(windows, [f"{w:,}" for w in windows])
    axes.minorticks_off()
    axes.set_xlabel("window, time units (one row per link and unit)")
    axes.set_ylabel(_LABELS[plot.measure])
    return _finished(figure, axes, plot.title, about, directory / f"{plot.name}.png")


def draw_bars(
    name: str, title: str, results: Results, cases: Mapping[str, str], directory: Path, about: str
) -> Path:
    """Draw the times of all cases at their largest window, a bar per contender.

    Args:
        cases: titles by name.
    """
    figure, axes = _axes()
    contenders = list(dict.fromkeys(c for case in cases for c in results.contenders(case)))
    width = 0.8 / len(contenders)
    for number, contender in enumerate(contenders):
        at, heights = [], []
        for place, case in enumerate(cases):
            if contender in results.contenders(case):
                at.append(place + (number - (len(contenders) - 1) / 2) * width)
                heights.append(results.ms(case, results.windows(case)[-1], contender))
        axes.bar(at, heights, width, label=contender, color=_COLOURS[number])
    axes.set_yscale("log")
    axes.set_xticks(
        range(len(cases)), [t.replace(", ", ",\n").replace("-", "-\n") for t in cases.values()]
    )
    axes.set_ylabel(_LABELS["time"])
    return _finished(figure, axes, title, about, directory / f"{name}.png")


def _spread(points: Sequence[Point], values: Sequence[float]) -> list[list[float]]:
    """Distances from the median down to the least and up to the most."""
    down = [v - min(p.ms_per_1000) for p, v in zip(points, values, strict=True)]
    up = [max(p.ms_per_1000) - v for p, v in zip(points, values, strict=True)]
    return [down, up]


def _axes() -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.6), layout="constrained")
    return figure, figure.add_subplot()


def _finished(figure: Any, axes: Any, title: str, about: str, file: Path) -> Path:
    axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(title, fontsize=11)
    axes.set_title(about, fontsize=8, color="#555555")
    axes.legend(frameon=False, fontsize=9)
    figure.savefig(file, dpi=150)
    return file
