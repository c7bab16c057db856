"""View: the materialised answer of a query, in the structure that its update pattern calls for."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from eddyline.runtime.batch import Batch, empty_like
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.answers import AnswerStore, refill, saved
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.expiry import uncancelled
from eddyline.runtime.stores.index import HashIndex
from eddyline.runtime.stores.intermediates import ResultRows
from eddyline.runtime.stores.keys import group_hashes
from eddyline.types import BEGINNING, FOREVER


class View(Operator):
    """Passes every change on and keeps the rows that are in the answer. Input rows are stored."""

    def __init__(self, source: Operator) -> None:
        super().__init__((source,))
        self._layout: Batch | None = None

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (batch,) = batches
        if self._layout is None:
            self._layout = replace(empty_like(batch), pair=None)
        self._keep(batch, tick.clock)
        return batch

    def live(self, clock: int) -> Batch:
        like = self._layout or empty_like(self.inputs[0].live(FOREVER))
        exp, ts, seq, *ids = self._rows()
        order = np.lexsort((seq, ts))
        order = order[exp[order] > clock]
        return replace(
            like,
            ts=ts[order],
            seq=seq[order],
            exp=exp[order],
            sign=np.ones(order.size, np.int8),
            ids=tuple(i[order] for i in ids),
            _gathered={},
        )

    @abstractmethod
    def _keep(self, batch: Batch, clock: int) -> None:
        """Apply the changes of a chunk."""

    @abstractmethod
    def _rows(self) -> list[Array]:
        """exp, ts, seq and ids of the rows in the answer, and perhaps of some that have expired."""


class ExpiringView(View):
    """Rows leave when they expire; one that is taken back waits with its '-' until then.

    Args:
        store: for the lanes exp, ts, seq, the ids and, if ``strict``, the sign.
        strict: whether rows are taken back.
    """

    def __init__(self, source: Operator, store: AnswerStore, width: int, *, strict: bool) -> None:
        super().__init__(source)
        self._store = store
        self._strict = strict
        self._width = 3 + width + strict
        self._clock = BEGINNING

    def _keep(self, batch: Batch, clock: int) -> None:
        rows = [batch.exp, batch.ts, batch.seq, *batch.ids]
        self._store.push([*rows, batch.sign.astype(np.int64)] if self._strict else rows, clock)
        self._clock = clock

    def _rows(self) -> list[Array]:
        rows = self._store.rows()
        if not self._strict:
            return rows
        exp, ts, seq, *ids, sign = rows
        left = uncancelled(exp, sign, ids)
        return [lane[left] for lane in (exp, ts, seq, *ids)]

    @property
    def kept_in(self) -> str:
        return self._store.text

    def kept(self) -> int:
        return len(self._store)

    def state(self) -> State:
        return {"rows": saved(self._store), "clock": np.array([self._clock])}

    def restore(self, state: State) -> None:
        self._clock = int(array(state, "clock")[0])
        refill(self._store, nested(state, "rows"), self._width, self._clock)


class KeyedView(View):
    """Every row leaves by a '-', and is found by its ids: a hash table."""

    def __init__(self, source: Operator, width: int) -> None:
        super().__init__(source)
        self._stored = ResultRows(width, explicit=True)
        self._index = HashIndex(self._stored.store)

    def _keep(self, batch: Batch, clock: int) -> None:
        keys = group_hashes([pa.array(i) for i in batch.ids])
        positions = self._stored.take_in(batch, keys, self._index)
        assert (positions >= 0).all(), "a negative tuple without its row"

    def _rows(self) -> list[Array]:
        store, positions = self._stored.store, self._stored.alive(BEGINNING)
        lanes = [store.lane_at(n, positions) for n in ("exp", "ts", "seq")]
        return [*lanes, *self._stored.ids(positions)]

    def settle(self, clock: int) -> None:
        self._stored.settle(clock)

    @property
    def kept_in(self) -> str:
        return self._stored.text

    def kept(self) -> int:
        return self._stored.count()

    def state(self) -> State:
        return {"rows": self._stored.state(), "index": self._index.state()}

    def restore(self, state: State) -> None:
        self._stored.restore(nested(state, "rows"))
        self._index.restore(nested(state, "index"))
