"""The purely reactive join: who has made results that nobody can use waits from then on.

As in the paper, a row is joined when it comes, and judged by what became of it: at the end of the
chunk those that have results are asked about. So nothing is asked for a row without results, and
one whose match expires waits again; but useless results are made before anybody says so. Consumers
that compare rows of both inputs with others judge the results themselves: which of their parts no
row meets (``mns.py``), and the rows that contain these wait.

A pair of rows must be made exactly once, though both may wait and go on at any time. Chunks are
numbered; a row *came* with one, and when it begins to wait it *leaves* as of the next. A pair is
still to be made iff one row came when the other had left. It is made when the latter goes on,
unless the former waits then and had left before the latter came.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eddyline.runtime.batch import Batch, Predicate
from eddyline.runtime.feedback.gate import Gate
from eddyline.runtime.feedback.inputs import Before, Coming, Input
from eddyline.runtime.feedback.join import FeedbackJoin, Pairs
from eddyline.runtime.feedback.mns import Detector
from eddyline.runtime.join_inputs.findable import Findable
from eddyline.runtime.operators.base import Tick
from eddyline.runtime.state import State, array
from eddyline.runtime.stores.columns import Array
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

    def coming(self, batch: Batch, before: Before) -> Coming:
        positions = self.rows.kept.placed
        keys, usable = self.rows.keys(batch)
        if usable is not None:
            batch, positions, keys = batch.where(usable), positions[usable], keys[usable]
        self.chunk += 1
        self.joined += len(batch)
        self._came.put(positions, np.full(positions.size, self.chunk))
        self.woken = _NO_ROWS if self.gate is None else self.gate.wake(before.clock, self._hidden)
        self.joined += self.woken.size
        is_late = before.is_late(batch)
        late, new = is_late & (batch.exp > before.clock), ~is_late
        return Coming(positions[late], keys[late], positions[new], keys[new], batch.where(new))

    def _hidden(self) -> Array:
        """Positions of the rows from before the chunk that wait."""
        positions = np.setdiff1d(self.rows.positions(), self.rows.kept.placed)
        return positions[~self.is_there(positions)]

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

    def judge(self, made: Array, clock: int) -> None:
        """Let those wait whose results, made in this chunk, nobody can use."""
        if self.gate is not None:
            made = np.unique(made)
            made = made[self.is_there(made)]
            self._leave(made[~self.gate.suspend(made, clock)])

    def hold(self, question: int, positions: Array) -> None:
        """Let rows wait for what a question of the gate is about, if they do not wait yet."""
        assert self.gate is not None, "it has questions"
        self._leave(self.gate.hold(question, positions[self.is_there(positions)]))

    def _leave(self, positions: Array) -> None:
        self._left.put(positions, np.full(positions.size, self.chunk + 1))

    def close(self) -> None:
        super().close()
        self._came.close()
        self._left.close()

    def state(self) -> State:
        lanes = {"came": self._came.state(), "left": self._left.state()}
        return {**super().state(), **lanes, "chunk": np.array([self.chunk])}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._came.restore(array(state, "came"))
        self._left.restore(array(state, "left"))
        self.chunk = int(array(state, "chunk")[0])


class ReactiveJoin(FeedbackJoin):
    """Emits what its consumers want, and the first results of rows that they do not want.

    Source: Yang and Papadias 2008, Figure 6 and section IV-B.
    """

    sides: tuple[ReactiveInput, ReactiveInput]

    def __init__(
        self,
        left: ReactiveInput,
        right: ReactiveInput,
        residual: Predicate | None,
        detectors: Sequence[Detector],
    ) -> None:
        super().__init__(left, right, residual)
        self._detectors = tuple(detectors)
        self._made: list[tuple[Array, Array]] = []  # positions of the rows of the chunk's results
        for detector in detectors:
            for side, question in zip(self.sides, detector.questions, strict=True):
                if question is not None and side.gate is not None:
                    side.gate.judge_by_results(question)

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        out = super().process(batches, tick)
        left, right = (np.concatenate([_NO_ROWS, *rows]) for rows in zip(*self._made, strict=True))
        self._made = []
        for side, made in zip(self.sides, (left, right), strict=True):
            side.judge(made, tick.clock)
        for detector in self._detectors:
            found = detector.judge(left, right, tick.clock)
            for side, question, positions in zip(
                self.sides, detector.questions, found, strict=True
            ):
                if question is not None:
                    side.hold(question, positions)
        return out

    def begin(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        return self.process(batches, tick)  # all its inputs are new with it

    def _late_results(
        self, left: Coming, right: Coming, before: Before, resumed: Pairs
    ) -> Batch | None:
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
        self._made.append((l_at, r_at))
        return self._by_time(l_at, r_at)

    def _find(
        self, side: Input, coming: Coming, other: Input, *, inclusive: bool
    ) -> tuple[Array, Array]:
        assert isinstance(side, ReactiveInput) and isinstance(other, ReactiveInput), "its sides"
        by, found = super()._find(side, coming, other, inclusive=inclusive)
        there = other.is_there(found)
        by, found = by[there], found[there]
        made = coming.new[by], found
        self._made.append(made if side is self.sides[0] else made[::-1])
        return by, found

    def close(self) -> None:
        super().close()
        for detector in self._detectors:
            detector.close()

    def stats(self) -> dict[str, Any]:
        levels = [d.found.tolist() for d in self._detectors]
        return {**super().stats(), "mns_by_level": levels}
