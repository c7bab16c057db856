"""The rows of a join's input, kept once for the join and for those who ask whether one matches."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b
from typing import Final, TypeAlias

import numpy as np

from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.columns import Array
from eddyline.runtime.feedback.rows import Rows
from eddyline.runtime.keys import join_keys
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.state import State, nested

#: bool[n], which of n pairs meet a condition: numbers of who asks, and positions of rows.
Pairs: TypeAlias = Callable[[Array, Array], Array]

#: Pairs that are tried at once, at most.
_MOST_PAIRS: Final = 1 << 18
#: Who asks is compared with so many rows at first, and with more if it met none of these.
_FIRST_ROWS: Final = 16
_MORE_ROWS: Final = 8
_NO_ROWS = np.zeros(0, np.int64)


class Partners:
    """An index by some of the columns that a consumer joins on, for those who ask for a match.

    Attributes:
        index: it is kept up while anybody asks.
        holders: how many there are who may ask.
        fresh, fresh_positions: int64[m], keys of the chunk's rows, and where these are.
    """

    def __init__(self, kept: Kept, keys: Sequence[Evaluator]) -> None:
        self._kept = kept
        self._keys = tuple(keys)
        self._users = 0
        self.holders = 0
        self._was_not_saved = False
        self.index = kept.rows.new_index()
        self.fresh: Array = np.zeros(0, np.int64)
        self.fresh_positions = self.fresh

    @property
    def _stale(self) -> bool:
        return self._users == 0

    def acquire(self) -> None:
        """Somebody asks from now on."""
        if self._stale:
            self.fill()
        self._users += 1

    def release(self) -> None:
        """Somebody does not ask any more."""
        self._users -= 1

    def take_in(self, batch: Batch, positions: Array) -> None:
        """Index the chunk's new rows."""
        if self._stale:
            return
        if self._was_not_saved:
            self._was_not_saved = False
            self.fill(but=positions)
        keys, positions = self._indexed(batch, positions)
        self.index.insert(positions, keys)
        self.fresh, self.fresh_positions = keys, positions

    def _indexed(self, batch: Batch, positions: Array) -> tuple[Array, Array]:
        """Keys and positions of the rows that have a key."""
        keys, usable = join_keys([k(batch) for k in self._keys], len(batch))
        return (keys, positions) if usable is None else (keys[usable], positions[usable])

    def fill(self, but: Array = _NO_ROWS) -> None:
        """Index all rows but some: they have come while nobody asked."""
        if not self._kept.has_begun:
            return
        keys = positions = np.setdiff1d(self._kept.all(), but, assume_unique=True)
        if positions.size:
            keys, positions = self._indexed(self._kept.rows_at(positions), positions)
        self.index.fill(positions, keys)

    def exist(self, keys: Array, ts: Array) -> Array:
        """bool[n]: whether there is a row with the key that expires after ``ts``."""
        return self.index.any_alive(keys, ts, self._kept.rows.liveness)

    def find(self, keys: Array, ts: Array) -> tuple[Array, Array]:
        """Numbers of the keys, ascending, and positions of these rows."""
        return self.index.all_alive(keys, ts, self._kept.rows.liveness)

    def meet(self, keys: Array, ts: Array, pairs: Pairs, *, fresh: bool = False) -> Array:
        """bool[n]: for which keys there is a row with it that expires after ``ts`` and makes a pair
        with the number of the key. Pairs are tried a limited number at a time, newest rows first.

        Args:
            pairs: bool[m] for m numbers and positions of rows.
            fresh: ask the chunk's rows only.
        """
        met = np.zeros(keys.size, np.bool_)
        if keys.size == 0 or (fresh and self.fresh_positions.size == 0):
            return met
        stop = int(self.fresh_positions[0]) if fresh else 0
        cursor, most = self.index.look(keys), _FIRST_ROWS
        asking = np.flatnonzero(cursor >= stop)
        while asking.size:
            some, at = asking[:_MOST_PAIRS], cursor[asking[:_MOST_PAIRS]]
            most = max(min(most, _MOST_PAIRS // some.size), 1)
            liveness = self._kept.rows.liveness
            by, found = self.index.look_on(keys[some], ts[some], liveness, at, stop, most)
            cursor[some] = at
            met[some[by[pairs(some[by], found)]]] = True
            asking = asking[~met[asking] & (cursor[asking] >= 0)]
            most *= _MORE_ROWS
        return met

    def keys_at(self, positions: Array) -> tuple[Array, Array]:
        """Keys of rows, and bool[n]: which of them have one that is not NULL."""
        return self.index.keys_at(positions)

    def let_go(self) -> None:
        """One less may ask."""
        self.holders -= 1
        if self.holders == 0:
            self._kept.forget(self)

    def state(self) -> State:
        """Saved as plain arrays."""
        if self._stale:
            self.fill()
        return self.index.state()

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned; nothing, if these were not asked for when it did."""
        self._was_not_saved = not state
        if state:
            self.index.restore(state)


class Kept(Operator):
    """Passes on what it gets, which is '+' alone, and keeps it as long as it is alive.

    Attributes:
        has_begun: there may be rows.
        placed: int64[n], where the rows of the last chunk are.
        shown: int64[n], where the rows are that it gave away last, as a chunk or as live ones.
    """

    def __init__(self, source: Operator, rows: Rows) -> None:
        super().__init__((source,))
        self.rows = rows
        self.has_begun = False
        self.placed = self.shown = np.zeros(0, np.int64)
        self._before = self.clock
        self._partners: dict[object, Partners] = {}
        self._layout: Batch | None = None

    def all(self) -> Array:
        """Positions, ascending, of all rows that were alive before the chunk, or have come."""
        own = self.rows.all()
        return self.rows.place(self.inputs[0].live(self._before)) if own is None else own

    def partners(self, name: object, keys: Sequence[Evaluator]) -> Partners:
        """The rows by key, for one more who may ask; equal names share an index."""
        if name not in self._partners:
            self._partners[name] = Partners(self, keys)
        self._partners[name].holders += 1
        return self._partners[name]

    def forget(self, partners: Partners) -> None:
        """Nobody may ask for these any more."""
        partners.index.close()
        self._partners = {n: p for n, p in self._partners.items() if p is not partners}

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (batch,) = batches
        assert batch.only_inserts(), "feedback is for rows that nobody takes back"
        self.has_begun, self._before = True, self.clock
        self._layout = batch
        self.placed = self.shown = self.rows.place(batch)
        for partners in self._partners.values():
            partners.take_in(batch, self.placed)
        return batch

    def rows_at(self, positions: Array) -> Batch:
        """Kept rows as they came."""
        if self._layout is None:
            self._layout = self.inputs[0].live(self.clock)
        (ts, seq), exp = self.rows.instants(positions), self.rows.expiry(positions)
        sign = np.ones(positions.size, np.int8)
        layout = self._layout
        return Batch(ts, seq, exp, sign, self.rows.ids(positions), layout.stores, layout.cells)

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

    def close(self) -> None:
        for partners in self._partners.values():
            partners.index.close()

    def kept(self) -> int:
        return self.rows.count()

    def state(self) -> State:
        partners = {_digest(name): p.state() for name, p in self._partners.items()}
        return {"rows": self.rows.state(), "partners": partners}

    def restore(self, state: State) -> None:
        self.has_begun = True
        self.rows.restore(nested(state, "rows"))
        for name, partners in self._partners.items():
            partners.restore(nested(nested(state, "partners"), _digest(name)))


def _digest(name: object) -> str:
    """The same for the same name, in every process."""
    return blake2b(repr(name).encode(), digest_size=8).hexdigest()
