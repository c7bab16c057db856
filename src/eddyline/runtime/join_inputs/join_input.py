"""One input of a join: its visible rows, by key."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

import numpy as np

from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.join_inputs.access import ScanIndex
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array, all_of, any_of
from eddyline.runtime.stores.index import HashIndex, Liveness, Probes
from eddyline.runtime.stores.keys import join_keys
from eddyline.runtime.stores.rowstore import RowStore
from eddyline.runtime.stores.stem import Stem, StemWindow
from eddyline.types import BEGINNING, FOREVER

_NO_ROWS: Final = np.zeros(0, np.int64)


class InputRows(Protocol):
    """Where the rows of an input are stored: ``StemRows``, or ``ResultRows`` for a result."""

    @property
    def store(self) -> RowStore:
        """The store; its lanes ``ts`` and ``seq`` are the instants at which rows came."""

    @property
    def liveness(self) -> Liveness:
        """Which rows are alive at an instant."""

    @property
    def text(self) -> str:
        """See ``Operator.kept_in``."""

    def place(self, batch: Batch) -> Array:
        """int64[n]: the positions of new rows, all '+'."""

    def take_in(self, batch: Batch, keys: Array, index: HashIndex) -> object:
        """Index the '+' rows of the chunk and delete the '-' rows."""

    def ids(self, positions: Array) -> tuple[Array, ...]:
        """The ids of rows."""

    def expiry(self, positions: Array) -> Array:
        """int64[n]: when rows expire."""

    def alive_until(self, positions: Array) -> Array:
        """int64[n]: when rows expire; an instant before all others for those taken back before the
        chunk.
        """

    def evict(self, clock: int) -> None:
        """Call after the chunk's rows were placed: note which of those alive after ``clock`` leave
        in the chunk since base rows are evicted.
        """

    def leaving(self) -> Array:
        """int64: positions of the rows that leave in the chunk, in any order."""

    def all(self) -> Array | None:
        """Positions of all rows, ascending; None: the store has other rows as well."""

    def settle(self, clock: int) -> None:
        """The chunk is over: drop expired rows."""

    def count(self) -> int:
        """Rows in a store of its own."""

    def state(self) -> State:
        """Saved as plain arrays."""

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""


class StemRows:
    """Rows of a stream or table, in its SteM."""

    text = ""

    def __init__(self, stem: Stem, window: StemWindow) -> None:
        self.store = stem
        self._window = window

    @property
    def liveness(self) -> Liveness:
        return self._window.liveness

    def place(self, batch: Batch) -> Array:
        return self.store.positions(batch.ids[0])

    def take_in(self, batch: Batch, keys: Array, index: HashIndex) -> None:
        """Index the '+' rows; the SteM has noted the '-' rows."""
        if not batch.ts.size:
            index.insert(_NO_ROWS, _NO_ROWS)
            return
        new = batch.sign > 0
        if all_of(new):
            index.insert(self.place(batch), keys)
        else:
            index.insert(self.store.positions(batch.ids[0][new]), keys[new])

    def ids(self, positions: Array) -> tuple[Array, ...]:
        return (self.store.ids(positions),)

    def expiry(self, positions: Array) -> Array:
        return self._window.expiry(self.store.lane_at("ts", positions))

    def alive_until(self, positions: Array) -> Array:
        expiry, death = self.expiry(positions), self._window.liveness.death
        if death is None:
            return expiry
        gone = self.store.lane_at(death[0], positions) < FOREVER
        if any_of(gone) and isinstance(self.store, Stem):
            evicted = self.store.evicted.get(self._window)
            if evicted is not None:  # in this chunk
                gone &= ~np.isin(self.store.ids(positions), evicted.ids)
        return np.where(gone, BEGINNING, expiry)

    def evict(self, clock: int) -> None:
        """The SteM has noted it."""

    def leaving(self) -> Array:
        evicted = self.store.evicted.get(self._window) if isinstance(self.store, Stem) else None
        return self.store.positions(np.zeros(0, np.int64) if evicted is None else evicted.ids)

    def all(self) -> None:
        return None

    def settle(self, clock: int) -> None:
        """The SteM drops its rows itself."""

    def count(self) -> int:
        return 0

    def state(self) -> State:
        return {}

    def restore(self, state: State) -> None:
        """The SteM saves its rows itself."""


class JoinInput:
    """The rows of one input that a probe can see, by join key.

    Args:
        rows: where they are stored.
        keys: compute the columns of the join key; none: all rows have one key.
        index: over the visible rows; None: a new one.
        scanned: see ``HashIndex``.
    """

    def __init__(
        self,
        rows: InputRows,
        keys: Sequence[Evaluator],
        *,
        index: HashIndex | ScanIndex | None = None,
        scanned: bool = False,
    ) -> None:
        self.rows = rows
        self._keys = tuple(keys)
        self.index: HashIndex | ScanIndex = (
            HashIndex(rows.store, scanned=scanned) if index is None else index
        )

    @property
    def hashed(self) -> HashIndex:
        """The index of rows with keys."""
        assert isinstance(self.index, HashIndex), "rows without keys are scanned"
        return self.index

    def keys(self, batch: Batch) -> tuple[Array, Array | None]:
        """int64[n] keys, and bool[n]: which of them can match at all (None: all)."""
        return join_keys([k(batch) for k in self._keys], len(batch))

    def keyed(self, batch: Batch) -> tuple[Batch, Array]:
        """The changes that can match at all (those without NULL in the key), and their keys."""
        keys, usable = self.keys(batch)
        if usable is None or all_of(usable):
            return batch, keys
        return batch.where(usable), keys[usable]

    def take_in(self, batch: Batch) -> tuple[Batch, Array]:
        """Take in the chunk's changes; returns ``keyed``."""
        keys = _NO_ROWS
        if batch.ts.size:
            batch, keys = self.keyed(batch)
        self.rows.take_in(batch, keys, self.hashed)
        return batch, keys

    def find(self, probes: Probes, *, inclusive: bool) -> tuple[Array, Array]:
        """Numbers of the probes and positions of the rows that they match.

        Args:
            inclusive: whether a probe sees the row of its own event.
        """
        if not probes.ts.size:
            return _NO_ROWS, _NO_ROWS
        return self.index.probe(probes, self.rows.liveness, inclusive=inclusive)

    def settle(self, clock: int) -> None:
        """The chunk is over: drop expired rows."""
        self.rows.settle(clock)

    def close(self) -> None:
        """Remove its lanes from the store."""
        self.index.close()

    def kept(self) -> int:
        """Rows in a store of its own."""
        return self.rows.count()

    def state(self) -> State:
        """Saved as plain arrays."""
        return {"rows": self.rows.state(), "index": self.hashed.state()}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self.rows.restore(nested(state, "rows"))
        self.hashed.restore(nested(state, "index"))
