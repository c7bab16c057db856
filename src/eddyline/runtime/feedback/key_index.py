"""The keys of a join input's rows, for probes that require a match."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Final, Protocol, TypeAlias

import numpy as np

from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.state import State
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import HashIndex, Liveness
from eddyline.runtime.stores.keys import join_keys
from eddyline.runtime.stores.rowstore import Lane

#: bool[n], which of n pairs meet a condition: numbers of probes, and positions of rows.
PairTest: TypeAlias = Callable[[Array, Array], Array]

#: Maximum number of pairs that are tested at once.
_MOST_PAIRS: Final = 1 << 18
#: Number of rows that a probe is compared with at first, and the factor after each failure.
_FIRST_ROWS: Final = 16
_MORE_ROWS: Final = 8
_NO_ROWS = np.zeros(0, np.int64)


class RowBuffer(Protocol):
    """The rows of an input, visible to its join or not.

    Attributes:
        has_begun: there may be rows.
    """

    has_begun: bool

    @property
    def liveness(self) -> Liveness:
        """Which rows are alive at an instant."""

    def new_index(self) -> HashIndex:
        """An empty index over the rows."""

    def new_lane(self, fill: int) -> Lane:
        """A number for each row, at first ``fill``."""

    def all(self) -> Array:
        """Positions, ascending, of the rows that were alive before the chunk, and of new ones."""

    def rows_at(self, positions: Array) -> Batch:
        """The rows at positions."""

    def forget(self, keys: KeySet) -> None:
        """Close a key set that has no readers any more."""


class KeySet(ABC):
    """The values of some key columns that rows have. It is maintained while there are users.

    Attributes:
        readers: number of probes that may use it.
        fresh: int64[m], keys of the rows that came or were released with the chunk.
    """

    def __init__(self, buffer: RowBuffer, keys: Sequence[Evaluator]) -> None:
        self._buffer = buffer
        self._keys = tuple(keys)
        self._users = 0
        self._was_not_saved = False
        self.readers = 0
        self.fresh: Array = _NO_ROWS

    @property
    def _stale(self) -> bool:
        return self._users == 0

    def acquire(self) -> None:
        """Add a user."""
        if self._stale:
            self._open()
        if (self._stale or self._was_not_saved) and self._buffer.has_begun:
            self._was_not_saved = False
            self._begin(self._buffer.all())
        self._users += 1

    def release(self) -> None:
        """Remove a user."""
        self._users -= 1
        if self._stale:
            self.close()

    def renew(self) -> None:
        """Rebuild: the buffer has other rows."""
        if not self._stale:
            self._begin(self._buffer.all())

    def drop_reader(self) -> None:
        """Remove a reader."""
        self.readers -= 1
        if self.readers == 0:
            self._buffer.forget(self)

    def take_in(self, batch: Batch, positions: Array, released: Array = _NO_ROWS) -> None:
        """Add the chunk's new rows, and rows of earlier chunks, at the positions ``released``."""
        if self._stale:
            return
        if self._was_not_saved:
            self._was_not_saved = False
            self._begin(np.setdiff1d(self._buffer.all(), np.concatenate((positions, released))))
        if released.size == 0:
            self._add(batch, positions)
            return
        earlier = self._link(self._buffer.rows_at(released), released)
        self._add(batch, positions)
        self.fresh = np.concatenate((earlier, self.fresh))

    def _keyed(self, batch: Batch) -> tuple[Array, Array | None]:
        return join_keys([k(batch) for k in self._keys], len(batch))

    def _open(self) -> None:
        """There is a user, and there was none."""

    @abstractmethod
    def _begin(self, positions: Array) -> None:
        """Hold the keys of these rows and no others."""

    @abstractmethod
    def _add(self, batch: Batch, positions: Array) -> None:
        """Add the keys of the chunk's new rows."""

    @abstractmethod
    def _link(self, batch: Batch, positions: Array) -> Array:
        """Add rows of earlier chunks, before ``_add``; returns their keys."""

    @abstractmethod
    def exist(self, keys: Array, ts: Array) -> Array:
        """bool[n]: whether there is a row with the key that expires after ``ts``."""

    def settle(self, clock: int) -> None:
        """The chunk is over: rows that have expired are not probed for any more."""

    @abstractmethod
    def close(self) -> None:
        """Remove its lanes from the store, if it has any."""

    def state(self) -> State:
        """Saved as plain arrays; nothing while it has no users, or is not built yet."""
        return {} if self._stale or self._was_not_saved else self._saved()

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned; if that was nothing, build it from the rows."""
        self._was_not_saved = not state
        if state:
            self._restore(state)

    @abstractmethod
    def _saved(self) -> State: ...

    @abstractmethod
    def _restore(self, state: State) -> None: ...


class KeyIndex(KeySet):
    """An index: it finds the rows themselves.

    Attributes:
        fresh_positions: int64[m], positions of the rows that came or were released with the chunk,
            the oldest first.
    """

    def __init__(self, buffer: RowBuffer, keys: Sequence[Evaluator]) -> None:
        super().__init__(buffer, keys)
        self._index: HashIndex | None = None  # without users
        self.fresh_positions = self.fresh
        self._linked = _NO_ROWS  # of the chunk, before ``_add``

    @property
    def index(self) -> HashIndex:
        """The chains by key; there are none without users."""
        assert self._index is not None, "acquired"
        return self._index

    def _open(self) -> None:
        self._index = self._buffer.new_index()

    def _add(self, batch: Batch, positions: Array) -> None:
        keys, positions = self._indexed(batch, positions)
        self.index.insert(positions, keys)
        self.fresh = keys
        self.fresh_positions = np.concatenate((self._linked, positions))
        self._linked = _NO_ROWS

    def _link(self, batch: Batch, positions: Array) -> Array:
        keys, positions = self._indexed(batch, positions)
        self.index.link(positions, keys)
        self._linked = positions
        return keys

    def _indexed(self, batch: Batch, positions: Array) -> tuple[Array, Array]:
        """Keys and positions of the rows that have a key."""
        keys, usable = self._keyed(batch)
        return (keys, positions) if usable is None else (keys[usable], positions[usable])

    def _begin(self, positions: Array) -> None:
        keys = positions
        if positions.size:
            keys, positions = self._indexed(self._buffer.rows_at(positions), positions)
        self.index.fill(positions, keys)

    def exist(self, keys: Array, ts: Array) -> Array:
        return self.index.any_alive(keys, ts, self._buffer.liveness)

    def find(self, keys: Array, ts: Array) -> tuple[Array, Array]:
        """Numbers of the keys, ascending, and positions of the rows with them that expire after
        ``ts``.
        """
        return self.index.all_alive(keys, ts, self._buffer.liveness)

    def meet(self, keys: Array, ts: Array, pairs: PairTest, *, fresh: bool = False) -> Array:
        """bool[n]: for which keys there is a row with it that expires after ``ts`` and passes the
        test together with the key's probe. A bounded number of pairs is tested at a time, newest
        rows first.

        Args:
            fresh: test the chunk's rows only.
        """
        met = np.zeros(keys.size, np.bool_)
        if keys.size == 0 or (fresh and self.fresh_positions.size == 0):
            return met
        stop = int(self.fresh_positions[0]) if fresh else 0
        cursor, most = self.index.look(keys), _FIRST_ROWS
        left = np.flatnonzero(cursor >= stop)
        while left.size:
            some, at = left[:_MOST_PAIRS], cursor[left[:_MOST_PAIRS]]
            most = max(min(most, _MOST_PAIRS // some.size), 1)
            liveness = self._buffer.liveness
            by, found = self.index.look_on(keys[some], ts[some], liveness, at, stop, most)
            cursor[some] = at
            met[some[by[pairs(some[by], found)]]] = True
            left = left[~met[left] & (cursor[left] >= 0)]
            most *= _MORE_ROWS
        return met

    def keys_at(self, positions: Array) -> tuple[Array, Array]:
        """Keys of rows, and bool[n]: which of them have one that is not NULL."""
        return self.index.keys_at(positions)

    def close(self) -> None:
        if self._index is not None:
            self._index.close()
            self._index = None

    def _saved(self) -> State:
        return self.index.state()

    def _restore(self, state: State) -> None:
        self.index.restore(state)
