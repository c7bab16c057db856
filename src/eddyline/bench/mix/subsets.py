"""Queries over subsets of six streams, joined on one key, beside as many over the same three.

Each query has conditions of its own on each stream; rows of a machine that are extreme in several
streams within ten seconds are rare.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Final

import numpy as np
import pyarrow as pa
from rich.console import Console

import eddyline
from eddyline.bench.feeding import process_all
from eddyline.bench.measure import Figure
from eddyline.types import TIMESTAMP

STREAMS: Final = ("a", "b", "c", "d", "e", "f")
DDL: Final = ";".join(
    f"CREATE STREAM {s} (ts TIMESTAMP, k BIGINT, x DOUBLE) TIMESTAMP BY ts" for s in STREAMS
)
_KEYS: Final = 1_000
#: Rows of each stream in a call, microseconds between two, and calls before the windows are full.
_CALL_ROWS: Final = 1_000
_SPACING_US: Final = 2_000
_WARM_CALLS: Final = 7
#: Of the subsets of each size: which ones there are.
_OF_SIZE: Final = {2: slice(10), 3: slice(0, 20, 2), 4: slice(0, 15, 3)}
#: Most times that queries over many subsets may cost what as many over one do.
LIMIT: Final = 3.0

NAME: Final = "stream subsets"
SUBSETS: Final = tuple(
    subset for size, some in _OF_SIZE.items() for subset in list(combinations(STREAMS, size))[some]
)
_SAME: Final = STREAMS[:3]
#: The streams of each query of a case.
CASES: Final[dict[str, tuple[tuple[str, ...], ...]]] = {
    f"{NAME}, 1": (_SAME,),
    f"{NAME}, 25 of one signature": (_SAME,) * len(SUBSETS),
    f"{NAME}, 25": SUBSETS,
}


def rows(call: int, count: int) -> dict[str, pa.Table]:
    """The rows of a call, by stream."""
    random = np.random.default_rng(call)
    ts = (np.arange(count, dtype=np.int64) + call * count) * _SPACING_US
    return {
        stream: pa.table(
            {
                "ts": pa.array(ts + place).cast(TIMESTAMP),
                "k": random.integers(0, _KEYS, count),
                "x": random.random(count),
            }
        )
        for place, stream in enumerate(STREAMS)
    }


def query(subset: tuple[str, ...], number: int) -> str:
    """The query of this number over some streams: of each, 10 to 30 % of the rows."""
    first, *others = subset
    shares = {s: 10 + (7 * number + 5 * place) % 21 for place, s in enumerate(subset)}
    terms = [f"{first}.k = {s}.k" for s in others]
    terms += [f"{s}.x > {1 - share / 100:.2f}" for s, share in shares.items()]
    columns = ", ".join(f"{s}.x AS {s}" for s in subset)
    sources = ", ".join(f"{s} [RANGE 10 SECONDS] AS {s}" for s in subset)
    return f"SELECT {first}.k, {columns} FROM {sources} WHERE {' AND '.join(terms)}"


def measured(case: str, calls: int, call_rows: int = _CALL_ROWS) -> Figure:
    """The queries of a case in one engine: processor seconds of each call."""
    engine = eddyline.Engine()
    engine.sql(DDL)
    began = time.process_time()
    for number, subset in enumerate(CASES[case]):
        engine.query(query(subset, number), name=f"q{number}")
    added = (time.process_time() - began) / len(CASES[case])
    seconds, results = [], 0
    for call in range(_WARM_CALLS + calls):
        given = rows(call, call_rows)
        began = time.process_time()
        found = sum(table.num_rows for table in process_all(engine, given).batches())
        if call >= _WARM_CALLS:
            seconds.append(time.process_time() - began)
            results += found
    note = f"{added * 1e3:.2g} ms to add one"
    return Figure(case, call_rows * len(STREAMS), results // calls, tuple(seconds), note=note)


def lines(figures: Mapping[str, Figure]) -> Iterator[str]:
    """What the cases cost, and how many times as much subsets cost as one signature."""
    found = {case: figures[case] for case in CASES if case in figures}
    for case, figure in found.items():
        ms, per_row = statistics.median(figure.seconds) * 1e3, figure.results / figure.rows
        yield f"{case}: {ms:.2f} ms a call, {per_row:.3f} results per row; {figure.note}"
    if len(found) == len(CASES):
        _, same, subsets = (statistics.median(f.seconds) for f in found.values())
        verdict = "" if subsets / same <= LIMIT else f" (more than {LIMIT:g})"
        yield f"25 subsets to 25 of one signature: {subsets / same:.1f}{verdict}"


def show(figures: Mapping[str, Figure], console: Console) -> None:
    """A line per case, and their ratio."""
    for line in lines(figures):
        console.print(line)
