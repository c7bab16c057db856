"""Spool: gives computed rows a store, so that joins can refer to them by row id."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from eddyline.runtime.batch import Batch, Stored
from eddyline.runtime.columns import Array
from eddyline.runtime.index import HashIndex, Probes
from eddyline.runtime.keys import group_hashes
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.rowstore import RowStore
from eddyline.runtime.state import State, nested
from eddyline.types import FOREVER, Schema


class Spool(Operator):
    """Passes every change on, its row stored here as long as it lives.

    A '-' is passed on with the row id of the '+' that it takes back, found by the ids that the
    input gave it.
    """

    _DEATH = ("death_ts", "death_seq")

    def __init__(self, source: Operator, schema: Schema, width: int) -> None:
        super().__init__((source,))
        self._id_lanes = tuple(f"id{i}" for i in range(width))
        self.store = RowStore(schema, ["ts", "seq", "exp", *self._id_lanes])
        for lane in self._DEATH:
            self.store.add_lane(lane, FOREVER)
        self._index = HashIndex(self.store, "ids")
        self._cells = tuple(Stored(0, i) for i in range(len(schema)))
        self._compact_at = 1024

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (batch,) = batches
        keys = group_hashes([pa.array(i) for i in batch.ids])
        entering = np.flatnonzero(batch.sign > 0)
        leaving = np.flatnonzero(batch.sign < 0)
        positions = np.empty(len(batch), np.int64)
        appended = self._append(batch.take(entering))
        positions[entering] = appended
        self._index.insert(positions[entering], keys[entering])
        positions[leaving] = self._index.bury(
            Probes(keys[leaving], batch.ts[leaving], batch.seq[leaving]),
            tuple(i[leaving] for i in batch.ids),
            self.store.end - appended.size + np.searchsorted(entering, leaving),
            self._id_lanes,
            self._DEATH,
        )
        assert (positions >= 0).all(), "a negative tuple without its row"
        return self._rows(positions, batch.ts, batch.seq, batch.exp, batch.sign)

    def _append(self, rows: Batch) -> Array:
        lanes: dict[str, Array | int] = {"ts": rows.ts, "seq": rows.seq, "exp": rows.exp}
        lanes |= dict(zip(self._id_lanes, rows.ids, strict=True))
        positions = self.store.append(len(rows), lanes, rows.columns())
        return np.arange(positions.start, positions.stop)

    def live(self, clock: int) -> Batch:
        store = self.store
        positions = np.flatnonzero(self._alive(clock)) + store.first
        return self._rows(
            positions,
            store.lane_at("ts", positions),
            store.lane_at("seq", positions),
            store.lane_at("exp", positions),
            np.ones(positions.size, np.int8),
        )

    def _rows(self, positions: Array, ts: Array, seq: Array, exp: Array, sign: Array) -> Batch:
        return Batch(ts, seq, exp, sign, (self.store.ids(positions),), (self.store,), self._cells)

    def _alive(self, clock: int) -> Array:
        out: Array = (self.store.held("exp") > clock) & (self.store.held(self._DEATH[0]) == FOREVER)
        return out

    def settle(self, clock: int) -> None:
        if len(self.store) >= self._compact_at:
            self.store.keep(self._alive(clock))
            self._compact_at = 2 * len(self.store) + 1024

    def kept(self) -> int:
        return len(self.store)

    def state(self) -> State:
        return {"store": self.store.state(), "index": self._index.state()}

    def restore(self, state: State) -> None:
        self.store.restore(nested(state, "store"))
        self._index.restore(nested(state, "index"))
        self._compact_at = 2 * len(self.store) + 1024
