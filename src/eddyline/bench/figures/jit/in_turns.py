"""Engines with and without feedback that take turns over the same stretches of rows."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from eddyline.bench.figures.jit.runs import JIT, REF, JitPoint, JitRun, Rows, require_equal_answers
from eddyline.physical.flows import Executor
from eddyline.runtime.stores.columns import Array

_ROW_US: Final = 10_000  # from a row of a stream to the next
_FILL_WINDOWS: Final = 2


@dataclass(frozen=True)
class TurnSize:
    """How large everything is.

    Attributes:
        window_rows: of each stream. stretch_calls: a turn's calls of the engine.
        rounds: turns of each engine. call_rows: of each stream.
    """

    window_rows: int
    stretch_calls: int
    rounds: int
    call_rows: int

    @property
    def rows(self) -> int:
        """Rows of each stream in all."""
        return self.call_rows * (self.fill_calls + self.stretch_calls * self.rounds)

    @property
    def fill_calls(self) -> int:
        """Calls until rows have expired, too."""
        return -(-_FILL_WINDOWS * self.window_rows // self.call_rows)

    @property
    def window_s(self) -> int:
        """In seconds of application time."""
        return self.window_rows * _ROW_US // 1_000_000

    @property
    def window(self) -> str:
        """As in SQL."""
        return f"[RANGE {self.window_rows * _ROW_US} MICROSECONDS]"


@dataclass(frozen=True)
class TurnWork:
    """A join.

    Attributes:
        case: its name. query: a function of the window.
        streams: by name, the columns beside ``ts``: int64[rows].
        executor: of the engines.
    """

    case: str
    query: Callable[[str], str]
    streams: dict[str, dict[str, Array]]
    executor: Executor = "tree"


def measure_work(
    work: TurnWork, x: float, size: TurnSize, contenders: Sequence[str] = (REF, JIT)
) -> list[JitPoint]:
    """A point per contender, over hash joins.

    Raises:
        AssertionError: they disagree on the results.
    """
    script = ";".join(
        f"CREATE STREAM {name} (ts TIMESTAMP, {', '.join(f'{c} BIGINT' for c in columns)}) "
        "TIMESTAMP BY ts"
        for name, columns in work.streams.items()
    )
    runs = [
        JitRun(
            script,
            work.query(size.window),
            contender,
            nested_loops=False,
            executor=work.executor,
        )
        for contender in contenders
    ]
    batches = _batches(work, size)
    fill, stretch = size.fill_calls, size.stretch_calls
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


def _batches(work: TurnWork, size: TurnSize) -> Sequence[Rows]:
    """Streams advance in step; the rows of one instant come in the order of the streams."""
    ts = pa.array(range(0, size.rows * _ROW_US, _ROW_US))
    tables = {name: pa.table({"ts": ts, **columns}) for name, columns in work.streams.items()}
    return [
        {name: table.slice(start, size.call_rows) for name, table in tables.items()}
        for start in range(0, size.rows, size.call_rows)
    ]
