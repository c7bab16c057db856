"""When rows enter groups and when they leave them: what GROUP BY aggregates over."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
import pyarrow as pa

from eddyline.kernels.changelogs import Entering, Happened, Leaving, by_time
from eddyline.runtime.batch import EXPIRY, Batch
from eddyline.runtime.operators.group_aggregates import LanesOf
from eddyline.runtime.operators.group_values import GroupRows
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.expiry import ExpiryStore, text_of, uncancelled
from eddyline.runtime.stores.keytable import KeyTable
from eddyline.types import FOREVER

#: What happens to groups, and lanes of the aggregates, one after the other.
Happening: TypeAlias = tuple[GroupRows, list[Array]]


class Timeline(Protocol):
    """The rows of groups."""

    @property
    def table(self) -> KeyTable:
        """The keys of the groups."""

    def enter(
        self, batch: Batch, keys: Sequence[pa.Array], lanes_of: Sequence[LanesOf], clock: int
    ) -> Happening:
        """Let rows wait for their expiry.

        Args:
            lanes_of: by aggregate.

        Returns:
            These rows and those that expire by ``clock``, in the order of time.
        """

    def begin(
        self, batch: Batch, keys: Sequence[pa.Array], lanes_of: Sequence[LanesOf], clock: int
    ) -> Happening:
        """The same for rows that were there before the operator was made."""

    def release(self, groups: Array) -> None:
        """These groups have no rows."""

    def settle(self) -> None:
        """End a chunk."""

    @property
    def text(self) -> str:
        """See ``Operator.kept_in``."""

    def __len__(self) -> int:
        """Number of rows that wait."""

    def state(self) -> State:
        """Saved as plain arrays."""

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""


class Due(NamedTuple):
    """Rows that expire: when, from which group, with which lanes."""

    exp: Array
    slot: Array
    lanes: list[Array]


class Merge(NamedTuple):
    """Rows that expire and rows that come in the order of time.

    Attributes:
        rows: what happens to groups. to_due, to_new: the place of each row.
    """

    rows: GroupRows
    to_due: Array
    to_new: Array

    @classmethod
    def of(cls, exp: Array, due_slot: Array, batch: Batch, slot: Array) -> Merge:
        """Of rows that expire at these instants (int64[d], ascending), and rows of these groups."""
        entering = Entering(batch.ts, batch.seq, slot, batch.sign)
        found = Happened(*by_time(Leaving(exp, due_slot), entering, EXPIRY))
        rows = GroupRows(found.ts, found.seq, found.slot, found.sign)
        return cls(rows, found.to_leaving, found.to_entering)

    def lanes(self, due: Sequence[Array], coming: Sequence[Array]) -> list[Array]:
        """What aggregates remember of these rows."""
        return [self._mixed(d, c) for d, c in zip(due, coming, strict=True)]

    def _mixed(self, expiring: Array, coming: Array) -> Array:
        """An array by row."""
        out = np.empty(expiring.size + coming.size, coming.dtype)
        out[self.to_due] = expiring
        out[self.to_new] = coming
        return out


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
        self, batch: Batch, keys: Sequence[pa.Array], lanes_of: Sequence[LanesOf], clock: int
    ) -> Happening:
        slot = self.table.slots(keys, len(batch))
        lanes = [lane for its_lanes_of in lanes_of for lane in its_lanes_of(slot)]
        self._wait(batch, slot, lanes)
        due = self._due(clock)
        if due.exp.size == 0:
            return GroupRows(batch.ts, batch.seq, slot, batch.sign), lanes
        merge = Merge.of(due.exp, due.slot, batch, slot)
        return merge.rows, merge.lanes(due.lanes, lanes)

    begin = enter

    def _wait(self, batch: Batch, slot: Array, lanes: list[Array]) -> None:
        if self._expiries is None:
            return
        mortal = batch.exp < FOREVER
        order = np.arange(self._order, self._order + len(batch))
        self._order += len(batch)
        rows = [batch.exp, order, slot, batch.sign, *batch.ids[: self._id_width], *lanes]
        self._expiries.push(rows if mortal.all() else [r[mortal] for r in rows])

    def _due(self, clock: int) -> Due:
        """The rows that expire now."""
        if self._expiries is None:
            nothing = np.zeros(0, np.int64)
            return Due(nothing, nothing, [])
        exp, _, slot, sign, *rest = self._expiries.pop(clock)
        ids, lanes = rest[: self._id_width], rest[self._id_width :]
        left = uncancelled(exp, sign, ids)
        if left.size < exp.size:
            exp, slot, lanes = exp[left], slot[left], [lane[left] for lane in lanes]
        return Due(exp, slot, lanes)

    def release(self, groups: Array) -> None:
        self.table.release(groups)

    def settle(self) -> None:
        """There is nothing to do."""

    @property
    def text(self) -> str:
        return text_of(self._expiries)

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
