"""Windows of a flow over one of its streams: as long as its queries need.

The age of a row is in microseconds; where windows count rows, in rows: that of the newest row is 0,
and a window of N rows holds the rows of an age below N. So the same masks by age serve both. Those
that count the rows of partitions are in ``flow_partitions.py``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from eddyline.runtime.join_inputs.access import Access
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.index import Liveness, Probes
from eddyline.runtime.stores.rowstore import RowStore
from eddyline.runtime.stores.stem import EndlessWindow, Stem, TimeWindow
from eddyline.types import FOREVER


class WindowBounds(Protocol):
    """Bounds of windows over a store, by time or by rows, at any instants.

    ``inclusive``: whether the changes at these instants (ts, seq) see the row of their own event.
    """

    def oldest(self, ts: Array, seq: Array, length: Array | int, *, inclusive: bool) -> Array:
        """int64[n]: the first position that windows of ``length`` hold at each instant."""

    def instants(
        self, ts: Array, seq: Array, by: Array, positions: Array, *, inclusive: bool
    ) -> Array:
        """int64[p]: ``ts`` minus the age of rows at that instant.

        Args:
            by, positions: int64[p], numbers of instants, and positions of rows.
        """


class TimeBounds:
    """Bounds of windows by time: ages are in microseconds."""

    def __init__(self, store: RowStore) -> None:
        self._store = store

    def oldest(self, ts: Array, seq: Array, length: Array | int, *, inclusive: bool) -> Array:
        below: Array = np.searchsorted(self._store.held("ts"), ts - length, "right")
        return below + self._store.first

    def instants(
        self, ts: Array, seq: Array, by: Array, positions: Array, *, inclusive: bool
    ) -> Array:
        """See ``WindowBounds``: when the rows came."""
        return self._store.lane_at("ts", positions)


class FlowWindow(TimeWindow):
    """As long as the longest window that a query of the flow has over the stream.

    Args:
        joined: whether rows are probed later. If not, rows of an unbounded stream are kept for
            other windows only.
    """

    def __init__(self, *, joined: bool) -> None:
        super().__init__(0)
        self._joined = joined
        self.queued_since: int | None = None  # the ts of the first queued row
        self._resize(0, 0)

    def fit(self, lengths_us: Sequence[int], held_us: Sequence[int]) -> None:
        """Set the lengths of the queries' windows; rows are kept for ``held_us`` in any case."""
        kept_us = max((*map(self._keeps, lengths_us), *held_us), default=0)
        self._resize(max((*lengths_us, *held_us), default=0), kept_us)

    def extend(self, us: int) -> None:
        """Add a window."""
        self._resize(max(us, self._us), max(self._keeps(us), self._kept_us))

    def _keeps(self, us: int) -> int:
        return us if self._joined or us < FOREVER else 0

    def _resize(self, us: int, kept_us: int) -> None:
        self._us, self._kept_us = us, kept_us
        self.liveness = Liveness("ts", us, fifo=us < FOREVER)

    @property
    def pins(self) -> bool:
        """Whether rows are queued."""
        return self.queued_since is not None

    def needed(self, stem: Stem, clock: int) -> int | Array:
        if self._kept_us >= FOREVER:
            return stem.first
        if self.queued_since is not None:
            clock = min(clock, self.queued_since)
        return stem.first + int(np.searchsorted(stem.held("ts"), clock - self._kept_us, "right"))


