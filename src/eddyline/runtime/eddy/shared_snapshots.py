"""GROUP BY for EMIT SNAPSHOT of many queries: the answer of each at the instants of a period."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eddyline.runtime.batch import Batch, Evaluator, concatenated, cut, empty_like
from eddyline.runtime.eddy.filter_flow import FilterFlow
from eddyline.runtime.eddy.shared_groups import SharedGroups
from eddyline.runtime.operators.base import Tick
from eddyline.runtime.operators.group_aggregates import GroupKeys
from eddyline.runtime.operators.group_values import GroupValues
from eddyline.runtime.recipients import Recipients
from eddyline.runtime.state import State, array
from eddyline.types import BEGINNING


class SharedSnapshots(SharedGroups):
    """What ``Snapshots`` emits above ``SharedGroups``, without the changes in between: rows are
    added up in any order up to the next tick, where all groups are read.

    A tick is complete, and emitted, once the clock is past it.

    Args:
        every_us: the period. offset_us: of the ticks behind its multiples, less than the period.
    """

    def __init__(
        self,
        flow: FilterFlow,
        outputs: Sequence[int | Evaluator],
        keys: GroupKeys,
        values: GroupValues,
        every_us: int,
        offset_us: int,
    ) -> None:
        super().__init__(flow, outputs, keys, values)
        self._every, self._offset = every_us, offset_us
        self._done = BEGINNING  # ticks up to here have been emitted, or were before any row

    def bring_up(self, bits: Sequence[int], clock: int) -> Batch:
        if self._done == BEGINNING < clock:
            self._done = clock - 1
        return empty_like(super().bring_up(bits, clock))

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (batch,) = batches
        if self._done == BEGINNING and tick.clock > BEGINNING:
            self._done = (tick.clock if tick.first_row is None else tick.first_row) - 1
        number, last = self._number(self._done) + 1, self._number(tick.clock - 1)
        self._done = max(self._done, tick.clock - 1)
        out = [self._nothing()]
        pieces = self._by_tick(batch, number, last)
        due, piece = next(pieces)
        while number <= last:
            at = number * self._every + self._offset
            if due == number:
                self._add(piece, at)
                due, piece = next(pieces)
            else:
                self._add(_nothing_of(batch), at)
            same = min(self._number(self._lists.next_due - 1), due - 1, last)
            out.append(self._snapshot(at, same - number + 1))
            number = same + 1
        self._add(piece, tick.clock)
        return concatenated(out)

    def _by_tick(self, batch: Batch, first: int, last: int) -> Iterator[tuple[int, Batch]]:
        """The rows by the first tick that they are there at, with that, from the first tick of a
        call to the last; those behind it, or nothing, come at the end.
        """
        if len(batch):
            ticks = np.clip(self._number(batch.ts - 1) + 1, first, last + 1)
            ends = np.flatnonzero(np.diff(ticks)) + 1
            yield from zip(ticks[np.append(0, ends)].tolist(), cut(batch, ends), strict=True)
        if not len(batch) or ticks[-1] <= last:
            yield last + 1, _nothing_of(batch)

    def live(self, clock: int) -> Batch:
        with self._values.reported(clock, self._named):
            return super().live(clock)

    def _number(self, instant: Any) -> Any:
        """The number of the last tick that is not behind an instant, or those of instants."""
        return (instant - self._offset) // self._every

    def _nothing(self) -> Batch:
        """No rows of groups."""
        return self._values.rows(np.zeros(0, np.int64), self.clock, self._named)

    def _add(self, batch: Batch, clock: int) -> None:
        """Let rows enter, and leave that expire by ``clock``."""
        lists = self._lists
        grown = self._enter(batch)
        spans = lists.advance(clock, lists.present, grown)
        self._grow()
        walk = lists.walk(grown, spans, self._loud.array)
        self._values.run_quietly([lane.array for lane in lists.lanes], walk)
        self._release(lists.leave(spans))
        self._values.settle()

    def _snapshot(self, at: int, times: int) -> Batch:
        """The rows of all groups, for some ticks one after the other."""
        self._values.report_all(at, self._named)
        rows = super().live(at)
        if not len(rows):
            return rows
        ticks = at + np.repeat(np.arange(times), len(rows)) * self._every
        if times > 1:
            rows = rows.take(np.tile(np.arange(len(rows)), times))
        return replace(rows, ts=ticks, exp=ticks + self._every)

    def state(self) -> State:
        return {**super().state(), "done": np.array([self._done])}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._done = int(array(state, "done")[0])


def _nothing_of(batch: Batch) -> Batch:
    """No row of a batch, for the same queries."""
    nothing = np.zeros(0, np.int64)
    assert batch.recipients is not None, "set by the flow"
    starts = np.zeros(batch.recipients.width + 1, np.int64)
    return empty_like(batch).sent_to(Recipients(nothing, starts, nothing))
