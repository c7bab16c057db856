"""Scan: the rows of a SteM through a window."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eddyline.runtime.batch import Batch, Stored
from eddyline.runtime.columns import Array
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.stem import Stem, StemWindow


class Scan(Operator):
    """Emits each row when it comes and, for a ROWS window, a '-' for the row that it pushes out."""

    def __init__(self, stem: Stem, window: StemWindow, window_key: object) -> None:
        super().__init__(())
        self.stem = stem
        self.window = window
        self._key = window_key
        self._cells = tuple(Stored(0, i) for i in range(len(stem.schema)))

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        fresh = self.stem.fresh
        entering = self._rows(fresh, self.stem.positions(fresh))
        pushed = self.stem.pushed.get(self._key)
        if pushed is None or pushed.ids.size == 0:
            return entering
        leaving = self._rows(pushed.ids, self.stem.positions(pushed.ids))
        leaving.ts = entering.ts[pushed.by]
        leaving.seq = entering.seq[pushed.by] - 1
        leaving.sign = np.full(len(leaving), -1, np.int8)
        return _interleave(entering, leaving, pushed.by)

    def live(self, clock: int) -> Batch:
        stem, liveness = self.stem, self.window.liveness
        positions = np.arange(stem.first, stem.end)
        alive = self.window.expiry(stem.held("ts")) > clock
        if liveness.death is not None:
            alive &= stem.held(liveness.death[0]) > clock
        positions = positions[alive]
        return self._rows(stem.ids(positions), positions)

    def close(self) -> None:
        self.stem.close_window(self._key)

    def _rows(self, ids: Array, positions: Array) -> Batch:
        ts = self.stem.lane_at("ts", positions)
        return Batch(
            ts,
            self.stem.lane_at("seq", positions),
            self.window.expiry(ts),
            np.ones(ids.size, np.int8),
            (ids,),
            (self.stem,),
            self._cells,
        )


def _interleave(entering: Batch, leaving: Batch, by: Array) -> Batch:
    """Each '-' right before the '+' of the row that pushes it out."""
    n, m = len(entering), len(leaving)
    before = np.searchsorted(by, np.arange(n), "right")  # '-'s up to and including row i's own
    to_plus = np.arange(n) + before
    to_minus = np.arange(m) + by

    def mixed(plus: Array, minus: Array) -> Array:
        out = np.empty(n + m, plus.dtype)
        out[to_plus] = plus
        out[to_minus] = minus
        return out

    return Batch(
        mixed(entering.ts, leaving.ts),
        mixed(entering.seq, leaving.seq),
        mixed(entering.exp, leaving.exp),
        mixed(entering.sign, leaving.sign),
        (mixed(entering.ids[0], leaving.ids[0]),),
        entering.stores,
        entering.cells,
    )
