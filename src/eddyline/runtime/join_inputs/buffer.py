"""The rows of a join's input, kept once for the join and for those who ask whether one matches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np

from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.feedback.bloom import BloomPartners
from eddyline.runtime.feedback.partners import Known, Partners
from eddyline.runtime.join_inputs.join_input import InputRows
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import HashIndex, Liveness
from eddyline.runtime.stores.rowstore import Lane

K = TypeVar("K", bound=Known)


class Kept(Operator):
    """Passes on what it gets, which is '+' alone, and keeps it as long as it is alive.

    Attributes:
        has_begun: there may be rows.
        placed: int64[n], where the rows of the last chunk are.
        shown: int64[n], where the rows are that it gave away last, as a chunk or as live ones.
    """

    def __init__(self, source: Operator, rows: InputRows) -> None:
        super().__init__((source,))
        self.rows = rows
        self.has_begun = False
        self.placed = self.shown = np.zeros(0, np.int64)
        self._before = self.clock
        self._known: dict[object, Known] = {}
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
        return self.rows.place(self.inputs[0].live(self._before)) if own is None else own

    def partners(self, name: object, keys: Sequence[Evaluator]) -> Partners:
        """The rows by key, for one more who may ask; equal names share an index."""
        return self._hold(("index", name), partial(Partners, self, keys), Partners)

    def filter(self, name: object, keys: Sequence[Evaluator]) -> BloomPartners:
        """The same, if it is enough to know which keys there may be."""
        return self._hold(("filter", name), partial(BloomPartners, self, keys), BloomPartners)

    def _hold(self, name: object, make: Callable[[], K], kind: type[K]) -> K:
        if name not in self._known:
            self._known[name] = make()
        known = self._known[name]
        assert isinstance(known, kind), "it is called after its kind"
        known.holders += 1
        return known

    def forget(self, known: Known) -> None:
        known.close()
        self._known = {n: k for n, k in self._known.items() if k is not known}

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (batch,) = batches
        assert batch.only_inserts(), "feedback is for rows that nobody takes back"
        self.has_begun, self._before = True, self.clock
        self._layout = batch
        self.placed = self.shown = self.rows.place(batch)
        for known in self._known.values():
            known.take_in(batch, self.placed)
        return batch

    def rows_at(self, positions: Array) -> Batch:
        if self._layout is None:
            self._layout = self.inputs[0].live(self.clock)
        layout, sign = self._layout, np.ones(positions.size, np.int8)
        ts, seq = (self.rows.store.lane_at(lane, positions) for lane in ("ts", "seq"))
        exp, ids = self.rows.expiry(positions), self.rows.ids(positions)
        return Batch(ts, seq, exp, sign, ids, layout.stores, layout.cells)

    def live(self, clock: int) -> Batch:
        """The rows that are kept."""
        own = self.rows.all()
        if own is None:
            batch = self.inputs[0].live(clock)
            self.shown = self.rows.place(batch)
            return batch
        batch = self.rows_at(own)
        alive = np.flatnonzero(batch.exp > clock)
        order = alive[np.lexsort((batch.seq[alive], batch.ts[alive]))]
        self.shown = own[order]
        return batch.take(order)

    def settle(self, clock: int) -> None:
        self.rows.settle(clock)
        for known in self._known.values():
            known.settle(clock)

    def close(self) -> None:
        for known in self._known.values():
            known.close()

    def stats(self) -> dict[str, Any]:
        filters = [k.stats() for k in self._known.values() if isinstance(k, BloomPartners)]
        return {**super().stats(), "bloom_filters": filters} if filters else super().stats()

    def kept(self) -> int:
        return self.rows.count()

    def state(self) -> State:
        known = {_digest(name): k.state() for name, k in self._known.items()}
        return {"rows": self.rows.state(), "known": known}

    def restore(self, state: State) -> None:
        self.has_begun = True
        self.rows.restore(nested(state, "rows"))
        for name, known in self._known.items():
            known.restore(nested(nested(state, "known"), _digest(name)))


def _digest(name: object) -> str:
    """The same for the same name, in every process."""
    return blake2b(repr(name).encode(), digest_size=8).hexdigest()
