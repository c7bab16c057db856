"""Distinct: duplicate elimination, with auxiliary output state (delta*) or the input's rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from eddyline.kernels.distinct import ArrivingValues, ShownValues, eliminate, recall
from eddyline.runtime.batch import Batch
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, filled, order_by, unique
from eddyline.runtime.stores.expiry import ExpiryStore, ListStore
from eddyline.runtime.stores.keytable import KeyTable
from eddyline.runtime.stores.slots import SlotArray
from eddyline.types import BEGINNING, FOREVER

#: State by slot: expiry of the row shown, and of the duplicate that expires last, with its number;
#: since when the row is shown.
_BY_SLOT = ("shown_exp", "aside_exp", "aside_order", "shown_ts", "shown_seq")

#: Share of the input whose arrival lets expired rows be removed: the paper's interval (6.1).
_LAZY = 0.05


class Distinct(Operator):
    """Shows one row per value; keeps of its duplicates only the one that expires last.

    For inputs without '-' (WKS, WK, monotonic); strict inputs are grouped instead.

    Source: Golab and Ozsu 2005, section 5.3.1.

    Args:
        expiries: dtypes (int64 exp, int64 order, int64 slot): when the rows shown expire.
    """

    def __init__(
        self, source: Operator, types: Sequence[pa.DataType], expiries: ExpiryStore
    ) -> None:
        super().__init__((source,))
        self._table = KeyTable(types)
        self._expiries = expiries
        self._arrived = 0
        self._state = {name: SlotArray(np.int64, fill=BEGINNING) for name in _BY_SLOT}
        self._grow()

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (batch,) = batches
        assert batch.only_inserts(), "delta* takes no negative tuples"
        arriving = self._table.slots(batch.columns(), len(batch))
        self._grow()
        expired = self._expiries.pop(tick.clock)[2]
        numbers = np.arange(self._arrived, self._arrived + len(batch))
        self._arrived += len(batch)
        touched = unique(np.concatenate((arriving, expired)))
        self._recall(expired)
        slot, ts, seq, exp, number = eliminate(
            ArrivingValues(arriving, batch.ts, batch.seq, batch.exp, numbers),
            touched,
            tick.clock,
            ShownValues(self._shown_exp, self._aside_exp, self._aside_order),
        )
        order = order_by(ts, number)
        slot, ts, seq, exp = slot[order], ts[order], seq[order], exp[order]
        self._shown_ts[slot] = ts
        self._shown_seq[slot] = seq
        out = self._rows(slot, ts, seq, exp)
        waiting = np.flatnonzero((exp > tick.clock) & (exp < FOREVER))
        self._expiries.push([exp[waiting], seq[waiting], slot[waiting]])
        self._remember(batch.exp, numbers, arriving, tick.clock)
        self._release(touched[self._shown_exp[touched] <= tick.clock])
        return out

    def _recall(self, expired: Array) -> None:
        """The rows that could take over are those kept aside: there is nothing to look up."""

    def _remember(self, exp: Array, number: Array, slot: Array, clock: int) -> None:
        """Nothing else of the input is kept."""

    def live(self, clock: int) -> Batch:
        slots = self._table.used()
        slots = slots[self._shown_exp[slots] > clock]
        slots = slots[np.lexsort((self._shown_seq[slots], self._shown_ts[slots]))]
        return self._rows(
            slots, self._shown_ts[slots], self._shown_seq[slots], self._shown_exp[slots]
        )

    def held(self, clock: int) -> tuple[Batch, Batch]:
        """The rows shown, and those set aside: what another operator can go on from."""
        shown = self.live(clock)
        (slots,) = shown.ids
        behind = np.flatnonzero(self._aside_exp[slots] > shown.exp)
        aside = shown.take(behind)
        return shown, replace(aside, exp=self._aside_exp[slots[behind]])

    def _rows(self, slots: Array, ts: Array, seq: Array, exp: Array) -> Batch:
        sign = filled(slots.size, 1, np.int8)
        return Batch(ts, seq, exp, sign, (slots,), (None,), tuple(self._table.keys(slots)))

    def _grow(self) -> None:
        for rows in self._state.values():
            rows.grow(self._table.end)
        self._show()

    def _show(self) -> None:
        self._shown_exp, self._aside_exp, self._aside_order, self._shown_ts, self._shown_seq = (
            self._state[name].array for name in _BY_SLOT
        )

    def _release(self, slots: Array) -> None:
        self._shown_exp[slots] = BEGINNING
        self._aside_exp[slots] = BEGINNING
        self._table.release(slots)

    @property
    def kept_in(self) -> str:
        return self._expiries.text

    def kept(self) -> int:
        return len(self._table)

    def state(self) -> State:
        return {
            "table": self._table.state(),
            "expiries": self._expiries.state(),
            "arrived": np.array([self._arrived]),
            **{name: rows.held() for name, rows in self._state.items()},
        }

    def restore(self, state: State) -> None:
        self._table.restore(nested(state, "table"))
        self._expiries.restore(nested(state, "expiries"))
        self._arrived = int(array(state, "arrived")[0])
        for name, rows in self._state.items():
            rows.restore(array(state, name))
        self._show()


class ClassicDistinct(Distinct):
    """Keeps the whole input, and scans it for a row that takes over when the one shown expires.

    The form that the DIRECT strategy uses. Source: Golab and Ozsu 2005, section 2.1.
    """

    def __init__(
        self, source: Operator, types: Sequence[pa.DataType], expiries: ExpiryStore
    ) -> None:
        super().__init__(source, types, expiries)
        self._input = _input_rows()
        self._unscanned = 0  # rows that came since expired ones were removed

    def _recall(self, expired: Array) -> None:
        """Scan the input for rows that outlive those shown of these values.

        A value whose shown row lives on needs none; it is scanned for when that row expires.
        """
        if not expired.size:
            return
        if self._unscanned > _LAZY * len(self._input):
            self._input.discard(self.clock)  # not those that expire in this chunk
            self._unscanned = 0
        exp, number, slot = self._input.compact()
        shown = ShownValues(self._shown_exp, self._aside_exp, self._aside_order)
        recall(exp, number, slot, unique(expired), shown)

    def _remember(self, exp: Array, number: Array, slot: Array, clock: int) -> None:
        self._input.push([exp, number, slot])
        self._unscanned += exp.size

    def _release(self, slots: Array) -> None:
        super()._release(slots)
        if not len(self._table):  # all rows have expired
            self._input, self._unscanned = _input_rows(), 0

    def kept(self) -> int:
        return super().kept() + len(self._input)

    def state(self) -> State:
        return {**super().state(), "input": self._input.state()}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._input.restore(nested(state, "input"))


def _input_rows() -> ListStore:
    """For exp, number and slot."""
    return ListStore([np.int64] * 3)
