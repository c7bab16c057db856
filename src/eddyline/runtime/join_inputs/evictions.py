"""Results of windows of rows, of which some leave when one of their rows is evicted.

Windows of rows below a tree of joins report no evictions. Results of the lower joins are found by
the ids of the rows in them, and get the instant of the first eviction as their death; the join on
top makes a '-' of each of its results. So there is no '-' per result below the top, and rows that
gates suspend cost none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from eddyline.kernels.hashing import mix_all
from eddyline.runtime.batch import Batch, before
from eddyline.runtime.state import State
from eddyline.runtime.stores.columns import Array, unique
from eddyline.runtime.stores.index import HashIndex
from eddyline.runtime.stores.intermediates import DEATH, ResultRows
from eddyline.runtime.stores.stem import Stem, StemWindow
from eddyline.types import BEGINNING, FOREVER

_NO_ROWS = np.zeros(0, np.int64)


@dataclass(frozen=True, slots=True)
class EvictingWindow:
    """A window of rows below a result: the number of its rows' id among the ids of a result."""

    number: int
    stem: Stem
    window: StemWindow


class EvictedResults(ResultRows):
    """Results that leave when one of their rows is evicted, or expire.

    Args:
        width: how many ids a result has. windows: the windows of rows below.
    """

    def __init__(
        self, width: int, windows: Sequence[EvictingWindow], lazy_us: int | None = None
    ) -> None:
        super().__init__(width, strict=True, lazy_us=lazy_us)
        self._windows = tuple(windows)
        self._by_row = [HashIndex(self.store) for _ in windows]
        self._leaving = _NO_ROWS

    def place(self, batch: Batch, columns: Sequence[pa.Array] = ()) -> Array:
        positions = super().place(batch, columns)
        for window, index in zip(self._windows, self._by_row, strict=True):
            index.insert(positions, mix_all(batch.ids[window.number]))
        return positions

    def evict(self, clock: int) -> None:
        found = [_NO_ROWS]
        for window, index in zip(self._windows, self._by_row, strict=True):
            evicted = window.stem.evicted.get(window.window)
            if evicted is not None and evicted.ids.size:
                found.append(index.take_out(mix_all(evicted.ids)))
        positions = unique(np.concatenate(found))
        positions = positions[self.expiry(positions) > clock]
        ts, seq = self._deaths(positions)
        for lane, values in zip(DEATH, (ts, seq), strict=True):
            self.store.lane(lane)[positions - self.store.base] = values
        self._leaving = positions

    def leaving(self) -> Array:
        return self._leaving

    def _deaths(self, positions: Array) -> tuple[Array, Array]:
        """When the first row of each result was evicted."""
        ids = self.ids(positions)
        ts, seq = np.full((2, positions.size), FOREVER)
        for window in self._windows:
            lanes = window.window.liveness.death
            assert lanes is not None, "it is a window of rows"
            places = window.stem.positions(ids[window.number])
            own_ts, own_seq = (window.stem.lane_at(lane, places) for lane in lanes)
            first = before(own_ts, own_seq, ts, seq)
            ts, seq = np.where(first, own_ts, ts), np.where(first, own_seq, seq)
        return ts, seq

    def settle(self, clock: int) -> None:
        self.store.lane("exp")[self._leaving - self.store.base] = BEGINNING
        self._leaving = _NO_ROWS
        super().settle(clock)

    def restore(self, state: State) -> None:
        super().restore(state)
        gone = self.store.held(DEATH[0]) < FOREVER
        self.store.held("exp")[gone] = BEGINNING  # rows that were saved before are not saved again
        positions = self.all()
        ids = self.ids(positions)
        for window, index in zip(self._windows, self._by_row, strict=True):
            index.fill(positions, mix_all(ids[window.number]))
