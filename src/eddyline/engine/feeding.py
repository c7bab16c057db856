"""Rows into an engine, and the changes that they cause out of it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import closing
from datetime import datetime
from typing import Any

import pyarrow as pa

from eddyline.engine.changes import Changes
from eddyline.engine.execution.budget import Budget
from eddyline.engine.ingest.intake import Elsewhere
from eddyline.engine.instants import Instant, checked_instant, instant_us
from eddyline.engine.locking import EngineLock
from eddyline.engine.stateful_parts import StatefulParts
from eddyline.optimizer.prices import Prices
from eddyline.runtime.graph import cpu_time, work_begins
from eddyline.types import FIRST_INSTANT

#: What a call hands over: rows by stream, and changes by table.
Rows = Mapping[str, Any]


class Feeding:
    """Processes rows, and returns or yields the changes of the queries.

    Late and bad rows that an interrupted ``stream`` has not yielded are part of the next result.

    Args:
        wall_clock: microseconds since 1970.
        prices: of the steps of operators. lock: of the engine; listeners are called without it.

    Attributes:
        latency_us: time budget of a call of ``process`` for joins with a schedule; None: none.
    """

    def __init__(
        self,
        parts: StatefulParts,
        wall_clock: Callable[[], int],
        prices: Prices,
        lock: EngineLock,
    ) -> None:
        self._parts = parts
        self._prices = prices
        self._lock = lock
        self._listeners = parts.queries.listeners
        self.latency_us: int | None = None
        self._wall_clock = wall_clock
        self._not_yielded: dict[str, dict[str, pa.Table]] = {"late": {}, "bad": {}}

    def process(
        self,
        inputs: Rows,
        watermark: Instant | None,
        now: int | None,
        elsewhere: Elsewhere | None,
    ) -> Changes:
        """See :meth:`Engine.process`."""
        with self._lock:
            changes = self._processed(inputs, watermark, now, elsewhere)
        return self._delivered(changes)

    def _processed(
        self,
        inputs: Rows,
        watermark: Instant | None,
        now: int | None,
        elsewhere: Elsewhere | None,
    ) -> Changes:
        watermark_us = None if watermark is None else _watermark_us(watermark)
        if now is None:
            now = self._wall_clock()
        overload = self._parts.overload
        overload.begin_call()
        started = work_begins()
        late, bad = self._parts.inputs.accept(inputs, now)
        read = cpu_time()
        if elsewhere is not None:
            self._parts.inputs.note_elsewhere(elsewhere, now)
        progress, budget = self._parts.progress, self._budget()
        for _ in progress.advance(watermark_us, now_us=now, budget=budget):
            pass
        if budget is not None:
            progress.serve(budget)
        overload.intake.reading += read - started
        overload.intake.calls += cpu_time() - started
        overload.end_call()
        return self._noted(self._changes(late, bad))

    def advance(self, to: int) -> Changes:
        """See :meth:`Engine.advance`."""
        with self._lock:
            self._parts.queries.finish()
            for _ in self._parts.progress.advance(to, now_us=self._wall_clock(), begins=True):
                pass
            changes = self._noted(self._changes())
        return self._delivered(changes)

    def _noted(self, changes: Changes) -> Changes:
        """Changes that listeners will get."""
        if self._listeners.by_query:
            self._listeners.note(changes, changes.active())
        return changes

    def _delivered(self, changes: Changes) -> Changes:
        """Changes that listeners have got."""
        if self._listeners.by_query:
            self._listeners.deliver()
        return changes

    def _budget(self) -> Budget | None:
        """That of one call; None: nothing waits."""
        if self.latency_us is None:
            return None
        return Budget(self._parts.queries.execution, self.latency_us / 1e6, self._prices)

    def stream(
        self, inputs: Rows | Iterable[Rows | None], watermark: Instant | None
    ) -> Generator[tuple[str, pa.Table], None, None]:
        """See :meth:`Engine.stream`. Each item is made while the engine is locked."""
        watermark_us = None if watermark is None else _watermark_us(watermark)
        if isinstance(inputs, Mapping):
            inputs = [inputs]
        elif watermark is not None:
            raise ValueError("a watermark goes with one input, not with an iterator over several")
        try:
            for rows in inputs:
                yield from self._each(self._changes_of(rows, watermark_us))
            yield from self._each(self._rest())
        finally:  # rows are processed although the caller has stopped the iteration
            with self._lock:
                self._parts.queries.finish()

    def _each(self, steps: Iterator[tuple[str, pa.Table]]) -> Iterator[tuple[str, pa.Table]]:
        """The items of ``steps``, each made while the engine is locked, then given to listeners."""
        with closing(self._lock.each(steps)) as items:
            for name, changes in items:
                if name in self._listeners.by_query:
                    self._listeners.note({name: changes}, [name])
                    self._listeners.deliver()
                yield name, changes

    def _changes_of(
        self, rows: Rows | None, watermark: int | None
    ) -> Iterator[tuple[str, pa.Table]]:
        """The changes that one input of ``stream`` causes."""
        if rows is None:
            self._parts.queries.serve()
            yield from self._collected()
            return
        now = self._wall_clock()
        self._parts.overload.begin_call()
        late, bad = self._parts.inputs.accept(rows, now)
        unlimited = Budget(self._parts.queries.execution)
        steps = self._parts.progress.advance(watermark, now_us=now, budget=unlimited)
        try:
            yield from self._side_outputs("late", late)
            yield from self._side_outputs("bad", bad)
            for _ in steps:
                yield from self._collected()
        finally:
            for _ in steps:
                pass
        self._parts.overload.end_call()

    def _rest(self) -> Iterator[tuple[str, pa.Table]]:
        """The changes of rows that still wait in a shared join."""
        while self._parts.queries.execution.waiting:
            self._parts.queries.serve()
            yield from self._collected()
        yield from self._collected()  # of the last rows, without a wait

    def _changes(
        self, late: Mapping[str, pa.Table] | None = None, bad: Mapping[str, pa.Table] | None = None
    ) -> Changes:
        """The changes of all queries since the last call, with late and bad rows by stream."""
        queries, not_yielded = self._parts.queries, self._not_yielded
        of_queries = queries.take_bad() if queries.with_bad else {}
        refused = self._parts.inputs.refused()
        if late or not_yielded["late"]:
            late = _joined(not_yielded["late"], late or {})
        if bad or refused or of_queries or not_yielded["bad"]:
            bad = _joined(not_yielded["bad"], bad or {}, refused, of_queries)
        self._not_yielded = {"late": {}, "bad": {}}
        kept = self._parts.shedding.since_last_report() if self._parts.shedding.reported else {}
        taken = queries.execution.pending.take()
        return Changes(queries.all.now(), taken, late, bad, kept)

    def _collected(self) -> Iterator[tuple[str, pa.Table]]:
        """The same, one name after the other."""
        changes = self._changes()
        names = changes.active()[::-1]
        try:
            yield from self._side_outputs("late", changes.late)
            yield from self._side_outputs("bad", changes.bad)
            while names:
                name = names.pop()
                yield name, changes[name]
        finally:
            for name in names:
                if name in self._parts.queries.all.now():
                    self._parts.queries.put_back(name, changes[name])

    def _side_outputs(
        self, kind: str, tables: dict[str, pa.Table]
    ) -> Iterator[tuple[str, pa.Table]]:
        """Late or bad rows, one stream after the other."""
        try:
            for name in list(tables):
                yield f"{kind}:{name}", tables.pop(name)
        finally:
            self._not_yielded[kind] |= tables


def _watermark_us(watermark: Instant) -> int:
    if isinstance(watermark, str | datetime):
        return instant_us(watermark)
    checked_instant(max(watermark, FIRST_INSTANT))  # an earlier one has no effect
    return watermark


def _joined(*parts: Mapping[str, pa.Table]) -> dict[str, pa.Table]:
    """The rows of each name, in the order of the parts."""
    names = dict.fromkeys(name for part in parts for name in part)
    return {n: pa.concat_tables([part[n] for part in parts if n in part]) for n in names}
