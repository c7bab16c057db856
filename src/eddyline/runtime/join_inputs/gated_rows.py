"""The rows of an input that its gate admits: an operator of its own, below the join.

It runs before the joins below, so that their gates test what this one has admitted: a row that is
suspended here is no match for others::

      rows ──▶ InputBuffer ──▶ GatedRows ──▶ Join
                                   ├──▶ gates of the joins below the join's other input
               matches ───────────▶┘

Source: Yang and Papadias 2008, section III-C, on the propagation of feedback.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.feedback.gate import Gate
from eddyline.runtime.feedback.key_index import KeySet
from eddyline.runtime.feedback.key_sample import KeySample
from eddyline.runtime.feedback.key_sets import KeySets
from eddyline.runtime.join_inputs.buffer import InputBuffer
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, all_of
from eddyline.runtime.stores.index import HashIndex, Liveness
from eddyline.runtime.stores.keys import join_keys
from eddyline.runtime.stores.rowstore import Lane
from eddyline.types import FOREVER

_NO_ROWS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class Passed:
    """The rows that a gate admits in a chunk, as far as they have a join key.

    Attributes:
        positions, keys: int64[n], of new rows: positions and join keys.
        released, released_keys: int64[m], of rows of earlier chunks that were never visible.
        returned, returned_keys: int64[k], of rows that were; left: the chunks in which they left.
    """

    positions: Array
    keys: Array
    released: Array = field(default_factory=lambda: _NO_ROWS)
    released_keys: Array = field(default_factory=lambda: _NO_ROWS)
    returned: Array = field(default_factory=lambda: _NO_ROWS)
    returned_keys: Array = field(default_factory=lambda: _NO_ROWS)
    left: Array = field(default_factory=lambda: _NO_ROWS)


class GatedRows(Operator):
    """Passes on the new rows that the gate admits; those released are in ``passed``.

    Args:
        buffer: all rows; further inputs, which the gate probes, must run before.
        gate: over these rows.
        join_keys: compute the columns of the join key.
        returning: whether visible rows are suspended again when their last match has expired.
        scanned: see ``HashIndex``.

    Attributes:
        has_begun: there may be rows.
        came: number of rows, suspended or not.
        visible: the admitted rows by join key; the join adds those of a chunk. Rows that have left
            stay in it.
        chunk: the number of the chunk.
        left: of rows that are suspended again, the number of the chunk in which they left, else
            FOREVER; None: there are none.
        passed: the rows admitted in this chunk.
        keys: key sets over the admitted rows.
        sample: of the keys of all rows; None: nothing reads it.
    """

    def __init__(
        self,
        buffer: InputBuffer,
        gate: Gate,
        join_keys: Sequence[Evaluator],
        *,
        returning: bool = True,
        scanned: bool = False,
    ) -> None:
        super().__init__((buffer,))
        self.buffer = buffer
        self.gate = gate
        self.has_begun = False
        self.came = 0
        self.visible = HashIndex(buffer.rows.store, scanned=scanned)
        self.passed = Passed(_NO_ROWS, _NO_ROWS)
        self.keys = KeySets(self)
        self.chunk = 0
        self.left: Lane | None = None
        self.sample: KeySample | None = None
        self._before = self.clock  # the end of the chunk before the last one
        self._returning = returning
        self._columns = tuple(join_keys)

    @property
    def sources(self) -> tuple[Operator, ...]:
        return self.inputs[:1]

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        self.chunk, self._before = self.chunk + 1, self.clock
        batch, positions, keys = self._keyed(batches[0], self.buffer.placed)
        if self.sample is not None:
            self.sample.see(batch, keys)
        if self.gate.is_sweep_due(len(batch)) and self._returning:
            self._sweep()
        if self.gate.is_open(len(batch)):
            self._forget_left()  # all rows are visible
            return self._pass(batch, Passed(positions, keys))
        released = self.gate.resume(self.clock, self._suspended)
        return self._admit(batch, positions, keys, released)

    def begin(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        return self._admit(*self._keyed(batches[0], self.buffer.shown), _NO_ROWS)

    def _keyed(self, batch: Batch, positions: Array) -> tuple[Batch, Array, Array]:
        """The rows, at these positions, that have a join key, and the keys."""
        keys, usable = self._join_keys(batch)
        if usable is not None:
            batch, positions, keys = batch.where(usable), positions[usable], keys[usable]
        self.came += len(batch)
        return batch, positions, keys

    def _admit(self, batch: Batch, positions: Array, keys: Array, released: Array) -> Batch:
        admitted = self.gate.admit(batch, positions)
        if not all_of(admitted):
            batch, positions, keys = batch.where(admitted), positions[admitted], keys[admitted]
        if released.size == 0:
            return self._pass(batch, Passed(positions, keys))
        of_released, _ = self._join_keys(self.rows_at(released))
        if self.left is None:
            return self._pass(batch, Passed(positions, keys, released, of_released))
        left = self.left.at(released)
        again = left < FOREVER
        self.left.put(released[again], np.full(int(again.sum()), FOREVER))
        first = released[~again], of_released[~again]
        return self._pass(
            batch, Passed(positions, keys, *first, released[again], of_released[again], left[again])
        )

    def _pass(self, batch: Batch, passed: Passed) -> Batch:
        self.has_begun = True
        self.passed = passed
        released = passed.released
        if passed.returned.size:
            released = np.sort(np.concatenate((released, passed.returned)))
        self.keys.take_in(batch, passed.positions, released)
        return batch

    def _sweep(self) -> None:
        """Suspend visible rows whose last match has expired."""
        positions = self.all()
        leaving = positions[~self.gate.suspend(positions, self.clock)]
        if leaving.size:
            if self.left is None:
                self.left = self.new_lane(FOREVER)
            self.left.put(leaving, np.full(leaving.size, self.chunk))
            self.keys.renew()

    def _there(self) -> Array:
        """Positions of the rows that are visible."""
        positions = self.visible.positions()
        return positions if self.left is None else positions[self.left.at(positions) == FOREVER]

    def _forget_left(self) -> None:
        if self.left is not None:
            self.left.close()
            self.left = None

    def _join_keys(self, batch: Batch) -> tuple[Array, Array | None]:
        return join_keys([k(batch) for k in self._columns], len(batch))

    def _suspended(self) -> Array:
        """Positions of the suspended rows from before the chunk."""
        seen = np.concatenate((self._there(), self.buffer.placed))
        positions = np.setdiff1d(self.buffer.all(), seen)
        if positions.size == 0:
            return positions
        _, usable = self._join_keys(self.rows_at(positions))
        return positions if usable is None else positions[usable]

    def live(self, clock: int) -> Batch:
        return self.buffer.live(clock)

    # -- the admitted rows, for match probes ---------------------------

    @property
    def liveness(self) -> Liveness:
        return self.buffer.liveness

    def all(self) -> Array:
        passed, there = self.passed, self._there()
        there = there[self.buffer.rows.alive_until(there) > self._before]
        return np.unique(np.concatenate((there, passed.positions, passed.released)))

    def rows_at(self, positions: Array) -> Batch:
        return self.buffer.rows_at(positions)

    def new_index(self) -> HashIndex:
        return self.buffer.new_index()

    def new_lane(self, fill: int) -> Lane:
        return self.buffer.new_lane(fill)

    def forget(self, keys: KeySet) -> None:
        self.keys.forget(keys)

    # -- the rest of an operator ---------------------------------------

    def settle(self, clock: int) -> None:
        self.passed = Passed(_NO_ROWS, _NO_ROWS)
        self.keys.settle(clock)

    def close(self) -> None:
        self.keys.close()
        self.gate.close()
        self.visible.close()
        self._forget_left()

    def state(self) -> State:
        left = {} if self.left is None else {"left": self.left.state()}
        chunk = np.array([self.chunk])
        return {"visible": self.visible.state(), "keys": self.keys.state(), "chunk": chunk, **left}

    def restore(self, state: State) -> None:
        self.has_begun = True
        self.visible.restore(nested(state, "visible"))
        self.keys.restore(nested(state, "keys"))
        self.chunk = int(array(state, "chunk")[0])
        if "left" in state:
            self.left = self.new_lane(FOREVER)
            self.left.restore(array(state, "left"))
        self.gate.restored()
