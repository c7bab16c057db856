"""The sides of a join: an input's live rows, findable by key."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np

from eddyline.runtime.batch import Batch, Evaluator, before
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import Probes
from eddyline.runtime.stores.intermediates import Results
from eddyline.runtime.stores.keys import join_keys
from eddyline.runtime.stores.stem import Stem, StemWindow
from eddyline.runtime.stores.table import DEATH, TableStem
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

    def __init__(
        self,
        keys: Sequence[Evaluator],
        stem: Stem,
        window: StemWindow,
        *,
        scanned: bool = False,
    ) -> None:
        super().__init__(keys)
        self._stem = stem
        self._window = window
        self._index = stem.new_index(scanned=scanned)

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


class StaticSide(StemSide):
    """A static table: its rows have always been there."""

    def take_in(self, batch: Batch, keys: Array) -> None:
        super().take_in(batch, keys)
        self._index.admit()

    def was_there(self, ids: Array, ts: Array, seq: Array) -> Array:
        """bool[n]: whether rows were there at instants."""
        return np.ones(ids.size, np.bool_)


class TableSide(StemSide):
    """A non-retroactive table: its rows as of any instant since the last chunk began.

    Rows that died earlier leave the index, though the SteM may remember them: else the chain of a
    row that is updated often would grow with every update.

    Args:
        remember: for how long a result, or a left row that is still alive, may refer to a row that
            has been deleted; microseconds.
        history: keep them all the same, for probes as of any instant that is remembered.
    """

    def __init__(
        self, keys: Sequence[Evaluator], table: TableStem, *, remember: int, history: bool
    ) -> None:
        super().__init__(keys, table, table.window)
        self._table = table
        self._remember = remember
        self._history = history
        self._trimmed_at = table.deleted
        table.remember(remember)

    def was_there(self, ids: Array, ts: Array, seq: Array) -> Array:
        """bool[n]: whether rows were there at instants."""
        positions = self._table.positions(ids)
        came = [self._table.lane_at(lane, positions) for lane in ("ts", "seq")]
        died = [self._table.lane_at(lane, positions) for lane in DEATH]
        return before(came[0], came[1], ts, seq) & before(ts, seq, died[0], died[1])

    def close(self) -> None:
        super().close()
        self._table.forget(self._remember)

    def settle(self, clock: int) -> None:
        table = self._table
        if self._history or table.deleted - self._trimmed_at <= table.alive + 64:
            return
        self._index.forget(table.held(DEATH[0]) < FOREVER)
        self._trimmed_at = table.deleted


class CompositeSide(Side):
    """An intermediate result: row id tuples with their expiry in a store of its own.

    Args:
        width: how many ids a row has.
        strict: whether a '-' may take a row back before it expires.
        explicit: whether every row leaves by a '-', also when it expires.
        lazy_us, scanned: see ``Results``.
    """

    def __init__(
        self,
        keys: Sequence[Evaluator],
        width: int,
        *,
        strict: bool,
        explicit: bool = False,
        lazy_us: int | None = None,
        scanned: bool = False,
    ) -> None:
        super().__init__(keys)
        self._results = Results(
            (), width, strict=strict, explicit=explicit, lazy_us=lazy_us, scanned=scanned
        )

    def take_in(self, batch: Batch, keys: Array) -> None:
        self._results.take_in(batch, keys)

    def find(self, probes: Probes, *, inclusive: bool) -> tuple[Array, Array]:
        return self._results.find(probes, inclusive=inclusive)

    def rows(self, positions: Array) -> tuple[tuple[Array, ...], Array]:
        return self._results.ids(positions), self._results.store.lane_at("exp", positions)

    def settle(self, clock: int) -> None:
        self._results.settle(clock)

    def kept(self) -> int:
        return len(self._results)

    def state(self) -> State:
        return self._results.state()

    def restore(self, state: State) -> None:
        self._results.restore(state)
