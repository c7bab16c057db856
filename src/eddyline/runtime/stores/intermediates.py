"""Intermediate results: rows that are found by a key, and taken back by their ids."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from eddyline.runtime.batch import Batch
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import HashIndex, Liveness, Probes
from eddyline.runtime.stores.rowstore import RowStore
from eddyline.types import BEGINNING, FOREVER, Schema

_DEATH = ("death_ts", "death_seq")


class Results:
    """Rows with their ids and lifespan, in a store and an index of their own.

    Rows leave in any order.

    Args:
        schema: payload columns, may be empty.
        width: how many ids a row has.
        strict: whether a '-' may take a row back before it expires.
        explicit: whether every row leaves by a '-', also when it expires.
        lazy_us: how often what has left is forgotten; None: when it may be half of the store.
        scanned: see ``HashIndex``.
    """

    def __init__(
        self,
        schema: Schema,
        width: int,
        *,
        strict: bool,
        explicit: bool = False,
        lazy_us: int | None = None,
        scanned: bool = False,
    ) -> None:
        self.store = RowStore(schema, ["ts", "seq", "exp"])
        self.store.add_block("ids", width)
        self._strict = strict or explicit
        if self._strict:
            for lane in _DEATH:
                self.store.add_lane(lane, FOREVER)
        self._index = HashIndex(self.store, "key", scanned=scanned)
        death = _DEATH if self._strict else None
        lane, lifespan = ("ts", FOREVER) if explicit else ("exp", 0)
        self._liveness = Liveness(lane, lifespan, fifo=False, death=death)
        self._lazy_us = lazy_us
        self._purged = BEGINNING  # when it was forgotten last
        self._compact_at = 1024

    def __len__(self) -> int:
        return len(self.store)

    def take_in(self, batch: Batch, keys: Array, columns: Sequence[pa.Array] = ()) -> Array:
        """Store the '+' rows, whose payload is ``columns``, and note the '-' rows.

        Returns:
            int64[n]: the position of each change's row.
        """
        entering = np.flatnonzero(batch.sign > 0)
        ids = np.column_stack(batch.ids)
        new = self.store.append(
            entering.size,
            {
                "ts": batch.ts[entering],
                "seq": batch.seq[entering],
                "exp": batch.exp[entering],
                "ids": ids[entering],
            },
            columns,
        )
        positions = np.empty(len(batch), np.int64)
        positions[entering] = np.arange(new.start, new.stop)
        self._index.insert(positions[entering], keys[entering])
        if entering.size < len(batch):
            leaving = np.flatnonzero(batch.sign < 0)
            positions[leaving] = self._index.bury(
                Probes(keys[leaving], batch.ts[leaving], batch.seq[leaving]),
                ids[leaving],
                new.start + np.searchsorted(entering, leaving),
                "ids",
                _DEATH,
            )
        return positions

    def find(self, probes: Probes, *, inclusive: bool) -> tuple[Array, Array]:
        """Numbers of the probes and positions of the rows alive that they match."""
        return self._index.probe(probes, self._liveness, inclusive=inclusive)

    def ids(self, positions: Array) -> tuple[Array, ...]:
        """The ids of rows."""
        return columns_of(self.store.lane_at("ids", positions))

    def alive(self, clock: int) -> Array:
        """Positions of the rows that are alive at ``clock``."""
        return np.flatnonzero(self._alive(clock)) + self.store.first

    def _alive(self, clock: int) -> Array:
        alive: Array = self.store.held("exp") > clock
        if self._strict:
            alive &= self.store.held(_DEATH[0]) == FOREVER
        return alive

    def settle(self, clock: int) -> None:
        """Forget what has left."""
        if self._lazy_us is None:
            due = len(self.store) >= self._compact_at
        else:
            due = clock - self._purged >= self._lazy_us
        if due:
            self.store.keep(self._alive(clock))
            self._compact_at = 2 * len(self.store) + 1024
            self._purged = clock

    def clear(self) -> None:
        """Forget everything."""
        self.store.drop_before(self.store.end)

    def state(self) -> State:
        """Saved as plain arrays."""
        return {"store": self.store.state(), "index": self._index.state()}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self.store.restore(nested(state, "store"))
        self._index.restore(nested(state, "index"))
        self._compact_at = 2 * len(self.store) + 1024


def columns_of(block: Array) -> tuple[Array, ...]:
    """The columns of int64[n, k], each contiguous."""
    return tuple(np.ascontiguousarray(block[:, i]) for i in range(block.shape[1]))
