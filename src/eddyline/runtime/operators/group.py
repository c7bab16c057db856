"""GroupBy: one row per group, new whenever the group changes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from eddyline.runtime.batch import EXPIRY, Batch, merge
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.operators.group_aggregates import GroupKeys, Naming
from eddyline.runtime.operators.group_timelines import Happening, Timeline
from eddyline.runtime.operators.group_values import GroupValues
from eddyline.runtime.state import State, nested
from eddyline.types import BEGINNING


class GroupBy(Operator):
    """Rows enter when they come and leave when they expire or are taken back.

    A row whose keys or arguments cannot be computed belongs to no group. The output is a changelog
    as of ``GroupValues``.

    Without keys there is one group, which exists from when on anything happens.

    Args:
        keys: what rows are grouped by.
        values: the aggregates.
        timeline: when rows enter groups and leave them.
        by_instant: whether all that happens at one instant is one change of a group.
    """

    def __init__(
        self,
        source: Operator,
        keys: GroupKeys,
        values: GroupValues,
        timeline: Timeline,
        *,
        by_instant: bool = False,
    ) -> None:
        super().__init__((source,))
        self._by_instant = by_instant
        self._keys = keys.evaluators
        self._values = values
        self.timeline = timeline

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        return self._run(batches[0], tick, self.timeline.enter)

    def begin(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        return self._run(batches[0], tick, self.timeline.begin)

    def _run(self, batch: Batch, tick: Tick, enter: Callable[..., Happening]) -> Batch:
        batch, keys, arguments = self._values.usable(batch, self._keys)
        if self._by_instant:
            batch = replace(batch, seq=np.full(len(batch), EXPIRY, np.int64))
        rows, lanes = enter(batch, keys, self._values.lanes_of(arguments), tick.clock)
        self._values.grow(self.timeline.table.end)
        self._screen()
        first = self._first_row(batch, tick)
        out, gone = self._values.run(rows, lanes, self._named)
        self.timeline.release(gone[self._values.members.count[gone] == 0])
        self._values.settle()
        return out if first is None else merge([first, out])

    def _screen(self) -> None:
        """Leave out what no reader asks for."""
        screen = self.asked()
        if screen is not self._values.screen:
            self._values.report_all(self.clock, self._named)
            self._values.ask(screen)

    def _first_row(self, batch: Batch, tick: Tick) -> Batch | None:
        """The one group of an aggregate without keys appears, empty, before anything happens. Not
        if it is brought up to date with rows that were there before it.
        """
        since = tick.clock if tick.first_row is None else tick.first_row
        if self._values.started or since == BEGINNING or (tick.first_row is None and len(batch)):
            return None
        self._values.started = True
        slot = np.zeros(1, np.int64)
        first = self._values.rows(slot, since, self._named)
        return replace(first, pair=np.array([-1], np.int64))

    def settle(self, clock: int) -> None:
        self.timeline.settle()

    def live(self, clock: int) -> Batch:
        self._values.report_all(clock, self._named)
        slots = self.timeline.table.used()
        if self._keys:
            slots = slots[self._values.members.count[slots] > 0]
        return self._values.rows(slots[: slots.size * self._values.started], clock, self._named)

    @property
    def _named(self) -> Naming:
        """The ids of groups' rows are the slots."""
        table = self.timeline.table
        return Naming(
            lambda slots: (slots, table.keys(slots)),
            lambda slots: table.key(0, slots).to_numpy(),
        )

    @property
    def kept_in(self) -> str:
        return self.timeline.text

    def kept(self) -> int:
        return len(self.timeline.table) + len(self.timeline)

    def state(self) -> State:
        self._values.report_all(self.clock, self._named)
        return {**self.timeline.state(), "values": self._values.state()}

    def restore(self, state: State) -> None:
        self.timeline.restore(state)
        self._values.restore(nested(state, "values"), self.timeline.table.end)
