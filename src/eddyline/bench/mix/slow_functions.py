"""Conditions that call a slow function, of queries that join two streams: applied before the join,
behind it, and where the engine chooses, by the share of rows that have a partner.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator, Mapping
from typing import Final, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from rich.console import Console

import eddyline
from eddyline.bench.feeding import process_all
from eddyline.bench.measure import Figure
from eddyline.runtime.eddy.join_flow import Selections
from eddyline.types import TIMESTAMP

NAME: Final = "slow functions"
DDL: Final = (
    "CREATE STREAM s (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts;"
    "CREATE STREAM r (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts"
)
_WAYS: Final = ("push", "pull", "auto")
_SHARES: Final = (0.02, 0.1, 0.5, 1.0)
_QUERIES: Final = 10
#: Seconds of the function for a row, rows of a call, and calls before a place has been chosen.
_COST_S: Final = 20e-6
_CALL_ROWS: Final = 1_000
_WARM_CALLS: Final = 30
#: By case: the share of rows with a partner, and ``StrategyOptions.selections``.
CASES: Final[dict[str, tuple[float, str]]] = {
    f"{NAME}, {share:.0%}, {way}": (share, way) for share in _SHARES for way in _WAYS
}


def measured(case: str, calls: int) -> Figure:
    """The queries of a case in one engine: processor seconds of each call."""
    share, way = CASES[case]
    strategy = eddyline.StrategyOptions(selections=cast(Selections, way))
    engine, called = eddyline.Engine(strategy=strategy), [0]

    def slow(x: pa.Array) -> pa.Array:
        called[0] += len(x)
        until = time.process_time() + _COST_S * len(x)
        while time.process_time() < until:
            pass
        return pc.multiply(x, 2)

    engine.sql(DDL)
    engine.function("slow", slow, args=["BIGINT"], returns="BIGINT")
    for i in range(_QUERIES):
        engine.query(
            "SELECT s.k, s.x FROM s [RANGE 5 SECONDS] AS s, r [RANGE 5 SECONDS] AS r "
            f"WHERE s.k = r.k AND slow(s.x) > {i}",
            name=f"q{i}",
        )
    seconds, results = [], 0
    for call in range(_WARM_CALLS + calls):
        if call == _WARM_CALLS:
            called[0] = 0
        given = _rows(call, share)
        began = time.process_time()
        found = sum(table.num_rows for table in process_all(engine, given).batches())
        if call >= _WARM_CALLS:
            seconds.append(time.process_time() - began)
            results += found
    note = f"{called[0] // calls:,} calls of the function"
    return Figure(case, _CALL_ROWS, results // calls, tuple(seconds), note=note)


def _rows(call: int, share: float) -> dict[str, pa.Table]:
    """The rows of a second, of which a share have a partner."""
    ts = pa.array(np.arange(_CALL_ROWS) * 500 + call * 1_000_000).cast(TIMESTAMP)
    k = np.arange(_CALL_ROWS)
    partners = int(_CALL_ROWS * share)
    return {
        "s": pa.table({"ts": ts, "k": k, "x": k % 10}),
        "r": pa.table({"ts": ts[:partners], "k": k[:partners]}),
    }


def lines(figures: Mapping[str, Figure]) -> Iterator[str]:
    """What each case costs."""
    for case in CASES:
        if case in figures:
            ms = statistics.median(figures[case].seconds) * 1e3
            yield f"{case}: {ms:.2f} ms a call, {figures[case].note}"


def show(figures: Mapping[str, Figure], console: Console) -> None:
    """A line per case."""
    for line in lines(figures):
        console.print(line)
