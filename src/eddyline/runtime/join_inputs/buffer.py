"""The rows of a join's input, kept once for the join and for match probes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any, TypeVar

import numpy as np

from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.feedback.bloom_keys import BloomKeys
from eddyline.runtime.feedback.key_index import KeyIndex, KeySet
from eddyline.runtime.join_inputs.join_input import InputRows
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import HashIndex, Liveness
from eddyline.runtime.stores.rowstore import Lane

K = TypeVar("K", bound=KeySet)


class InputBuffer(Operator):
    """Passes its input on, which is '+' alone, and keeps the rows as long as they are alive.

    Attributes:
        has_begun: there may be rows.
        placed: int64[n], positions of the rows of the last chunk.
        shown: int64[n], positions of the rows emitted last, as a chunk or as live rows.
    """

    def __init__(self, source: Operator, rows: InputRows) -> None:
        super().__init__((source,))
        self.rows = rows
        self.has_begun = False
        self.placed = self.shown = np.zeros(0, np.int64)
        self._before: int | None = None  # clock before the last chunk; None: there was none
        self._key_sets: dict[object, KeySet] = {}
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
        if own is not None:
            return own
        clock = self.clock if self._before is None else self._before
        return self.rows.place(self.inputs[0].live(clock))

    def index(self, name: object, keys: Sequence[Evaluator]) -> KeyIndex:
        """The rows by key, for one more reader; equal names share an index."""
        return self._shared(("index", name), partial(KeyIndex, self, keys), KeyIndex)

    def filter(self, name: object, keys: Sequence[Evaluator]) -> BloomKeys:
        """The same as a Bloom filter, with false positives."""
        return self._shared(("filter", name), partial(BloomKeys, self, keys), BloomKeys)

    def _shared(self, name: object, make: Callable[[], K], kind: type[K]) -> K:
        if name not in self._key_sets:
            self._key_sets[name] = make()
        keys = self._key_sets[name]
        assert isinstance(keys, kind), "the name begins with the kind"
        keys.readers += 1
        return keys

    def forget(self, keys: KeySet) -> None:
        keys.close()
        self._key_sets = {n: k for n, k in self._key_sets.items() if k is not keys}

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (batch,) = batches
        assert batch.only_inserts(), "joins with feedback read inputs without '-'"
        self.has_begun, self._before = True, self.clock
        self._layout = batch
        self.placed = self.shown = self.rows.place(batch)
        for keys in self._key_sets.values():
            keys.take_in(batch, self.placed)
        return batch

    def rows_at(self, positions: Array) -> Batch:
        if self._layout is None:
            self._layout = self.inputs[0].live(self.clock)
        layout, sign = self._layout, np.ones(positions.size, np.int8)
        ts, seq = (self.rows.store.lane_at(lane, positions) for lane in ("ts", "seq"))
        exp, ids = self.rows.expiry(positions), self.rows.ids(positions)
        return Batch(ts, seq, exp, sign, ids, layout.stores, layout.cells)

    def live(self, clock: int) -> Batch:
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
        for keys in self._key_sets.values():
            keys.settle(clock)

    def close(self) -> None:
        for keys in self._key_sets.values():
            keys.close()

    def stats(self) -> dict[str, Any]:
        filters = [k.stats() for k in self._key_sets.values() if isinstance(k, BloomKeys)]
        return {**super().stats(), "bloom_filters": filters} if filters else super().stats()

    def kept(self) -> int:
        return self.rows.count()

    def state(self) -> State:
        keys = {_digest(name): k.state() for name, k in self._key_sets.items()}
        return {"rows": self.rows.state(), "keys": keys}

    def restore(self, state: State) -> None:
        self.has_begun = True
        self.rows.restore(nested(state, "rows"))
        for name, keys in self._key_sets.items():
            keys.restore(nested(nested(state, "keys"), _digest(name)))


def _digest(name: object) -> str:
    """The same for the same name, in every process."""
    return blake2b(repr(name).encode(), digest_size=8).hexdigest()
