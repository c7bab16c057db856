"""The purely reactive join: who has made results that nobody can use waits from then on.

As in the paper, a row is joined when it comes, and judged by what became of it: at the end of the
chunk those that have results are asked about. So nothing is asked for a row without results, and
one whose match expires waits again; but useless results are made before anybody says so.

A pair of rows must be made exactly once, though both may wait and go on at any time. Chunks are
numbered; a row *came* with one, and when it begins to wait it *leaves* as of the next. A pair is
still to be made iff one row came when the other had left. It is made when the latter goes on,
unless the former waits then and had left before the latter came.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eddyline.runtime.batch import Batch
from eddyline.runtime.columns import Array
from eddyline.runtime.feedback.findable import Findable
from eddyline.runtime.feedback.gate import Gate
from eddyline.runtime.feedback.join import Before, Coming, FeedbackJoin, Input
from eddyline.runtime.operators.base import Tick
from eddyline.runtime.state import State, array
from eddyline.types import FOREVER

_NO_ROWS = np.zeros(0, np.int64)


class ReactiveInput(Input):
    """One input: all its rows by join key, with the chunks in which they came and left.

    Attributes:
        woken: int64[m], positions of the rows that go on in this chunk.
        chunk: the number of the chunk.
    """

    def __init__(self, rows: Findable, gate: Gate | None) -> None:
        super().__init__(rows, gate)
        self.woken = _NO_ROWS
        self.chunk = 0
        self._came = rows.kept.rows.new_lane(0)
        self._left = rows.kept.rows.new_lane(FOREVER)
        self._useful: list[Array] = []  # positions of rows that have results in this chunk

    def coming(self, batch: Batch, before: Before) -> Coming:
        positions = self.rows.kept.placed
        keys, usable = self.rows.keys(batch)
        if usable is not None:
            batch, positions, keys = batch.where(usable), positions[usable], keys[usable]
        self.chunk += 1
        self.joined += len(batch)
        self._came.put(positions, np.full(positions.size, self.chunk))
        self.woken = _NO_ROWS if self.gate is None else self.gate.wake(before.clock)
        self.joined += self.woken.size
        is_late = before.is_late(batch)
        late, new = is_late & (batch.exp > before.clock), ~is_late
        return Coming(positions[late], keys[late], positions[new], keys[new], batch.where(new))

    def go_on(self, other: ReactiveInput, before: Before) -> tuple[Array, Array]:
        """Pairs of positions that are made as rows of this input go on."""
        woken = self.woken
        keys, _ = self.rows.keys(self.rows.kept.rows_at(woken))
        left = self._left.at(woken)
        self._left.put(woken, np.full(woken.size, FOREVER))
        by, found = other.rows.find(before.probes(keys), inclusive=True)
        missed = other._came.at(found) >= left[by]
        missing = self._came.at(woken)[by] >= other._left.at(found)
        made = missed & ~missing
        return woken[by[made]], found[made]

    def meet(self, late: Array, keys: Array, other: Input, before: Before) -> tuple[Array, Array]:
        assert isinstance(other, ReactiveInput), "of one join"
        self.rows.link(late, keys)
        by, found = other.rows.find(before.probes(keys), inclusive=True)
        there = other.is_there(found)
        return late[by[there]], found[there]

    def is_there(self, positions: Array) -> Array:
        """bool[n]: which rows do not wait."""
        there: Array = self._left.at(positions) == FOREVER
        return there

    def has_results(self, positions: Array) -> None:
        """Rows at these positions have made some."""
        self._useful.append(positions)

    def judge(self, clock: int) -> None:
        """Let those wait whose results nobody can use."""
        made, self._useful = np.unique(np.concatenate([_NO_ROWS, *self._useful])), []
        if self.gate is not None:
            made = made[self.is_there(made)]
            refused = made[~self.gate.suspend(made, clock)]
            self._left.put(refused, np.full(refused.size, self.chunk + 1))

    def close(self) -> None:
        super().close()
        self._came.close()
        self._left.close()

    def state(self) -> State:
        return {**super().state(), "chunk": np.array([self.chunk])}

    def restore(self, state: State) -> None:
        super().restore(state)
        self.chunk = int(array(state, "chunk")[0])


class ReactiveJoin(FeedbackJoin):
    """Emits what its consumers want, and the first results of rows that they do not want.

    Source: Yang and Papadias 2008, Figure 6 and section IV-B.
    """

    sides: tuple[ReactiveInput, ReactiveInput]

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        out = super().process(batches, tick)
        for side in self.sides:
            side.judge(tick.clock)
        return out

    def _late_results(self, left: Coming, right: Coming, before: Before) -> Batch | None:
        l_side, r_side = self.sides
        for side in self.sides:
            side.rows.link(_NO_ROWS, _NO_ROWS)  # nothing in it is of this chunk
        l_on, r_met = l_side.go_on(r_side, before)
        r_on, l_met = r_side.go_on(l_side, before)
        l_late, r_found = l_side.meet(left.late, left.late_keys, r_side, before)
        r_late, l_found = r_side.meet(right.late, right.late_keys, l_side, before)
        l_at = np.concatenate((l_on, l_met, l_late, l_found))
        r_at = np.concatenate((r_met, r_on, r_found, r_late))
        if l_at.size == 0:
            return None
        l_side.has_results(l_at)
        r_side.has_results(r_at)
        return self._by_time(l_at, r_at)

    def _find(
        self, side: Input, coming: Coming, other: Input, *, inclusive: bool
    ) -> tuple[Array, Array]:
        assert isinstance(side, ReactiveInput) and isinstance(other, ReactiveInput), "its sides"
        by, found = super()._find(side, coming, other, inclusive=inclusive)
        there = other.is_there(found)
        by, found = by[there], found[there]
        side.has_results(coming.new[by])
        other.has_results(found)
        return by, found
