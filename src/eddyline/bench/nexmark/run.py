"""``eddyline bench nexmark``: the queries one by one, and all together."""

from __future__ import annotations

import json as json_
from collections.abc import Callable, Iterable
from functools import partial
from typing import Final

from rich.console import Console
from rich.table import Table

from eddyline.bench.figures.console import progress_bar
from eddyline.bench.measure import Figure, apart, machine
from eddyline.bench.nexmark import embedded
from eddyline.bench.nexmark.workload import NAMES, REWORDED
from eddyline.errors import EddylineError

_ALL: Final = "all in one engine"
_JOB: Final = "Spark"
_EVENTS: Final = 500_000
_SPARK_EVENTS: Final = 3_000_000  # so that batches take longer than what Spark does for each


def run_nexmark(
    *, query: str | None = None, events: int | None = None, spark: bool = False, json: bool = False
) -> None:
    """Measure, and print a figure per query.

    Args:
        query: the only one to measure; None: each one, then all in one engine.
        events: persons, auctions and bids, together; default: of each case.
        spark: measure one Spark job of the queries instead of embedded engines.
        json: print one JSON object to standard output instead of a table.

    Raises:
        EddylineError: there is no such query. SetupError: Java is missing.
    """
    if query is not None and query not in NAMES:
        raise EddylineError(f"there is no query '{query}'; the queries are {', '.join(NAMES)}")
    figures = []
    with progress_bar() as progress:
        cases = list(_cases(query, events, spark))
        task = progress.add_task("", total=len(cases))
        for title, case in cases:
            progress.update(task, description=title)
            figures.append(apart(case))
            progress.advance(task)
    if json:
        print(json_.dumps(report(figures), indent=2))
    else:
        show(figures, Console())


def report(figures: Iterable[Figure]) -> dict[str, object]:
    """Everything, for machines."""
    return {
        "machine": machine(),
        "reworded": list(REWORDED),
        "figures": [figure.as_dict() for figure in figures],
    }


def show(figures: Iterable[Figure], console: Console) -> None:
    """A row per figure."""
    table = Table("query", title="NEXMark: medians; rows are those of all three streams")
    for heading in ("rows/s", "results/row", "peak MB", "runs"):
        table.add_column(heading, justify="right")
    table.add_column("text")
    for figure in figures:
        table.add_row(
            figure.name,
            f"{figure.rows_per_s:,.0f}",
            f"{figure.results / figure.rows:.3f}",
            "-" if figure.peak_mb is None else f"{figure.peak_mb:,.0f}",
            str(len(figure.seconds)),
            ""
            if figure.name not in NAMES
            else "reworded"
            if figure.name in REWORDED
            else "published",
        )
    console.print(table)


def _cases(
    query: str | None, events: int | None, spark: bool
) -> Iterable[tuple[str, Callable[[], Figure]]]:
    names = NAMES if query is None else (query,)
    if spark:
        from eddyline.bench.nexmark import streaming

        title = f"{_JOB}, {'all in one job' if query is None else query}"
        yield title, partial(streaming.measured, names, events or _SPARK_EVENTS, title)
        return
    events = events or _EVENTS
    for name in names:
        yield name, partial(embedded.measured, (name,), events, name)
    if query is None:
        yield _ALL, partial(embedded.measured, names, events, _ALL)
