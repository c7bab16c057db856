"""Snapshots: the whole answer at each multiple of a period (EMIT SNAPSHOT EVERY d [OFFSET o])."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eddyline.runtime.batch import EXPIRY, Batch, empty_like, merge
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.state import State, array
from eddyline.runtime.stores.columns import Array
from eddyline.types import BEGINNING


class Snapshots(Operator):
    """Keeps the rows alive since the last snapshot; emits them at each tick they live through.

    A tick is complete, and emitted, once the clock is past it. Input columns must be stored and
    rows have a single id.

    Args:
        every_us: the period. offset_us: of the ticks behind its multiples, less than the period.
    """

    def __init__(self, source: Operator, every_us: int, offset_us: int = 0) -> None:
        super().__init__((source,))
        self._every, self._offset = every_us, offset_us
        self._done = BEGINNING  # ticks up to here have been emitted, or were before any row
        self._rows = _Lives.none()
        self._new: list[Batch] = []
        self._waiting = 0  # changes in ``_new``

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (batch,) = batches
        self._new.append(batch)
        self._waiting += len(batch)
        if self._done == BEGINNING and tick.clock > BEGINNING:
            self._done = (tick.clock if tick.first_row is None else tick.first_row) - 1
        if self._number(tick.clock - 1) == self._number(self._done):
            if self._waiting > self._rows.ts.size + 1024:
                rows = self._take_in()
                self._rows = rows.take(np.flatnonzero(self._first_tick(rows) < rows.end))
            return empty_like(batch)
        rows = self._take_in()
        first = self._number(self._first_tick(rows))
        last = self._number(np.minimum(rows.end, tick.clock) - 1)
        times = np.maximum(last - first + 1, 0)
        row = np.repeat(np.arange(times.size), times)
        before = np.repeat(np.cumsum(times) - times, times)
        at = (first[row] + np.arange(row.size) - before) * self._every + self._offset
        order = np.argsort(at, kind="stable")
        self._done = tick.clock - 1
        self._rows = rows.take(np.flatnonzero(rows.end > self._done))
        return self._snapshot(batch, rows.id[row[order]], at[order])

    def _take_in(self) -> _Lives:
        rows = self._rows.followed_by(self._new)
        self._new, self._waiting = [], 0
        return rows

    def _first_tick(self, rows: _Lives) -> Array:
        """The first instant of a snapshot yet to come at which a row is there, if it lives on."""
        ticks = np.maximum(self._number(rows.ts - 1), self._number(self._done)) + 1
        out: Array = ticks * self._every + self._offset
        return out

    def _number(self, instant: Any) -> Any:
        """The number of the last tick that is not behind an instant, or those of instants."""
        return (instant - self._offset) // self._every

    def _snapshot(self, like: Batch, ids: Array, at: Array) -> Batch:
        return Batch(
            at,
            np.full(at.size, EXPIRY, np.int64),
            at + self._every,
            np.ones(at.size, np.int8),
            (ids,),
            like.stores,
            like.cells,
        )

    def live(self, clock: int) -> Batch:
        return self.inputs[0].live(clock)

    def kept(self) -> int:
        return int(self._rows.ts.size) + self._waiting

    def state(self) -> State:
        rows = self._rows.followed_by(self._new)
        return {"ts": rows.ts, "end": rows.end, "id": rows.id, "done": np.array([self._done])}

    def restore(self, state: State) -> None:
        self._rows = _Lives(array(state, "ts"), array(state, "end"), array(state, "id"))
        self._new, self._waiting = [], 0
        self._done = int(array(state, "done")[0])


class _Lives:
    """Rows with the span in which they are in the answer: [ts, end)."""

    __slots__ = ("end", "id", "ts")

    def __init__(self, ts: Array, end: Array, row_id: Array) -> None:
        self.ts, self.end, self.id = ts, end, row_id

    @classmethod
    def none(cls) -> _Lives:
        nothing = np.zeros(0, np.int64)
        return cls(nothing, nothing, nothing)

    def take(self, rows: Array) -> _Lives:
        return _Lives(self.ts[rows], self.end[rows], self.id[rows])

    def followed_by(self, batches: Sequence[Batch]) -> _Lives:
        """These rows and those of later changes, whose '-' rows end earlier ones."""
        if not batches:
            return self
        changes = merge(batches)
        plus = np.flatnonzero(changes.sign > 0)
        minus = np.flatnonzero(changes.sign < 0)
        (ids,) = changes.ids
        out = _Lives(
            np.concatenate((self.ts, changes.ts[plus])),
            np.concatenate((self.end, changes.exp[plus])),
            np.concatenate((self.id, ids[plus])),
        )
        by_id = np.argsort(out.id, kind="stable")
        ended = by_id[np.searchsorted(out.id[by_id], ids[minus])]
        out.end[ended] = changes.ts[minus]
        return out
