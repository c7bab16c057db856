"""The rows of a join's input, kept once for the join and for match probes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from eddyline.runtime.batch import Batch
from eddyline.runtime.feedback.key_index import KeySet
from eddyline.runtime.feedback.key_sets import KeySets
from eddyline.runtime.join_inputs.join_input import InputRows
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array, order_by
from eddyline.runtime.stores.index import HashIndex, Liveness
from eddyline.runtime.stores.rowstore import Lane


class InputBuffer(Operator):
    """Passes its input on, which is '+' alone, and keeps the rows as long as they are alive.

    Attributes:
        has_begun: there may be rows.
        keys: key sets over all rows.
        placed: int64[n], positions of the rows of the last chunk.
        shown: int64[n], positions of the rows emitted last, as a chunk or as live rows.
    """

    def __init__(self, source: Operator, rows: InputRows) -> None:
        super().__init__((source,))
        self.rows = rows
        self.has_begun = False
        self.placed = self.shown = np.zeros(0, np.int64)
        self._before: int | None = None  # clock before the last chunk; None: there was none
        self.keys = KeySets(self)
        self._layout: Batch | None = None

    @property
    def liveness(self) -> Liveness:
        return self.rows.liveness

    def new_index(self) -> HashIndex:
        return HashIndex(self.rows.store)

    def new_lane(self, fill: int) -> Lane:
        return Lane(self.rows.store, fill)

    def all(self) -> Array:
        own = self.rows.all()
        clock = self.clock if self._before is None else self._before
        if own is not None:  # of rows that have expired the base rows may be gone
            return own[self.rows.alive_until(own) > clock]
        return self.rows.place(self.inputs[0].live(clock))

    def forget(self, keys: KeySet) -> None:
        self.keys.forget(keys)

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (batch,) = batches
        assert batch.only_inserts(), "joins with feedback read inputs without '-'"
        self.has_begun, self._before = True, self.clock
        self._layout = batch
        self.placed = self.shown = self.rows.place(batch)
        self.rows.evict(self.clock)
        self.keys.take_in(batch, self.placed)
        return batch

    def rows_at(self, positions: Array) -> Batch:
        if self._layout is None:
            self._layout = self.inputs[0].live(self.clock)
        layout, sign = self._layout, np.ones(positions.size, np.int8)
        ts, seq = (self.rows.store.lane_at(lane, positions) for lane in ("ts", "seq"))
        exp, ids = self.rows.alive_until(positions), self.rows.ids(positions)
        return Batch(ts, seq, exp, sign, ids, layout.stores, layout.cells)

    def live(self, clock: int) -> Batch:
        own = self.rows.all()
        if own is None:
            batch = self.inputs[0].live(clock)
            self.shown = self.rows.place(batch)
            return batch
        batch = self.rows_at(own)
        alive = np.flatnonzero(batch.exp > clock)
        order = alive[order_by(batch.ts[alive], batch.seq[alive])]
        self.shown = own[order]
        return batch.take(order)

    def settle(self, clock: int) -> None:
        self.rows.settle(clock)
        self.keys.settle(clock)

    def close(self) -> None:
        self.keys.close()

    def stats(self) -> dict[str, Any]:
        return {**super().stats(), **self.keys.stats()}

    def kept(self) -> int:
        return self.rows.count()

    def state(self) -> State:
        return {"rows": self.rows.state(), "keys": self.keys.state()}

    def restore(self, state: State) -> None:
        self.has_begun = True
        self.rows.restore(nested(state, "rows"))
        self.keys.restore(nested(state, "keys"))
