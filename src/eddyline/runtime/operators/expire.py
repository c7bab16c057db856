"""Expire adds a '-' for every row at its expiry; WithoutExpiries removes these again.

Expire is the source of negative tuples: above each window in the NEGATIVE TUPLE strategy (Golab and
Ozsu 2005, section 2.3.1), above the whole plan for EMIT CHANGES.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from eddyline.runtime.batch import EXPIRY, Batch, merge
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.expiry import ExpiryStore, uncancelled
from eddyline.types import FOREVER


class Expire(Operator):
    """Passes every change on and adds a '-' at each row's ``exp``, unless it was taken back before.

    Input columns must be stored.

    Args:
        expiries: dtypes (int64 exp, int64 order, int8 sign, int64 per id).
    """

    def __init__(self, source: Operator, expiries: ExpiryStore) -> None:
        super().__init__((source,))
        self._expiries = expiries
        self._order = 0

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (batch,) = batches
        order = np.arange(self._order, self._order + len(batch))
        self._order += len(batch)
        mortal = np.flatnonzero(batch.exp < FOREVER)
        self._expiries.push([r[mortal] for r in (batch.exp, order, batch.sign, *batch.ids)])
        exp, _, sign, *ids = self._expiries.pop(tick.clock)
        left = uncancelled(exp, sign, ids)
        exp, ids = exp[left], [lane[left] for lane in ids]
        due = replace(
            batch,
            ts=exp,
            seq=np.full(exp.size, EXPIRY, np.int64),
            exp=exp,
            sign=np.full(exp.size, -1, np.int8),
            ids=tuple(ids),
            pair=None,
            _gathered={},
        )
        return merge([due, replace(batch, pair=None)])

    def live(self, clock: int) -> Batch:
        return self.inputs[0].live(clock)

    @property
    def kept_in(self) -> str:
        return self._expiries.text

    def kept(self) -> int:
        return len(self._expiries)

    def state(self) -> State:
        return {"expiries": self._expiries.state(), "order": np.array([self._order])}

    def restore(self, state: State) -> None:
        self._expiries.restore(nested(state, "expiries"))
        self._order = int(array(state, "order")[0])


class WithoutExpiries(Operator):
    """Leaves out each '-' at the ``exp`` of its row, as EMIT INSERTS does."""

    def __init__(self, source: Operator) -> None:
        super().__init__((source,))

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (batch,) = batches
        return batch.where((batch.sign > 0) | (batch.ts < batch.exp))

    def live(self, clock: int) -> Batch:
        return self.inputs[0].live(clock)
