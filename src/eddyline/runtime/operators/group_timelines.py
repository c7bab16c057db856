"""When rows enter groups and when they leave them: what GROUP BY aggregates over.

Operators that group the same rows by the same keys share the groups, the expiries and the order of
what happens (``SharedTimeline``); each keeps only what its aggregates remember of a row.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from eddyline.kernels.merge import merge_destinations
from eddyline.runtime.batch import EXPIRY, Batch
from eddyline.runtime.operators.group_values import GroupRows
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.expiry import ExpiryStore, FifoStore, uncancelled
from eddyline.runtime.stores.keytable import KeyTable
from eddyline.types import FOREVER

#: From the groups of rows to what aggregates remember of them.
LanesOf = Callable[[Array], list[Array]]


class Timeline(Protocol):
    """The rows of groups."""

    @property
    def table(self) -> KeyTable:
        """The keys of the groups."""

    def enter(
        self, batch: Batch, keys: Sequence[pa.Array], lanes_of: LanesOf, clock: int
    ) -> GroupRows:
        """Let rows wait for their expiry.

        Returns:
            These rows and those that expire by ``clock``, in the order of time.
        """

    def begin(
        self, batch: Batch, keys: Sequence[pa.Array], lanes_of: LanesOf, clock: int
    ) -> GroupRows:
        """The same for rows that were there before the operator was made."""

    def release(self, groups: Array) -> None:
        """These groups have no rows."""

    def settle(self) -> None:
        """End a chunk."""

    def __len__(self) -> int:
        """Number of rows that wait."""

    def state(self) -> State:
        """Saved as plain arrays."""

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""


@dataclass(frozen=True, slots=True)
class _Due:
    """Rows that expire: when, from which group, with which lanes."""

    exp: Array
    slot: Array
    lanes: list[Array]


@dataclass(frozen=True, slots=True)
class _Merge:
    """Rows that expire and rows that come in the order of time: the place of each."""

    to_due: Array
    to_new: Array

    @classmethod
    def of(cls, exp: Array, batch: Batch) -> _Merge:
        """Of rows that expire at these instants (int64[n], ascending)."""
        return cls(*merge_destinations(exp, np.full(exp.size, EXPIRY), batch.ts, batch.seq))

    def mixed(self, expiring: Array, coming: Array) -> Array:
        """An array by row."""
        out = np.empty(expiring.size + coming.size, coming.dtype)
        out[self.to_due] = expiring
        out[self.to_new] = coming
        return out

    def rows(self, batch: Batch, slot: Array, lanes: Sequence[Array], due: _Due) -> GroupRows:
        """What happens to groups."""
        return GroupRows(
            self.mixed(due.exp, batch.ts),
            self.mixed(np.full(due.exp.size, EXPIRY), batch.seq),
            self.mixed(due.slot, slot),
            self.mixed(np.full(due.exp.size, -1, np.int8), batch.sign),
            [self.mixed(d, c) for d, c in zip(due.lanes, lanes, strict=True)],
        )


class OwnTimeline:
    """That of one operator.

    Each row waits for its expiry with its group's slot and the aggregates' lanes, so nothing is
    looked up or computed twice. A '-' waits as well, until the row that it takes back would have
    expired: there the two cancel (rows then wait with their ids, by which they are matched).

    Args:
        expiries: dtypes (int64 exp, int64 order, int64 slot, int8 sign, int64 per id, lanes of
            the aggregates); None where every row leaves by a '-' (negative tuples).
        id_width: how many ids rows wait with: none if the input never takes a row back.
    """

    def __init__(
        self, types: Sequence[pa.DataType], expiries: ExpiryStore | None, id_width: int
    ) -> None:
        self.table = KeyTable(types)
        self._expiries = expiries
        self._id_width = id_width
        self._order = 0

    def enter(
        self, batch: Batch, keys: Sequence[pa.Array], lanes_of: LanesOf, clock: int
    ) -> GroupRows:
        slot = self.table.slots(keys, len(batch))
        lanes = lanes_of(slot)
        self._wait(batch, slot, lanes)
        due = self._due(clock)
        if due.exp.size == 0:
            return GroupRows(batch.ts, batch.seq, slot, batch.sign, lanes)
        return _Merge.of(due.exp, batch).rows(batch, slot, lanes, due)

    begin = enter

    def _wait(self, batch: Batch, slot: Array, lanes: list[Array]) -> None:
        if self._expiries is None:
            return
        mortal = batch.exp < FOREVER
        order = np.arange(self._order, self._order + len(batch))
        self._order += len(batch)
        rows = [batch.exp, order, slot, batch.sign, *batch.ids[: self._id_width], *lanes]
        self._expiries.push(rows if mortal.all() else [r[mortal] for r in rows])

    def _due(self, clock: int) -> _Due:
        """The rows that expire now."""
        if self._expiries is None:
            nothing = np.zeros(0, np.int64)
            return _Due(nothing, nothing, [])
        exp, _, slot, sign, *rest = self._expiries.pop(clock)
        ids, lanes = rest[: self._id_width], rest[self._id_width :]
        left = uncancelled(exp, sign, ids)
        if left.size < exp.size:
            exp, slot, lanes = exp[left], slot[left], [lane[left] for lane in lanes]
        return _Due(exp, slot, lanes)

    def release(self, groups: Array) -> None:
        self.table.release(groups)

    def settle(self) -> None:
        """There is nothing to do."""

    def __len__(self) -> int:
        return 0 if self._expiries is None else len(self._expiries)

    def state(self) -> State:
        return {
            "table": self.table.state(),
            "expiries": {} if self._expiries is None else self._expiries.state(),
            "order": np.array([self._order]),
        }

    def restore(self, state: State) -> None:
        self.table.restore(nested(state, "table"))
        if self._expiries is not None:
            self._expiries.restore(nested(state, "expiries"))
        self._order = int(array(state, "order")[0])


class SharedTimeline:
    """What timelines of several operators over the same rows have in common: the rows come in the
    order in which they expire, and are never taken back.

    Args:
        types: of the keys.
    """

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self.table = KeyTable(types)
        self.has_begun = False
        self._waiting = FifoStore([np.int64, np.int64])  # exp, slot
        self._batch: Batch | None = None  # the last one
        self._step: tuple[Array, GroupRows, _Merge | None] | None = None
        self._gone = np.zeros(0, np.int64)

    def step(
        self, batch: Batch, keys: Sequence[pa.Array], clock: int
    ) -> tuple[Array, GroupRows, _Merge | None]:
        """The groups of rows that come; what happens, without lanes; and how it was merged."""
        if batch is self._batch and self._step is not None:
            return self._step
        self.has_begun = True
        slot = self.table.slots(keys, len(batch))
        self._waiting.push([batch.exp, slot])
        exp, due_slot = self._waiting.pop(clock)
        due = _Due(exp, due_slot, [])
        if due.exp.size:
            merge = _Merge.of(due.exp, batch)
            self._step = slot, merge.rows(batch, slot, [], due), merge
        else:
            self._step = slot, GroupRows(batch.ts, batch.seq, slot, batch.sign, []), None
        self._batch = batch
        return self._step

    def waiting(self) -> tuple[Array, Array]:
        """When rows expire, and their groups."""
        exp, slot = self._waiting.peek()
        return exp, slot

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
        return True


class PartOfTimeline:
    """A timeline that is shared: aggregates' lanes wait by themselves.

    An operator that is made while rows are there already takes them over, if its input holds the
    same ones, by expiries and groups, in the same order; if not, it shares no more.

    Args:
        dtypes: of the lanes.
    """

    def __init__(
        self, shared: SharedTimeline, types: Sequence[pa.DataType], dtypes: Sequence[Any]
    ) -> None:
        self._shared = shared
        self._types = list(types)
        self._dtypes = list(dtypes)
        self._lanes = FifoStore([np.int64, *dtypes])

    @property
    def table(self) -> KeyTable:
        """The keys of the groups."""
        return self._shared.table

    def enter(
        self, batch: Batch, keys: Sequence[pa.Array], lanes_of: LanesOf, clock: int
    ) -> GroupRows:
        slot, rows, merge = self._shared.step(batch, keys, clock)
        lanes = lanes_of(slot)
        self._lanes.push([batch.exp, *lanes])
        _, *due = self._lanes.pop(clock)
        if merge is not None:
            lanes = [merge.mixed(d, c) for d, c in zip(due, lanes, strict=True)]
        return GroupRows(rows.ts, rows.seq, rows.slot, rows.sign, lanes)

    def begin(
        self, batch: Batch, keys: Sequence[pa.Array], lanes_of: LanesOf, clock: int
    ) -> GroupRows:
        if self._shared.has_begun:
            exp, slot = self._shared.waiting()
            if np.array_equal(exp, batch.exp) and self._shared.groups(batch, keys, slot):
                lanes = lanes_of(slot)
                self._lanes.push([exp, *lanes])
                return GroupRows(batch.ts, batch.seq, slot, batch.sign, lanes)
            self._shared = SharedTimeline(self._types)
        return self.enter(batch, keys, lanes_of, clock)

    def release(self, groups: Array) -> None:
        self._shared.leave(groups)

    def settle(self) -> None:
        self._shared.settle()

    def __len__(self) -> int:
        return len(self._lanes)

    def state(self) -> State:
        exp, slot = self._shared.waiting()
        _, *lanes = self._lanes.peek()
        rows = FifoStore([np.int64, np.int64, np.int64, np.int8, *self._dtypes])
        rows.push([exp, np.arange(exp.size), slot, np.ones(exp.size, np.int8), *lanes])
        order = np.array([exp.size])
        return {"table": self.table.state(), "expiries": rows.state(), "order": order}

    def restore(self, state: State) -> None:
        rows = FifoStore([np.int64, np.int64, np.int64, np.int8, *self._dtypes])
        rows.restore(nested(state, "expiries"))
        exp, _, slot, _, *lanes = rows.peek()
        if not self._shared.restore(nested(state, "table"), exp, slot):
            self._shared = SharedTimeline(self._types)
            self._shared.restore(nested(state, "table"), exp, slot)
        self._lanes.push([exp, *lanes])