class FlowRows(EndlessWindow):
    """The same, where the queries' windows count the rows of the stream.

    Rows are kept for the longest window. A query added later sees those behind which no row is
    missing, as if its window had begun with them: the rows of all windows are among these.
    """

    def __init__(self, stem: Stem) -> None:
        super().__init__(keep=True)
        self._stem = stem
        self._kept = 0
        self.queued_since: int | None = None  # the seq of the first queued row

    def fit(self, lengths: Sequence[int], held: Sequence[int]) -> None:
        """Set the numbers of rows of the queries' windows; ``held`` rows are kept in any case."""
        self._kept = max((*lengths, *held), default=0)

    def extend(self, count: int) -> None:
        """Add a window."""
        self._kept = max(count, self._kept)

    def find(
        self,
        access: Access,
        probes: Probes,
        longest: Array | int,
        *,
        inclusive: bool,
        as_of_now: bool,
    ) -> tuple[Array, Array, Array]:
        """See ``LineageInput.probe``; ``as_of_now``: in windows as of now, not as of each probe."""
        stem = self._stem
        if not len(stem):
            none = np.zeros(0, np.int64)
            return none, none, none
        came = self._came(probes.seq, inclusive=inclusive)
        if as_of_now:
            came = np.full(came.size, stem.next_id)
        cursor = access.begin(probes, inclusive=inclusive)
        number, found = access.follow(0, probes.key, cursor, self._oldest(came, longest))
        return number, found, came.take(number) - 1 - stem.ids(found)

    def oldest(self, ts: Array, seq: Array, length: Array | int, *, inclusive: bool) -> Array:
        if not len(self._stem):
            return np.full(seq.size, self._stem.first)
        return self._oldest(self._came(seq, inclusive=inclusive), length)

    def instants(
        self, ts: Array, seq: Array, by: Array, positions: Array, *, inclusive: bool
    ) -> Array:
        """See ``WindowBounds``: ages are in rows."""
        if not positions.size:
            return positions
        newest = self._came(seq, inclusive=inclusive) - 1
        instants: Array = self._stem.ids(positions) + (ts - newest)[by]
        return instants

    def _oldest(self, came: Array, length: Array | int) -> Array:
        """int64[n]: the first positions in windows after ``came`` rows."""
        stem = self._stem
        oldest = stem.positions(np.maximum(came - length, stem.unbroken))
        return np.maximum(oldest, stem.first)

    def _came(self, seq: Array, *, inclusive: bool) -> Array:
        """int64[n]: number of rows before each probe.

        A row evicts others one ``seq`` before its own, for probes that see its event. Before the
        oldest row held the number has no meaning: such probes find no rows.
        """
        stem = self._stem
        before = np.searchsorted(stem.held("seq"), seq + 1, "right" if inclusive else "left")
        newest: Array = stem.ids(np.maximum(before - 1, 0) + stem.first)
        return newest + 1

    def evicted(self, fresh: Array, counts: Array) -> tuple[Array, Array, Array]:
        """The rows that new ones (ids, of the chunk) evict from windows of these numbers of rows.

        Returns:
            int64[m] numbers of the new rows, ascending; int64[m] numbers of windows; int64[m]
            positions.
        """
        out = fresh[:, None] - counts
        by, window = np.nonzero(out >= self._stem.unbroken)
        return by, window, self._stem.positions(out[by, window])

    def ages(self, positions: Array) -> Array:
        """int64[n]: ages of rows now; FOREVER: they are in no window."""
        ids = self._stem.ids(positions)
        return np.where(ids >= self._stem.unbroken, self._stem.next_id - 1 - ids, FOREVER)

    @property
    def pins(self) -> bool:
        """Whether rows are queued."""
        return self.queued_since is not None

    def needed(self, stem: Stem, clock: int) -> int | Array:
        end = stem.end
        if self.queued_since is not None:  # the rows in windows just before
            end = stem.first + int(np.searchsorted(stem.held("seq"), self.queued_since))
        return max(end - self._kept, stem.first)


class Windows:
    """The queries whose windows over a stream hold rows of some age.

    Attributes:
        lengths: int64[k], the distinct lengths, ascending; microseconds or rows.
        members: uint64[k + 1, W], row r: the queries whose window is ``lengths[r]`` or longer; the
            last row is empty.

    Args:
        windows: int64 by bit. present: the bits of queries. words: W.
    """

    def __init__(self, windows: Array, present: Sequence[int], words: int) -> None:
        bits = np.asarray(present, np.int64)
        self.lengths, rank = np.unique(windows[bits], return_inverse=True)
        members = np.zeros((self.lengths.size + 1, words), np.uint64)
        np.bitwise_or.at(members, (rank, bits >> 6), np.uint64(1) << (bits & 63).astype(np.uint64))
        self.members = np.bitwise_or.accumulate(members[::-1])[::-1].copy()

    @property
    def groups(self) -> Array:
        """uint64[k, W]: the queries whose window is just ``lengths[r]``."""
        return self.members[:-1] & ~self.members[1:]
