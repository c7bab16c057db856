"""Figures as PNG files, all of the style of ``style.py``."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple

from eddyline.bench.figures.points import Point
from eddyline.bench.figures.style import EACH, ONE, SETTINGS, LineStyle, styles_of
from eddyline.bench.figures.verdicts import Spread
from eddyline.errors import SetupError

Measure = Literal["time", "state"]
#: By contender, the points at each place on the x axis.
Lines = Mapping[str, Sequence[tuple[int, Point]]]
#: How values lie along an axis; ``places``: one after the other, by their labels.
Axis = Literal["places", "linear", "log"]


class Spot(NamedTuple):
    """A place on a line, and how far what was measured there varies."""

    x: float
    y: float
    least: float | None = None
    most: float | None = None


#: By contender, its line.
Series = Mapping[str, Sequence[Spot]]
#: A value of a panel; None where there is none.
Value = float | Spread | None


@dataclass(frozen=True)
class Panel:
    """One of several pictures in a figure.

    Attributes:
        places: labels along the x axis; numbers where its scale is ``linear`` or ``log``.
        lines: by contender, a value at each place.
        log: whether the y axis is logarithmic.
        bars: bars, the values above them, instead of lines.
        dots: no lines between the values.
        events: rules at these places.
        most: where the y axis ends; it begins at 0.
    """

    title: str
    places: Sequence[str] | Sequence[float]
    lines: Mapping[str, Sequence[Value]]
    x_label: str
    y_label: str
    log: bool = True
    bars: bool = False
    x_axis: Axis = "places"
    dots: bool = False
    events: Sequence[float] = ()
    most: float | None = None


_LABELS: Final[Mapping[Measure, str]] = {
    "time": "ms per 1,000 tuples",
    "state": "rows kept on average",
}
#: Characters of the labels along an x axis: of a picture with one panel, and with several.
_ROOM: Final = (64, 36)
_WIDTH: Final = 78  # characters of a line of a title over two panels


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

    def spot(x: int, point: Point) -> Spot:
        if measure == "time":
            return Spot(x, point.median_ms, min(point.ms_per_1000), max(point.ms_per_1000))
        return Spot(x, point.state_rows)

    series = {c: [spot(x, point) for x, point in line] for c, line in lines.items()}
    draw_series(file, title, about, series, x_label, _LABELS[measure])


def draw_series(
    file: Path, title: str, about: str, lines: Series, x_label: str, y_label: str
) -> None:
    """Draw a line per contender, on logarithmic axes."""
    places = sorted({spot.x for line in lines.values() for spot in line})
    values = {name: _at(places, line) for name, line in lines.items()}
    draw_panels(file, title, about, [Panel("", places, values, x_label, y_label, x_axis="log")])


def draw_course(
    file: Path,
    title: str,
    about: str,
    lines: Series,
    events: Sequence[float],
    labels: tuple[str, str],
    most: float = 1.0,
) -> None:
    """Draw what became of some values up to ``most``, with a rule where something happened.

    Args:
        labels: of the axes, x and y.
    """
    places = sorted({spot.x for line in lines.values() for spot in line})
    values = {name: _at(places, line) for name, line in lines.items()}
    panel = Panel("", places, values, *labels, False, False, "linear", False, events, most)
    draw_panels(file, title, about, [panel])


def draw_bars(
    file: Path, title: str, about: str, groups: Mapping[str, Mapping[str, Value]], y_label: str
) -> None:
    """Draw the values of each group as bars, with the values above them."""
    names = list(dict.fromkeys(name for group in groups.values() for name in group))
    lines = {name: [group.get(name) for group in groups.values()] for name in names}
    draw_panels(file, title, about, [Panel("", list(groups), lines, "", y_label, False, True)])


def draw_dots(file: Path, title: str, about: str, groups: Mapping[str, Sequence[Point]]) -> None:
    """Draw the times of each group of points, a column of dots per group."""
    names = list(dict.fromkeys(p.contender for points in groups.values() for p in points))
    by_group = [{p.contender: Spread(p.ms_per_1000) for p in points} for points in groups.values()]
    lines = {name: [group.get(name) for group in by_group] for name in names}
    places = [name.replace(", ", "\n") for name in groups]
    draw_panels(file, title, about, [Panel("", places, lines, "", _LABELS["time"], dots=True)])


def draw_panels(
    file: Path, title: str, about: str, panels: Sequence[Panel], across: int = 2
) -> None:
    """Draw panels row by row, ``across`` side by side.

    Those of a row that have one y label share the axis.
    """
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    across = min(across, len(panels))
    rows = -(-len(panels) // across)
    width, height = ONE if across == 1 else (EACH[0] * across, EACH[1] * rows)
    height = ONE[1] * rows if across == 1 else height
    names = list(dict.fromkeys(name for panel in panels for name in panel.lines))
    styles = styles_of(names)
    columns = max(1, min(len(names), int(width * 14) // (max(map(len, names)) + 6)))
    heading = _heading(title, about, width)
    settings: Any = SETTINGS
    with rc_context(settings):
        lines = heading.count("\n") + 1 - -len(names) // columns
        figure = Figure(figsize=(width, height + 0.19 * lines), layout="constrained")
        grid = figure.subplots(rows, across, squeeze=False)
        for axes in grid.flat[len(panels) :]:
            axes.set_axis_off()
        for axes, panel in zip(grid.flat, panels, strict=False):
            _draw_panel(axes, panel, styles, _ROOM[across > 1])
        _share_axes(grid, panels)
        handles = {
            label: handle
            for axes in grid.flat
            for handle, label in zip(*axes.get_legend_handles_labels(), strict=True)
        }
        figure.suptitle(heading, fontsize=10)
        if len(names) > 1:
            figure.legend(
                handles.values(),
                handles.keys(),
                loc="outside lower center",
                ncols=columns,
                frameon=False,
            )
        figure.savefig(file)


def _heading(title: str, about: str, width: float) -> str:
    wide = int(_WIDTH * width / (2 * EACH[0]))
    return "\n".join(line for text in (title, about) for line in textwrap.wrap(text, wide))


def _share_axes(grid: Any, panels: Sequence[Panel]) -> None:
    across = grid.shape[1]
    for number, row in enumerate(grid):
        mine = panels[number * across : (number + 1) * across]
        if len(mine) > 1 and len({panel.y_label for panel in mine}) == 1:
            limits = [limit for axes in row[: len(mine)] for limit in axes.get_ylim()]
            for axes in row[: len(mine)]:
                axes.set_ylim(min(limits), max(limits))
            for axes in row[1 : len(mine)]:
                axes.set_ylabel("")


def _draw_panel(axes: Any, panel: Panel, styles: Mapping[str, LineStyle], room: int) -> None:
    is_scaled = panel.x_axis != "places"
    at: Sequence[Any] = panel.places if is_scaled else range(len(panel.places))
    draw = _draw_bars if panel.bars else _draw_dots if panel.dots else _draw_line
    for number, (name, values) in enumerate(panel.lines.items()):
        held = [(x, v) for x, v in zip(at, values, strict=True) if v is not None]
        shift = (number - (len(panel.lines) - 1) / 2) / len(panel.lines)
        draw(axes, name, held, shift, styles[name], len(panel.lines))
    for x in panel.events:
        axes.axvline(x, color="#999999", linewidth=0.8, linestyle=":")
    if panel.x_axis == "log":
        axes.set_xscale("log")
    if panel.x_axis != "linear":
        labels = [_short(x) if is_scaled else str(x) for x in panel.places]
        lines = [len(line) for label in labels for line in label.split("\n")[:1] if line]
        crowded = sum(lines) + 2 * len(lines) > room
        sizes = {"fontsize": 8} | ({"rotation": 35, "ha": "right"} if crowded else {})
        axes.set_xticks(*_labelled(at, labels), **sizes)
        axes.set_xticks([], minor=True)
    axes.set_xlabel(panel.x_label)
    axes.set_title(panel.title)
    _finish_axes(axes, panel)


def _labelled(at: Sequence[Any], labels: Sequence[str]) -> tuple[list[Any], list[str]]:
    """Without places that have no label."""
    named = [(x, label) for x, label in zip(at, labels, strict=True) if label]
    return [x for x, _ in named], [label for _, label in named]


Held = Sequence[tuple[float, float | Spread]]


def _draw_line(
    axes: Any, name: str, held: Held, shift: float, style: LineStyle, lines: int
) -> None:
    marker = "" if len(held) > 40 else style.marker
    _errorbar(axes, name, held, 0.0, style._replace(marker=marker))


def _draw_dots(
    axes: Any, name: str, held: Held, shift: float, style: LineStyle, lines: int
) -> None:
    """Beside each other, so that equal values do not hide one another."""
    _errorbar(axes, name, held, 0.6 * shift, style._replace(dash="none"))


def _errorbar(axes: Any, name: str, held: Held, shift: float, style: LineStyle) -> None:
    axes.errorbar(
        [x + shift for x, _ in held],
        [_median(v) for _, v in held],
        yerr=_spread([v for _, v in held]),
        label=name,
        color=style.colour,
        marker=style.marker,
        linestyle=style.dash,
        markerfacecolor="white" if style.marker in "sv^DPX" else style.colour,
        elinewidth=0.9,
    )


def _draw_bars(
    axes: Any, name: str, held: Held, shift: float, style: LineStyle, lines: int
) -> None:
    bars = axes.bar(
        [x + 0.85 * shift for x, _ in held],
        [_median(v) for _, v in held],
        yerr=_spread([v for _, v in held]),
        width=0.85 / lines,
        label=name,
        color=style.colour,
        error_kw={"elinewidth": 0.9},
    )
    if lines * len(held) <= 10:  # more have no room for numbers
        axes.bar_label(bars, fmt="{:.2g}", fontsize=7.5, padding=1)


def _at(places: Sequence[float], line: Sequence[Spot]) -> list[Value]:
    """The values of a line by place; its spread as measured values."""
    found: dict[float, Value] = {}
    for x, y, least, most in line:
        found[x] = y if least is None or most is None else Spread((least, y, most))
    return [found.get(x) for x in places]


def _median(value: float | Spread) -> float:
    return value.median if isinstance(value, Spread) else value


def _spread(values: Sequence[float | Spread]) -> list[list[float]] | None:
    """Distances down to the least and up to the most; None where nothing varies."""
    if not any(isinstance(v, Spread) and len(v.values) > 1 for v in values):
        return None
    spreads = [v if isinstance(v, Spread) else Spread((v,)) for v in values]
    return [[s.median - s.least for s in spreads], [s.most - s.median for s in spreads]]


def _short(value: Any) -> str:
    """Whole thousands and millions by letters."""
    for by, letter in ((1_000_000, "M"), (1_000, "k")):
        if value >= by and float(10 * value / by).is_integer():
            return f"{value / by:g}{letter}"
    return f"{value:,.6g}"


def _finish_axes(axes: Any, panel: Panel) -> None:
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator

    if panel.log:
        axes.set_yscale("log")
        low, high = axes.get_ylim()
        decades = high / low
        subs: tuple[float, ...] = (1, 1.5, 2, 3, 5, 7) if decades < 10 else (1, 2, 5)
        subs = subs if decades < 300 else (1,)
        axes.yaxis.set_major_locator(LogLocator(subs=subs, numticks=12))
        axes.yaxis.set_minor_locator(NullLocator())
    if panel.most is not None:
        axes.set_ylim(0.0, panel.most)
    elif not panel.log:
        axes.set_ylim(bottom=0.0)
    shown: Callable[[float, Any], str] = lambda value, _: _ticked(value)  # noqa: E731
    axes.yaxis.set_major_formatter(FuncFormatter(shown))
    axes.set_ylabel(panel.y_label)


def _ticked(value: float) -> str:
    return _short(value) if value >= 10_000 else f"{value:,.6g}"
