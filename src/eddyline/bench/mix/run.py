"""``eddyline bench mix``: a hundred queries of a class beside one, a mix of a thousand, thousands
of a class beside one, and what it takes to add queries.
"""

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
from eddyline.bench.figures.console import progress_bar
from eddyline.bench.measure import Figure, apart, machine
from eddyline.bench.mix import large, slow_functions, subsets
from eddyline.bench.mix.calls import measured_calls
from eddyline.bench.mix.queries import CLASSES, DDL, MIX, queries
from eddyline.errors import EddylineError

_MANY: Final = 100
#: Most times that a hundred queries may cost what one does.
LIMIT: Final = 5.0
_MIXED: Final = "mix"
#: Classes with cases of their own, by name.
_SPECIAL: Final = {m.NAME: m for m in (subsets, slow_functions)}


def run_mix(*, kind: str | None = None, quick: bool = False, json: bool = False) -> None:
    """Measure, and print what many queries of each class cost beside one.

    Args:
        kind: the only class to measure; None: each, then the mix.
        quick: fewer calls and a smaller mix; to see that it works.
        json: print one JSON object to standard output instead of a table.

    Raises:
        EddylineError: there is no such class.
    """
    calls = 3 if quick else 15
    large_cases = large.cases(quick=quick, calls=calls)
    names = [*CLASSES, *_SPECIAL, *large_cases]
    if kind is not None and kind not in names:
        raise EddylineError(f"there is no class '{kind}'; the classes are {', '.join(names)}")
    cases: dict[str, Callable[[], Figure]] = {}
    for name in names if kind is None else (kind,):
        if name in large_cases:
            cases |= large_cases[name]
        elif name in _SPECIAL:
            special = _SPECIAL[name]
            cases |= {case: partial(special.measured, case, calls) for case in special.CASES}
        else:
            counts = (1, _MANY)
            cases |= {f"{name}, {n}": partial(measured, name, n, calls) for n in counts}
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
    note = f"{len(selects):,} queries, {added / len(selects) * 1e3:.2g} ms to add one"
    return measured_calls(engine, name, calls, note)


def ratios(figures: Mapping[str, Figure]) -> Iterator[tuple[str, Figure, Figure, float]]:
    """By class, the figures of one query and of many, and their quotient."""
    for name, one in figures.items():
        kind = name.removesuffix(", 1")
        many = figures.get(f"{kind}, {_MANY}") or figures.get(f"{kind}, many")
        if kind != name and many is not None:
            times = statistics.median(many.seconds) / statistics.median(one.seconds)
            yield kind, one, many, times


def report(figures: Mapping[str, Figure]) -> dict[str, Any]:
    """Everything, for machines."""
    return {
        "machine": machine(),
        "figures": [figure.as_dict() for figure in figures.values()],
        "ratios": {kind: round(times, 2) for kind, _, _, times in ratios(figures)},
        **{name: list(special.lines(figures)) for name, special in _SPECIAL.items()},
        "limit": LIMIT,
        "limits_s": large.LIMITS_S,
    }


def show(figures: Mapping[str, Figure], console: Console) -> None:
    """A row per class, the mix, and what it takes to add queries."""
    table = Table("class", title="Medians, in ms")
    for heading in ("rows", "1 query", "many", "times", "results/row", ""):
        table.add_column(heading, justify="right")
    for kind, one, many, times in ratios(figures):
        over = "" if times <= LIMIT or kind not in CLASSES else f"> {LIMIT:g}"
        table.add_row(
            kind if kind in CLASSES else f"{kind} ({many.note})",
            f"{many.rows:,}",
            *(f"{statistics.median(f.seconds) * 1e3:.2f}" for f in (one, many)),
            f"{times:.1f}",
            f"{many.results / many.rows:.3f}",
            over,
        )
    if table.row_count:
        console.print(table)
    for special in _SPECIAL.values():
        special.show(figures, console)
    mix = figures.get(_MIXED)
    if mix is not None:
        per_row = mix.results / mix.rows
        console.print(
            f"mix: {mix.note}; {mix.rows_per_s:,.0f} rows/s, {per_row:.2f} results per row"
        )
    for name, figure in figures.items():
        if name.startswith("add "):
            seconds = statistics.median(figure.seconds)
            limit = large.LIMITS_S.get(name)
            asked = "" if limit is None else f", limit {limit * 1e3:,.0f} ms"
            rows = f" of {figure.rows:,} rows" if limit is None else ""
            console.print(f"{name}{rows}: {seconds * 1e3:,.2f} ms{asked}")
