"""The rows of a join's input, kept once for the join and for those who ask whether one matches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.columns import Array
from eddyline.runtime.index import HashIndex, Liveness, Probes
from eddyline.runtime.keys import join_keys
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.results import columns_of
from eddyline.runtime.rowstore import RowStore
from eddyline.runtime.state import State, nested
from eddyline.runtime.stem import Stem, StemWindow


class Rows(Protocol):
    """Where the rows of an input are, whoever may see them."""

    liveness: Liveness

    def place(self, batch: Batch) -> Array:
        """int64[n]: the positions of rows that have just come."""

    def new_index(self, *, scanned: bool = False) -> HashIndex:
        """An empty index over them."""

    def new_lane(self, fill: int) -> Lane:
        """A number for each of them, at first ``fill``."""

    def ids(self, positions: Array) -> tuple[Array, ...]:
        """Their ids."""

    def instants(self, positions: Array) -> tuple[Array, Array]:
        """When rows came: ts and seq."""

    def expiry(self, positions: Array) -> Array:
        """When they expire."""

    def all(self) -> Array | None:
        """Positions of all of them, ascending; None: the store has others as well."""

    @property
    def has_no_others(self) -> bool:
        """Whether the store has no others."""

    def settle(self, clock: int) -> None:
        """Forget what has expired."""

    def count(self) -> int:
        """Rows in a store of its own."""

    def state(self) -> State:
        """Saved as plain arrays."""

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""


class Lane:
    """An int64 for each row of a store."""

    def __init__(self, store: RowStore, name: str, fill: int) -> None:
        self._store = store
        self._name = name
        store.add_lane(name, fill)

    def at(self, positions: Array) -> Array:
        """int64[n]: the numbers of rows."""
        return self._store.lane_at(self._name, positions)

    def put(self, positions: Array, numbers: Array) -> None:
        """Change those of rows."""
        self._store.lane(self._name)[positions - self._store.base] = numbers

    def close(self) -> None:
        """Give it back."""
        self._store.remove_lane(self._name)


class StemRows:
    """The rows of a stream that passed the filters: they are in its SteM."""

    def __init__(self, stem: Stem, window: StemWindow) -> None:
        self._stem = stem
        self._window = window
        self.liveness = window.liveness

    def place(self, batch: Batch) -> Array:
        return self._stem.positions(batch.ids[0])

    def new_index(self, *, scanned: bool = False) -> HashIndex:
        return self._stem.new_index(scanned=scanned)

    def new_lane(self, fill: int) -> Lane:
        return Lane(self._stem, self._stem.new_name(), fill)

    def ids(self, positions: Array) -> tuple[Array, ...]:
        return (self._stem.ids(positions),)

    def instants(self, positions: Array) -> tuple[Array, Array]:
        return self._stem.lane_at("ts", positions), self._stem.lane_at("seq", positions)

    def expiry(self, positions: Array) -> Array:
        return self._window.expiry(self._stem.lane_at("ts", positions))

    has_no_others = False

    def all(self) -> None:
        return None

    def settle(self, clock: int) -> None:
        """The SteM does."""

    def count(self) -> int:
        return 0

    def state(self) -> State:
        return {}

    def restore(self, state: State) -> None:
        """There is nothing to restore."""


class CompositeRows:
    """Results of a join: row id tuples with their lifespan, in the order of their making."""

    def __init__(self, width: int) -> None:
        self._store = RowStore((), ["ts", "seq", "exp"])
        self._store.add_block("ids", width)
        self._indexes = 0
        self._compact_at = 1024
        self.liveness = Liveness("exp", 0, fifo=False)

    def place(self, batch: Batch) -> Array:
        lanes: dict[str, Array | int] = {"ts": batch.ts, "seq": batch.seq, "exp": batch.exp}
        lanes["ids"] = np.column_stack(batch.ids)
        new = self._store.append(len(batch), lanes)
        return np.arange(new.start, new.stop)

    def new_index(self, *, scanned: bool = False) -> HashIndex:
        self._indexes += 1
        return HashIndex(self._store, str(self._indexes), scanned=scanned)

    def new_lane(self, fill: int) -> Lane:
        self._indexes += 1
        return Lane(self._store, f"lane:{self._indexes}", fill)

    def ids(self, positions: Array) -> tuple[Array, ...]:
        return columns_of(self._store.lane_at("ids", positions))

    def instants(self, positions: Array) -> tuple[Array, Array]:
        return self._store.lane_at("ts", positions), self._store.lane_at("seq", positions)

    def expiry(self, positions: Array) -> Array:
        return self._store.lane_at("exp", positions)

    has_no_others = True

    def all(self) -> Array:
        return np.arange(self._store.first, self._store.end)

    def settle(self, clock: int) -> None:
        if len(self._store) >= self._compact_at:
            self._store.keep(self._store.held("exp") > clock)
            self._compact_at = 2 * len(self._store) + 1024

    def count(self) -> int:
        return len(self._store)

    def state(self) -> State:
        return self._store.state()

    def restore(self, state: State) -> None:
        self._store.restore(state)
        self._compact_at = 2 * len(self._store) + 1024


class Partners:
    """An index by some of the columns that a consumer joins on, for those who ask for a match.

    Attributes:
        index: it is kept up while anybody asks, or nobody else knows which rows these are.
        fresh, fresh_positions: int64[m], keys of the chunk's rows, and where these are.
    """

    def __init__(self, kept: Kept, keys: Sequence[Evaluator]) -> None:
        self._kept = kept
        self._keys = tuple(keys)
        self._users = 0
        self.index = kept.rows.new_index()
        self.fresh: Array = np.zeros(0, np.int64)
        self.fresh_positions = self.fresh

    @property
    def _stale(self) -> bool:
        return self._users == 0 and self._kept.knows_all

    def acquire(self) -> None:
        """Somebody asks from now on."""
        if self._stale:
            self._fill()
        self._users += 1

    def release(self) -> None:
        """Somebody does not ask any more."""
        self._users -= 1

    def take_in(self, batch: Batch, positions: Array) -> None:
        """Index the chunk's new rows."""
        if self._stale:
            return
        keys, positions = self._indexed(batch, positions)
        self.index.insert(positions, keys)
        self.fresh, self.fresh_positions = keys, positions

    def _indexed(self, batch: Batch, positions: Array) -> tuple[Array, Array]:
        """Keys and positions of the rows that have a key."""
        keys, usable = join_keys([k(batch) for k in self._keys], len(batch))
        return (keys, positions) if usable is None else (keys[usable], positions[usable])

    def _fill(self) -> None:
        """Index the rows that have come while nobody asked."""
        positions = self._kept.all()
        if positions.size:
            keys, positions = self._indexed(self._kept.rows_at(positions), positions)
            self.index.fill(positions, keys)

    def exist(self, keys: Array, ts: Array) -> Array:
        """bool[n]: whether there is a row with the key that expires after ``ts``."""
        return self.index.any_alive(keys, ts, self._kept.rows.liveness)

    def find(self, keys: Array, ts: Array) -> tuple[Array, Array]:
        """Numbers of the keys, ascending, and positions of these rows."""
        return self.index.all_alive(keys, ts, self._kept.rows.liveness)

    def keys_at(self, positions: Array) -> tuple[Array, Array]:
        """Keys of rows, and bool[n]: which of them have one that is not NULL."""
        return self.index.keys_at(positions)

    def close(self) -> None:
        """Nobody asks any more."""
        self.index.close()

    def state(self) -> State:
        """Saved as plain arrays."""
        if self._stale:
            self._fill()
        return self.index.state()

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self.index.restore(state)


