"""Tables that rows of streams look up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from eddyline.runtime.batch import Batch, Evaluator, before
from eddyline.runtime.join_inputs.join_input import JoinInput, StemRows
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.stem import EndlessWindow, Stem
from eddyline.runtime.stores.table import DEATH, TableStem
from eddyline.types import FOREVER


class StaticInput(JoinInput):
    """A static table: its rows are visible at any instant."""

    def __init__(self, stem: Stem, keys: Sequence[Evaluator]) -> None:
        super().__init__(StemRows(stem, EndlessWindow(keep=True)), keys)

    def take_in(self, batch: Batch) -> tuple[Batch, Array]:
        taken = super().take_in(batch)
        self.index.admit()
        return taken

    def was_there(self, ids: Array, ts: Array, seq: Array) -> Array:
        """bool[n]: whether rows were in the table at instants."""
        return np.ones(ids.size, np.bool_)


class TableInput(JoinInput):
    """A non-retroactive table: its rows as of any instant since the last chunk began.

    Rows that were deleted earlier leave the index, though the SteM may keep them: else the chain of
    a row that is updated often would grow with every update.

    Args:
        remember: for how long a result, or a left row that is still alive, may refer to a deleted
            row; microseconds.
        history: keep deleted rows in the index, for probes as of any instant that is remembered.
    """

    def __init__(
        self, table: TableStem, keys: Sequence[Evaluator], *, remember: int, history: bool
    ) -> None:
        super().__init__(StemRows(table, table.window), keys)
        self._table = table
        self._remember = remember
        self._history = history
        self._trimmed_at = table.deleted
        table.remember(remember)

    def was_there(self, ids: Array, ts: Array, seq: Array) -> Array:
        """bool[n]: whether rows were in the table at instants."""
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
        self.hashed.forget(table.held(DEATH[0]) < FOREVER)
        self._trimmed_at = table.deleted
