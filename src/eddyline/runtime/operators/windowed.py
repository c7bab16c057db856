"""Windowed: rows with the windows that contain them; Final: rows of windows that have ended;
LastInstant: such rows, in the last instant of their window.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from eddyline.algebra.time_windows import TimeWindows
from eddyline.runtime.batch import EXPIRY, LAST, Batch, empty_like
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.state import State, array
from eddyline.runtime.time_windows import assigned, instants, starts_of
from eddyline.types import FOREVER


class Windowed(Operator):
    """Keeps nothing. The window's start and end are columns, and part of the row's identity.

    The input has no '-'.
    """

    def __init__(self, source: Operator, windows: TimeWindows) -> None:
        super().__init__((source,))
        self._windows = windows

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        return self._apply(batches[0])

    def live(self, clock: int) -> Batch:
        found = self._apply(self.inputs[0].live(clock))
        return found.where(found.exp > clock)

    def _apply(self, batch: Batch) -> Batch:
        assert batch.only_inserts(), "a '-' is at another instant than its row"
        row, end = assigned(self._windows, batch.ts)
        start = starts_of(self._windows, end)
        out = batch if row is None else batch.take(row)
        return replace(
            out,
            exp=end,
            ids=(*out.ids, start, end),
            stores=(*out.stores, None, None),
            cells=(*out.cells, instants(start), instants(end)),
            pair=None,
        )


class RepeatedIds(Operator):
    """Rows with one id, which is repeated: as many as the rows had before they were stored."""

    def __init__(self, source: Operator, width: int) -> None:
        super().__init__((source,))
        self._width = width

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        return self._apply(batches[0])

    def live(self, clock: int) -> Batch:
        return self._apply(self.inputs[0].live(clock))

    def _apply(self, batch: Batch) -> Batch:
        repeated = batch.ids[0]
        ids = (repeated,) * self._width
        stores = (batch.stores[0], *(None for _ in ids[1:]))
        return replace(batch, ids=ids, stores=stores)


class Final(Operator):
    """Keeps the number of rows so far. The input has a '-' for each row that leaves it.

    Args:
        end: the column with the end of the row's window.
    """

    def __init__(self, source: Operator, end: int) -> None:
        super().__init__((source,))
        self._end = end
        self._rows = 0

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (batch,) = batches
        end = batch.column(self._end).cast(pa.int64()).fill_null(FOREVER).to_numpy()
        out = batch.where((batch.sign < 0) & (batch.ts == end))
        n = len(out)
        ids = np.arange(self._rows, self._rows + n)
        self._rows += n
        return Batch(
            out.ts,
            np.full(n, EXPIRY, np.int64),
            np.full(n, FOREVER, np.int64),
            np.ones(n, np.int8),
            (ids,),
            (None,),
            tuple(out.columns()),
        )

    def live(self, clock: int) -> Batch:
        source = self.inputs[0].live(FOREVER)
        none = np.zeros(0, np.int64)
        return replace(
            empty_like(source),
            ids=(none,),
            stores=(None,),
            cells=tuple(c[:0] for c in source.columns()),
            pair=None,
            _gathered={},
        )

    def state(self) -> State:
        return {"rows": np.array([self._rows])}

    def restore(self, state: State) -> None:
        self._rows = int(array(state, "rows")[0])


class LastInstant(Operator):
    """Moves rows that come when their window ends into its last instant, behind all other changes
    of it; they leave when the window ends. Keeps nothing.
    """

    def __init__(self, source: Operator) -> None:
        super().__init__((source,))

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (batch,) = batches
        last = np.full(len(batch), LAST, np.int64)
        return replace(batch, ts=batch.ts - 1, seq=last, exp=batch.ts)

    def live(self, clock: int) -> Batch:
        """None: when rows come, time is at the end of their window."""
        return self.inputs[0].live(clock).take(np.zeros(0, np.int64))