class Kept(Operator):
    """Passes on what it gets, which is '+' alone, and keeps it as long as it is alive.

    Attributes:
        placed: int64[n], where the rows of the last chunk are.
    """

    def __init__(self, source: Operator, rows: Rows) -> None:
        super().__init__((source,))
        self.rows = rows
        self.placed: Array = np.zeros(0, np.int64)
        self._partners: dict[object, Partners] = {}
        self._complete: HashIndex | None = None
        self._layout: Batch | None = None

    @property
    def knows_all(self) -> bool:
        """Whether an index can be made anew at any time."""
        return self._complete is not None or self.rows.has_no_others

    def all(self) -> Array:
        """Positions of the rows, ascending: of those that can be joined at all, at least."""
        if self._complete is not None:
            return self._complete.positions()
        positions = self.rows.all()
        assert positions is not None, "they are known"
        return positions

    def complete(self, partners: Partners) -> None:
        """Keep this index up for ever."""
        partners.acquire()
        self._complete = partners.index

    def partners(self, name: object, keys: Sequence[Evaluator]) -> Partners:
        """The rows by key; equal names share an index. Ask before there are rows."""
        if name not in self._partners:
            self._partners[name] = Partners(self, keys)
        return self._partners[name]

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (batch,) = batches
        assert batch.only_inserts(), "feedback is for rows that nobody takes back"
        self._layout = batch
        self.placed = self.rows.place(batch)
        for partners in self._partners.values():
            partners.take_in(batch, self.placed)
        return batch

    def rows_at(self, positions: Array) -> Batch:
        """Kept rows as they came."""
        assert self._layout is not None, "there are rows"
        (ts, seq), exp = self.rows.instants(positions), self.rows.expiry(positions)
        sign = np.ones(positions.size, np.int8)
        layout = self._layout
        return Batch(ts, seq, exp, sign, self.rows.ids(positions), layout.stores, layout.cells)

    def live(self, clock: int) -> Batch:
        return self.inputs[0].live(clock)

    def settle(self, clock: int) -> None:
        self.rows.settle(clock)

    def close(self) -> None:
        for partners in self._partners.values():
            partners.close()

    def kept(self) -> int:
        return self.rows.count()

    def state(self) -> State:
        partners = {str(i): p.state() for i, p in enumerate(self._partners.values())}
        return {"rows": self.rows.state(), "partners": partners}

    def restore(self, state: State) -> None:
        self.rows.restore(nested(state, "rows"))
        for i, partners in enumerate(self._partners.values()):
            partners.restore(nested(nested(state, "partners"), str(i)))


