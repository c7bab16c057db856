"""``eddyline bench micro``: the engine's speed on this machine, beside yardsticks."""

from __future__ import annotations

import json as json_
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from eddyline.bench.embedded import (
    fixed_windows,
    flat_large,
    flat_middle,
    flat_small,
    group_by,
    integer_join,
    over,
    pattern,
    percentiles,
    string_join,
)
from eddyline.bench.measure import Figure, apart, machine
from eddyline.bench.offline import duckdb_join
from eddyline.bench.streaming import spark_joins
from eddyline.bench.yardstick import bare_kernel

#: What is measured, in this order.
CASES: Final[Mapping[str, Callable[[], list[Figure]]]] = {
    "DuckDB": duckdb_join,
    "bare kernel": bare_kernel,
    "join": integer_join,
    "join by string": string_join,
    "GROUP BY": group_by,
    "pattern": pattern,
    "fixed windows": fixed_windows,
    "OVER": over,
    "percentiles": percentiles,
    "small window": flat_small,
    "middle window": flat_middle,
    "large window": flat_large,
    "Spark": spark_joins,
}


class Ratio(NamedTuple):
    """A quotient of two speeds of one run: the first case's rows/s by the second's."""

    what: str
    case: str
    by: str


RATIOS: Final = (
    Ratio("engine to DuckDB, offline", "engine, join", "DuckDB, offline"),
    Ratio("engine to bare kernel", "engine, join", "bare kernel"),
    Ratio("string to integer keys", "engine, join by string", "engine, join"),
    Ratio(
        "time per row, window of 1,000,000 to 10,000 rows",
        "engine, window of 10,000 rows",
        "engine, window of 1,000,000 rows",
    ),
    Ratio("to Spark's join, state in memory", "Eddyline on Spark", "Spark's join, state in memory"),
    Ratio("to Spark's join, RocksDB", "Eddyline on Spark", "Spark's join, RocksDB"),
)


def run_micro(json: bool = False) -> None:
    """Measure every case, some minutes in all, and print the figures.

    Args:
        json: print one JSON object to standard output instead of tables.

    Raises:
        SetupError: DuckDB or Java is missing.
        AssertionError: cases that do the same work have found different results.
    """
    progress = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    figures: dict[str, Figure] = {}
    with progress:
        task = progress.add_task("", total=len(CASES))
        for title, case in CASES.items():
            progress.update(task, description=title)
            figures |= {figure.name: figure for figure in apart(case)}
            progress.advance(task)
    check_agreement(figures)
    if json:
        print(json_.dumps(report(figures), indent=2))
    else:
        show(figures, Console())


def check_agreement(figures: Mapping[str, Figure]) -> None:
    """Fail unless the cases that run the same join found equally many pairs."""
    same = ("DuckDB, offline", "bare kernel", "engine, join", "engine, join by string")
    counts = {name: figures[name].results for name in same}
    assert len(set(counts.values())) == 1, f"the same join has different results: {counts}"


def ratios(figures: Mapping[str, Figure]) -> dict[str, float]:
    """The quotients that :data:`RATIOS` names."""
    return {r.what: figures[r.case].rows_per_s / figures[r.by].rows_per_s for r in RATIOS}


def report(figures: Mapping[str, Figure]) -> dict[str, Any]:
    """Everything, for machines."""
    return {
        "machine": machine(),
        "figures": [figure.as_dict() for figure in figures.values()],
        "ratios": {what: round(ratio, 3) for what, ratio in ratios(figures).items()},
    }


def show(figures: Mapping[str, Figure], console: Console) -> None:
    """Two tables: the figures and the ratios."""
    table = Table("case", title="Medians; joins: 2 x 1 M rows, 10,000 keys, 10 s windows")
    for heading in ("M rows/s", "M results/s", "peak MB", "runs"):
        table.add_column(heading, justify="right")
    table.add_column("note")
    for figure in figures.values():
        table.add_row(
            figure.name,
            f"{figure.rows_per_s / 1e6:.2f}",
            f"{figure.results_per_s / 1e6:.2f}",
            "-" if figure.peak_mb is None else f"{figure.peak_mb:,.0f}",
            str(len(figure.seconds)),
            figure.note,
        )
    console.print(table)
    quotients = Table("ratio", title="Ratios within this run")
    quotients.add_column("times", justify="right")
    for what, ratio in ratios(figures).items():
        quotients.add_row(what, f"{ratio:.2f}")
    console.print(quotients)
