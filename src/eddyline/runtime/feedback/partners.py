"""What is known of the rows of a join's input by their keys, for those who ask for a match."""

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

#: bool[n], which of n pairs meet a condition: numbers of who asks, and positions of rows.
Pairs: TypeAlias = Callable[[Array, Array], Array]

#: Pairs that are tried at once, at most.
_MOST_PAIRS: Final = 1 << 18
#: Who asks is compared with so many rows at first, and with more if it met none of these.
_FIRST_ROWS: Final = 16
_MORE_ROWS: Final = 8
_NO_ROWS = np.zeros(0, np.int64)


class Keeping(Protocol):
    """Whoever keeps the rows of an input.

    Attributes:
        has_begun: there may be rows.
    """

    has_begun: bool

    @property
    def liveness(self) -> Liveness:
        """How long they live."""

    def new_index(self) -> HashIndex:
        """An empty index over them."""

    def new_lane(self, fill: int) -> Lane:
        """A number for each of them, at first ``fill``."""

    def all(self) -> Array:
        """Positions, ascending, of all rows that were alive before the chunk, or have come."""

    def rows_at(self, positions: Array) -> Batch:
        """Rows as they came."""

    def forget(self, known: Known) -> None:
        """Nobody may ask for these any more."""


class Known(ABC):
    """What is known of rows by some of the columns that a consumer joins on.

    It is kept up while anybody asks.

    Attributes:
        holders: how many there are who may ask.
        fresh: int64[m], keys of the chunk's rows.
    """

    def __init__(self, kept: Keeping, keys: Sequence[Evaluator]) -> None:
        self._kept = kept
        self._keys = tuple(keys)
        self._users = 0
        self._was_not_saved = False
        self.holders = 0
        self.fresh: Array = _NO_ROWS

    @property
    def _stale(self) -> bool:
        return self._users == 0

    def acquire(self) -> None:
        """Somebody asks from now on."""
        if self._stale and self._kept.has_begun:
            self._begin(self._kept.all())
        self._users += 1

    def release(self) -> None:
        """Somebody does not ask any more."""
        self._users -= 1

    def renew(self) -> None:
        """It is others that count as rows now."""
        if not self._stale:
            self._begin(self._kept.all())

    def let_go(self) -> None:
        """One less may ask."""
        self.holders -= 1
        if self.holders == 0:
            self._kept.forget(self)

    def take_in(self, batch: Batch, positions: Array) -> None:
        """The chunk's new rows."""
        if self._stale:
            return
        if self._was_not_saved:
            self._was_not_saved = False
            self._begin(np.setdiff1d(self._kept.all(), positions, assume_unique=True))
        self._add(batch, positions)

    def _keyed(self, batch: Batch) -> tuple[Array, Array | None]:
        return join_keys([k(batch) for k in self._keys], len(batch))

    @abstractmethod
    def _begin(self, positions: Array) -> None:
        """Know these rows and no others: they have come while nobody asked."""

    @abstractmethod
    def _add(self, batch: Batch, positions: Array) -> None:
        """Know the chunk's new rows, too."""

    @abstractmethod
    def exist(self, keys: Array, ts: Array) -> Array:
        """bool[n]: whether there is a row with the key that expires after ``ts``."""

    def settle(self, clock: int) -> None:
        """The chunk is over: nobody will ask for what has expired."""

    @abstractmethod
    def close(self) -> None:
        """Nobody asks any more."""

    def state(self) -> State:
        """Saved as plain arrays; nothing while nobody asks, or while the rows are not known yet."""
        return {} if self._stale or self._was_not_saved else self._saved()

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned; nothing, if these were not asked for when it did."""
        self._was_not_saved = not state
        if state:
            self._restore(state)

    @abstractmethod
    def _saved(self) -> State: ...

    @abstractmethod
    def _restore(self, state: State) -> None: ...


class Partners(Known):
    """An index: it finds the rows themselves.

    Attributes:
        fresh_positions: int64[m], where the chunk's rows are.
    """

    def __init__(self, kept: Keeping, keys: Sequence[Evaluator]) -> None:
        super().__init__(kept, keys)
        self.index = kept.new_index()
        self.fresh_positions = self.fresh

    def _add(self, batch: Batch, positions: Array) -> None:
        keys, positions = self._indexed(batch, positions)
        self.index.insert(positions, keys)
        self.fresh, self.fresh_positions = keys, positions

    def _indexed(self, batch: Batch, positions: Array) -> tuple[Array, Array]:
        """Keys and positions of the rows that have a key."""
        keys, usable = self._keyed(batch)
        return (keys, positions) if usable is None else (keys[usable], positions[usable])

    def _begin(self, positions: Array) -> None:
        keys = positions
        if positions.size:
            keys, positions = self._indexed(self._kept.rows_at(positions), positions)
        self.index.fill(positions, keys)

    def exist(self, keys: Array, ts: Array) -> Array:
        """bool[n]: whether there is a row with the key that expires after ``ts``."""
        return self.index.any_alive(keys, ts, self._kept.liveness)

    def find(self, keys: Array, ts: Array) -> tuple[Array, Array]:
        """Numbers of the keys, ascending, and positions of these rows."""
        return self.index.all_alive(keys, ts, self._kept.liveness)

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
            liveness = self._kept.liveness
            by, found = self.index.look_on(keys[some], ts[some], liveness, at, stop, most)
            cursor[some] = at
            met[some[by[pairs(some[by], found)]]] = True
            asking = asking[~met[asking] & (cursor[asking] >= 0)]
            most *= _MORE_ROWS
        return met

    def keys_at(self, positions: Array) -> tuple[Array, Array]:
        """Keys of rows, and bool[n]: which of them have one that is not NULL."""
        return self.index.keys_at(positions)

    def close(self) -> None:
        self.index.close()

    def _saved(self) -> State:
        return self.index.state()

    def _restore(self, state: State) -> None:
        self.index.restore(state)
