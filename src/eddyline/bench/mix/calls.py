"""Calls of an engine with rows of machines."""

from __future__ import annotations

import time
from typing import Final

import eddyline
from eddyline.bench.feeding import process_all
from eddyline.bench.measure import Figure
from eddyline.bench.mix.queries import rows

#: Rows of readings in a call, and calls before the windows are full.
CALL_ROWS: Final = 6_000
WARM_CALLS: Final = 22


def fed(engine: eddyline.Engine, first: int, count: int) -> tuple[float, int]:
    """Process these readings, and the beats beside them; returns seconds and number of results."""
    given = rows(first, count)
    began = time.perf_counter()
    changes = process_all(engine, {"readings": given.readings, "beats": given.beats})
    found = sum(table.num_rows for table in changes.batches())
    return time.perf_counter() - began, found


def measured_calls(engine: eddyline.Engine, name: str, calls: int, note: str) -> Figure:
    """The seconds of calls once the windows are full."""
    seconds, results = [], 0
    for call in range(WARM_CALLS + calls):
        took, found = fed(engine, call * CALL_ROWS, CALL_ROWS)
        if call >= WARM_CALLS:
            seconds.append(took)
            results += found
    return Figure(name, CALL_ROWS, round(results / calls), tuple(seconds), note=note)
