"""Reactive feedback of a join: rows whose results no consumer requires are suspended afterwards.

As in the paper, a row is joined when it comes, and judged by its results: at the end of the chunk
the rows with results are probed for. So there are no probes for rows without results, and a row
whose match expires is suspended again; but useless results are made first. Consumers that compare
rows of both inputs with others judge the results themselves: they find the parts that no row
matches (``detector.py``), and the rows that contain these are suspended.

A pair of rows must be made exactly once, though both may be suspended and released at any time.
Chunks are numbered; a row *came* with one, and when it is suspended it *leaves* as of the next. A
pair is missing iff one row came when the other had left. It is made when the latter is released,
unless the former is suspended then and had left before the latter came.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eddyline.bench.comparison.reactive.detector import Detector
from eddyline.bench.comparison.reactive.gate import ReactiveGate
from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.feedback.join_feedback import JoinFeedback, Pairs
from eddyline.runtime.join_inputs.buffer import InputBuffer
from eddyline.runtime.join_inputs.gated_input import GatedInput, Progress, Released
from eddyline.runtime.operators.base import Operator
from eddyline.runtime.state import State, array
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.rowstore import Lane
from eddyline.types import FOREVER

_NO_ROWS = np.zeros(0, np.int64)


class ReactiveInput(GatedInput):
    """One input: all its rows by join key, with the chunks in which they came and left.

    Attributes:
        resumed: int64[m], positions of the rows released in this chunk.
        chunk: the number of the chunk.
    """

    def __init__(
        self,
        buffer: InputBuffer,
        keys: Sequence[Evaluator],
        gate: ReactiveGate | None,
        *,
        scanned: bool,
    ) -> None:
        super().__init__(buffer, keys, None, scanned=scanned)
        self._gate = gate
        self.resumed = _NO_ROWS
        self.chunk = 0
        self._came = Lane(self.rows.store, 0)
        self._left = Lane(self.rows.store, FOREVER)

    @property
    def gate(self) -> ReactiveGate | None:
        return self._gate

    def released(self, batch: Batch, before: Progress) -> Released:
        positions = self.buffer.placed
        keys, usable = self.keys(batch)
        if usable is not None:
            batch, positions, keys = batch.where(usable), positions[usable], keys[usable]
        self.chunk += 1
        self.joined += len(batch)
        self._came.put(positions, np.full(positions.size, self.chunk))
        self.resumed = (
            _NO_ROWS if self.gate is None else self.gate.resume(before.clock, self._suspended)
        )
        self.joined += self.resumed.size
        is_late = before.is_late(batch)
        late, new = is_late & (batch.exp > before.clock), ~is_late
        return Released(positions[late], keys[late], positions[new], keys[new], batch.where(new))

    def go_on(self, other: ReactiveInput, before: Progress) -> tuple[Array, Array]:
        """Pairs of positions that are made as rows of this input are released."""
        resumed = self.resumed
        keys, _ = self.keys(self.buffer.rows_at(resumed))
        left = self._left.at(resumed)
        self._left.put(resumed, np.full(resumed.size, FOREVER))
        by, found = other.find(before.probes(keys), inclusive=True)
        missed = other._came.at(found) >= left[by]
        missing = self._came.at(resumed)[by] >= other._left.at(found)
        made = missed & ~missing
        return resumed[by[made]], found[made]

    def meet(
        self, late: Array, keys: Array, other: GatedInput, before: Progress
    ) -> tuple[Array, Array]:
        assert isinstance(other, ReactiveInput), "of one join"
        self.link(late, keys)
        by, found = other.find(before.probes(keys), inclusive=True)
        there = other.is_there(found)
        return late[by[there]], found[there]

    def is_there(self, positions: Array) -> Array:
        """bool[n]: which rows are visible."""
        there: Array = self._left.at(positions) == FOREVER
        return there

    def judge(self, made: Array, clock: int) -> None:
        """Suspend the rows whose results, made in this chunk, no consumer requires."""
        if self.gate is not None:
            made = np.unique(made)
            made = made[self.is_there(made)]
            self._leave(made[~self.gate.suspend(made, clock)])

    def suspend_for(self, probe: int, positions: Array) -> None:
        """Suspend visible rows for a probe of the gate."""
        assert self.gate is not None, "it has probes"
        self._leave(self.gate.suspend_for(probe, positions[self.is_there(positions)]))

    def _leave(self, positions: Array) -> None:
        self._left.put(positions, np.full(positions.size, self.chunk + 1))

    def close(self) -> None:
        super().close()
        if self.gate is not None:
            self.gate.close()
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
        if self.gate is not None:
            self.gate.restored()

    def _suspended(self) -> Array:
        positions = np.setdiff1d(self.hashed.positions(), self.buffer.placed)
        return positions[~self.is_there(positions)]


class ReactiveFeedback(JoinFeedback):
    """Results that its consumers require, and the first results of rows that they do not require.

    Source: Yang and Papadias 2008, Figure 6 and section IV-B.
    """

    inputs: tuple[ReactiveInput, ReactiveInput]

    def __init__(
        self, left: ReactiveInput, right: ReactiveInput, detectors: Sequence[Detector]
    ) -> None:
        super().__init__(left, right)
        self._detectors = tuple(detectors)
        self._made: list[tuple[Array, Array]] = []  # positions of the rows of the chunk's results
        for detector in detectors:
            for i, probe in zip(self.inputs, detector.probes, strict=True):
                if probe is not None and i.gate is not None:
                    i.gate.judge_by_results(probe)

    def begin(self, batches: Sequence[Batch], operators: Sequence[Operator], clock: int) -> None:
        """All inputs are new with the join."""

    def _late_results(
        self, left: Released, right: Released, before: Progress, resumed: Pairs
    ) -> Batch | None:
        l_input, r_input = self.inputs
        for i in self.inputs:
            i.link(_NO_ROWS, _NO_ROWS)  # no row is of this chunk yet
        l_on, r_met = l_input.go_on(r_input, before)
        r_on, l_met = r_input.go_on(l_input, before)
        l_late, r_found = l_input.meet(left.late, left.late_keys, r_input, before)
        r_late, l_found = r_input.meet(right.late, right.late_keys, l_input, before)
        l_at = np.concatenate((l_on, l_met, l_late, l_found))
        r_at = np.concatenate((r_met, r_on, r_found, r_late))
        if l_at.size == 0:
            return None
        self._made.append((l_at, r_at))
        return self._by_time(l_at, r_at)

    def required_pairs(self, side: int, by: Array, found: Array) -> tuple[Array, Array]:
        by, found = super().required_pairs(side, by, found)
        there = self.inputs[1 - side].is_there(found)
        by, found = by[there], found[there]
        made = self._chunk()[side].new[by], found
        self._made.append(made if side == 0 else made[::-1])
        return by, found

    def judge_results(self, clock: int) -> None:
        left, right = (np.concatenate([_NO_ROWS, *rows]) for rows in zip(*self._made, strict=True))
        self._made = []
        for i, made in zip(self.inputs, (left, right), strict=True):
            i.judge(made, clock)
        for detector in self._detectors:
            found = detector.judge(left, right, clock)
            for i, probe, positions in zip(self.inputs, detector.probes, found, strict=True):
                if probe is not None:
                    i.suspend_for(probe, positions)

    def close(self) -> None:
        super().close()
        for detector in self._detectors:
            detector.close()

    def stats(self) -> dict[str, Any]:
        levels = [d.found.tolist() for d in self._detectors]
        return {**super().stats(), "mns_by_level": levels}
