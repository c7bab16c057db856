"""Windows of a flow: over a stream as long as its queries need; and those of its queries.

The age of a row is in microseconds; where windows count rows, in rows: that of the newest row is 0,
and a window of N rows holds the rows of an age below N. So the same masks by age serve both. Those
that count the rows of partitions are in ``flow_partitions.py``.

The windows of queries are numbered from the smallest to the largest: by stream (``Windows``), and
over all streams that they join, as *levels*. Where windows are *nested* (the containment property
of the paper), the smallest window that contains a result, its level, determines the queries that
get it: those of this level and all above.

Source of levels: Hammad et al. 2003, section 2.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Protocol

import numpy as np

from eddyline.runtime.join_inputs.access import Access
from eddyline.runtime.stores.columns import Array, unique
from eddyline.runtime.stores.index import Liveness, Probes
from eddyline.runtime.stores.rowstore import RowStore
from eddyline.runtime.stores.stem import EndlessWindow, Stem, TimeWindow
from eddyline.types import FOREVER

_BUCKETS: Final = 4_096  # of ages


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
        windows: int64 by bit. bits: int64, of queries. words: W.
    """

    def __init__(self, windows: Array, bits: Array, words: int) -> None:
        mine = windows[bits]
        self.lengths = unique(mine)
        rank = self.lengths.searchsorted(mine)
        members = np.zeros((self.lengths.size + 1, words), np.uint64)
        np.bitwise_or.at(members, (rank, bits >> 6), np.uint64(1) << (bits & 63).astype(np.uint64))
        self.members = np.bitwise_or.accumulate(members[::-1])[::-1].copy()

    @property
    def groups(self) -> Array:
        """uint64[k, W]: the queries whose window is just ``lengths[r]``."""
        return self.members[:-1] & ~self.members[1:]


@dataclass(frozen=True)
class Levels:
    """The levels of a set of queries: their windows over all streams.

    Attributes:
        bounds: int64[s, k]: per source and level the length of the window, in microseconds or in
            rows; ascending.
        groups: uint64[k, W]: the queries of each level.
        nested: whether the windows of a level's queries are just its bounds.
    """

    bounds: Array
    groups: Array
    nested: bool

    def __len__(self) -> int:
        return int(self.bounds.shape[1])

    @cached_property
    def hints(self) -> tuple[tuple[Array, int], ...]:
        """Per source a table from ages to levels; see ``eddyline.kernels.merge``."""
        return tuple(map(_hints, self.bounds))

    @classmethod
    def of(cls, windows: Sequence[Array], chosen: Array, words: int) -> Levels:
        """The levels of the queries with these bits (int64).

        Args:
            windows: per source, int64 window lengths by bit.
        """
        lengths = np.stack([w[chosen] for w in windows])
        different, level = np.unique(lengths, axis=1, return_inverse=True)
        nested = bool((np.diff(different, axis=1) >= 0).all())
        if not nested:  # the rows scanned for a level suffice for all windows up to its largest
            _, level = np.unique(lengths.max(axis=0), return_inverse=True)
            different = np.zeros((len(windows), int(level.max(initial=-1)) + 1), np.int64)
            for source, mine in enumerate(lengths):
                np.maximum.at(different[source], level, mine)
            different = np.maximum.accumulate(different, axis=1)
        groups = np.zeros((different.shape[1], words), np.uint64)
        word, bit = chosen >> 6, np.uint64(1) << (chosen & 63).astype(np.uint64)
        np.bitwise_or.at(groups, (level.ravel(), word), bit)
        return cls(different, groups, nested)

    @property
    def lengths(self) -> Array:
        """int64[k], ascending: the length of the windows of each level, the larger of its bounds;
        bounds that are the same for all levels do not count.
        """
        differ = self.bounds[:, 0] < self.bounds[:, -1]
        lengths: Array = self.bounds[differ if differ.any() else slice(None)].max(axis=0)
        return lengths

    def of_classes(self, classes: Array, words: int) -> Array:
        """uint64[r, words]: the queries of each window class: of the levels above the class below.

        Args:
            classes: int64[r], numbers of levels, ascending up to the last one. words: at least W.
        """
        starts = np.concatenate(([0], classes[:-1] + 1))
        groups = np.bitwise_or.reduceat(self.groups, starts, axis=0)
        return np.pad(groups, ((0, 0), (0, words - groups.shape[1])))

    def reach(self, bits: int) -> Array:
        """int64[bits]: the level of each query; -1: no such query."""
        members = np.unpackbits(self.groups.view(np.uint8), axis=1, bitorder="little")
        level, bit = np.nonzero(members)
        out = np.full(bits, -1, np.int64)
        out[bit] = level
        return out

    def of_results(self, ts: Array, instants: Sequence[Array]) -> Array:
        """int64[n]: the levels of results of these instants.

        Args:
            instants: per source, the timestamps of their rows.
        """
        level = np.zeros(ts.size, np.int64)
        for bounds, instant in zip(self.bounds, instants, strict=True):
            np.maximum(level, np.searchsorted(bounds, ts - instant, "right"), out=level)
        return level


def _hints(bounds: Array) -> tuple[Array, int]:
    finite = bounds[bounds < FOREVER]
    shift = max(int(finite.max(initial=1)).bit_length() - _BUCKETS.bit_length() + 1, 0)
    ages = np.arange(_BUCKETS + 1, dtype=np.int64) << shift
    return np.append(np.searchsorted(bounds, ages, "right"), bounds.size), shift
