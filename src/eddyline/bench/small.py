"""Calls with few rows: what a call costs, whatever its rows.

The processor time of ``Engine.process`` with an Arrow table, and of ``Engine.push`` with a dict,
for one row a call; and the rows per second of calls with 100 and 1,000 rows, also where rows wait
ten minutes for the watermark. The changes of each call are read as tables. A time is the median of
blocks of calls. Beside it is what it costs in calls of an empty Python function, timed before each
block: machines that are shared change their speed within minutes, and both times with it.
"""

from __future__ import annotations

import gc
import json as json_text
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import truediv
from typing import Any, Final

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

from eddyline import Changes, Engine
from eddyline.bench.measure import apart
from eddyline.types import TIMESTAMP

_DDL: Final = """
    CREATE STREAM a (ts TIMESTAMP, k BIGINT, v DOUBLE) TIMESTAMP BY ts;
    CREATE STREAM b (ts TIMESTAMP, k BIGINT, v DOUBLE) TIMESTAMP BY ts
"""
#: Of a stream whose rows wait.
_LATE_US: Final = 600_000_000
_LATE_DDL: Final = _DDL.replace(
    "TIMESTAMP BY ts;", f"TIMESTAMP BY ts LATENESS {_LATE_US // 1_000_000} SECONDS;", 1
)
_KEYS: Final = 1_000
#: Of one row: microseconds to the next one.
_GAP_US: Final = 1_000
_FILTER: Final = "SELECT k, v FROM a [NOW] WHERE v > {}"
_JOIN: Final = (
    "SELECT a.k, a.v, b.v AS w FROM a [RANGE 10 SECONDS] AS a, b [RANGE 10 SECONDS] AS b "
    "WHERE a.k = b.k AND a.v > {}"
)
_GROUP: Final = "SELECT k, SUM(v) AS x, COUNT(*) AS n FROM a [RANGE 10 SECONDS] GROUP BY k"
#: The case in which rows wait for the watermark.
_LATE: Final = "late filter"
#: Queries by case; of a hundred, each has another constant.
_QUERIES: Final[Mapping[str, Sequence[str]]] = {
    "filter": [_FILTER.format(0.5)],
    "100 filters": [_FILTER.format(0.9 + i / 1_000) for i in range(100)],
    "join": [_JOIN.format(0)],
    "100 joins": [_JOIN.format(0.9 + i / 1_000) for i in range(100)],
    "GROUP BY": [_GROUP],
    _LATE: [_FILTER.format(0.5)],
}
#: Microseconds per call with one row that are asked of ``process``; half of them of ``push``.
_MOST_US: Final = {"filter": 40, "100 filters": 60, "join": 60, "100 joins": 120, "GROUP BY": 60}
#: Millions of rows per second that are asked, by case and rows of a call.
_LEAST_ROWS: Final = {("join", 100): 0.57, ("join", 1_000): 3.0, ("GROUP BY", 1_000): 1.8}
_LARGER: Final = [
    *(("filter", 100), (_LATE, 100)),
    *((case, rows) for rows in (100, 1_000) for case in ("join", "GROUP BY")),
]
_BLOCKS: Final = 7
_BLOCK_CALLS: Final = 500
_WARM_CALLS: Final = 1_000
_EMPTY_CALLS: Final = 100_000
_COLUMNS: Final = "case", "call", "rows", "us per call", "asked at most", "empty calls", "M rows/s"


@dataclass(frozen=True)
class CallTime:
    """What calls took.

    Attributes:
        call: "process" or "push". rows: of a call. seconds: per call, in each block. asked: at most
            (seconds per call); None: nothing is asked.
        empty: seconds per call of an empty function, before each block.
    """

    case: str
    call: str
    rows: int
    seconds: tuple[float, ...]
    asked: float | None
    empty: tuple[float, ...]

    @property
    def empty_calls(self) -> float:
        """As many calls of an empty function take the same time."""
        return float(statistics.median(map(truediv, self.seconds, self.empty)))

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    def as_dict(self) -> dict[str, Any]:
        """For machines."""
        rounded = {"seconds": [round(s, 8) for s in self.seconds]}
        return vars(self) | rounded | {"empty": [round(s, 11) for s in self.empty]}


