"""One point of a figure: contenders that answer one query over one window, side by side.

The contenders run in one process, each in an engine of its own that has filled its windows. Then
they take turns over the same stretches of the trace, in a shuffled order, so that whatever else the
machine does meets all of them; their ratios are taken within one process.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import pyarrow.compute as pc

import eddyline
from eddyline.bench.feeding import process_all
from eddyline.bench.figures.trace import LINK_COLUMNS, Playback, Trace

#: Chunks per call of the engine; the state is counted after each call.
_CHUNKS_PER_CALL: Final = 4
#: The windows are filled for this many times their length: then rows have expired, too.
_FILL: Final = 1.1
_FILL_CHUNK_ROWS: Final = 16_384
_QUERY: Final = "q"


@dataclass(frozen=True)
class Contender:
    """A way to run a query.

    Attributes:
        label: as in the figures.
        select: the query; ``{w}`` stands for the window, ``{few}`` and ``{many}`` for protocols.
        options: fields of StrategyOptions.
    """

    label: str
    select: str
    options: Mapping[str, Any]


@dataclass(frozen=True)
class PointCase:
    """A query of an experiment, over the first ``links`` links.

    Attributes:
        title: ``{few}`` and ``{many}`` stand for protocols, as in its contenders' queries.
    """

    name: str
    title: str
    links: int
    contenders: tuple[Contender, ...]


@dataclass(frozen=True)
class Effort:
    """How much is measured.

    Attributes:
        rounds: stretches of the trace that every contender is measured on.
        least_rows: rows of a stretch, which has half the window's rows if these are more.
        chunk_rows: rows between two eager expiries.
        budget_s: no further round begins after this many seconds.
    """

    rounds: int = 3
    least_rows: int = 20_000
    chunk_rows: int = 1_000
    budget_s: float = 60.0

    def stretch_rows(self, window: int) -> int:
        """Rows of one stretch: whole calls of the engine."""
        call = _CHUNKS_PER_CALL * self.chunk_rows
        return max(self.least_rows, window // 2) // call * call or call


@dataclass(frozen=True)
class Point:
    """What one contender did.

    Attributes:
        trace, case, contender: names. window: in time units. rows: of one stretch.
        chunk_rows: rows between two eager expiries.
        ms_per_1000: milliseconds of the processor per 1,000 input rows, by stretch.
        state_rows: rows kept on average, those of streams included.
        answer_rows: size of the answer at the end.
        inserted, taken_back: '+' and '-' rows that the query emitted, all stretches together.
    """

    trace: str
    case: str
    window: int
    contender: str
    rows: int
    chunk_rows: int
    ms_per_1000: tuple[float, ...]
    state_rows: float
    answer_rows: int
    inserted: int
    taken_back: int

    @property
    def median_ms(self) -> float:
        """Milliseconds per 1,000 input rows: the median stretch."""
        return statistics.median(self.ms_per_1000)


def measure(
    make_trace: Callable[[], Trace], case: PointCase, window: int, effort: Effort
) -> list[Point]:
    """A point for each contender of a case.

    Raises:
        AssertionError: the answers differ in size, or the trace is too short.
    """
    begin = time.perf_counter()
    trace = make_trace()
    playback = trace.playback(case.links)
    stretch = effort.stretch_rows(window)
    start = first_row(trace.name, playback, window, effort)
    runs = [_PointRun(c, trace, case, window) for c in case.contenders]
    for run in runs:
        run.fill(playback, start)
    order = random.Random(f"{case.name} {window}")
    for number in range(effort.rounds):
        if number and time.perf_counter() - begin > effort.budget_s:
            break
        at = start + number * stretch
        for run in order.sample(runs, len(runs)):
            run.take_turn(playback, at, at + stretch, effort.chunk_rows)
    points = [run.point(stretch, effort.chunk_rows) for run in runs]
    answers = {p.contender: p.answer_rows for p in points}
    assert len(set(answers.values())) == 1, f"{case.name}, {window:,}: answers differ: {answers}"
    return points


def first_row(name: str, playback: Playback, window: int, effort: Effort) -> int:
    """The row with which the first stretch begins; all windows are full then.

    Raises:
        AssertionError: the trace ends before the last stretch does.
    """
    start = playback.rows_until(_FILL * window)
    needed = start + effort.rounds * effort.stretch_rows(window)
    assert needed <= len(playback), (
        f"{name}: {len(playback):,} rows are too few for a window of {window:,}: {needed:,} needed"
    )
    return start


@dataclass
class _PointRun:
    """A contender at work."""

    contender: Contender
    trace: Trace
    case: PointCase
    window: int
    engine: eddyline.Engine = field(init=False)
    seconds: list[float] = field(default_factory=list)
    kept: list[int] = field(default_factory=list)
    inserted: int = 0
    taken_back: int = 0

    def __post_init__(self) -> None:
        strategy = eddyline.StrategyOptions(optimize=False, views=True, **self.contender.options)
        self.engine = eddyline.Engine(strategy=strategy)
        for number in range(1, self.case.links + 1):
            self.engine.sql(f"CREATE STREAM link{number} ({LINK_COLUMNS}) TIMESTAMP BY ts")
        select = self.contender.select.format(
            w=f"[RANGE {self.window} SECONDS]", few=self.trace.few, many=self.trace.many
        )
        self.engine.query(select, name=_QUERY)

    def fill(self, playback: Playback, rows: int) -> None:
        """Take in the rows before the first stretch, in large chunks: results do not depend on
        them.
        """
        self.engine.parts.progress.chunk_rows = _FILL_CHUNK_ROWS
        for batch in playback.batches(0, rows, _FILL_CHUNK_ROWS):
            process_all(self.engine, batch)

    def take_turn(self, playback: Playback, begin: int, end: int, chunk_rows: int) -> None:
        """Measure one stretch."""
        self.engine.parts.progress.chunk_rows = chunk_rows
        spent = 0.0
        for changes, seconds in self._calls(playback.batches(begin, end, _call_rows(chunk_rows))):
            spent += seconds
            taken_back = pc.sum(pc.equal(changes["_op"], "-")).as_py() or 0
            self.taken_back += taken_back
            self.inserted += changes.num_rows - taken_back
            self.kept.append(rows_kept(self.engine))
        self.seconds.append(spent)

    def _calls(self, batches: Iterator[dict[str, Any]]) -> Iterator[tuple[Any, float]]:
        for batch in batches:
            begin = time.process_time()
            changes = process_all(self.engine, batch)[_QUERY]
            yield changes, time.process_time() - begin

    def point(self, rows: int, chunk_rows: int) -> Point:
        return Point(
            trace=self.trace.name,
            case=self.case.name,
            window=self.window,
            contender=self.contender.label,
            rows=rows,
            chunk_rows=chunk_rows,
            ms_per_1000=tuple(1e6 * s / rows for s in self.seconds),
            state_rows=statistics.fmean(self.kept),
            answer_rows=self.engine.queries[_QUERY].snapshot().num_rows,
            inserted=self.inserted,
            taken_back=self.taken_back,
        )


def rows_kept(engine: eddyline.Engine) -> int:
    """Rows that an engine keeps: in the streams' SteMs and in the operators."""
    stats = engine.stats()
    counted = [*stats["streams"].values(), *stats["operators"]]
    return sum(c["rows_kept"] for c in counted)


def _call_rows(chunk_rows: int) -> int:
    return _CHUNKS_PER_CALL * chunk_rows
