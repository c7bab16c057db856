"""Figures 9 to 17, and two that the paper has not: recorded traces, and eager intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from eddyline.bench.figures.plots import Lines, Measure, draw_dots, draw_lines
from eddyline.bench.figures.points import Point
from eddyline.bench.figures.results import Results
from eddyline.bench.figures.trace import Trace
from eddyline.bench.figures.update_patterns.cases import CASES


class Plot(NamedTuple):
    """A figure of the paper: its number, the case that it shows, what is plotted."""

    number: int
    title: str
    case: str
    measure: Measure


PLOTS: Final = (
    Plot(9, "Query 1, protocol = ftp", "query1-ftp", "time"),
    Plot(10, "Query 1, protocol = telnet", "query1-telnet", "time"),
    Plot(11, "Query 2, distinct sources", "query2-src", "time"),
    Plot(12, "Query 2, distinct source-destination pairs", "query2-pairs", "time"),
    Plot(13, "Query 2, distinct sources", "query2-src", "state"),
    Plot(14, "Query 2, distinct source-destination pairs", "query2-pairs", "state"),
    Plot(15, "Query 3", "query3", "time"),
    Plot(16, "Query 4", "query4", "time"),
    Plot(17, "Query 5", "query5", "time"),
)


def draw_figures(results: Results, abouts: Mapping[str, str], out: Path) -> None:
    """``figure-09.png`` to ``figure-17.png``: lines over window sizes.

    Args:
        abouts: by the name of a trace, what it is.
    """
    for plot in PLOTS:
        windows = results.windows(plot.case)
        lines = {
            c: [(w, results.point(plot.case, w, c)) for w in windows]
            for c in results.contenders(plot.case)
        }
        draw_lines(
            out / f"figure-{plot.number:02}.png",
            f"Figure {plot.number}: {plot.title}",
            abouts[next(iter(lines.values()))[0][1].trace],
            lines,
            plot.measure,
            "window, time units (one row per link and unit)",
        )


def draw_recorded(trace: Trace, results: Results, out: Path) -> None:
    """``TRACE.png``: all queries at the largest window of a recorded trace."""
    groups = {}
    for name, case in CASES.items():
        window = results.windows(name)[-1]
        title = case.title.format(few=trace.few, many=trace.many)
        groups[title] = [results.point(name, window, c) for c in results.contenders(name)]
    title = f"Queries 1 to 5, window of {window:,} time units"
    draw_dots(out / f"{trace.name}.png", title, trace.about, groups)


def draw_eager(points: Sequence[Point], about: str, out: Path) -> None:
    """``eager-CASE.png``: time over the rows between two eager expiries."""
    for case in dict.fromkeys(p.case for p in points):
        lines: dict[str, list[tuple[int, Point]]] = {}
        for point in (p for p in points if p.case == case):
            lines.setdefault(point.contender, []).append((point.chunk_rows, point))
        _draw_intervals(case, lines, about, out)


def _draw_intervals(case: str, lines: Lines, about: str, out: Path) -> None:
    (_, point), *_ = next(iter(lines.values()))
    title = f"{CASES[case].name}, window of {point.window:,} time units"
    x_label = "rows between two eager expiries (the paper: 1)"
    draw_lines(out / f"eager-{case}.png", title, about, lines, "time", x_label)
