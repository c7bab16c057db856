"""Operators that keep nothing: the rows of a SteM through a window, and those of a table that
changes; rows judged, and columns computed, each by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from eddyline.runtime.batch import Batch, Evaluator, Predicate, Stored, insertions, usable_rows
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.screens import Screen
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.stem import Stem, StemWindow
from eddyline.runtime.stores.table import DEATH, TableStem
from eddyline.types import FOREVER


class Scan(Operator):
    """Emits each row on arrival and, for a ROWS window, a '-' for the row that it evicts.

    ``evicts``: False: no '-'.
    """

    def __init__(
        self, stem: Stem, window: StemWindow, window_key: object, *, evicts: bool = True
    ) -> None:
        super().__init__(())
        self._evicts = evicts
        self.stem = stem
        self.window = window
        self._key = window_key
        self._cells = tuple(Stored(0, i) for i in range(len(stem.schema)))
        self._no_rows = self._batch(*(np.zeros(0, np.int64) for _ in range(3)))

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        stem = self.stem
        if not stem.fresh.size:  # then none are evicted either
            return self._no_rows
        entering = self._batch(stem.fresh, *stem.fresh_times)
        evicted = stem.evicted.get(self.window) if self._evicts else None
        if evicted is None or evicted.ids.size == 0:
            return entering
        leaving = self._rows(evicted.ids, stem.positions(evicted.ids))
        leaving.ts = entering.ts[evicted.by]
        leaving.seq = entering.seq[evicted.by] - 1
        leaving.sign = np.full(len(leaving), -1, np.int8)
        return _interleave(entering, leaving, evicted.by)

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
        return self._batch(ids, *(self.stem.lane_at(lane, positions) for lane in ("ts", "seq")))

    def _batch(self, ids: Array, ts: Array, seq: Array) -> Batch:
        """The rows with these ids and times, as '+'."""
        exp, sign = self.window.expiry(ts), insertions(ts.size)
        return Batch(ts, seq, exp, sign, (ids,), (self.stem,), self._cells)


class TableScan(Scan):
    """Emits the changes of a retroactive table: each row on arrival, a '-' when it is deleted.

    Of a non-retroactive one (``deletions`` False) it emits rows only: nothing that was derived from
    a row changes when the row is deleted, and look-ups see in the death lanes until
    when they were there. Its ``live`` rows are then all that are remembered.
    """

    def __init__(self, table: TableStem, *, deletions: bool) -> None:
        super().__init__(table, table.window, table.name)
        self._table = table
        self._deletions = deletions

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        changed = self._table.changed
        if not self._deletions:
            changed = changed.where(changed.sign > 0)
        rows = self._rows(changed.ids, self._table.positions(changed.ids))
        return replace(rows, ts=changed.ts, seq=changed.seq, sign=changed.sign)

    def live(self, clock: int) -> Batch:
        table = self._table
        positions = np.arange(table.first, table.end)
        if self._deletions:
            positions = positions[table.held(DEATH[0]) == FOREVER]
        return self._rows(table.ids(positions), positions)

    def close(self) -> None:
        """The table stays, whether it is read or not."""


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


class Filter(Operator):
    """The rows for which a predicate is true; a '-' carries its row's values and is judged alike.

    Args:
        screen: accepts all rows that the predicate does; None: it accepts any.
    """

    def __init__(
        self, source: Operator, predicate: Predicate, screen: Screen | None = None
    ) -> None:
        super().__init__((source,))
        self._predicate = predicate
        self._screen = screen

    def asks_for(self, source: Operator) -> Screen | None:
        return self._screen

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        (batch,) = batches
        return batch.where(self._predicate(batch)) if batch.ts.size else batch

    def live(self, clock: int) -> Batch:
        batch = self.inputs[0].live(clock)
        return batch.where(self._predicate(batch))


class Project(Operator):
    """Computed columns. Those that are only passed on stay where they are stored. Rows for which a
    column cannot be computed are left out.

    Args:
        outputs: per output column an input column's number, or how to compute it.
    """

    def __init__(self, source: Operator, outputs: Sequence[int | Evaluator]) -> None:
        super().__init__((source,))
        self._outputs = tuple(outputs)
        self._columns = [o if isinstance(o, int) else None for o in self._outputs]
        self._computed = [o for o in self._outputs if not isinstance(o, int)]

    def asks_for(self, source: Operator) -> Screen | None:
        screen = self.asked()
        return None if screen is None else screen.renamed(self._columns)

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        return self._apply(batches[0])

    def live(self, clock: int) -> Batch:
        return self._apply(self.inputs[0].live(clock))

    def _apply(self, batch: Batch) -> Batch:
        computed: list[pa.Array] = []
        if self._computed:
            batch, computed = usable_rows(batch, self._computed)
            values = iter(computed)
            return batch.with_columns(
                [o if type(o) is int else next(values) for o in self._outputs]
            )
        return batch.with_columns(self._outputs)
