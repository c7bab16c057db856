"""Figures as PNG files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from eddyline.bench.figures.points import Point
from eddyline.errors import SetupError

Measure = Literal["time", "state"]
#: By contender, the points at each place on the x axis.
Lines = Mapping[str, Sequence[tuple[int, Point]]]


class Spot(NamedTuple):
    """A place on a line, and how far what was measured there varies."""

    x: float
    y: float
    least: float | None = None
    most: float | None = None


class Panel(NamedTuple):
    """One of several pictures in a figure.

    Attributes:
        places: labels along the x axis.
        lines: by contender, a value at each place; None where there is none.
    """

    title: str
    places: Sequence[str]
    lines: Mapping[str, Sequence[float | None]]
    x_label: str
    y_label: str
    log: bool = True
    bars: bool = False


#: By contender, its line.
Series = Mapping[str, Sequence[Spot]]

#: Okabe and Ito's colours: distinguishable by colour-blind readers, as are the markers in print.
_COLOURS: Final = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
_MARKERS: Final = ("o", "s", "^", "D", "v", "P", "X")
_FILLED: Final = 3  # lines after these have open markers, so that a line below still shows
_LABELS: Final[Mapping[Measure, str]] = {
    "time": "milliseconds per 1,000 tuples",
    "state": "rows kept on average",
}
_VALUES: Final[Mapping[Measure, Callable[[Point], float]]] = {
    "time": lambda point: point.median_ms,
    "state": lambda point: point.state_rows,
}


def require_matplotlib() -> None:
    """Fail early where matplotlib is missing.

    Raises:
        SetupError: with what to install.
    """
    try:
        import matplotlib  # noqa: F401
    except ImportError as missing:
        raise SetupError("figures need matplotlib: pip install 'eddyline[figures]'") from missing


def draw_lines(
    file: Path, title: str, about: str, lines: Lines, measure: Measure, x_label: str
) -> None:
    """Draw a line per contender, on logarithmic axes; times with bars from least to most."""
    value = _VALUES[measure]

    def spot(x: int, point: Point) -> Spot:
        if measure == "time":
            return Spot(x, value(point), min(point.ms_per_1000), max(point.ms_per_1000))
        return Spot(x, value(point))

    series = {c: [spot(x, point) for x, point in line] for c, line in lines.items()}
    draw_series(file, title, about, series, x_label, _LABELS[measure])


def draw_series(
    file: Path, title: str, about: str, lines: Series, x_label: str, y_label: str
) -> None:
    """Draw a line per contender, on logarithmic axes."""
    figure, axes = _axes()
    for number, (contender, line) in enumerate(lines.items()):
        axes.errorbar(
            [spot.x for spot in line],
            [spot.y for spot in line],
            yerr=_spread(line),
            label=contender,
            color=_COLOURS[number],
            marker=_MARKERS[number],
            markersize=5 if number < _FILLED else 8,
            fillstyle="full" if number < _FILLED else "none",
            linewidth=1.6,
            capsize=2,
            elinewidth=0.8,
        )
    axes.set_xscale("log")
    places = sorted({spot.x for line in lines.values() for spot in line})
    axes.set_xticks(places, [f"{x:,}" for x in places])
    axes.set_xticks([], minor=True)
    axes.set_xlabel(x_label)
    _finish(figure, axes, title, about, y_label, file)


def draw_course(
    file: Path,
    title: str,
    about: str,
    lines: Series,
    events: Sequence[float],
    x_label: str,
    y_label: str,
    most: float = 1.0,
) -> None:
    """Draw what became of some values up to ``most``, with a rule where something happened."""
    figure, axes = _axes()
    for number, (name, line) in enumerate(lines.items()):
        axes.plot(
            [spot.x for spot in line],
            [spot.y for spot in line],
            label=name,
            color=_COLOURS[number],
            linewidth=1.6,
        )
    for x in events:
        axes.axvline(x, color="#999999", linewidth=0.8, linestyle=":")
    axes.set_ylim(0.0, most)
    axes.set_xlabel(x_label)
    _finish(figure, axes, title, about, y_label, file, log=False)


def draw_bars(
    file: Path,
    title: str,
    about: str,
    groups: Mapping[str, Mapping[str, float]],
    y_label: str,
) -> None:
    """Draw the values of each group as bars, with the values above them."""
    figure, axes = _axes()
    names = list(dict.fromkeys(name for group in groups.values() for name in group))
    width = 0.8 / len(names)
    for number, name in enumerate(names):
        shift = (number - (len(names) - 1) / 2) * width
        held = [(place, g[name]) for place, g in enumerate(groups.values()) if name in g]
        bars = axes.bar(
            [place + shift for place, _ in held],
            [value for _, value in held],
            width=width,
            label=name,
            color=_COLOURS[number],
        )
        axes.bar_label(bars, fmt="{:.2f}", fontsize=7)
    axes.set_xticks(range(len(groups)), list(groups))
    _finish(figure, axes, title, about, y_label, file, log=False)


def draw_panels(file: Path, title: str, about: str, panels: Sequence[Panel], rows: int = 1) -> None:
    """Draw panels side by side, row by row; those of a row that have one y label share the axis."""
    from matplotlib.figure import Figure

    across = -(-len(panels) // rows)
    figure = Figure(figsize=(max(3.0 * across, 7.0), 2.9 * rows + 1.3), layout="constrained")
    grid = figure.subplots(rows, across, squeeze=False)
    for place, panel in enumerate(panels):
        _draw_panel(grid[place // across, place % across], panel)
    for row in grid:
        if len(row) > 1 and len({axes.get_ylabel() for axes in row}) == 1:
            limits = [limit for axes in row for limit in axes.get_ylim()]
            for axes in row:
                axes.set_ylim(min(limits), max(limits))
            for axes in row[1:]:
                axes.set_ylabel("")
    handles = {
        label: handle
        for axes in grid.flat
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
    }
    figure.suptitle(f"{title}\n{about}", fontsize=10)
    figure.legend(
        handles.values(),
        handles.keys(),
        loc="outside lower center",
        ncols=6,
        frameon=False,
        fontsize=8,
    )
    figure.savefig(file, dpi=150)


def _draw_panel(axes: Any, panel: Panel) -> None:
    at = range(len(panel.places))
    width = 0.8 / len(panel.lines)
    for number, (contender, values) in enumerate(panel.lines.items()):
        held = [(x, y) for x, y in zip(at, values, strict=True) if y is not None]
        xs, ys = [x for x, _ in held], [y for _, y in held]
        colour = _COLOURS[number]
        if panel.bars:
            shift = (number - (len(panel.lines) - 1) / 2) * width
            axes.bar([x + shift for x in xs], ys, width=width, label=contender, color=colour)
        else:
            marker = _MARKERS[number]
            axes.plot(xs, ys, label=contender, color=colour, marker=marker, markersize=4)
    axes.set_xticks(at, panel.places, fontsize=7)
    axes.set_xlabel(panel.x_label, fontsize=8)
    axes.set_title(panel.title, fontsize=9)
    _finish_axes(axes, panel.y_label, panel.log)


def draw_dots(file: Path, title: str, about: str, groups: Mapping[str, Sequence[Point]]) -> None:
    """Draw the times of each group of points, a column of dots per group."""
    figure, axes = _axes()
    contenders = list(dict.fromkeys(p.contender for points in groups.values() for p in points))
    for number, contender in enumerate(contenders):
        dots = [
            (place, point.median_ms)
            for place, points in enumerate(groups.values())
            for point in points
            if point.contender == contender
        ]
        # beside each other, so that equal times do not hide one another
        shift = (number - (len(contenders) - 1) / 2) * 0.1
        axes.plot(
            [place + shift for place, _ in dots],
            [ms for _, ms in dots],
            label=contender,
            color=_COLOURS[number],
            marker=_MARKERS[number],
            linestyle="none",
        )
    axes.set_xticks(range(len(groups)), [name.replace(", ", ",\n") for name in groups], fontsize=8)
    _finish(figure, axes, title, about, _LABELS["time"], file)


def _spread(line: Sequence[Spot]) -> list[list[float]] | None:
    """Distances down to the least and up to the most; None where nothing varies."""
    down = [0.0 if s.least is None else s.y - s.least for s in line]
    up = [0.0 if s.most is None else s.most - s.y for s in line]
    return [down, up] if any(down) or any(up) else None


def _axes() -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7.0, 4.6), layout="constrained")
    return figure, figure.add_subplot()


def _finish(
    figure: Any, axes: Any, title: str, about: str, y_label: str, file: Path, log: bool = True
) -> None:
    _finish_axes(axes, y_label, log)
    figure.suptitle(title, fontsize=11)
    axes.set_title(about, fontsize=8, color="#555555")
    figure.legend(loc="outside lower center", ncols=6, frameon=False, fontsize=8)
    figure.savefig(file, dpi=150)


def _finish_axes(axes: Any, y_label: str, log: bool) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    if log:
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axes.set_ylabel(y_label)
    axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
