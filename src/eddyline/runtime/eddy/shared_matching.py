"""EXISTS and NOT EXISTS of many queries, with windows of each over the two streams.

The rows of a flow are the left rows. Queries with the same window over the other stream that get
one have it as one *member* here. What is kept of the other stream is one instant per key, that of
its newest row (``eddyline.kernels.shared_matching``). So it does not matter how many windows there
are, and a right row costs as much as for one query, but for the members that it shows or hides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from eddyline.kernels import shared_matching as kernels
from eddyline.kernels.lineage import by_bit
from eddyline.kernels.merge import merged_order
from eddyline.runtime.batch import EXPIRY, Batch, Evaluator, empty_like
from eddyline.runtime.constants import Constants
from eddyline.runtime.eddy.filter_flow import FilterFlow
from eddyline.runtime.eddy.right_rows import RightRows
from eddyline.runtime.eddy.row_owners import NO_OWNER, RowOwners
from eddyline.runtime.eddy.takes_flow import TakesFlow
from eddyline.runtime.join_inputs.flow_windows import FlowWindow
from eddyline.runtime.operators.base import Tick
from eddyline.runtime.recipients import Recipients
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.keys import all_known
from eddyline.runtime.stores.keytable import KeyTable
from eddyline.runtime.stores.lanes import Lanes
from eddyline.runtime.stores.slots import FreeNumbers
from eddyline.types import BEGINNING

_NONE = kernels.NONE
_NO_SLOTS = np.zeros(0, np.int64)
#: Members and keys that there may be before those that are not needed any more are looked for.
_LEAST = 1024


class SharedMatching(TakesFlow):
    """Rows of a flow while the other stream has a match, or none, for the queries of a flow.

    Its rows have the number of the query as their first column; each query has its windows.

    Args:
        flow: over one stream, with a time window per query.
        outputs: columns of its rows, or how to compute them, behind the number of the query; they
            do not fail.
        shows_matched: whether rows with a match are shown, or those without.
        constants: of queries, by number.
    """

    def __init__(
        self,
        flow: FilterFlow,
        outputs: Sequence[int | Evaluator],
        right: RightRows,
        constants: Constants,
        *,
        shows_matched: bool,
    ) -> None:
        super().__init__()
        self._flow = flow
        self._outputs = tuple(outputs)
        self._right = right
        self._constants = constants
        self._shows_matched = shows_matched
        self._table = KeyTable(right.types)
        self._keys = Lanes(kernels.KEY, {"last": kernels.NEVER, "unmatched": _NONE})
        self._node_table = KeyTable([pa.int64(), pa.int64()])  # slot of the key, and reach
        self._nodes = Lanes(kernels.NODE, {"due": kernels.NEVER})
        self._members = Lanes(kernels.MEMBER, {"node": _NONE, "change": _NONE})
        self._rows_of = Lanes(np.dtype([(n, np.int64) for n in ("id", "first", "owners")]), {})
        self._owners = RowOwners()
        self._free = FreeNumbers()
        self._heap, self._waiting = np.empty(64, kernels.WAITING), 0
        self._numbers: dict[int, int] = {}  # by bit
        self._reach: dict[int, int] = {}  # by number, its window over the other stream
        self._lives: dict[int, int] = {}  # by number, its window over the rows of the flow
        self._held: list[int] = []  # windows for which rows are kept in any case
        self._known_us = 0  # how far back keys know their newest rows
        self._sweep_at = self._sweep_keys_at = _LEAST
        self._layout: Batch | None = None

    # -- queries -----------------------------------------------------------------------------------

    def admit(self, bit: int, number: int) -> None:
        """Add the query with this bit and number; its constants are known."""
        self._numbers[bit] = number
        self._reach[number] = self._constants.value(self._right.constant, number)
        self._lives[number] = self._flow.window_of(bit)
        self._fit()

    def dismiss(self, bit: int) -> None:
        """Remove a query with its rows."""
        number = self._numbers.pop(bit)
        del self._reach[number], self._lives[number]
        self._owners.drop(number)
        self._fit()

    def hold(self, us: int) -> None:
        """Keep rows of the other stream for queries with such windows while there are none."""
        self._held.append(us)
        self._fit()

    def let_go(self, us: int) -> None:
        """Undo ``hold``."""
        self._held.remove(us)
        self._fit()

    def _fit(self) -> None:
        window = self._right.scan.window
        assert isinstance(window, FlowWindow), "made for this"
        window.fit(list(self._reach.values()), self._held)

    @property
    def _longest_us(self) -> int:
        return max((*self._reach.values(), *self._held), default=0)

    def bring_up(self, bits: Sequence[int], clock: int) -> Batch:
        return self._shown(self._taken_in(bits, clock))

    def _taken_in(self, bits: Sequence[int], clock: int) -> Array:
        """Members for the rows that the flow holds for queries that have just been added."""
        if self._longest_us > self._known_us:  # keys may have had newer rows than they know
            self._look_back(clock)
        batch = self._flow.answer(clock, bits)
        member, order = self._new_members(batch)
        nodes, now = self._members["node"][member], np.full(member.size, clock)
        self._run(kernels.Arrivals(nodes, member, now, batch.seq[order]), clock)
        self.clock = clock
        return member

    def _look_back(self, clock: int) -> None:
        """Let keys know the newest rows that the other stream still has."""
        slot, rows = self._right_rows(self._right.scan.live(clock))
        np.maximum.at(self._keys["last"], slot, rows.ts)
        self._known_us = self._longest_us

    # -- rows --------------------------------------------------------------------------------------

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        arrivals, _ = self._arrivals(*batches)
        return self._changes(self._run(arrivals, tick.clock))

    def _arrivals(self, left: Batch, right: Batch) -> tuple[kernels.Arrivals, Array]:
        """Rows of both streams that come, and the id of each of the other stream; NONE for those of
        the flow.
        """
        if self.clock == BEGINNING:  # there have been no rows
            self._known_us = self._longest_us
        member, order = self._new_members(left)
        slot, right = self._right_rows(right)
        mine = self._members["node"][member]
        all_ts = np.concatenate((left.ts[order], right.ts))
        all_seq = np.concatenate((left.seq[order], right.seq))
        merged = merged_order(all_ts, all_seq, np.array([order.size, order.size + slot.size]))
        arrivals = kernels.Arrivals(
            np.concatenate((mine, slot))[merged],
            np.concatenate((member, np.full(slot.size, _NONE)))[merged],
            all_ts[merged],
            all_seq[merged],
        )
        return arrivals, np.concatenate((np.full(member.size, _NONE), right.ids[0]))[merged]

    def _run(self, arrivals: kernels.Arrivals, clock: int) -> Array:
        """Let rows arrive and time pass; the records of changes."""
        changes, self._heap, self._waiting = kernels.run(
            self._shows_matched, arrivals, clock, EXPIRY, self._records, self._heap, self._waiting
        )
        return changes

    @property
    def _records(self) -> kernels.State:
        lanes = self._members, self._nodes, self._keys
        return kernels.State(*(lane.records for lane in lanes))

    def _new_members(self, batch: Batch) -> tuple[Array, Array]:
        """Members for the rows of a batch and their recipients, in the order of the rows: their
        numbers, and the places of their rows.
        """
        to = batch.recipients
        assert to is not None, "set by the flow"
        self._layout = empty_like(batch)
        number_of = np.full(to.width, _NONE, np.int64)
        number_of[list(self._numbers)] = list(self._numbers.values())
        place, owners, first = self._by_reach(to, number_of, len(batch))
        place, reach = place[first], _by_number(self._reach)[owners[first]]
        used = place[np.flatnonzero(np.diff(place, prepend=-1))]
        by = np.searchsorted(used, place)
        rows = batch.take(used)
        slot = self._table.slots([key(rows) for key in self._right.left], len(rows))[by]
        self._grow_keys()
        node = self._node_table.slots([pa.array(slot), pa.array(reach)], slot.size)
        self._nodes.grow(self._node_table.end)
        self._nodes["slot"][node], self._nodes["reach"][node] = slot, reach
        member = self._free.take(place.size)
        self._members.grow(self._free.end)
        self._rows_of.grow(self._free.end)
        mine = self._rows_of.records
        mine["id"][member], mine["first"][member] = batch.ids[0][place], self._owners.end + first
        mine["owners"][member] = np.diff(np.append(first, owners.size))
        self._owners.add(owners)
        members = self._members.records
        longest_us = max(self._lives.values(), default=0)
        members["node"][member], members["exp"][member] = node, batch.ts[place] + longest_us
        members["ts"][member], members["seq"][member] = batch.ts[place], batch.seq[place]
        return member, place

    def _by_reach(self, to: Recipients, number_of: Array, rows: int) -> tuple[Array, Array, Array]:
        """The rows of recipients and the numbers of these, by row and then by reach; and the places
        at which either begins.
        """
        reaches = _by_number(self._reach)
        known = np.flatnonzero(number_of != _NONE)
        order = known[np.argsort(reaches[number_of[known]], kind="stable")]
        counts = to.counts()[order]
        before = np.cumsum(counts) - counts
        places = np.arange(counts.sum()) + np.repeat(to.starts[:-1][order] - before, counts)
        owners, starts = by_bit(np.repeat(number_of[order], counts), to.rows[places], rows)
        is_first = np.zeros(owners.size + 1, np.bool_)
        is_first[starts] = True
        if np.unique(reaches[number_of[known]]).size > 1:
            is_first[1:-1] |= np.diff(reaches[owners]) != 0
        return np.repeat(np.arange(rows), np.diff(starts)), owners, np.flatnonzero(is_first[:-1])

    def _right_rows(self, batch: Batch) -> tuple[Array, Batch]:
        """The rows of the other stream that may match, and the slots of their keys."""
        right = self._right
        if not len(batch):
            return _NO_SLOTS, batch
        if right.condition is not None:
            batch = batch.where(right.condition(batch))
        keys = [key(batch) for key in right.right]
        if not right.nulls_match:
            known = all_known(keys, len(batch))
            batch, keys = batch.where(known), [k.filter(pa.array(known)) for k in keys]
        slot = self._table.slots(keys, len(batch))
        self._grow_keys()
        return slot, batch

    def _grow_keys(self) -> None:
        self._keys.grow(self._table.end)

    def _changes(self, changes: Array) -> Batch:
        row = self._rows_of["id"][changes["member"]]
        changes = changes[np.lexsort((row, changes["seq"], changes["ts"]))]
        ts, seq, sign = (changes[lane] for lane in ("ts", "seq", "sign"))
        return self._rows(changes["member"], ts, seq, sign.astype(np.int8), ts)

    def _shown(self, member: Array) -> Batch:
        """The rows of members that are shown, since they are."""
        node = self._members["node"][member]
        shown = self._nodes["matched"][node] == self._shows_matched
        member, node = member[shown], node[shown]
        ts, seq = (self._members[lane][member] for lane in ("ts", "seq"))
        since, its_seq = self._nodes["since_ts"][node], self._nodes["since_seq"][node]
        later = (since > ts) | ((since == ts) & (its_seq > seq))
        ts, seq = np.where(later, since, ts), np.where(later, its_seq, seq)
        order = np.lexsort((self._rows_of["id"][member], seq, ts))
        now, sign = np.full(order.size, self.clock), np.ones(order.size, np.int8)
        return self._rows(member[order], ts[order], seq[order], sign, now)

    def _rows(self, member: Array, ts: Array, seq: Array, sign: Array, now: Array) -> Batch:
        """Changes of members, for each query that has their row until after ``now``."""
        like = self._left_layout
        which, by, number, exp = self._owned(member, now)
        row, ts = self._rows_of["id"][member[which]], ts[which]
        rows = Batch(ts, seq[which], ts, sign[which], (row,), like.stores, like.cells)
        return self._for_owners(self._shown_as(rows), by, number, exp)

    def _shown_as(self, rows: Batch) -> Batch:
        """Rows of the flow with the columns that are shown."""
        columns = [rows.column(o) if isinstance(o, int) else o(rows) for o in self._outputs]
        return replace(rows, cells=tuple(columns), _gathered={})

    @property
    def _left_layout(self) -> Batch:
        """An empty batch with the stores and columns of the flow."""
        if self._layout is None:
            self._layout = empty_like(self._flow.answer(self.clock, []))
        return self._layout

    def _owned(self, member: Array, now: Array) -> tuple[Array, Array, Array, Array]:
        """The queries that have the rows of members until after ``now``.

        Returns:
            The places of members that some have; the others' rows may be gone. By such a query: the
            place of the member among these, the number of the query, and when the row leaves it.
        """
        mine = self._rows_of.records[member]
        by, number = self._owners.of(mine["first"], mine["owners"])
        came, lives = self._members["ts"][member], _by_number(self._lives)
        exp = came[by] + lives[number] if lives.size else came[by]
        left = (exp > now[by]) & (number != NO_OWNER)
        if self._asked is not None:
            left &= np.isin(number, self._asked)
        by, number, exp = by[left], number[left], exp[left]
        is_first = np.diff(by, prepend=-1) > 0
        return by[is_first], np.cumsum(is_first) - 1, number, exp

    def _for_owners(self, rows: Batch, by: Array, number: Array, exp: Array) -> Batch:
        """Rows at these places, for the queries with these numbers."""
        out = rows.take(by)
        return replace(
            out,
            exp=exp,
            ids=(number, *out.ids),
            stores=(None, *out.stores),
            cells=(pa.array(number), *out.cells),
        )

    def live(self, clock: int) -> Batch:
        used = slice(0, self._free.end)
        held = (self._members["exp"][used] > clock) & (self._members["node"][used] != _NONE)
        rows = self._shown(np.flatnonzero(held))
        return rows.where(rows.exp > clock)

    def settle(self, clock: int) -> None:
        """Forget members that have expired, nodes without members, and then keys without nodes
        whose rows are in no window any more.
        """
        if len(self._free) >= self._sweep_at:
            nodes = self._node_table.used()
            gone, empty = kernels.sweep(clock, nodes, self._table.used(), self._records)
            self._without(clock)
            self._free.release(gone)
            alive = self._members["node"][: self._free.end] != _NONE
            first = self._rows_of["first"][: self._free.end][alive]
            self._owners.forget(int(first.min()) if first.size else self._owners.end)
            self._node_table.release(empty)
            self._sweep_at = 2 * len(self._free) + _LEAST
        if len(self._table) >= self._sweep_keys_at:
            used = self._table.used()
            keys = self._keys.records[used]
            has_nodes = np.zeros(self._table.end, np.bool_)
            has_nodes[self._nodes["slot"][self._node_table.used()]] = True
            idle = used[~has_nodes[used] & (keys["last"] + self._longest_us <= clock)]
            self._keys["last"][idle] = kernels.NEVER
            self._table.release(idle)
            self._sweep_keys_at = 2 * len(self._table) + _LEAST
            self._known_us = self._longest_us

    def _without(self, clock: int) -> None:
        """Members without a node are forgotten."""

    # -- the rest of an operator -------------------------------------------------------------------

    def kept(self) -> int:
        return len(self._free) + len(self._table)

    def state(self) -> State:
        return {
            "table": self._table.state(),
            "keys": self._keys.state(),
            "members": self._members.state(),
            "rows": self._rows_of.state(),
            "owners": self._owners.state(),
            "nodes": self._nodes.state(),
            "node table": self._node_table.state(),
            "free": self._free.state(),
            "heap": {n: self._heap[: self._waiting][n] for n in kernels.WAITING.names or ()},
            "numbers": np.array([self._known_us, self.clock]),
        }

    def restore(self, state: State) -> None:
        """The queries have been added, with the numbers that they had."""
        self._table.restore(nested(state, "table"))
        self._keys.restore(nested(state, "keys"))
        self._members.restore(nested(state, "members"))
        self._rows_of.restore(nested(state, "rows"))
        self._owners.restore(nested(state, "owners"))
        self._nodes.restore(nested(state, "nodes"))
        self._node_table.restore(nested(state, "node table"))
        self._free.restore(nested(state, "free"))
        heap = nested(state, "heap")
        self._waiting = array(heap, "at").size
        self._heap = np.empty(self._waiting + 64, kernels.WAITING)
        for name in kernels.WAITING.names or ():
            self._heap[name][: self._waiting] = array(heap, name)
        self._known_us, self.clock = map(int, array(state, "numbers"))


def _by_number(values: Mapping[int, int]) -> Array:
    """int64 by number of a query."""
    out = np.zeros(max(values, default=-1) + 1, np.int64)
    out[list(values)] = list(values.values())
    return out
