"""State-slice sharing: an access for shared window joins with a hash table per slice.

Source: Wang, Rundensteiner, Ganguly and Bhatnagar, State-Slice, VLDB 2006.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Final

import numpy as np

from eddyline.bench.comparison import slice_kernels
from eddyline.runtime.join_inputs.access import before
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import Probes
from eddyline.runtime.stores.rowstore import RowStore

_LEAST_BUCKETS: Final = 64
_numbers = count()


class SlicedAccess:
    """A sequence of slices, each with a hash table of its own rows; a row is in one of them.

    A row moves to the next slice when a later probe needs it there: all earlier probes have passed
    it. A cursor is the position above the rows that are still to be probed. The windows must not
    change after the first row.
    """

    version = 0  # positions stay valid

    def __init__(self, store: RowStore) -> None:
        self._store = store
        self._nodes = f"nodes:slices:{next(_numbers)}"
        store.add_lane(self._nodes, slice_kernels.NOT_INDEXED, width=2, derived=True)
        self._heads: list[Array] = []
        self._reached: list[int] = []  # by slice, the position above its newest row
        self._rows: list[int] = []  # by slice, how many rows its table holds, also old ones

    def insert(self, positions: Array, keys: Array) -> None:
        """See ``Access``. All rows begin in the first slice."""
        nodes = self._store.lane(self._nodes)
        at = positions - self._store.base
        nodes[at, slice_kernels.KEY] = keys
        nodes[at, slice_kernels.LINK] = slice_kernels.NOTHING

    def begin(self, probes: Probes, *, inclusive: bool) -> Array:
        """See ``Access``."""
        return before(self._store, probes.seq, inclusive=inclusive)

    def begin_below(self, key: Array, position: Array) -> Array:
        """See ``Access``."""
        return position

    def pieces(self, cursor: Array, stop: Array) -> Iterator[slice]:
        """See ``Access``. Few rows have the same key."""
        yield slice(0, cursor.size)

    def follow(self, slice_: int, key: Array, cursor: Array, stop: Array) -> tuple[Array, Array]:
        """See ``Access``."""
        store = self._store
        self._move(slice_, int(cursor.max()) if slice_ else store.end)
        heads = self._heads[slice_]
        return slice_kernels.search(
            heads, _shift(heads), store.lane(self._nodes), store.base, cursor, stop, key
        )

    def _move(self, slice_: int, end: int) -> None:
        """Move all rows below the position ``end`` into a slice."""
        store = self._store
        while slice_ >= len(self._heads):
            self._heads.append(np.full(_LEAST_BUCKETS, slice_kernels.NOTHING, np.int64))
            self._reached.append(store.first)
            self._rows.append(0)
        start = max(self._reached[slice_], store.first)
        if end <= start:
            return
        self._reached[slice_] = end
        self._rows[slice_] += end - start
        if self._rows[slice_] > self._heads[slice_].size:
            start = self._resized(slice_, end)
        heads = self._heads[slice_]
        slice_kernels.link(heads, _shift(heads), store.lane(self._nodes), store.base, start, end)

    def _resized(self, slice_: int, end: int) -> int:
        """Allocate a larger table for a slice; returns the position of the first row to insert."""
        older = self._reached[slice_ + 1 :]
        start = max(older[0] if older else 0, self._store.first)
        self._rows[slice_] = end - start
        size = 1 << (2 * max(end - start, _LEAST_BUCKETS) - 1).bit_length()
        self._heads[slice_] = np.full(size, slice_kernels.NOTHING, np.int64)
        return start

    def find_again(self, key: Array, cursor: Array) -> None:
        """See ``Access``. Positions stay valid."""

    def close(self) -> None:
        """See ``Access``."""
        self._store.remove_lane(self._nodes)


def _shift(heads: Array) -> int:
    return 65 - int(heads.size).bit_length()
