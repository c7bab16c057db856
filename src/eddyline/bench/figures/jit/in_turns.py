"""Engines with and without feedback that take turns over the same stretches of rows."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from eddyline.bench.figures.jit.runs import JIT, REF, JitPoint, Rows, Run, require_equal_answers
from eddyline.runtime.columns import Array

_CALLS_PER_WINDOW: Final = 4
_ROW_US: Final = 10_000  # from a row of a stream to the next
_FILL_WINDOWS: Final = 2  # then rows have expired, too


@dataclass(frozen=True)
class Size:
    """How large everything is.

    Attributes:
        window_rows: of each stream. stretch_windows: a turn's rows, in windows.
        rounds: turns of each engine.
    """

    window_rows: int
    stretch_windows: int
    rounds: int

    @property
    def rows(self) -> int:
        """Rows of each stream in all."""
        return self.window_rows * (_FILL_WINDOWS + self.stretch_windows * self.rounds)

    @property
    def window(self) -> str:
        """As in SQL."""
        return f"[RANGE {self.window_rows * _ROW_US} MICROSECONDS]"


@dataclass(frozen=True)
class Work:
    """A join.

    Attributes:
        case: its name. query: a function of the window.
        streams: by name, the columns beside ``ts``: int64[rows].
    """

    case: str
    query: Callable[[str], str]
    streams: dict[str, dict[str, Array]]


def measure_work(work: Work, x: float, size: Size) -> list[JitPoint]:
    """A point without feedback, and one with, over hash joins.

    Raises:
        AssertionError: they disagree on the results.
    """
    script = ";".join(
        f"CREATE STREAM {name} (ts TIMESTAMP, {', '.join(f'{c} BIGINT' for c in columns)}) "
        "TIMESTAMP BY ts"
        for name, columns in work.streams.items()
    )
    runs = [
        Run(script, work.query(size.window), contender, nested_loops=False)
        for contender in (REF, JIT)
    ]
    batches = _batches(work, size)
    fill = _CALLS_PER_WINDOW * _FILL_WINDOWS
    stretch = _CALLS_PER_WINDOW * size.stretch_windows
    for run in runs:
        run.play(batches[:fill])
    shuffle = random.Random(work.case)
    for start in range(fill, len(batches), stretch):
        for run in shuffle.sample(runs, len(runs)):
            run.play(batches[start : start + stretch])
    require_equal_answers(work.case, runs)
    rows = sum(
        table.num_rows for batch in batches[fill : fill + stretch] for table in batch.values()
    )
    return [run.point(work.case, x, rows, run.cpu_s[1:]) for run in runs]


def _batches(work: Work, size: Size) -> Sequence[Rows]:
    """Streams advance in step; the rows of one instant come in the order of the streams."""
    ts = pa.array(range(0, size.rows * _ROW_US, _ROW_US))
    tables = {name: pa.table({"ts": ts, **columns}) for name, columns in work.streams.items()}
    call = size.window_rows // _CALLS_PER_WINDOW
    return [
        {name: table.slice(start, call) for name, table in tables.items()}
        for start in range(0, size.rows, call)
    ]
