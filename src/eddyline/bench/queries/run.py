"""``eddyline bench queries``: the cases, one after the other, and their figures."""

from __future__ import annotations

import json as json_
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

from rich.console import Console
from rich.table import Table

from eddyline.bench.figures.console import progress_bar
from eddyline.bench.measure import Figure, apart, machine
from eddyline.bench.queries.alone import embedded, for_each_row
from eddyline.bench.queries.offline import duckdb_rules
from eddyline.bench.queries.streaming import generated, large_batches, separate, small_batches

Case = Callable[[], Figure | list[Figure]]

_RANGE_JOIN: Final = "Spark, join with a table of rules"
_GRID: Final = "Spark, join by a grid laid for the rules"


@dataclass(frozen=True)
class Size:
    """How much is measured.

    Attributes:
        embedded: numbers of queries. apart: numbers of queries that share nothing.
        rules: rows of the largest table of rules.
        batches: of 100,000 rows, embedded. count: of rules in the other cases.
        large, small: batches and rows per file of Spark's cases.
        branches: of the generated filter. separate: Spark queries that are run side by side.
    """

    embedded: tuple[int, ...]
    apart: tuple[int, ...]
    rules: int
    batches: int
    count: int
    large: tuple[int, int]
    small: tuple[int, int]
    branches: int
    separate: int


FULL: Final = Size(
    (1, 10, 100, 1_000, 10_000),
    (10, 100),
    100_000,
    10,
    10_000,
    (6, 500_000),
    (4, 10_000),
    1_000,
    16,
)
QUICK: Final = Size((1, 100, 1_000), (10,), 10_000, 3, 1_000, (3, 100_000), (2, 5_000), 100, 4)


def cases(size: Size) -> dict[str, Case]:
    """What is measured, in this order."""
    found: dict[str, Case] = {}
    for n in size.embedded:
        found[f"{n:,} queries"] = partial(embedded, n, size.batches)
    for n in size.apart:
        found[f"{n:,} queries, apart"] = partial(embedded, n, size.batches, sharing=False)
    for n in dict.fromkeys((size.count, size.rules)):
        found[f"{n:,} rows of rules"] = partial(for_each_row, n, size.batches)
    found["DuckDB"] = partial(duckdb_rules, size.count, 3)
    found["Spark, large batches"] = partial(large_batches, size.count, *size.large)
    found["Spark, small batches"] = partial(small_batches, size.count, *size.small)
    found["Spark, generated filter"] = partial(generated, size.branches, *size.small)
    found["Spark, separate queries"] = partial(separate, size.separate, size.count, *size.large)
    return found


def run_queries(*, quick: bool = False, json: bool = False) -> None:
    """Measure every case, many minutes in all, and print the figures.

    Args:
        quick: few queries and rows; to see that it works.
        json: print one JSON object to standard output instead of tables.

    Raises:
        SetupError: DuckDB or Java is missing.
        AssertionError: cases that do the same work have found different results.
    """
    size = QUICK if quick else FULL
    figures: dict[str, Figure] = {}
    with progress_bar() as progress:
        task = progress.add_task("", total=len(cases(size)))
        for title, case in cases(size).items():
            progress.update(task, description=title)
            made = apart(case)
            figures |= {f.name: f for f in (made if isinstance(made, list) else [made])}
            progress.advance(task)
    check_agreement(figures, size.count)
    if json:
        print(json_.dumps(report(figures, size.count), indent=2))
    else:
        show(figures, size.count, Console())


def check_agreement(figures: Mapping[str, Figure], count: int) -> None:
    """Fail unless the cases that apply the same rules to the same rows found as many results."""
    same = (
        (f"engine, {count:,} queries", f"engine, {count:,} rows of rules"),
        (f"Eddyline, {count:,} queries", f"Eddyline, {count:,} rows of rules", _GRID),
        (_RANGE_JOIN, "Spark, the join in foreachBatch"),
    )
    for names in same:
        counts = {name: figures[name].results for name in names}
        assert len(set(counts.values())) == 1, f"the same rules have different results: {counts}"


def ratios(figures: Mapping[str, Figure], count: int) -> dict[str, float]:
    """Quotients of rows/s within this run."""
    speed = {name: figure.rows_per_s for name, figure in figures.items()}
    ours, alone = speed[f"Eddyline, {count:,} queries"], speed[f"engine, {count:,} queries"]
    return {
        f"engine: one query to {count:,}": speed["engine, 1 queries"] / alone,
        "Eddyline on Spark to a join with a table of rules": ours / speed[_RANGE_JOIN],
        "Eddyline on Spark to a join by a grid laid by hand": ours / speed[_GRID],
        "Eddyline embedded, to on Spark": alone / ours,
    }


def report(figures: Mapping[str, Figure], count: int) -> dict[str, Any]:
    """Everything, for machines."""
    return {
        "machine": machine(),
        "figures": [figure.as_dict() for figure in figures.values()],
        "ratios": {what: round(ratio, 3) for what, ratio in ratios(figures, count).items()},
    }


def show(figures: Mapping[str, Figure], count: int, console: Console) -> None:
    """Two tables: the figures and the ratios."""
    table = Table("case", title="Medians of warm batches; about one match per row")
    for heading in ("rows/s", "results/row", "times"):
        table.add_column(heading, justify="right")
    table.add_column("note")
    for figure in figures.values():
        table.add_row(figure.name, *_numbers(figure), figure.note)
    console.print(table)
    quotients = Table("ratio", title="Ratios within this run")
    quotients.add_column("times", justify="right")
    for what, ratio in ratios(figures, count).items():
        quotients.add_row(what, f"{ratio:,.2f}")
    console.print(quotients)


def _numbers(figure: Figure) -> Sequence[str]:
    per_row = f"{figure.results / figure.rows:.2f}" if figure.results else "-"
    return f"{figure.rows_per_s:,.0f}", per_row, str(len(figure.seconds))
