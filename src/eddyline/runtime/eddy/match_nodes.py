"""Left rows by their key and how far back they look, beside the newest right row of each key.

Whether a left row has a match depends on one instant per key, whatever the windows of queries over
the right rows are: see ``eddyline.kernels.shared_matching``.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from eddyline.kernels import shared_matching as kernels
from eddyline.kernels.merge import merged_order
from eddyline.kernels.waiting_nodes import WAITING
from eddyline.runtime.batch import EXPIRY, Batch
from eddyline.runtime.eddy.right_rows import RightRows
from eddyline.runtime.join_inputs.flow_windows import FlowWindow
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.keys import all_known
from eddyline.runtime.stores.keytable import KeyTable
from eddyline.runtime.stores.lanes import Lanes

_NONE = kernels.NONE
_NOTHING = np.zeros(0, np.int64)
#: Members, nodes and keys that there may be before those that are not needed any more are removed.
_LEAST = 1024


class MatchNodes:
    """Members, which are left rows with a reach, and the right rows that they look for.

    A query is known by its number here, and has a window over the right rows.

    Args:
        shows_matched: whether members with a match are shown, or those without.

    Attributes:
        members: records of ``kernels.MEMBER``; their numbers are given by the operator.
        nodes: records of ``kernels.NODE``.
        known_us: how far back keys know their newest rows.
    """

    def __init__(self, right: RightRows, *, shows_matched: bool) -> None:
        self.right = right
        self.members = Lanes(kernels.MEMBER, {"node": _NONE, "change": _NONE})
        self.nodes = Lanes(kernels.NODE, {"due": kernels.NEVER})
        self.known_us = 0
        self._shows_matched = shows_matched
        self._table = KeyTable(right.types)
        self._keys = Lanes(kernels.KEY, {"last": kernels.NEVER, "unmatched": _NONE})
        self._node_table = KeyTable([pa.int64(), pa.int64()])  # slot of the key, and reach
        self._heap, self._waiting = np.empty(64, WAITING), 0
        self._reach: dict[int, int] = {}  # by number of the query
        self._held: list[int] = []  # windows for which rows are kept in any case
        self._sweep_at = self._sweep_keys_at = _LEAST

    # -- queries -------------------------------------------------------

    def admit(self, number: int, us: int) -> None:
        """Add a query with a window of this length; 0: its rows have no match."""
        self._reach[number] = us
        self._fit()

    def dismiss(self, number: int) -> None:
        """Remove a query."""
        del self._reach[number]
        self._fit()

    def hold(self, us: int) -> None:
        """Keep right rows for queries with such windows while there are none."""
        self._held.append(us)
        self._fit()

    def let_go(self, us: int) -> None:
        """Undo ``hold``."""
        self._held.remove(us)
        self._fit()

    def _fit(self) -> None:
        window = self.right.scan.window
        assert isinstance(window, FlowWindow), "made for this"
        window.fit(list(self._reach.values()), self._held)

    @property
    def longest_us(self) -> int:
        """The longest window."""
        return max((*self._reach.values(), *self._held), default=0)

    def reach(self) -> Array:
        """int64 by number of the query."""
        return by_number(self._reach)

    def begin(self) -> None:
        """There have been no rows before."""
        self.known_us = self.longest_us

    def look_back(self, clock: int) -> bool:
        """Let keys know the newest right rows that are alive at ``clock``; whether they did not."""
        if self.longest_us <= self.known_us:
            return False
        slot, rows = self.right_rows(self.right.scan.live(clock))
        np.maximum.at(self._keys["last"], slot, rows.ts)
        self.known_us = self.longest_us
        return True

    # -- rows ----------------------------------------------------------

    @property
    def keys(self) -> int:
        """The slots of all keys are below this."""
        return self._table.end

    @property
    def used_keys(self) -> Array:
        """int64, the slots of keys."""
        return self._table.used()

    def slots(self, left: Batch) -> Array:
        """int64[n], the slots of the keys of left rows."""
        return self._slots([key(left) for key in self.right.left], len(left))

    def _slots(self, keys: list[pa.Array], rows: int) -> Array:
        slot = self._table.slots(keys, rows)
        self._keys.grow(self._table.end)
        return slot

    def nodes_of(self, slot: Array, reach: Array) -> Array:
        """int64[n], the nodes of members with these keys and windows."""
        node = self._node_table.slots([pa.array(slot), pa.array(reach)], slot.size)
        self.nodes.grow(self._node_table.end)
        self.nodes["slot"][node], self.nodes["reach"][node] = slot, reach
        return node

    def right_rows(self, batch: Batch) -> tuple[Array, Batch]:
        """The slots of the keys of the right rows that may match, and these rows."""
        right = self.right
        if not len(batch):
            return _NOTHING, batch
        if right.condition is not None:
            batch = batch.where(right.condition(batch))
        keys = [key(batch) for key in right.right]
        if not right.nulls_match:
            known = all_known(keys, len(batch))
            batch, keys = batch.where(known), [k.filter(pa.array(known)) for k in keys]
        return self._slots(keys, len(batch)), batch

    def arrivals(self, left: kernels.Arrivals, right: Batch) -> tuple[kernels.Arrivals, Array]:
        """Members that come or leave and right rows in one order; and the id of each right row,
        NONE for members.
        """
        slot, right = self.right_rows(right)
        count = left.ts.size
        all_ts, all_seq = np.concatenate((left.ts, right.ts)), np.concatenate((left.seq, right.seq))
        order = merged_order(all_ts, all_seq, np.array([count, count + slot.size]))
        arrivals = kernels.Arrivals(
            np.concatenate((left.place, slot))[order],
            np.concatenate((left.member, np.full(slot.size, _NONE)))[order],
            all_ts[order],
            all_seq[order],
        )
        return arrivals, np.concatenate((np.full(count, _NONE), right.ids[0]))[order]

    def run(self, arrivals: kernels.Arrivals, clock: int) -> Array:
        """Let rows arrive and time pass; records of ``kernels.CHANGE``."""
        changes, self._heap, self._waiting = kernels.run(
            self._shows_matched, arrivals, clock, EXPIRY, self.records, self._heap, self._waiting
        )
        return changes

    @property
    def records(self) -> kernels.State:
        """What kernels read."""
        return kernels.State(*(lane.records for lane in (self.members, self.nodes, self._keys)))

    def shown(self, member: Array) -> tuple[Array, Array, Array]:
        """Those of these members that are shown, and the events (ts, seq) since which they are."""
        node = self.members["node"][member]
        shown = self.nodes["matched"][node] == self._shows_matched
        member, node = member[shown], node[shown]
        ts, seq = (self.members[lane][member] for lane in ("ts", "seq"))
        since, its_seq = self.nodes["since_ts"][node], self.nodes["since_seq"][node]
        later = (since > ts) | ((since == ts) & (its_seq > seq))
        return member, np.where(later, since, ts), np.where(later, its_seq, seq)

    def alive(self, clock: int, end: int) -> Array:
        """int64, the members with numbers below ``end`` that have not expired."""
        used = slice(0, end)
        return np.flatnonzero(
            (self.members["exp"][used] > clock) & (self.members["node"][used] != _NONE)
        )

    def forget_members(self, clock: int, held: int) -> Array:
        """Remove members that have expired, and nodes without members, once there may be as many of
        them as of others.

        Args:
            held: number of members.

        Returns:
            int64, the members that were removed.
        """
        if max(held, len(self._node_table)) < self._sweep_at:
            return _NOTHING
        nodes = self._node_table.used()
        gone, empty = kernels.sweep(clock, nodes, self._table.used(), self.records)
        self._node_table.release(empty)
        self._sweep_at = 2 * max(held - gone.size, len(self._node_table)) + _LEAST
        return gone

    def forget_keys(self, clock: int) -> None:
        """The same for keys without nodes, whose right rows are in no window."""
        if len(self._table) < self._sweep_keys_at:
            return
        used = self._table.used()
        keys = self._keys.records[used]
        has_nodes = np.zeros(self._table.end, np.bool_)
        has_nodes[self.nodes["slot"][self._node_table.used()]] = True
        idle = used[~has_nodes[used] & (keys["last"] + self.longest_us <= clock)]
        self._keys["last"][idle] = kernels.NEVER
        self._table.release(idle)
        self._sweep_keys_at = 2 * len(self._table) + _LEAST
        self.known_us = self.longest_us

    def __len__(self) -> int:
        """Number of keys."""
        return len(self._table)

    def state(self) -> State:
        """Saved as plain arrays."""
        return {
            "table": self._table.state(),
            "keys": self._keys.state(),
            "members": self.members.state(),
            "nodes": self.nodes.state(),
            "node table": self._node_table.state(),
            "heap": {n: self._heap[: self._waiting][n] for n in WAITING.names or ()},
            "known": np.array([self.known_us]),
        }

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned; the queries have been added."""
        self._table.restore(nested(state, "table"))
        self._keys.restore(nested(state, "keys"))
        self.members.restore(nested(state, "members"))
        self.nodes.restore(nested(state, "nodes"))
        self._node_table.restore(nested(state, "node table"))
        heap = nested(state, "heap")
        self._waiting = array(heap, "at").size
        self._heap = np.empty(self._waiting + 64, WAITING)
        for name in WAITING.names or ():
            self._heap[name][: self._waiting] = array(heap, name)
        self.known_us = int(array(state, "known")[0])


def by_number(values: Mapping[int, int]) -> Array:
    """int64 by number of a query."""
    out = np.zeros(max(values, default=-1) + 1, np.int64)
    out[list(values)] = list(values.values())
    return out
