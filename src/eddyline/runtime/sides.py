"""The sides of a join: an input's live rows, findable by key."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from eddyline.runtime.batch import Batch, Evaluator
from eddyline.runtime.columns import Array
from eddyline.runtime.index import HashIndex, Liveness, Probes
from eddyline.runtime.keys import join_keys
from eddyline.runtime.rowstore import RowStore
from eddyline.runtime.state import State, nested
from eddyline.runtime.stem import Stem, StemWindow
from eddyline.runtime.table import DEATH, TableStem
from eddyline.types import FOREVER


class Side(ABC):
    """One input of a join: its live rows, findable by key."""

    def __init__(self, keys: Sequence[Evaluator]) -> None:
        self._keys = tuple(keys)

    def keys(self, batch: Batch) -> tuple[Array, Array | None]:
        """int64[n] keys of the changes, and which of them can match at all (None: all)."""
        return join_keys([k(batch) for k in self._keys], len(batch))

    @abstractmethod
    def take_in(self, batch: Batch, keys: Array) -> None:
        """Insert the '+' rows of the chunk and note the '-' rows."""

    @abstractmethod
    def find(self, probes: Probes, *, inclusive: bool) -> tuple[Array, Array]:
        """Numbers of the probes and positions of the rows they match."""

    @abstractmethod
    def rows(self, positions: Array) -> tuple[tuple[Array, ...], Array]:
        """Row ids and expiry of positions."""

    def settle(self, clock: int) -> None:
        """Forget what has expired."""

    def close(self) -> None:
        """Give back what it holds in a shared store."""

    def state(self) -> State:
        """Saved as plain arrays."""
        return {}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""

    def kept(self) -> int:
        """Rows in a store of its own."""
        return 0


class StemSide(Side):
    """A base stream: the side is an index over its SteM, of the rows that passed the filters."""

    def __init__(self, keys: Sequence[Evaluator], stem: Stem, window: StemWindow) -> None:
        super().__init__(keys)
        self._stem = stem
        self._window = window
        self._index = stem.new_index()

    def take_in(self, batch: Batch, keys: Array) -> None:
        new = batch.sign > 0
        ids = batch.ids[0] if new.all() else batch.ids[0][new]
        self._index.insert(self._stem.positions(ids), keys if new.all() else keys[new])

    def find(self, probes: Probes, *, inclusive: bool) -> tuple[Array, Array]:
        return self._index.probe(probes, self._window.liveness, inclusive=inclusive)

    def rows(self, positions: Array) -> tuple[tuple[Array, ...], Array]:
        expiry = self._window.expiry(self._stem.lane_at("ts", positions))
        return (self._stem.ids(positions),), expiry

    def close(self) -> None:
        self._index.close()

    def state(self) -> State:
        return {"index": self._index.state()}

    def restore(self, state: State) -> None:
        self._index.restore(nested(state, "index"))


class TableSide(StemSide):
    """A non-retroactive table: its rows as of any instant since the last chunk began.

    Rows that died earlier leave the index, though the SteM may remember them: else the chain of a
    row that is updated often would grow with every update.

    Args:
        history: keep them all the same, for probes as of any instant that is remembered.
    """

    def __init__(self, keys: Sequence[Evaluator], table: TableStem, *, history: bool) -> None:
        super().__init__(keys, table, table.window)
        self._table = table
        self._history = history
        self._trimmed_at = table.deleted

    def settle(self, clock: int) -> None:
        table = self._table
        if self._history or table.deleted - self._trimmed_at <= table.alive + 64:
            return
        self._index.forget(table.held(DEATH[0]) < FOREVER)
        self._trimmed_at = table.deleted


class CompositeSide(Side):
    """An intermediate result: row id tuples with their expiry in a store of its own.

    Rows expire in any order; they are compacted away when they may be half of the store.

    Args:
        width: how many ids a row has.
        strict: whether a '-' may take a row back before it expires.
        explicit: whether every row leaves by a '-', also when it expires.
    """

    _DEATH = ("death_ts", "death_seq")

    def __init__(
        self, keys: Sequence[Evaluator], width: int, *, strict: bool, explicit: bool = False
    ) -> None:
        super().__init__(keys)
        self._id_lanes = tuple(f"id{i}" for i in range(width))
        self._store = RowStore((), ["ts", "seq", "exp", *self._id_lanes])
        self._strict = strict or explicit
        if self._strict:
            for lane in self._DEATH:
                self._store.add_lane(lane, FOREVER)
        death = self._DEATH if self._strict else None
        lane, lifespan = ("ts", FOREVER) if explicit else ("exp", 0)
        self._liveness = Liveness(lane, lifespan, fifo=False, death=death)
        self._index = HashIndex(self._store, "join")
        self._compact_at = 1024

    def take_in(self, batch: Batch, keys: Array) -> None:
        entering = np.flatnonzero(batch.sign > 0)
        lanes: dict[str, Array | int] = {
            "ts": batch.ts[entering],
            "seq": batch.seq[entering],
            "exp": batch.exp[entering],
        }
        lanes |= {n: i[entering] for n, i in zip(self._id_lanes, batch.ids, strict=True)}
        positions = self._store.append(entering.size, lanes)
        self._index.insert(np.arange(positions.start, positions.stop), keys[entering])
        if self._strict:
            leaving = np.flatnonzero(batch.sign < 0)
            self._index.bury(
                Probes(keys[leaving], batch.ts[leaving], batch.seq[leaving]),
                tuple(i[leaving] for i in batch.ids),
                positions.start + np.searchsorted(entering, leaving),
                self._id_lanes,
                self._DEATH,
            )

    def find(self, probes: Probes, *, inclusive: bool) -> tuple[Array, Array]:
        return self._index.probe(probes, self._liveness, inclusive=inclusive)

    def rows(self, positions: Array) -> tuple[tuple[Array, ...], Array]:
        ids = tuple(self._store.lane_at(n, positions) for n in self._id_lanes)
        return ids, self._store.lane_at("exp", positions)

    def settle(self, clock: int) -> None:
        if len(self._store) < self._compact_at:
            return
        alive = self._store.held("exp") > clock
        if self._strict:
            alive &= self._store.held(self._DEATH[0]) == FOREVER
        self._store.keep(alive)
        self._compact_at = 2 * len(self._store) + 1024

    def kept(self) -> int:
        return len(self._store)

    def state(self) -> State:
        return {"store": self._store.state(), "index": self._index.state()}

    def restore(self, state: State) -> None:
        self._store.restore(nested(state, "store"))
        self._index.restore(nested(state, "index"))
        self._compact_at = 2 * len(self._store) + 1024
