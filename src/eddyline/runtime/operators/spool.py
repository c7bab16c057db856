"""Spool: puts computed rows into a store, so that joins can refer to them by row id."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from eddyline.runtime.batch import Batch, Stored
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import HashIndex
from eddyline.runtime.stores.intermediates import ResultRows
from eddyline.runtime.stores.keys import group_hashes
from eddyline.types import Schema


class Spool(Operator):
    """Passes every change on, its row stored here as long as it lives.

    A '-' is passed on with the row id of the '+' that it takes back, found by the ids that the
    input gave it.

    Args:
        width: how many ids an input row has.
        strict: whether a '-' is expected before a row expires. Until one comes, rows need no index.
        keep: whether rows are looked up after the chunk that brought them.
    """

    def __init__(
        self,
        source: Operator,
        schema: Schema,
        width: int,
        lazy_us: int | None = None,
        *,
        strict: bool = True,
        keep: bool = True,
    ) -> None:
        super().__init__((source,))
        self._keep = keep
        self._stored = ResultRows(width, schema, strict=strict, lazy_us=lazy_us)
        self._index = HashIndex(self._stored.store) if strict else None
        self._cells = tuple(Stored(0, i) for i in range(len(schema)))

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (batch,) = batches
        if self._index is None and not batch.only_inserts():
            self._index = self._stored.index_by_ids()
        if self._index is None:
            positions = self._stored.place(batch, batch.columns())
            return self._rows(positions, batch.ts, batch.seq, batch.exp, batch.sign)
        keys = group_hashes([pa.array(i) for i in batch.ids])
        columns = batch.where(batch.sign > 0).columns()
        positions = self._stored.take_in(batch, keys, self._index, columns)
        assert (positions >= 0).all(), "a negative tuple without its row"
        return self._rows(positions, batch.ts, batch.seq, batch.exp, batch.sign)

    def live(self, clock: int) -> Batch:
        store, positions = self._stored.store, self._stored.alive(clock)
        ts, seq, exp = (store.lane_at(n, positions) for n in ("ts", "seq", "exp"))
        return self._rows(positions, ts, seq, exp, np.ones(positions.size, np.int8))

    def _rows(self, positions: Array, ts: Array, seq: Array, exp: Array, sign: Array) -> Batch:
        store = self._stored.store
        return Batch(ts, seq, exp, sign, (store.ids(positions),), (store,), self._cells)

    def settle(self, clock: int) -> None:
        if self._keep:
            self._stored.settle(clock)
        else:
            self._stored.clear()

    @property
    def kept_in(self) -> str:
        return self._stored.text if self._keep else ""

    def kept(self) -> int:
        return self._stored.count()

    def state(self) -> State:
        rows = self._stored.state()
        return (
            {"rows": rows} if self._index is None else {"rows": rows, "index": self._index.state()}
        )

    def restore(self, state: State) -> None:
        if self._index is None and "index" in state:
            self._index = self._stored.index_by_ids()
        self._stored.restore(nested(state, "rows"))
        if self._index is not None:
            self._index.restore(nested(state, "index"))
