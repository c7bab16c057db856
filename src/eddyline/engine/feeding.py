"""Rows into an engine, and the changes that they cause out of it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa

from eddyline.engine.changes import Changes
from eddyline.engine.instants import checked_instant
from eddyline.engine.locking import EngineLock
from eddyline.engine.wiring import Parts
from eddyline.types import FIRST_INSTANT

#: What a call hands over: rows by stream, and changes by table.
Rows = Mapping[str, Any]


class Feeding:
    """Processes rows, and returns or yields the changes of the queries.

    Args:
        parts: of the engine. wall_clock: microseconds since 1970.
    """

    def __init__(self, parts: Parts, wall_clock: Callable[[], int]) -> None:
        self._inputs = parts.inputs
        self._queries = parts.queries
        self._progress = parts.progress
        self._overload = parts.overload
        self._shedding = parts.shedding
        self._collector = parts.collector
        self._wall_clock = wall_clock

    def process(
        self,
        inputs: Rows,
        watermark: int | None,
        now: int | None,
        dropped: Mapping[str, int],
        newest_dropped: Mapping[str, int],
    ) -> Changes:
        """See :meth:`Engine.process`."""
        _check_watermark(watermark)
        now = self._wall_clock() if now is None else now
        if self._shedding.sheddable:
            self._overload.begin_call()
        late, bad = self._inputs.accept(inputs, now)
        if dropped or newest_dropped:
            self._inputs.count_dropped(dropped, newest_dropped, now)
        for _ in self._progress.advance(watermark, now_us=now):
            pass
        if self._shedding.sheddable:
            self._overload.end_call()
        return self._collector.changes(late, bad)

    def advance(self, to: int) -> Changes:
        """See :meth:`Engine.advance`."""
        for _ in self._progress.advance(to, now_us=self._wall_clock(), begins=True):
            pass
        return self._collector.changes()

    def stream(
        self, inputs: Rows | Iterable[Rows | None], watermark: int | None, lock: EngineLock
    ) -> Generator[tuple[str, pa.Table], None, None]:
        """See :meth:`Engine.stream`. Each item is made while the engine is locked."""
        _check_watermark(watermark)
        if isinstance(inputs, Mapping):
            inputs = [inputs]
        elif watermark is not None:
            raise ValueError("a watermark goes with one input, not with an iterator over several")
        try:
            for rows in inputs:
                yield from lock.each(self._changes_of(rows, watermark))
            yield from lock.each(self._rest())
        finally:  # rows are processed although the caller has stopped the iteration
            with lock:
                self._queries.finish()

    def _changes_of(
        self, rows: Rows | None, watermark: int | None
    ) -> Iterator[tuple[str, pa.Table]]:
        """The changes that one input of ``stream`` causes."""
        if rows is None:
            self._queries.serve()
            yield from self._collector.said()
            return
        now = self._wall_clock()
        if self._shedding.sheddable:
            self._overload.begin_call()
        late, bad = self._inputs.accept(rows, now)
        steps = self._progress.advance(watermark, now_us=now, paced=True)
        try:
            yield from self._collector.aside("late", late)
            yield from self._collector.aside("bad", bad)
            for _ in steps:
                yield from self._collector.said()
        finally:
            for _ in steps:
                pass
        if self._shedding.sheddable:
            self._overload.end_call()

    def _rest(self) -> Iterator[tuple[str, pa.Table]]:
        """The changes of rows that still wait in a shared join."""
        while self._queries.execution.waiting:
            self._queries.serve()
            yield from self._collector.said()
        yield from self._collector.said()  # of the last rows, without a wait


def _check_watermark(watermark: int | None) -> None:
    if watermark is not None:
        checked_instant(max(watermark, FIRST_INSTANT))  # an earlier one has no effect
