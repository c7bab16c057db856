"""``eddyline bench mix``: a hundred queries of a class beside one, and a mix of a thousand."""

from __future__ import annotations

import json as json_
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, Final

from rich.console import Console
from rich.table import Table

import eddyline
from eddyline.bench.feeding import process_all
from eddyline.bench.figures.console import progress_bar
from eddyline.bench.measure import Figure, apart, machine
from eddyline.bench.mix import subsets
from eddyline.bench.mix.queries import CLASSES, DDL, MIX, queries, rows
from eddyline.errors import EddylineError

#: Rows of readings in a call, and calls before the windows are full.
_CALL_ROWS: Final = 6_000
_WARM_CALLS: Final = 22
_MANY: Final = 100
#: Most times that a hundred queries may cost what one does.
LIMIT: Final = 5.0
_MIXED: Final = "mix"


def run_mix(*, kind: str | None = None, quick: bool = False, json: bool = False) -> None:
    """Measure, and print what many queries of each class cost beside one.

    Args:
        kind: the only class to measure; None: each, then the mix.
        quick: fewer calls and a smaller mix; to see that it works.
        json: print one JSON object to standard output instead of a table.

    Raises:
        EddylineError: there is no such class.
    """
    classes = (*CLASSES, subsets.NAME)
    if kind is not None and kind not in classes:
        raise EddylineError(f"there is no class '{kind}'; the classes are {', '.join(classes)}")
    calls = 3 if quick else 15
    cases: dict[str, Callable[[], Figure]] = {}
    for name in classes if kind is None else (kind,):
        if name == subsets.NAME:
            cases |= {case: partial(subsets.measured, case, calls) for case in subsets.CASES}
            continue
        for count in (1, _MANY):
            cases[f"{name}, {count}"] = partial(measured, name, count, calls)
    if kind is None:
        cases[_MIXED] = partial(mixed, 0.1 if quick else 1.0, calls)
    figures: dict[str, Figure] = {}
    with progress_bar() as progress:
        task = progress.add_task("", total=len(cases))
        for title, case in cases.items():
            progress.update(task, description=title)
            figures[title] = apart(case)
            progress.advance(task)
    if json:
        print(json_.dumps(report(figures), indent=2))
    else:
        show(figures, Console())


def measured(kind: str, count: int, calls: int) -> Figure:
    """Queries of one class in one engine: seconds of each call."""
    return _fed(f"{kind}, {count}", list(queries(kind, count)), calls)


def mixed(share: float, calls: int) -> Figure:
    """All classes in one engine, each with a share of its queries."""
    numbers = {kind: max(round(count * share), 1) for kind, count in MIX.items()}
    selects = [q for kind, count in numbers.items() for q in queries(kind, count)]
    return _fed(_MIXED, selects, calls)


def _fed(name: str, selects: Sequence[tuple[str, str]], calls: int) -> Figure:
    engine = eddyline.Engine()
    engine.sql(DDL)
    began = time.perf_counter()
    for query, sql in selects:
        engine.query(sql, name=query)
    added = time.perf_counter() - began
    seconds, results = [], 0
    for call in range(_WARM_CALLS + calls):
        given = rows(call * _CALL_ROWS, _CALL_ROWS)
        began = time.perf_counter()
        changes = process_all(engine, {"readings": given.readings, "beats": given.beats})
        found = sum(table.num_rows for table in changes.batches())
        if call >= _WARM_CALLS:
            seconds.append(time.perf_counter() - began)
            results += found
    note = f"{len(selects):,} queries, {added / len(selects) * 1e3:.2g} ms to add one"
    return Figure(name, _CALL_ROWS, round(results / calls), tuple(seconds), note=note)


def ratios(figures: Mapping[str, Figure]) -> Iterator[tuple[str, Figure, Figure, float]]:
    """By class, the figures of one query and of many, and their quotient."""
    for kind in CLASSES:
        one, many = figures.get(f"{kind}, 1"), figures.get(f"{kind}, {_MANY}")
        if one is not None and many is not None:
            times = statistics.median(many.seconds) / statistics.median(one.seconds)
            yield kind, one, many, times


def report(figures: Mapping[str, Figure]) -> dict[str, Any]:
    """Everything, for machines."""
    return {
        "machine": machine(),
        "figures": [figure.as_dict() for figure in figures.values()],
        "ratios": {kind: round(times, 2) for kind, _, _, times in ratios(figures)},
        subsets.NAME: list(subsets.lines(figures)),
        "limit": LIMIT,
    }


def show(figures: Mapping[str, Figure], console: Console) -> None:
    """A row per class, and the mix."""
    table = Table("class", title=f"Calls of {_CALL_ROWS:,} rows; medians, in ms")
    for heading in ("1 query", f"{_MANY} queries", "times", "results/row", ""):
        table.add_column(heading, justify="right")
    for kind, one, many, times in ratios(figures):
        table.add_row(
            kind,
            *(f"{statistics.median(f.seconds) * 1e3:.2f}" for f in (one, many)),
            f"{times:.1f}",
            f"{many.results / many.rows:.3f}",
            "" if times <= LIMIT else f"> {LIMIT:g}",
        )
    if table.rows:
        console.print(table)
    subsets.show(figures, console)
    mix = figures.get(_MIXED)
    if mix is not None:
        per_row = mix.results / mix.rows
        console.print(
            f"mix: {mix.note}; {mix.rows_per_s:,.0f} rows/s, {per_row:.2f} results per row"
        )
