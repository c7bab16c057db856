"""LEFT JOIN of many queries, with windows of each over the two streams.

Left rows without a match are those of NOT EXISTS (``shared_matching.py``), with NULLs. Beside them
are the pairs of left rows with right rows of their key (``eddyline.kernels.joined_pairs``), each
for the queries of the left row, while both rows are in their windows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.kernels import joined_pairs as kernels
from eddyline.kernels.shared_matching import NONE
from eddyline.runtime.batch import Batch, Evaluator, empty_like, merge, side_by_side
from eddyline.runtime.eddy.filter_flow import FilterFlow
from eddyline.runtime.eddy.right_rows import RightRows
from eddyline.runtime.eddy.shared_matching import SharedMatching
from eddyline.runtime.operators.base import Tick
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.lanes import Lanes
from eddyline.runtime.stores.slots import FreeNumbers

#: Right rows that there may be before those that have expired are looked for.
_LEAST: Final = 1024


class SharedOuterJoin(SharedMatching):
    """The rows of a flow with their matches in the other stream, or with NULLs while there is none.

    Args:
        outputs: over the columns of both streams.
    """

    def __init__(
        self,
        flow: FilterFlow,
        outputs: Sequence[int | Evaluator],
        right: RightRows,
    ) -> None:
        super().__init__(flow, outputs, right, shows_matched=False)
        self._links = Lanes(kernels.LINK, {"older": NONE})
        self._rights = Lanes(kernels.RIGHT, {"older": NONE})
        self._newest = Lanes(kernels.NEWEST, {"left": NONE, "right": NONE})
        self._free_rights = FreeNumbers()
        self._sweep_rights_at = _LEAST
        self._right_layout: Batch | None = None

    # -- queries -------------------------------------------------------

    def bring_up(self, bits: Sequence[int], clock: int) -> Batch:
        added = self._taken_in(bits, clock)
        self._grow()
        member, slot = self.matches.members.records[added], self._slots(added)
        order = np.lexsort((-member["seq"], -member["ts"], slot))
        kernels.link_left(added[order], self._pairing)
        return merge([self._shown(added), self._pairs_at(clock, added)])

    def _looked_back(self, clock: int) -> None:
        slot, rows = self.matches.right_rows(self._right.scan.live(clock))
        self._grow()
        self._newest["right"][:] = NONE
        self._free_rights = FreeNumbers()
        number = self._numbered(rows.ids[0], rows.ts, rows.seq)
        kernels.link_right(slot, number, self._pairing)

    # -- rows ----------------------------------------------------------

    def process(self, batches: Sequence[Batch], tick: Tick) -> Batch:
        self._right_layout = empty_like(batches[1])
        arrivals, ids = self._arrivals(*batches)
        changes = self.matches.run(arrivals, tick.clock)
        number = np.full(ids.size, NONE)
        right = np.flatnonzero(arrivals.member == NONE)
        number[right] = self._numbered(ids[right], arrivals.ts[right], arrivals.seq[right])
        self._grow()
        longest = max(self._lives.values(), default=0)
        pairs = kernels.join(arrivals, number, longest, self._pairing)
        return merge([self._changes(changes), self._joined(pairs, pairs["ts"])])

    def _numbered(self, ids: Array, ts: Array, seq: Array) -> Array:
        """Numbers for right rows."""
        number = self._free_rights.take(ids.size)
        self._rights.grow(self._free_rights.end)
        rights = self._rights.records
        rights["id"][number], rights["ts"][number], rights["seq"][number] = ids, ts, seq
        return number

    def _grow(self) -> None:
        self._links.grow(self._free.end)
        self._newest.grow(self.matches.keys)

    @property
    def _pairing(self) -> kernels.State:
        matches, own = self.matches, (self._links, self._rights, self._newest)
        lanes = (matches.members, matches.nodes, *own)
        return kernels.State(*(lane.records for lane in lanes))

    def _slots(self, member: Array) -> Array:
        """int64[n], the keys of members."""
        slots: Array = self.matches.nodes["slot"][self.matches.members["node"][member]]
        return slots

    def _joined(self, pairs: Array, now: Array) -> Batch:
        """Pairs, in any order, for each query that has both rows until after ``now``."""
        order = np.lexsort((pairs["right"], pairs["left"], pairs["seq"], pairs["ts"]))
        which, by, number, exp = self._owned(pairs["left"][order], now[order])
        pairs = pairs[order[which]]
        member, right = pairs["left"], self._rights.records[pairs["right"]]
        reach = self.matches.nodes["reach"][self.matches.members["node"][member]]
        exp = np.minimum(exp, (right["ts"] + reach)[by])
        ids = self._rows_of["id"][member], right["id"]
        sign = np.ones(which.size, np.int8)
        times = pairs["ts"], pairs["seq"], pairs["ts"], sign
        rows = side_by_side(self._left_layout, self._other_layout, *times, ids)
        return self._for_owners(_with_ids(super()._shown_as(rows), ids), by, number, exp)

    @property
    def _other_layout(self) -> Batch:
        """An empty batch with the stores and columns of the other stream."""
        if self._right_layout is None:
            self._right_layout = empty_like(self._right.scan.live(self.clock))
        return self._right_layout

    def _shown_as(self, rows: Batch) -> Batch:
        nulls = (pa.nulls(len(rows), type_) for type_ in self._right.columns)
        padded = replace(rows, cells=(*rows.cells, *nulls))
        return _with_ids(super()._shown_as(padded), (rows.ids[0], np.full(len(rows), NONE)))

    def _pairs_at(self, clock: int, member: Array) -> Batch:
        """The pairs of members that are alive at ``clock``."""
        pairs = kernels.pairs_at(clock, member, self._pairing)
        return self._joined(pairs, np.full(pairs.size, clock))

    def live(self, clock: int) -> Batch:
        unmatched = super().live(clock)
        held = self.matches.alive(clock, self._free.end)
        return merge([unmatched, self._pairs_at(clock, held)])

    def settle(self, clock: int) -> None:
        if len(self._free_rights) >= self._sweep_rights_at:
            self._without(clock)
            self._sweep_rights_at = 2 * len(self._free_rights) + _LEAST
        super().settle(clock)

    def _without(self, clock: int) -> None:
        self._grow()
        matches = self.matches
        matches.known_us = min(matches.known_us, matches.longest_us)
        since = clock - matches.longest_us
        self._free_rights.release(kernels.unlink(matches.used_keys, since, self._pairing))

    # -- the rest of an operator ---------------------------------------

    def kept(self) -> int:
        return super().kept() + len(self._free_rights)

    def state(self) -> State:
        return {
            **super().state(),
            "links": self._links.state(),
            "rights": self._rights.state(),
            "newest": self._newest.state(),
            "free rights": self._free_rights.state(),
        }

    def restore(self, state: State) -> None:
        super().restore(state)
        self._links.restore(nested(state, "links"))
        self._rights.restore(nested(state, "rights"))
        self._newest.restore(nested(state, "newest"))
        self._free_rights.restore(nested(state, "free rights"))


def _with_ids(rows: Batch, ids: tuple[Array, Array]) -> Batch:
    """Rows that a left and a right row identify."""
    return replace(rows, ids=ids, stores=(None, None))
