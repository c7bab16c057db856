"""GroupBy: one row per group, new whenever the group changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from eddyline.kernels.merge import merge_destinations
from eddyline.runtime.batch import EXPIRY, Batch, merge
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.operators.group_aggregates import GroupKeys, Naming
from eddyline.runtime.operators.group_values import GroupRows, GroupValues
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.expiry import ExpiryStore, uncancelled
from eddyline.runtime.stores.keytable import KeyTable
from eddyline.types import BEGINNING, FOREVER


@dataclass(frozen=True, slots=True)
class _Due:
    """Rows that expire: when, from which group, with which lanes."""

    exp: Array
    slot: Array
    lanes: list[Array]


class GroupBy(Operator):
    """Rows enter when they come and leave when they expire or are taken back.

    A row whose keys or arguments cannot be computed belongs to no group. The output is a changelog
    as of ``GroupValues``.

    Each row waits for its expiry with its group's slot and the aggregates' lanes, so nothing is
    looked up or computed twice. A '-' waits as well, until the row that it takes back would have
    expired: there the two cancel (rows then wait with their ids, by which they are matched).

    Without keys there is one group, which exists from when on anything happens.

    Args:
        keys: what rows are grouped by.
        values: the aggregates.
        expiries: dtypes (int64 exp, int64 order, int64 slot, int8 sign, int64 per id, lanes of
            the aggregates); None where every row leaves by a '-' (negative tuples).
        id_width: how many ids rows wait with: none if the input never takes a row back.
        by_instant: whether all that happens at one instant is one change of a group.
    """

    def __init__(
        self,
        source: Operator,
        keys: GroupKeys,
        values: GroupValues,
        expiries: ExpiryStore | None,
        *,
        id_width: int,
        by_instant: bool = False,
    ) -> None:
        super().__init__((source,))
        self._id_width = id_width
        self._by_instant = by_instant
        self._keys = keys.evaluators
        self._table = KeyTable(keys.types)
        self._values = values
        self._expiries = expiries
        self._order = 0

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        batch, keys, arguments = self._values.usable(batches[0], self._keys)
        if self._by_instant:
            batch = replace(batch, seq=np.full(len(batch), EXPIRY, np.int64))
        slot = self._table.slots(keys, len(batch))
        lanes = self._values.lanes(slot, arguments)
        self._wait(batch, slot, lanes)
        due = self._due(tick.clock)
        self._values.grow(self._table.end)
        self._screen()
        first = self._first_row(batch, tick)
        out, gone = self._values.run(_timeline(batch, slot, lanes, due), self._named)
        self._table.release(gone[self._values.members.count[gone] == 0])
        self._values.settle()
        return out if first is None else merge([first, out])

    def _screen(self) -> None:
        """Leave out what no reader asks for."""
        screen = self.asked()
        if screen is not self._values.screen:
            self._values.report_all(self.clock, self._named)
            self._values.screen = screen

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

    def _first_row(self, batch: Batch, tick: Tick) -> Batch | None:
        """The one group of an aggregate without keys appears, empty, before anything happens. Not
        if it is brought up to date with rows that were there before it.
        """
        since = tick.clock if tick.first_row is None else tick.first_row
        if self._values.started or since == BEGINNING or (tick.first_row is None and len(batch)):
            return None
        self._values.started = True
        slot = np.zeros(1, np.int64)
        first = self._values.rows(slot, since, self._named)
        return replace(first, pair=np.array([-1], np.int64))

    def live(self, clock: int) -> Batch:
        self._values.report_all(clock, self._named)
        slots = self._table.used()
        if self._keys:
            slots = slots[self._values.members.count[slots] > 0]
        return self._values.rows(slots[: slots.size * self._values.started], clock, self._named)

    @property
    def _named(self) -> Naming:
        """The ids of groups' rows are the slots."""
        table = self._table
        return Naming(
            lambda slots: (slots, table.keys(slots)),
            lambda slots: table.key(0, slots).to_numpy(),
        )

    def kept(self) -> int:
        return len(self._table) + (0 if self._expiries is None else len(self._expiries))

    def state(self) -> State:
        self._values.report_all(self.clock, self._named)
        return {
            "table": self._table.state(),
            "expiries": {} if self._expiries is None else self._expiries.state(),
            "order": np.array([self._order]),
            "values": self._values.state(),
        }

    def restore(self, state: State) -> None:
        self._table.restore(nested(state, "table"))
        if self._expiries is not None:
            self._expiries.restore(nested(state, "expiries"))
        self._order = int(array(state, "order")[0])
        self._values.restore(nested(state, "values"), self._table.end)


def _timeline(batch: Batch, slot: Array, lanes: list[Array], due: _Due) -> GroupRows:
    """Rows that come and rows that expire, merged by time."""
    if due.exp.size == 0:
        return GroupRows(batch.ts, batch.seq, slot, batch.sign, lanes)
    due_seq = np.full(due.exp.size, EXPIRY, np.int64)
    to_due, to_new = merge_destinations(due.exp, due_seq, batch.ts, batch.seq)

    def mixed(expiring: Array, coming: Array) -> Array:
        out = np.empty(expiring.size + coming.size, coming.dtype)
        out[to_due] = expiring
        out[to_new] = coming
        return out

    return GroupRows(
        mixed(due.exp, batch.ts),
        mixed(due_seq, batch.seq),
        mixed(due.slot, slot),
        mixed(np.full(due.exp.size, -1, np.int8), batch.sign),
        [mixed(d, c) for d, c in zip(due.lanes, lanes, strict=True)],
    )
