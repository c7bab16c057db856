"""View: the materialised answer of a query, in the structure that its update pattern calls for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from eddyline.runtime.batch import Batch, empty_like
from eddyline.runtime.columns import Array
from eddyline.runtime.expiry import ExpiryStore, uncancelled
from eddyline.runtime.keytable import KeyTable
from eddyline.runtime.lanes import Lanes
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.state import State, array, nested
from eddyline.types import FOREVER

_LANES = ("exp", "ts", "seq")


class View(Operator):
    """Passes every change on and keeps the rows that are in the answer. Input rows are stored.

    With ``expiries`` (dtypes int64 exp, int64 order, int8 sign, int64 ts, int64 seq, int64 per id)
    rows leave when they expire; one that is taken back waits together with its '-' until then.
    Without, every row leaves by a '-' and is found by its ids: a hash table.

    Source: Golab and Ozsu 2005, section 5.3.2.
    """

    def __init__(self, source: Operator, expiries: ExpiryStore | None, width: int) -> None:
        super().__init__((source,))
        self._expiries = expiries
        self._table = KeyTable([pa.int64()] * width)
        ids = [f"id{i}" for i in range(width)]
        self._lanes = Lanes(dict.fromkeys((*_LANES, "sign", *ids), (np.int64, 0)))
        self._id_lanes = tuple(ids)
        self._order = 0
        self._layout: Batch | None = None

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (batch,) = batches
        self._layout = replace(empty_like(batch), pair=None)
        if self._expiries is None:
            self._apply(batch)
            return batch
        order = np.arange(self._order, self._order + len(batch))
        self._order += len(batch)
        rows = [batch.exp, order, batch.sign, batch.ts, batch.seq, *batch.ids]
        self._expiries.push(rows)
        self._expiries.pop(tick.clock)
        return batch

    def _apply(self, batch: Batch) -> None:
        """Each row is in the table if its last change is a '+'."""
        slots = self._table.slots([pa.array(i) for i in batch.ids], len(batch))
        self._lanes.grow(self._table.capacity)
        columns = (batch.exp, batch.ts, batch.seq, *batch.ids)
        for name, values in zip((*_LANES, *self._id_lanes), columns, strict=True):
            self._lanes[name][slots] = values
        last = self._lanes["sign"]
        last[slots] = batch.sign
        self._table.release(np.unique(slots[last[slots] < 0]))

    def live(self, clock: int) -> Batch:
        like = self._layout or empty_like(self.inputs[0].live(FOREVER))
        exp, ts, seq, *ids = self._alive() if self._expiries is None else self._waiting()
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

    def _alive(self) -> list[Array]:
        slots = self._table.used()
        return [self._lanes[n][slots] for n in (*_LANES, *self._id_lanes)]

    def _waiting(self) -> list[Array]:
        assert self._expiries is not None, "rows are in the table"
        exp, _, sign, ts, seq, *ids = self._expiries.peek()
        left = uncancelled(exp, sign, ids)
        return [lane[left] for lane in (exp, ts, seq, *ids)]

    def kept(self) -> int:
        return len(self._table) if self._expiries is None else len(self._expiries)

    def state(self) -> State:
        out: dict[str, State | Array] = {
            "table": self._table.state(),
            "lanes": self._lanes.state(),
            "order": np.array([self._order]),
        }
        if self._expiries is not None:
            out["expiries"] = self._expiries.state()
        return out

    def restore(self, state: State) -> None:
        self._table.restore(nested(state, "table"))
        self._lanes.restore(nested(state, "lanes"))
        self._order = int(array(state, "order")[0])
        if self._expiries is not None:
            self._expiries.restore(nested(state, "expiries"))
