"""The rows of a flow's side, as gates ask for them."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from functools import reduce

import numpy as np

from eddyline.runtime.batch import Batch
from eddyline.runtime.feedback.gate import Gate
from eddyline.runtime.feedback.partners import Known
from eddyline.runtime.join_inputs.stem_side import StemSide
from eddyline.runtime.state import State
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import HashIndex, Liveness
from eddyline.runtime.stores.rowstore import Lane
from eddyline.types import FOREVER

_NO_ROWS = np.zeros(0, np.int64)


class SideRows:
    """All rows of a side, whether it shows them or not.

    They stay as long as the SteM has them, since a query with a longer window may come: so none is
    ever said to have expired.

    Attributes:
        gate: behind which some wait.
        coming: int64[n], positions of the chunk's new rows, until all are shown or wait.
    """

    has_begun = True

    def __init__(self, side: StemSide) -> None:
        self.side = side
        self.gate: Gate | None = None
        self.coming: Array = _NO_ROWS

    @property
    def liveness(self) -> Liveness:
        return self.side.window.liveness

    def all(self) -> Array:
        waiting = [] if self.gate is None else [self.gate.waiting()]
        return reduce(np.union1d, [self.coming, *waiting, *self.side.shown()])

    def rows_at(self, positions: Array) -> Batch:
        stem = self.side.stem
        instants = (stem.lane_at("ts", positions), stem.lane_at("seq", positions))
        rows = self.side.rows(stem.ids(positions))
        return replace(rows, ts=instants[0], seq=instants[1], exp=np.full(positions.size, FOREVER))

    def new_index(self) -> HashIndex:
        return HashIndex(self.side.stem)

    def new_lane(self, fill: int) -> Lane:
        return Lane(self.side.stem, fill)

    def forget(self, known: Known) -> None:
        known.close()


class Shown(Known):
    """The rows of a side that shows all of them, by one of its keys: it has an index already."""

    def __init__(self, rows: SideRows, name: Hashable) -> None:
        super().__init__(rows, rows.side.key(name))
        self._side = rows.side
        self._name = name

    def _begin(self, positions: Array) -> None:
        """The side has seen to its index."""

    def _add(self, batch: Batch, positions: Array) -> None:
        keys, usable = self._keyed(batch)
        self.fresh = keys if usable is None else keys[usable]

    def exist(self, keys: Array, ts: Array) -> Array:
        index = self._side.index_of(self._name)
        return index.any_alive(keys, ts, self._side.window.liveness)

    def close(self) -> None:
        """The index is the side's."""

    def _saved(self) -> State:
        return {}

    def _restore(self, state: State) -> None:
        """A flow saves nothing."""
