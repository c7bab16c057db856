"""Access to the rows of a store by key, slice by slice.

A probe has a *cursor*, made as of its instant, from which it continues with each slice; its meaning
depends on the access. Slices are probed from the newest to the oldest: each ends at positions
``stop``, where the next one begins.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

import numpy as np

from eddyline.kernels.nested_loops import scan
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import Liveness, Probes
from eddyline.runtime.stores.rowstore import RowStore

#: Maximum number of pairs that nested loops make at once, except for those of one row.
MOST_PAIRS: Final = 1 << 18


class Access(Protocol):
    """The rows of one store by key and slice: ``HashIndex`` or ``ScanIndex``.

    Attributes:
        version: cursors of another version must be corrected by ``find_again``.
    """

    @property
    def version(self) -> int:
        """See above."""

    def insert(self, positions: Array, keys: Array) -> None:
        """Add a chunk's rows, oldest first."""

    def begin(self, probes: Probes, *, inclusive: bool) -> Array:
        """int64[n], cursors at the probes' own instants; ``inclusive``: a probe sees the row of its
        own event.
        """

    def begin_below(self, key: Array, position: Array) -> Array:
        """int64[n], cursors at the newest rows below positions; newer ones may have come since."""

    def pieces(self, cursor: Array, stop: Array) -> Iterator[slice]:
        """The probes in pieces with a bounded number of pairs."""

    def follow(self, slice_: int, key: Array, cursor: Array, stop: Array) -> tuple[Array, Array]:
        """Probe the slice below ``stop``; moves ``cursor``.

        Args:
            slice_: number of the slice, for accesses with a table per slice.

        Returns:
            Numbers of probes and positions of rows with their keys: in probe order, newest first.
        """

    def find_again(self, key: Array, cursor: Array) -> None:
        """Correct cursors of an older version, in place."""

    def close(self) -> None:
        """Remove its lanes from the store."""


class ScanIndex:
    """Nested loops over rows without keys: a cursor is the position above the next row."""

    version = 0

    def __init__(self, store: RowStore) -> None:
        self._store = store
        name = store.new_name()
        self._keys, self._present = f"keys:{name}", f"present:{name}"
        store.add_lane(self._keys, 0, derived=True)
        store.add_lane(self._present, 0, derived=True)

    def begin_below(self, key: Array, position: Array) -> Array:
        """See ``Access``."""
        return position

    def pieces(self, cursor: Array, stop: Array) -> Iterator[slice]:
        """See ``Access``."""
        pairs = np.maximum(cursor - stop, 0)
        if pairs.sum() > MOST_PAIRS:  # not all rows are in
            store = self._store
            below = np.concatenate(([0], np.cumsum(store.held(self._present))))
            ends = (np.clip(at - store.first, 0, len(store)) for at in (cursor, stop))
            above, under = (below[at] for at in ends)
            pairs = np.maximum(above - under, 0)
        return pieces(pairs)

    def probe(self, probes: Probes, liveness: Liveness, *, inclusive: bool) -> tuple[Array, Array]:
        """Numbers of probes and positions of the rows that match them, in probe order."""
        store = self._store
        stop = np.full(probes.ts.size, store.first)
        if liveness.fifo:
            stop += np.searchsorted(store.held("ts"), probes.ts - liveness.lifespan, "right")
        return self.follow(0, probes.key, self.begin(probes, inclusive=inclusive), stop)

    def rewind(self) -> None:
        """Probes are always made as of their instants."""

    def admit(self) -> None:
        """See ``rewind``."""

    def fill(self, positions: Array, keys: Array) -> None:
        """Make these rows visible and no others."""
        self._store.lane(self._present).fill(0)
        self.insert(positions, keys)

    def insert(self, positions: Array, keys: Array) -> None:
        """See ``Access``."""
        self._store.lane(self._keys)[positions - self._store.base] = keys
        self._store.lane(self._present)[positions - self._store.base] = 1

    def begin(self, probes: Probes, *, inclusive: bool) -> Array:
        """See ``Access``."""
        return before(self._store, probes.seq, inclusive=inclusive)

    def follow(self, slice_: int, key: Array, cursor: Array, stop: Array) -> tuple[Array, Array]:
        """See ``Access``."""
        store = self._store
        keys, present = store.lane(self._keys), store.lane(self._present)
        return scan(keys, present, store.base, cursor, stop, key)

    def find_again(self, key: Array, cursor: Array) -> None:
        """Positions stay valid."""

    def close(self) -> None:
        """See ``Access``."""
        self._store.remove_lane(self._keys)
        self._store.remove_lane(self._present)


def before(store: RowStore, seq: Array, *, inclusive: bool) -> Array:
    """int64[n]: the position above the last row that came before each of ``seq``."""
    seqs = store.held("seq")
    return np.searchsorted(seqs, seq, "right" if inclusive else "left") + store.first


def pieces(pairs: Array) -> Iterator[slice]:
    """Rows in pieces of at most ``MOST_PAIRS``, or of one row.

    Args:
        pairs: int64[n], number of pairs of each row.
    """
    ends = np.cumsum(pairs)
    start = 0
    while start < ends.size:
        made = int(ends[start - 1]) if start else 0
        end = max(int(np.searchsorted(ends, made + MOST_PAIRS, "right")), start + 1)
        yield slice(start, end)
        start = end
