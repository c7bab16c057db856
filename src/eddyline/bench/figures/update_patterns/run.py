"""``eddyline bench figures update-patterns``: what is measured, and the run."""

from __future__ import annotations

import json as json_
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from eddyline.bench.figures.plots import require_matplotlib
from eddyline.bench.figures.points import Effort, Point, measure
from eddyline.bench.figures.recorded import flights_trace, lbl_trace
from eddyline.bench.figures.synthetic import synthetic_trace
from eddyline.bench.figures.update_patterns.summary import Series, write_all
from eddyline.bench.measure import apart

#: The synthetic trace, on which the figures are drawn, comes first. The recorded hour of LBL holds
#: windows of a few hundred time units only: smaller chunks, so that several fit into a window.
FULL: Final = (
    Series(synthetic_trace, (2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000), Effort()),
    Series(lbl_trace, (500,), Effort(least_rows=5_000, chunk_rows=100)),
    Series(flights_trace, (2_000, 20_000), Effort()),
)
QUICK: Final = (
    Series(partial(synthetic_trace, 60_000), (2_000, 20_000), Effort(rounds=1)),
    Series(lbl_trace, (500,), Effort(rounds=1, least_rows=5_000, chunk_rows=100)),
    Series(flights_trace, (20_000,), Effort(rounds=1)),
)


def run_update_patterns(out: Path, quick: bool, json: bool) -> None:
    """Measure, write ``figures.json``, ``claims.json``, ``claims.md`` and the PNG files, and show.

    Args:
        out: directory, made if need be.

    Raises:
        SetupError: matplotlib or the examples are missing.
        AssertionError: strategies disagree on the size of an answer.
    """
    require_matplotlib()
    out.mkdir(parents=True, exist_ok=True)
    series = QUICK if quick else FULL
    report = write_all(out, series, measure_all(series), quick=quick)
    if json:
        print(json_.dumps(report, indent=2))
    else:
        show(report, out, Console())


def measure_all(series: Sequence[Series]) -> list[list[Point]]:
    """The points of each series; those of one case and window come from a process of their own."""
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    points: list[list[Point]] = []
    with progress:
        bar = progress.add_task("", total=sum(len(list(s.tasks())) for s in series))
        for one in series:
            points.append([])
            for case, window in one.tasks():
                progress.update(bar, description=f"{case.title}, window {window:,}")
                points[-1] += apart(partial(measure, one.make, case, window, one.effort))
                progress.advance(bar)
    return points


def show(report: Mapping[str, Any], out: Path, console: Console) -> None:
    """The claims as a table, and where everything is."""
    table = Table("source", "claim", "measured", "holds", title="The paper and this machine")
    for claim in report["claims"]:
        table.add_row(claim["source"], claim["claim"], claim["measured"], claim["holds"])
    console.print(table)
    console.print(f"{len(report['points'])} points, figures and claims: {out}")
