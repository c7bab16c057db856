"""EXISTS, NOT EXISTS and EXCEPT above a grouping of many queries, with windows of each over the
right stream.

Left rows carry the number of their query. As ``SharedMatching``, it keeps one instant per key of
the right stream, that of its newest row (``eddyline.kernels.shared_matching``): so it does not
matter how many windows there are. Each left row is one member, and may be taken back.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from eddyline.kernels import shared_matching as kernels
from eddyline.runtime.batch import Batch, empty_like
from eddyline.runtime.eddy.match_nodes import MatchNodes
from eddyline.runtime.eddy.right_rows import RightRows
from eddyline.runtime.operators.base import Operator, Tick
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, order_by
from eddyline.runtime.stores.keytable import KeyTable
from eddyline.runtime.stores.lanes import Lanes
from eddyline.runtime.stores.slots import FreeNumbers
from eddyline.types import BEGINNING, FOREVER

_NONE = kernels.NONE


class NumberedMatching(Operator):
    """Left rows while the right stream has a match, or none, in the window of their query.

    Args:
        left: its first column is the number of the query; its rows are stored.
        right: its keys of left rows do not fail.
        width: how many ids a left row has. takes_back: whether a '-' may take it back.
        shows_matched: whether rows with a match are shown, or those without.

    Attributes:
        matches: the left rows by key and window; knows the windows of queries.
    """

    def __init__(
        self,
        left: Operator,
        right: Operator,
        rows: RightRows,
        *,
        width: int,
        takes_back: bool,
        shows_matched: bool,
    ) -> None:
        super().__init__((left, right))
        self.matches = MatchNodes(rows, shows_matched=shows_matched)
        self._by_ids = KeyTable([pa.int64()] * width) if takes_back else None
        self._numbers = FreeNumbers()
        self._id_lanes = tuple(f"id{i}" for i in range(width))
        self._ids = Lanes(np.dtype([(name, np.int64) for name in self._id_lanes]), {})
        self._layout: Batch | None = None

    def look_back(self, clock: int) -> None:
        """Get to know the right rows in windows of new queries, whose left rows come next."""
        self.matches.look_back(clock)
        self.clock = max(self.clock, clock)

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        left, right = batches
        if self.clock == BEGINNING:
            self.matches.begin()
        self._layout = empty_like(left)
        member, place = self._members_of(left)
        arrivals, _ = self.matches.arrivals(
            kernels.Arrivals(place, member, left.ts, left.seq), right
        )
        changes = self.matches.run(arrivals, tick.clock)
        changed, ts, seq = (changes[lane] for lane in ("member", "ts", "seq"))
        out = self._rows(changed, ts, seq, changes["sign"].astype(np.int8))
        if self._by_ids is not None:
            left_by = np.unique(member[place == _NONE])
            gone = left_by[self.matches.members["node"][left_by] == _NONE]
            self._by_ids.release(gone)
        return out

    def _members_of(self, left: Batch) -> tuple[Array, Array]:
        """The members of left rows, and the nodes that they enter; NONE for those that leave."""
        if self._by_ids is None:
            member = self._numbers.take(len(left))
        else:
            member = self._by_ids.slots([pa.array(i) for i in left.ids], len(left))
        self.matches.members.grow(self._end)
        self._ids.grow(self._end)
        for lane, ids in zip(self._id_lanes, left.ids, strict=True):
            self._ids[lane][member] = ids
        entering = np.flatnonzero(left.sign > 0)
        rows = left if entering.size == len(left) else left.take(entering)
        records, mine = self.matches.members.records, member[entering]
        for lane, values in (("exp", rows.exp), ("ts", rows.ts), ("seq", rows.seq)):
            records[lane][mine] = values
        node = np.full(len(left), _NONE)
        node[entering] = self.matches.nodes_of(self.matches.slots(rows), self._reach_of(rows))
        return member, node

    def _reach_of(self, rows: Batch) -> Array:
        """int64[n], the windows of the queries of rows; 0 for those that have been dropped."""
        number, reach = rows.column(0).to_numpy(), self.matches.reach()
        known = number < reach.size
        return np.where(known, reach[np.where(known, number, 0)], 0) if reach.size else 0 * number

    @property
    def _end(self) -> int:
        return self._numbers.end if self._by_ids is None else self._by_ids.end

    @property
    def _held(self) -> int:
        return len(self._numbers) if self._by_ids is None else len(self._by_ids)

    def _rows(self, member: Array, ts: Array, seq: Array, sign: Array) -> Batch:
        """Changes of members."""
        if self._layout is None:
            self._layout = empty_like(self.inputs[0].live(FOREVER))
        ids, exp = self._ids.records[member], self.matches.members["exp"][member]
        of_rows = tuple(ids[lane] for lane in self._id_lanes)
        return Batch(ts, seq, exp, sign, of_rows, self._layout.stores, self._layout.cells)

    def live(self, clock: int) -> Batch:
        member, ts, seq = self.matches.shown(self.matches.alive(clock, self._end))
        order = order_by(ts, seq)
        return self._rows(member[order], ts[order], seq[order], np.ones(member.size, np.int8))

    def settle(self, clock: int) -> None:
        gone = self.matches.forget_members(clock, self._held)
        (self._numbers if self._by_ids is None else self._by_ids).release(gone)
        self.matches.forget_keys(clock)

    def kept(self) -> int:
        return self._held + len(self.matches)

    def state(self) -> State:
        return {
            "matches": self.matches.state(),
            "numbers": (self._numbers if self._by_ids is None else self._by_ids).state(),
            "ids": self._ids.state(),
            "clock": np.array([self.clock]),
        }

    def restore(self, state: State) -> None:
        """The queries have been added, with the numbers that they had."""
        self.matches.restore(nested(state, "matches"))
        (self._numbers if self._by_ids is None else self._by_ids).restore(nested(state, "numbers"))
        self._ids.restore(nested(state, "ids"))
        self.clock = int(array(state, "clock")[0])
