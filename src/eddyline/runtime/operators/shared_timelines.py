"""Timelines of groups that several operators share.

Operators that group the same rows by the same keys share the groups, the expiries and the order of
what happens (``SharedTimeline``), and what aggregates of the same kind remember of a row.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any
from weakref import WeakValueDictionary

import numpy as np
import pyarrow as pa

from eddyline.runtime.batch import Batch
from eddyline.runtime.operators.group_aggregates import AggregateColumn, LanesOf
from eddyline.runtime.operators.group_timelines import Happening, Merge
from eddyline.runtime.operators.group_values import GroupRows
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array, filled
from eddyline.runtime.stores.expiry import FifoStore
from eddyline.runtime.stores.keytable import KeyTable


class _Lanes:
    """What aggregates of one kind remember of the rows of a timeline.

    Args:
        dtypes: of the lanes.
    """

    def __init__(self, dtypes: Sequence[Any]) -> None:
        self._dtypes = [np.int64, *dtypes]
        self._waiting = FifoStore(self._dtypes)
        self._entered = 0  # as of the timeline
        self._batch: Batch | None = None  # the last one
        self._step: list[Array] = []

    def step(
        self, batch: Batch, slot: Array, lanes_of: LanesOf, merge: Merge | None, clock: int
    ) -> list[Array]:
        """The lanes of what happens, after rows have come."""
        if batch is self._batch:
            return self._step
        self._step = lanes_of(slot)
        self._waiting.push([batch.exp, *self._step])
        self._entered += len(batch)
        _, *due = self._waiting.pop(clock)
        if merge is not None:
            self._step = merge.lanes(due, self._step)
        self._batch = batch
        return self._step

    def add(self, exp: Array, lanes: list[Array], entered: int) -> None:
        """Take over the rows that wait, unless they are there: aggregates that have been dropped
        since may still be in memory, and with them what they knew then.
        """
        if self._entered != entered:
            self._waiting = FifoStore(self._dtypes)
            self._waiting.push([exp, *lanes])
            self._entered = entered

    def waiting(self) -> list[Array]:
        """The lanes of rows that wait."""
        return self._waiting.peek()[1:]

    def settle(self) -> None:
        """End a chunk."""
        self._batch, self._step = None, []


class SharedTimeline:
    """What timelines of several operators over the same rows have in common: the rows come in the
    order in which they expire, and are never taken back.

    Args:
        types: of the keys.

    Attributes:
        entered: number of rows so far.
    """

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self.table = KeyTable(types)
        self.has_begun = False
        self.entered = 0
        self._waiting = FifoStore([np.int64, np.int64])  # exp, slot
        self._lanes: WeakValueDictionary[Hashable, _Lanes] = WeakValueDictionary()
        self._batch: Batch | None = None  # the last one
        self._step: tuple[Array, GroupRows, Merge | None] | None = None
        self._gone = np.zeros(0, np.int64)

    def step(
        self, batch: Batch, keys: Sequence[pa.Array], clock: int
    ) -> tuple[Array, GroupRows, Merge | None]:
        """The groups of rows that come; what happens; and how it was merged."""
        if batch is self._batch and self._step is not None:
            return self._step
        self.has_begun = True
        slot = self.table.slots(keys, len(batch))
        self._waiting.push([batch.exp, slot])
        self.entered += len(batch)
        exp, due_slot = self._waiting.pop(clock)
        if exp.size:
            merge = Merge.of(exp, due_slot, batch, slot)
            self._step = slot, merge.rows, merge
        else:
            self._step = slot, GroupRows(batch.ts, batch.seq, slot, batch.sign), None
        self._batch = batch
        return self._step

    def lanes(self, column: AggregateColumn) -> _Lanes:
        """What this aggregate remembers of rows, and others of its kind do."""
        if column.lanes_key is None:
            return _Lanes(column.aggregate.dtypes)
        found = self._lanes.get(column.lanes_key)
        if found is None:
            found = self._lanes[column.lanes_key] = _Lanes(column.aggregate.dtypes)
        return found

    def waiting(self) -> tuple[Array, Array]:
        """When rows expire, and their groups."""
        exp, slot = self._waiting.peek()
        return exp, slot

    @property
    def text(self) -> str:
        return f"{self._waiting.text} of all groupings of these rows"

    def __len__(self) -> int:
        return len(self._waiting)

    def groups(self, batch: Batch, keys: Sequence[pa.Array], slot: Array) -> bool:
        """Whether rows are of these groups."""
        return np.array_equal(self.table.slots(keys, len(batch)), slot)

    def leave(self, groups: Array) -> None:
        """These groups have no rows; all operators say the same."""
        self._gone = groups

    def settle(self) -> None:
        """End a chunk: release the groups that have left."""
        self.table.release(self._gone)
        self._gone = self._gone[:0]
        self._batch = self._step = None

    def restore(self, table: State, exp: Array, slot: Array) -> bool:
        """Take over groups and rows; returns whether they are the ones that are there."""
        if len(self._waiting) or len(self.table):
            there = self.waiting()
            return np.array_equal(there[0], exp) and np.array_equal(there[1], slot)
        self.has_begun = True
        self.table.restore(table)
        self._waiting.push([exp, slot])
        self.entered = exp.size
        return True


class PartOfTimeline:
    """A timeline that is shared.

    An operator that is made while rows are there already takes them over, if its input holds the
    same ones, by expiries and groups, in the same order; if not, it shares no more.

    Args:
        types: of the keys. columns: the aggregates.

    Attributes:
        shared: the timeline; another one if it shares no more.
    """

    def __init__(
        self,
        shared: SharedTimeline,
        types: Sequence[pa.DataType],
        columns: Sequence[AggregateColumn],
    ) -> None:
        self._types = list(types)
        self._columns = tuple(columns)
        self._share(shared)

    def _share(self, shared: SharedTimeline) -> None:
        self.shared = shared
        self._lanes = [shared.lanes(column) for column in self._columns]

    @property
    def table(self) -> KeyTable:
        """The keys of the groups."""
        return self.shared.table

    def enter(
        self, batch: Batch, keys: Sequence[pa.Array], lanes_of: Sequence[LanesOf], clock: int
    ) -> Happening:
        slot, rows, merge = self.shared.step(batch, keys, clock)
        lanes = [
            lane
            for kept, its_lanes_of in zip(self._lanes, lanes_of, strict=True)
            for lane in kept.step(batch, slot, its_lanes_of, merge, clock)
        ]
        return rows, lanes

    def begin(
        self, batch: Batch, keys: Sequence[pa.Array], lanes_of: Sequence[LanesOf], clock: int
    ) -> Happening:
        if self.shared.has_begun:
            exp, slot = self.shared.waiting()
            if np.array_equal(exp, batch.exp) and self.shared.groups(batch, keys, slot):
                for kept, its_lanes_of in zip(self._lanes, lanes_of, strict=True):
                    kept.add(exp, its_lanes_of(slot), self.shared.entered)
                return GroupRows(batch.ts, batch.seq, slot, batch.sign), self._waiting()
            self._share(SharedTimeline(self._types))
        return self.enter(batch, keys, lanes_of, clock)

    def _waiting(self) -> list[Array]:
        """The lanes of rows that wait, one aggregate after the other."""
        return [lane for kept in self._lanes for lane in kept.waiting()]

    def release(self, groups: Array) -> None:
        self.shared.leave(groups)

    def settle(self) -> None:
        self.shared.settle()
        for kept in self._lanes:
            kept.settle()

    @property
    def text(self) -> str:
        return self.shared.text

    def __len__(self) -> int:
        return len(self.shared)

    def state(self) -> State:
        exp, slot = self.shared.waiting()
        rows = FifoStore(self._dtypes)
        order, plus = np.arange(exp.size), filled(exp.size, 1, np.int8)
        rows.push([exp, order, slot, plus, *self._waiting()])
        count = np.array([exp.size])
        return {"table": self.table.state(), "expiries": rows.state(), "order": count}

    def restore(self, state: State) -> None:
        rows = FifoStore(self._dtypes)
        rows.restore(nested(state, "expiries"))
        exp, _, slot, _, *lanes = rows.peek()
        if not self.shared.restore(nested(state, "table"), exp, slot):
            self._share(SharedTimeline(self._types))
            self.shared.restore(nested(state, "table"), exp, slot)
        for column, kept in zip(self._columns, self._lanes, strict=True):
            width = len(column.aggregate.dtypes)
            kept.add(exp, lanes[:width], self.shared.entered)
            del lanes[:width]

    @property
    def _dtypes(self) -> list[Any]:
        """Of what is saved: expiry, order, group, sign, lanes."""
        lanes = [dtype for column in self._columns for dtype in column.aggregate.dtypes]
        return [np.int64, np.int64, np.int64, np.int8, *lanes]
