"""Windows of a flow that hold the last rows of each partition: ``[PARTITION BY c ROWS N]``.

The age of a row is the number of newer rows in its partition. So a lane of the SteM has its
partition and its number there, and a window of N rows holds the rows whose number is not below the
count of the partition minus N, as of an instant. Where they are is in a ring for each partition::

    partition 'a'   rows 0 1 2 3 4 5 6, of which the SteM still has 3 4 5 6
    longest window  [ROWS 3]: the ring has the positions of 4 5 6; row 7 pushes 4 out of it, and 6
                    out of [ROWS 1]

Rings hold the rows before the chunk. They are rebuilt from the lane if the SteM renumbers positions
or a query with a longer window is added. The rows of the chunk are kept sorted by partition, to
count those that came after a probe by binary search.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Final

import numpy as np

from eddyline.kernels.partition_ages import (
    COUNT,
    FRESH,
    NUMBER,
    SLOT,
    follow_within,
    number,
    pushed_out,
    put_in_rings,
    within,
)
from eddyline.runtime.join_inputs.access import Access
from eddyline.runtime.join_inputs.flow_windows import FlowRows
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import HashIndex, Probes
from eddyline.runtime.stores.keytable import KeyTable
from eddyline.runtime.stores.slots import SlotArray
from eddyline.runtime.stores.stem import Stem

_NONE: Final = np.zeros(0, np.int64)
#: Rings that are this many times as long as the longest window are replaced by shorter ones.
_SPARE: Final = 4
#: A generation of positions that there never is.
_NEVER: Final = -1


class FlowPartitionRows(FlowRows):
    """As ``FlowRows``, where windows count the rows of a partition.

    A query added later sees the rows that the SteM still has. Positions do not bound windows.

    Args:
        name: of the lane; the same when state is restored.
        columns: numbers of the partition columns.

    Attributes:
        columns: see above.
    """

    def __init__(self, stem: Stem, name: str, columns: Sequence[int]) -> None:
        super().__init__(stem)
        self.columns = tuple(columns)
        self._lane = f"partitions:{name}"
        self.lanes = (self._lane,)
        stem.add_lane(self._lane, 0, width=2)
        self._table = KeyTable([stem.schema[c].type for c in columns])
        self._partitions = SlotArray(np.int64, (3,))
        self._rings = SlotArray(np.int64, (1,))
        self._generation = _NEVER  # of the positions in the rings
        self._chains: set[HashIndex] = set()
        self._forget_chunk()

    def are_chained_in(self, indexes: Collection[HashIndex]) -> None:
        """Tell which indexes over the rows have the partition columns, in their order, as keys."""
        self._chains.update(indexes)

    def _forget_chunk(self) -> None:
        self._first_id = self._position = 0
        self._order = self._place = self._touched = self._seqs = _NONE

    def advance(self, stem: Stem, fresh: Array) -> None:
        self._settle()
        if not fresh.size:
            return
        slots = self._table.slots([stem.gather(c, fresh) for c in self.columns], fresh.size)
        self._partitions.grow(self._table.end)
        self._first_id, self._position = int(fresh[0]), stem.end - fresh.size
        rows = self._rows_from(self._position)
        self._order, self._place, self._touched = number(slots, rows, self._partitions.array)
        self._seqs = stem.held("seq")[-fresh.size :].take(self._order)

    def _settle(self) -> None:
        """The chunk's rows are among those before the next one."""
        if self._has_rings():
            rows = self._rows_from(self._position)[: self._order.size]
            self._put_in_rings(self._position, rows)
        else:
            self._generation = _NEVER
        self._partitions.array[self._touched, FRESH] = 0
        self._forget_chunk()

    def _rows_from(self, position: int) -> Array:
        """int64[n, 2]: the lane of the rows from a position on."""
        return self._stem.held(self._lane)[max(position - self._stem.first, 0) :]

    # -- rings ---------------------------------------------------------

    def _has_rings(self) -> bool:
        """Whether the rings have all rows before the chunk that are in windows."""
        size = self._rings.array.shape[1]
        fits = self._kept <= size <= _SPARE * self._kept
        return fits and self._generation == self._stem.generation

    def _make_rings(self) -> None:
        stem = self._stem
        self._rings = SlotArray(np.int64, (max(self._kept, 1),))
        self._generation = stem.generation
        before = self._rows_from(stem.first)[: len(stem) - self._order.size]
        self._put_in_rings(stem.first, before)

    def _put_in_rings(self, position: int, rows: Array) -> None:
        self._rings.grow(self._table.end)
        put_in_rings(position, rows, self._partitions.array, self._rings.array)

    # -- windows -------------------------------------------------------

    def find(
        self,
        access: Access,
        probes: Probes,
        longest: Array | int,
        *,
        inclusive: bool,
        as_of_now: bool,
    ) -> tuple[Array, Array, Array]:
        stem = self._stem
        if not len(stem) or not probes.seq.size:
            return _NONE, _NONE, _NONE
        cursor = access.begin(probes, inclusive=inclusive)
        windows = (
            np.full(cursor.size, longest) if isinstance(longest, int) else longest,
            stem.lane(self._lane),
            stem.base,
            self._partitions.array,
            _NONE if as_of_now else self._seqs,
            probes.seq + 1,  # a row pushes others out one ``seq`` before its own
            inclusive,
        )
        if not isinstance(access, HashIndex):
            by, found = access.follow(0, probes.key, cursor, np.full(cursor.size, stem.first))
            return within(by, found, *windows)
        is_partition = access in self._chains and not self._table.collided
        nodes, _ = access.nodes_at(_NONE)
        return follow_within(nodes, stem.first, cursor, probes.key, is_partition, *windows)

    def oldest(self, ts: Array, seq: Array, length: Array | int, *, inclusive: bool) -> Array:
        return np.full(seq.size, self._stem.first)

    def instants(
        self, ts: Array, seq: Array, by: Array, positions: Array, *, inclusive: bool
    ) -> Array:
        raise AssertionError("joins of such windows are not scheduled")

    def evicted(self, fresh: Array, counts: Array) -> tuple[Array, Array, Array]:
        if not fresh.size or not counts.size:
            return _NONE, _NONE, _NONE
        if not self._has_rings():
            self._make_rings()
        self._rings.grow(self._table.end)
        begin = int(fresh[0]) - self._first_id
        return pushed_out(
            self._rows_from(self._position),
            begin,
            begin + fresh.size,
            self._order,
            self._place,
            self._partitions.array,
            self._rings.array,
            self._position,
            self._stem.first,
            counts,
        )

    def ages(self, positions: Array) -> Array:
        rows = self._stem.lane_at(self._lane, positions)
        return self._count_of(rows) - 1 - rows[:, NUMBER]

    def needed(self, stem: Stem, clock: int) -> int | Array:
        if len(stem) < stem.compact_at:  # it would not look at more
            return stem.first
        rows = stem.held(self._lane)
        inside: Array = self._count_of(rows) - rows[:, NUMBER] <= self._kept
        return inside

    def _count_of(self, rows: Array) -> Array:
        """int64[n]: how many rows have come to the partition of each."""
        count: Array = self._partitions.array[:, COUNT].take(rows[:, SLOT])
        return count

    def state(self) -> State:
        counts = self._partitions.held()[:, COUNT].copy()
        return {"table": self._table.state(), "counts": counts}

    def restore(self, state: State) -> None:
        """The rings follow from the lane, which has been restored."""
        self._table.restore(nested(state, "table"))
        counts = array(state, "counts")
        self._partitions.restore(np.stack((counts, 0 * counts, 0 * counts), axis=1))
        self._generation = _NEVER
        self._forget_chunk()
