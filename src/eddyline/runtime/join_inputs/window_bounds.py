"""How far back windows reach over a store, at instants that may be long past."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.rowstore import RowStore


class Reach(Protocol):
    """Windows over a store, by time or by rows.

    ``inclusive``: the instants (ts, seq) are those of changes that see the row of their own event.
    """

    def oldest(self, ts: Array, seq: Array, length: Array | int, *, inclusive: bool) -> Array:
        """int64[n]: the first position that windows of ``length`` hold at each instant."""

    def instants(
        self, ts: Array, seq: Array, by: Array, positions: Array, *, inclusive: bool
    ) -> Array:
        """int64[p]: ``ts`` less how old rows were then.

        Args:
            by, positions: int64[p], of which instant, and of which row.
        """


class TimeReach:
    """Windows by time: how old rows are is told in microseconds."""

    def __init__(self, store: RowStore) -> None:
        self._store = store

    def oldest(self, ts: Array, seq: Array, length: Array | int, *, inclusive: bool) -> Array:
        """See ``Reach``."""
        below: Array = np.searchsorted(self._store.held("ts"), ts - length, "right")
        return below + self._store.first

    def instants(
        self, ts: Array, seq: Array, by: Array, positions: Array, *, inclusive: bool
    ) -> Array:
        """See ``Reach``: when the rows came."""
        return self._store.lane_at("ts", positions)
