"""Where the rows of a join's input are: in the SteM of a stream, or in a store of their own."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from eddyline.runtime.batch import Batch
from eddyline.runtime.state import State
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import HashIndex, Liveness
from eddyline.runtime.stores.intermediates import columns_of
from eddyline.runtime.stores.rowstore import RowStore
from eddyline.runtime.stores.stem import Stem, StemWindow


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
        store.add_lane(name, fill, derived=True)

    def at(self, positions: Array) -> Array:
        """int64[n]: the numbers of rows."""
        return self._store.lane_at(self._name, positions)

    def held(self) -> tuple[Array, Array]:
        """Positions and numbers of all rows of the store."""
        return np.arange(self._store.first, self._store.end), self._store.held(self._name)

    def put(self, positions: Array, numbers: Array) -> None:
        """Change those of rows."""
        self._store.lane(self._name)[positions - self._store.base] = numbers

    def close(self) -> None:
        """Give it back."""
        self._store.remove_lane(self._name)

    def state(self) -> Array:
        """The numbers of all rows."""
        return self._store.held(self._name)

    def restore(self, numbers: Array) -> None:
        """Take over what ``state`` returned; the rows have been restored."""
        self._store.held(self._name)[:] = numbers


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
