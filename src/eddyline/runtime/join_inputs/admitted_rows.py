"""Rows that are needed further up, of an input that no gate of a join is for; and rows that come
late, as of the time at which they come.

::

      rows ──▶ InputBuffer ──▶ AdmittedRows ──▶ OnArrival ──▶ operators that take rows back
                                   ▲                ▲
                      matches ─────┘                └── rows of all streams: how far time is

Source: Yang and Papadias 2008, section V.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eddyline.runtime.batch import EXPIRY, Batch, merge
from eddyline.runtime.feedback.gate import Gate
from eddyline.runtime.feedback.trial import very_many
from eddyline.runtime.join_inputs.buffer import InputBuffer
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.state import State, array
from eddyline.runtime.stores.columns import Array
from eddyline.types import BEGINNING

_NO_ROWS = np.zeros(0, np.int64)


class AdmittedRows(Operator):
    """Emits the new rows that the gate admits, and before them those that it releases, as of their
    own instants.

    Args:
        buffer: all rows. gate: over these. probed: what it probes, which runs before.
    """

    def __init__(self, buffer: InputBuffer, gate: Gate, probed: Sequence[Operator]) -> None:
        super().__init__((buffer, *probed))
        self._buffer = buffer
        self._gate = gate
        self._admitted = buffer.new_lane(0)  # 1: the row has been emitted

    @property
    def sources(self) -> tuple[Operator, ...]:
        return self.inputs[:1]

    def rows_made(self) -> float:
        """How many rows the operators above have made of one that was admitted: as of ``Trial``."""
        above = [r for o in self.readers or () for r in o.readers or ()]
        if not above or self.rows_out == 0:
            return very_many()
        return len(above) - 1 + sum(r.rows_out for r in above) / self.rows_out

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        if self._gate.is_open(len(batches[0])):
            self._note(self._buffer.placed)
            return batches[0]
        released = self._gate.resume(self.clock, self._suspended)
        self._note(released)
        new = self._admit(batches[0], self._buffer.placed)
        return new if released.size == 0 else merge([self._buffer.rows_at(released), new])

    def begin(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        return self._admit(batches[0], self._buffer.shown)

    def _admit(self, batch: Batch, positions: Array) -> Batch:
        admitted = self._gate.admit(batch, positions)
        self._note(positions[admitted])
        return batch.where(admitted)

    def _note(self, positions: Array) -> None:
        self._admitted.put(positions, np.ones(positions.size, np.int64))

    def _suspended(self) -> Array:
        """Positions of the suspended rows from before the chunk."""
        positions = np.setdiff1d(self._buffer.all(), self._buffer.placed)
        suspended: Array = positions[self._admitted.at(positions) == 0]
        return suspended

    def live(self, clock: int) -> Batch:
        batch = self._buffer.live(clock)
        return batch.where(self._admitted.at(self._buffer.shown) == 1)

    @property
    def suspensions(self) -> tuple[int, int]:
        return self._gate.refused, self._gate.resumed

    def stats(self) -> dict[str, Any]:
        return super().stats() | {"feedback": [self._gate.stats()]}

    def close(self) -> None:
        self._gate.close()
        self._admitted.close()

    def state(self) -> State:
        return {"admitted": self._admitted.state()}

    def restore(self, state: State) -> None:
        self._admitted.restore(array(state, "admitted"))
        self._gate.restored()


class OnArrival(Operator):
    """Passes rows on; those of instants that have been processed come at the present one: after all
    that has happened, and before all that will happen.

    Args:
        source: emits no '-'. others: the scans of all streams whose rows these meet further up, and
            what has to run, too.
    """

    def __init__(self, source: Operator, others: Sequence[Operator]) -> None:
        super().__init__((source, *others))
        self._seen = (BEGINNING, EXPIRY)  # the last instant of a row

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        batch, (ts, seq) = batches[0], self._seen
        self._see(batches)
        if len(batch) == 0 or (int(batch.ts[0]), int(batch.seq[0])) > (ts, seq):
            return batch
        late = (batch.ts < ts) | ((batch.ts == ts) & (batch.seq <= seq))
        # arrivals have odd numbers: the next even one is after the last of them
        now = (seq if ts == self.clock else EXPIRY) + 1
        return replace(
            batch, ts=np.where(late, self.clock, batch.ts), seq=np.where(late, now, batch.seq)
        )

    def begin(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        self._see(batches)
        return batches[0]

    def _see(self, batches: Sequence[Batch]) -> None:
        for batch in batches[1:]:
            if len(batch):
                self._seen = max(self._seen, (int(batch.ts[-1]), int(batch.seq[-1])))

    def live(self, clock: int) -> Batch:
        return self.inputs[0].live(clock)

    def state(self) -> State:
        return {"seen": np.array(self._seen)}

    def restore(self, state: State) -> None:
        ts, seq = (int(v) for v in array(state, "seen"))
        self._seen = ts, seq