class Findable:
    """The rows of an input that a join may see, by join key."""

    def __init__(self, kept: Kept, keys: Sequence[Evaluator], *, scanned: bool = False) -> None:
        self.kept = kept
        self._keys = tuple(keys)
        self._index = kept.rows.new_index(scanned=scanned)

    def keys(self, batch: Batch) -> tuple[Array, Array | None]:
        """int64[n] keys, and which of them can match at all (None: all)."""
        return join_keys([k(batch) for k in self._keys], len(batch))

    def insert(self, positions: Array, keys: Array) -> None:
        """The chunk's new rows come to be seen, as of their instants."""
        self._index.insert(positions, keys)

    def link(self, positions: Array, keys: Array) -> None:
        """Earlier rows come to be seen."""
        self._index.link(positions, keys)

    def find(self, probes: Probes, *, inclusive: bool) -> tuple[Array, Array]:
        """Numbers of the probes and positions of the rows that match them."""
        return self._index.probe(probes, self.kept.rows.liveness, inclusive=inclusive)

    def close(self) -> None:
        """The join is gone."""
        self._index.close()

    def state(self) -> State:
        """Saved as plain arrays."""
        return self._index.state()

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self._index.restore(state)


class FindableToAll(Findable):
    """The same where all rows may be seen, and are never late: those who ask use the index too."""

    def __init__(self, kept: Kept, keys: Sequence[Evaluator], partners: Partners) -> None:
        self.kept = kept
        self._keys = tuple(keys)
        self._index = partners.index
        kept.complete(partners)

    def insert(self, positions: Array, keys: Array) -> None:
        """They have been put in already."""

    def link(self, positions: Array, keys: Array) -> None:
        """There are none."""
        assert positions.size == 0, "rows of a stream are never late"

    def close(self) -> None:
        """The index is not the join's."""

    def state(self) -> State:
        return {}

    def restore(self, state: State) -> None:
        """There is nothing to restore."""
