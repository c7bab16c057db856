"""The inputs of a join: whose rows it sees, and which come to be seen with a chunk."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eddyline.runtime.batch import EXPIRY, Batch
from eddyline.runtime.feedback.gate import Gate
from eddyline.runtime.join_inputs.findable import Findable
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import Probes

_NO_ROWS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Coming:
    """Rows that the join sees from this chunk on.

    Attributes:
        late, late_keys: int64[m], positions and join keys of rows that came before the chunk.
        new, keys, batch: int64[n], positions and join keys of the chunk's rows, and these.
    """

    late: Array
    late_keys: Array
    new: Array
    keys: Array
    batch: Batch


@dataclass(frozen=True, slots=True)
class Before:
    """How far things were before the chunk.

    Attributes:
        clock: time has passed up to here.
        ts, seq: the last instant of which the join has seen a row.
    """

    clock: int
    ts: int
    seq: int

    def has_late(self, batch: Batch) -> bool:
        """Whether any row is late: if so, the first."""
        return len(batch) > 0 and (batch.ts[0], batch.seq[0]) <= (self.ts, self.seq)

    def is_late(self, batch: Batch) -> Array:
        """bool[n]: which of the chunk's rows are of instants that have been."""
        late: Array = (batch.ts < self.ts) | ((batch.ts == self.ts) & (batch.seq <= self.seq))
        return late

    def probes(self, keys: Array) -> Probes:
        """Look for what had come by then, and is still alive."""
        seq = self.seq if self.ts == self.clock else EXPIRY
        return Probes(keys, np.full(keys.size, self.clock), np.full(keys.size, seq))


class Input:
    """One input of the join: its rows by join key, and those that wait.

    Attributes:
        joined: how many rows have been let through.
    """

    def __init__(self, rows: Findable, gate: Gate | None) -> None:
        self.rows = rows
        self.gate = gate
        self.joined = 0

    def coming(self, batch: Batch, before: Before) -> Coming:
        """Who is to be joined now, of the chunk's rows and of those that have waited."""
        positions = self.rows.kept.placed
        keys, usable = self.rows.keys(batch)
        if usable is not None:  # a NULL in its key: the row matches nothing
            batch, positions, keys = batch.where(usable), positions[usable], keys[usable]
        woken = woken_keys = _NO_ROWS
        if self.gate is not None and not self.gate.is_open(len(batch)):
            woken = self.gate.wake(before.clock, self._hidden)
            if woken.size:
                woken_keys, _ = self.rows.keys(self.rows.kept.rows_at(woken))
            admitted = self.gate.admit(batch, positions)
            batch, positions, keys = batch.where(admitted), positions[admitted], keys[admitted]
        self.joined += woken.size + len(batch)
        if woken.size == 0 and not before.has_late(batch):
            return Coming(_NO_ROWS, _NO_ROWS, positions, keys, batch)
        is_late = before.is_late(batch)
        late = is_late & (batch.exp > before.clock)
        return Coming(
            np.concatenate((woken, positions[late])),
            np.concatenate((woken_keys, keys[late])),
            positions[~is_late],
            keys[~is_late],
            batch.where(~is_late),
        )

    def begin(self, batch: Batch) -> tuple[Batch, Array]:
        """Those of the rows that have been there before that the join sees, and their keys."""
        positions = self.rows.kept.shown
        keys, usable = self.rows.keys(batch)
        ok = np.ones(len(batch), np.bool_) if usable is None else usable
        batch, positions, keys = batch.where(ok), positions[ok], keys[ok]
        if self.gate is not None:
            admitted = self.gate.admit(batch, positions)
            batch, positions, keys = batch.where(admitted), positions[admitted], keys[admitted]
        self.joined += len(batch)
        self.rows.link(positions, keys)
        return batch, keys

    def _hidden(self) -> Array:
        """Positions of the rows from before the chunk that wait."""
        kept = self.rows.kept
        seen = np.concatenate((self.rows.positions(), kept.placed))
        positions = np.setdiff1d(kept.all(), seen)
        if positions.size == 0:
            return positions
        _, usable = self.rows.keys(kept.rows_at(positions))
        return positions if usable is None else positions[usable]

    def meet(self, late: Array, keys: Array, other: Input, before: Before) -> tuple[Array, Array]:
        """Let late rows in; positions of theirs and of the rows that they meet, pair by pair."""
        self.rows.link(late, keys)
        by, found = other.rows.find(before.probes(keys), inclusive=True)
        return late[by], found

    def close(self) -> None:
        self.rows.close()
        if self.gate is not None:
            self.gate.close()

    def state(self) -> State:
        return {"rows": self.rows.state()}

    def restore(self, state: State) -> None:
        self.rows.restore(nested(state, "rows"))
        if self.gate is not None:
            self.gate.restored()