def one_row(case: str, call: str, blocks: int = _BLOCKS, calls: int = _BLOCK_CALLS) -> CallTime:
    """Calls with one row, of the two streams in turns where both are read."""
    most = _MOST_US[case] / 1e6 / (1 if call == "process" else 2)
    return _timed(case, call, 1, blocks, calls, most)


def more_rows(case: str, rows: int, blocks: int = _BLOCKS, calls: int = _BLOCK_CALLS) -> CallTime:
    """Calls of ``process`` with as many rows of one stream."""
    least = _LEAST_ROWS.get((case, rows))
    return _timed(case, "process", rows, blocks, calls, rows / least / 1e6 if least else None)


def _timed(
    case: str, call: str, rows: int, blocks: int, calls: int, asked: float | None
) -> CallTime:
    engine = Engine()
    engine.sql(_LATE_DDL if case == _LATE else _DDL)
    names = [engine.query(sql).name for sql in _QUERIES[case]]
    streams = "ab" if "join" in case else "a"
    make = _dict if call == "push" else partial(_table, rows=rows)

    def process(stream: str, table: Any) -> Changes:
        return engine.process({stream: table})

    serve = process if call == "process" else engine.push
    seconds, empty = [], []
    until_due = _LATE_US // (_GAP_US * rows) if case == _LATE else 0
    warm = -(-max(_WARM_CALLS, until_due) // calls)
    for block in range(warm + blocks):
        inputs = [(streams[i % len(streams)], make(block * calls + i)) for i in range(calls)]
        gc.collect()
        empty.append(_empty_seconds())
        began = time.thread_time()
        for stream, given in inputs:
            changes = serve(stream, given)
            for name in names if len(names) == 1 else changes.active():
                changes[name]
        seconds.append((time.thread_time() - began) / calls)
    return CallTime(case, call, rows, tuple(seconds[warm:]), asked, tuple(empty[warm:]))


def _empty_seconds() -> float:
    """Processor time of a call of an empty function."""
    began = time.thread_time()
    for _ in range(_EMPTY_CALLS):
        _do_nothing()
    return (time.thread_time() - began) / _EMPTY_CALLS


def _do_nothing() -> None: ...


def _table(number: int, rows: int) -> pa.Table:
    """The rows of a call."""
    random = np.random.default_rng(number)
    ts = (number * rows + np.arange(rows)) * _GAP_US
    return pa.table(
        {
            "ts": pa.array(ts).cast(TIMESTAMP),
            "k": random.integers(0, _KEYS, rows),
            "v": random.random(rows),
        }
    )


def _dict(number: int) -> dict[str, Any]:
    return {name: column[0].as_py() for name, column in _columns(_table(number, 1))}


def _columns(table: pa.Table) -> list[tuple[str, pa.ChunkedArray]]:
    return list(zip(table.column_names, table.columns, strict=True))


def cases() -> list[Callable[[], CallTime]]:
    """All of them; each is measured in a process of its own."""
    ones = [partial(one_row, case, call) for call in ("process", "push") for case in _MOST_US]
    return [*ones, *(partial(more_rows, case, rows) for case, rows in _LARGER)]


def run_small(*, json: bool) -> None:
    """Measure and print all cases."""
    found = [apart(case) for case in cases()]
    if json:
        for time_of in found:
            print(json_text.dumps(time_of.as_dict()))
        return
    table = Table(title="Processor time of calls with few rows")
    for column in _COLUMNS:
        table.add_column(column, justify="left" if column in ("case", "call") else "right")
    for each in found:
        asked = "" if each.asked is None else f"{1e6 * each.asked:.0f}"
        speed = f"{each.rows / each.median / 1e6:.3f}"
        us, empty = f"{1e6 * each.median:.0f}", f"{each.empty_calls:,.0f}"
        table.add_row(each.case, each.call, f"{each.rows:,}", us, asked, empty, speed)
    Console().print(table)
