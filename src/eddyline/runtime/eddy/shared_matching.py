"""EXISTS and NOT EXISTS of many queries, with windows of each over the two streams.

The rows of a flow are the left rows. Queries with the same window over the other stream that get
one have it as one *member* here. What is kept of the other stream is one instant per key, that of
its newest row (``eddyline.kernels.shared_matching``). So it does not matter how many windows there
are, and a right row costs as much as for one query, but for the members that it shows or hides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pyarrow as pa

from eddyline.kernels import shared_matching as kernels
from eddyline.kernels.lineage import by_bit
from eddyline.runtime.batch import Batch, Evaluator, empty_like
from eddyline.runtime.eddy.filter_flow import FilterFlow
from eddyline.runtime.eddy.match_nodes import MatchNodes, by_number
from eddyline.runtime.eddy.right_rows import RightRows
from eddyline.runtime.eddy.row_owners import NO_OWNER, RowOwners
from eddyline.runtime.eddy.takes_flow import TakesFlow
from eddyline.runtime.operators.base import Tick
from eddyline.runtime.recipients import Recipients
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.lanes import Lanes
from eddyline.runtime.stores.slots import FreeNumbers
from eddyline.types import BEGINNING

_NONE = kernels.NONE


class SharedMatching(TakesFlow):
    """Rows of a flow while the other stream has a match, or none, for the queries of a flow.

    Its rows have the number of the query as their first column; each query has its windows.

    Args:
        flow: over one stream, with a time window per query.
        outputs: columns of its rows, or how to compute them, behind the number of the query; they
            do not fail.
        shows_matched: whether rows with a match are shown, or those without.

    Attributes:
        matches: the left rows by key and window; knows windows of queries over the other stream.
    """

    def __init__(
        self,
        flow: FilterFlow,
        outputs: Sequence[int | Evaluator],
        right: RightRows,
        *,
        shows_matched: bool,
    ) -> None:
        super().__init__()
        self._flow = flow
        self._outputs = tuple(outputs)
        self._right = right
        self.matches = MatchNodes(right, shows_matched=shows_matched)
        self._rows_of = Lanes(np.dtype([(n, np.int64) for n in ("id", "first", "owners")]), {})
        self._owners = RowOwners()
        self._free = FreeNumbers()
        self._numbers: dict[int, int] = {}  # by bit
        self._lives: dict[int, int] = {}  # by number, its window over the rows of the flow
        self._layout: Batch | None = None

    # -- queries -------------------------------------------------------

    def admit(self, bit: int, number: int) -> None:
        """Add the query with this bit and number; its window over the other stream is known."""
        self._numbers[bit] = number
        self._lives[number] = self._flow.window_of(bit)

    def dismiss(self, bit: int) -> None:
        """Remove a query with its rows."""
        number = self._numbers.pop(bit)
        del self._lives[number]
        self._owners.drop(number)

    def bring_up(self, bits: Sequence[int], clock: int) -> Batch:
        return self._shown(self._taken_in(bits, clock))

    def _taken_in(self, bits: Sequence[int], clock: int) -> Array:
        """Members for the rows that the flow holds for queries that have just been added."""
        if self.matches.look_back(clock):
            self._looked_back(clock)
        batch = self._flow.answer(clock, bits)
        member, node, order = self._new_members(batch)
        now = np.full(member.size, clock)
        self.matches.run(kernels.Arrivals(node, member, now, batch.seq[order]), clock)
        self.clock = clock
        return member

    def _looked_back(self, clock: int) -> None:
        """Keys have been told of right rows that they did not know."""

    # -- rows ----------------------------------------------------------

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        arrivals, _ = self._arrivals(*batches)
        return self._changes(self.matches.run(arrivals, tick.clock))

    def _arrivals(self, left: Batch, right: Batch) -> tuple[kernels.Arrivals, Array]:
        """Rows of both streams that come, and the id of each of the other stream; NONE for those of
        the flow.
        """
        if self.clock == BEGINNING:
            self.matches.begin()
        member, node, order = self._new_members(left)
        mine = kernels.Arrivals(node, member, left.ts[order], left.seq[order])
        return self.matches.arrivals(mine, right)

    def _new_members(self, batch: Batch) -> tuple[Array, Array, Array]:
        """Members for the rows of a batch and their recipients, in the order of the rows: their
        numbers and nodes, and the places of their rows.
        """
        to = batch.recipients
        assert to is not None, "set by the flow"
        self._layout = empty_like(batch)
        number_of = np.full(to.width, _NONE, np.int64)
        number_of[list(self._numbers)] = list(self._numbers.values())
        place, owners, first = self._by_reach(to, number_of, len(batch))
        place, reach = place[first], self.matches.reach()[owners[first]]
        used = place[np.flatnonzero(np.diff(place, prepend=-1))]
        by = np.searchsorted(used, place)
        slot = self.matches.slots(batch.take(used))[by]
        node = self.matches.nodes_of(slot, reach)
        member = self._free.take(place.size)
        self.matches.members.grow(self._free.end)
        self._rows_of.grow(self._free.end)
        mine = self._rows_of.records
        mine["id"][member], mine["first"][member] = batch.ids[0][place], self._owners.end + first
        mine["owners"][member] = np.diff(np.append(first, owners.size))
        self._owners.add(owners)
        members = self.matches.members.records
        longest_us = max(self._lives.values(), default=0)
        members["exp"][member] = batch.ts[place] + longest_us
        members["ts"][member], members["seq"][member] = batch.ts[place], batch.seq[place]
        return member, node, place

    def _by_reach(self, to: Recipients, number_of: Array, rows: int) -> tuple[Array, Array, Array]:
        """The rows of recipients and the numbers of these, by row and then by reach; and the places
        at which either begins.
        """
        reaches = self.matches.reach()
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

    def _changes(self, changes: Array) -> Batch:
        row = self._rows_of["id"][changes["member"]]
        changes = changes[np.lexsort((row, changes["seq"], changes["ts"]))]
        ts, seq, sign = (changes[lane] for lane in ("ts", "seq", "sign"))
        return self._rows(changes["member"], ts, seq, sign.astype(np.int8), ts)

    def _shown(self, member: Array) -> Batch:
        """The rows of members that are shown, since they are."""
        member, ts, seq = self.matches.shown(member)
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
        came, lives = self.matches.members["ts"][member], by_number(self._lives)
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
        rows = self._shown(self.matches.alive(clock, self._free.end))
        return rows.where(rows.exp > clock)

    def settle(self, clock: int) -> None:
        """Forget rows that have expired, and what only they needed."""
        gone = self.matches.forget_members(clock, len(self._free))
        if gone.size:
            self._without(clock)
            self._free.release(gone)
            alive = self.matches.alive(clock, self._free.end)
            first = self._rows_of["first"][alive]
            self._owners.forget(int(first.min()) if first.size else self._owners.end)
        self.matches.forget_keys(clock)

    def _without(self, clock: int) -> None:
        """Members without a node are forgotten."""

    # -- the rest of an operator ---------------------------------------

    def kept(self) -> int:
        return len(self._free) + len(self.matches)

    def state(self) -> State:
        return {
            "matches": self.matches.state(),
            "rows": self._rows_of.state(),
            "owners": self._owners.state(),
            "free": self._free.state(),
            "clock": np.array([self.clock]),
        }

    def restore(self, state: State) -> None:
        """The queries have been added, with the numbers that they had."""
        self.matches.restore(nested(state, "matches"))
        self._rows_of.restore(nested(state, "rows"))
        self._owners.restore(nested(state, "owners"))
        self._free.restore(nested(state, "free"))
        self.clock = int(array(state, "clock")[0])
