"""Intermediate results: rows with their ids and lifespan, in a store of their own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from eddyline.runtime.batch import Batch
from eddyline.runtime.state import State
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import HashIndex, Liveness, Probes
from eddyline.runtime.stores.keys import group_hashes
from eddyline.runtime.stores.rowstore import RowStore
from eddyline.types import BEGINNING, FOREVER, Schema

#: The lanes with the instant at which a row was taken back.
DEATH = ("death_ts", "death_seq")


class ResultRows:
    """The rows of a result, which expire or are deleted in any order.

    Args:
        width: how many ids a row has.
        schema: payload columns, may be empty.
        strict: whether a '-' may delete a row before it expires.
        explicit: whether every row is deleted by a '-', also when it expires.
        by_ids: whether a '-' finds its row by an index of the ids; otherwise it is searched for
            among the rows of its key, from the newest on.
        lazy_us: how often expired rows are dropped; None: when they may be half of the store.
    """

    def __init__(
        self,
        width: int,
        schema: Schema = (),
        *,
        strict: bool = False,
        explicit: bool = False,
        by_ids: bool = False,
        lazy_us: int | None = None,
    ) -> None:
        self.store = RowStore(schema, ["ts", "seq", "exp"])
        self.store.add_block("ids", width)
        self._strict = strict or explicit
        if self._strict:
            self._add_deaths()
        death = DEATH if self._strict else None
        lane, lifespan = ("ts", FOREVER) if explicit else ("exp", 0)
        self.liveness = Liveness(lane, lifespan, fifo=False, death=death)
        self._by_ids = HashIndex(self.store) if by_ids else None
        self._lazy_us = lazy_us
        self._purged = BEGINNING  # clock of the last purge
        self._compact_at = 1024

    def _add_deaths(self) -> None:
        for lane in DEATH:
            self.store.add_lane(lane, FOREVER)

    def index_by_ids(self) -> HashIndex:
        """Let a '-' delete rows from now on; returns an index of them by their ids."""
        if not self._strict:
            self._strict = True
            self._add_deaths()
        index = HashIndex(self.store)
        index.fill(self.all(), self._hashes_of_ids())
        return index

    def _hashes_of_ids(self) -> Array:
        return group_hashes([pa.array(lane) for lane in self.store.held("ids").T])

    @property
    def text(self) -> str:
        """See ``Operator.kept_in``."""
        if self.liveness.lifespan == FOREVER:
            return "a hash table (negative tuples)"
        if self._strict:
            return "a hash table with ids (STR)"
        when = "by halves" if self._lazy_us is None else f"every {self._lazy_us / 1_000:g} ms"
        return f"a hash table, expired rows dropped {when} (WK)"

    def place(self, batch: Batch, columns: Sequence[pa.Array] = ()) -> Array:
        """Append rows, all '+', with their payload; int64[n], their positions."""
        return self._append(batch.ts, batch.seq, batch.exp, np.column_stack(batch.ids), columns)

    def _append(
        self, ts: Array, seq: Array, exp: Array, ids: Array, columns: Sequence[pa.Array]
    ) -> Array:
        new = self.store.append(ts.size, {"ts": ts, "seq": seq, "exp": exp, "ids": ids}, columns)
        return np.arange(new.start, new.stop)

    def take_in(
        self, batch: Batch, keys: Array, index: HashIndex, columns: Sequence[pa.Array] = ()
    ) -> Array:
        """Store and index the '+' rows, whose payload is ``columns``, and delete the '-' rows.

        Returns:
            int64[n]: the position of each change's row; negative: there is none.
        """
        if batch.only_inserts():
            new = self.place(batch, columns)
            index.insert(new, keys)
            if self._by_ids is not None:
                self._by_ids.insert(new, group_hashes([pa.array(i) for i in batch.ids]))
            return new
        entering, leaving = np.flatnonzero(batch.sign > 0), np.flatnonzero(batch.sign < 0)
        end, ids = self.store.end, np.column_stack(batch.ids)
        ts, seq, exp = (lane[entering] for lane in (batch.ts, batch.seq, batch.exp))
        new = self._append(ts, seq, exp, ids[entering], columns)
        index.insert(new, keys[entering])
        if self._by_ids is not None:
            index, keys = self._by_ids, group_hashes([pa.array(i) for i in batch.ids])
            index.insert(new, keys[entering])
        positions = np.empty(len(batch), np.int64)
        positions[entering] = new
        positions[leaving] = index.bury(
            Probes(keys[leaving], batch.ts[leaving], batch.seq[leaving]),
            ids[leaving],
            end + np.searchsorted(entering, leaving),
            "ids",
            DEATH,
        )
        return positions

    def ids(self, positions: Array) -> tuple[Array, ...]:
        """The ids of rows."""
        block = self.store.lane_at("ids", positions)
        return tuple(np.ascontiguousarray(block[:, i]) for i in range(block.shape[1]))

    def expiry(self, positions: Array) -> Array:
        """int64[n]: when rows expire."""
        return self.store.lane_at("exp", positions)

    def alive_until(self, positions: Array) -> Array:
        """See ``InputRows``: it is not needed where a '-' takes rows back."""
        return self.expiry(positions)

    def evict(self, clock: int) -> None:
        """Rows leave by '-' alone."""

    def leaving(self) -> Array:
        """See ``InputRows``."""
        return np.zeros(0, np.int64)

    def all(self) -> Array:
        """Positions of all rows, ascending."""
        return np.arange(self.store.first, self.store.end)

    def alive(self, clock: int) -> Array:
        """Positions of the rows that are alive at ``clock``."""
        return np.flatnonzero(self._alive(clock)) + self.store.first

    def _alive(self, clock: int) -> Array:
        alive: Array = self.store.held("exp") > clock
        if self._strict:
            alive &= self.store.held(DEATH[0]) == FOREVER
        return alive

    def settle(self, clock: int) -> None:
        """Drop expired and deleted rows, when it is time."""
        if self._lazy_us is None:
            due = len(self.store) >= self._compact_at
        else:
            due = clock - self._purged >= self._lazy_us
        if due:
            self.store.keep(self._alive(clock))
            self._compact_at = 2 * len(self.store) + 1024
            self._purged = clock

    def clear(self) -> None:
        """Drop all rows."""
        self.store.drop_before(self.store.end)

    def count(self) -> int:
        """Rows in the store."""
        return len(self.store)

    def state(self) -> State:
        """Saved as plain arrays."""
        return self.store.state()

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self.store.restore(state)
        if self._by_ids is not None:
            self._by_ids.fill(self.all(), self._hashes_of_ids())
        self._compact_at = 2 * len(self.store) + 1024
