"""The output buffer of a shared window join: matches that are not yet released.

Source: Hammad et al. 2003, section 3.2.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from eddyline.kernels.release import OrderedResults, ProbingRows, SliceResults, put, tally
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.window_join.scheduling_queue import SchedulingQueues

#: Which queries require pairs: of a side, uint64[n, W] lineage of probes, int64[p] their numbers,
#: positions of the rows found and their ages; returns the pairs required and uint64[q, W] lineage.
Meet = Callable[[int, Array, Array, Array, Array], tuple[Array, Array]]


@dataclass(frozen=True, slots=True)
class CandidatePairs:
    """Pairs of rows of two sources that may be results: their keys have equal hashes, or there are
    no keys.

    Attributes:
        ts, seq: int64[n], the instants of the younger rows.
        sign: int8[n], -1 where the result would be retracted.
        left, right: int64[n], ids of the rows.
    """

    ts: Array
    seq: Array
    sign: Array
    left: Array
    right: Array

    def __len__(self) -> int:
        return int(self.ts.size)


#: Of candidates, and uint64[n, W], their lineage (or None): int64[m], which are results, and the
#: lineage of those.
Verify = Callable[[CandidatePairs, Array | None], tuple[Array, Array | None]]


@dataclass(frozen=True, slots=True)
class JoinedPairs:
    """Results, in the order of the rows that probed, newest partner first.

    Attributes:
        row: int64[n], numbers of the rows, in the order in which all rows came.
        ts, seq: int64[n], the instants of these rows.
        ids, instants: per side int64[n], the two base rows, and ``ts`` minus their ages: where
            windows are by time, their timestamps.
        lineage: uint64[n, W]; None: every query whose windows hold the result requires it.
        group: int64[n], the group of windows that a row was evicted from: the result is retracted
            (-1: it is new). None: all are new.
    """

    row: Array
    ts: Array
    seq: Array
    ids: tuple[Array, Array]
    instants: tuple[Array, Array]
    lineage: Array | None
    group: Array | None = None

    def __len__(self) -> int:
        return int(self.row.size)

    def between(self, first: int, last: int) -> JoinedPairs:
        """Those of the rows ``[first, last)``."""
        if len(self) and self.row[0] >= first and self.row[-1] < last:
            return self
        start, end = np.searchsorted(self.row, (first, last))
        return self.take(slice(start, end))

    def take(self, which: slice | Array) -> JoinedPairs:
        """Some of them."""
        return JoinedPairs(
            self.row[which],
            self.ts[which],
            self.seq[which],
            (self.ids[0][which], self.ids[1][which]),
            (self.instants[0][which], self.instants[1][which]),
            None if self.lineage is None else self.lineage[which],
            None if self.group is None else self.group[which],
        )


@dataclass(frozen=True, slots=True)
class Release:
    """Results released to the queries of a window class.

    Attributes:
        window_class: its queries are those of the levels above the class below, up to its own.
        lowest: the results are also for the queries of the classes from this one on.
        first, last: the rows ``[first, last)`` probed.
        pairs: the results, of all ages up to the class's window.
    """

    window_class: int
    first: int
    last: int
    pairs: JoinedPairs
    lowest: int


@dataclass(frozen=True, slots=True)
class SliceMatches:
    """The matches of rows in a slice, by row, newest first.

    Attributes:
        row: int64[n], numbers of the rows. partner, partner_ts: id and instant of the match.
        lineage: as of ``JoinedPairs``.
    """

    row: Array
    partner: Array
    partner_ts: Array
    lineage: Array | None

    def __len__(self) -> int:
        return int(self.row.size)

    def between(self, first: int, last: int) -> SliceMatches:
        """The matches of the rows ``[first, last)``."""
        if len(self) and self.row[0] >= first and self.row[-1] < last:
            return self
        start, end = np.searchsorted(self.row, (first, last))
        return self.take(slice(start, end))

    def take(self, which: slice | Array) -> SliceMatches:
        """Some of them."""
        lineage = None if self.lineage is None else self.lineage[which]
        return SliceMatches(self.row[which], self.partner[which], self.partner_ts[which], lineage)


class SliceBuffer:
    """The matches of rows in one slice, by row."""

    def __init__(self) -> None:
        self._lasts: list[int] = []  # the parts end before these rows
        self._parts: list[SliceMatches] = []
        self._gone = 0  # number of parts at the front that were dropped

    def add(self, last: int, found: SliceMatches) -> None:
        """Append the matches of the rows up to ``last``."""
        self._lasts.append(last)
        self._parts.append(found)

    def between(self, first: int, last: int) -> Iterator[SliceMatches]:
        """The matches of the rows ``[first, last)``."""
        part = bisect_right(self._lasts, first, lo=self._gone)
        begun = first
        while part < len(self._parts) and begun < last:
            if len(found := self._parts[part].between(first, last)):
                yield found
            begun = self._lasts[part]
            part += 1

    def forget(self, last: int) -> None:
        """Drop the matches of the rows before ``last``."""
        self._gone = bisect_right(self._lasts, last, lo=self._gone)
        if 2 * self._gone > len(self._parts):
            del self._lasts[: self._gone], self._parts[: self._gone]
            self._gone = 0

    def __len__(self) -> int:
        return sum(map(len, self._parts[self._gone :]))


def assembled(
    parts: Sequence[SliceMatches], queues: SchedulingQueues, first: int, last: int
) -> JoinedPairs:
    """The matches of the rows ``[first, last)`` in several slices (newer ones first)."""
    count = sum(map(len, parts))
    starts = np.zeros(last - first + 1, np.int64)
    for part in parts:
        tally(part.row, first, starts)
    at = np.cumsum(starts)
    row, ts, seq = (np.empty(count, np.int64) for _ in range(3))
    ids, instants = (np.empty((2, count), np.int64) for _ in range(2))
    lineage = None
    mine = slice(first - queues.first, last - queues.first)
    rows = ProbingRows(*(queues[name][mine] for name in ("side", "id", "ts", "seq")))
    out = OrderedResults(row, ts, seq, ids, instants)
    for part in parts:
        found = SliceResults(part.row, part.partner, part.partner_ts)
        to = put(found, first, at, rows, out)
        if part.lineage is not None:
            if lineage is None:
                lineage = np.empty((count, part.lineage.shape[1]), np.uint64)
            lineage[to] = part.lineage
    return JoinedPairs(row, ts, seq, (ids[0], ids[1]), (instants[0], instants[1]), lineage)


def with_retractions(retracted: Sequence[JoinedPairs], new: JoinedPairs) -> JoinedPairs:
    """Retracted and new results in one sequence."""
    parts = [*retracted, replace(new, group=np.full(len(new), -1))]
    parts = [part for part in parts if len(part)] or parts[:1]
    lineages = [part.lineage for part in parts if part.lineage is not None]
    groups = [part.group for part in parts if part.group is not None]
    whole = JoinedPairs(
        np.concatenate([part.row for part in parts]),
        np.concatenate([part.ts for part in parts]),
        np.concatenate([part.seq for part in parts]),
        (np.concatenate([p.ids[0] for p in parts]), np.concatenate([p.ids[1] for p in parts])),
        (
            np.concatenate([p.instants[0] for p in parts]),
            np.concatenate([p.instants[1] for p in parts]),
        ),
        np.concatenate(lineages) if lineages else None,
        np.concatenate(groups),
    )
    return whole.take(np.argsort(whole.seq, kind="stable"))


def in_turn(parts: Sequence[SliceMatches]) -> SliceMatches:
    """The matches of consecutive pieces of rows."""
    if not parts:
        none = np.zeros(0, np.int64)
        return SliceMatches(none, none, none, None)
    row, partner, partner_ts = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("row", "partner", "partner_ts")
    )
    lineages = [part.lineage for part in parts if part.lineage is not None]
    return SliceMatches(row, partner, partner_ts, np.concatenate(lineages) if lineages else None)


def by_row(one: SliceMatches, other: SliceMatches) -> SliceMatches:
    """The matches of rows of both sides, by row."""
    row = np.concatenate((one.row, other.row))
    order = np.argsort(row, kind="stable")
    lineage = None
    if one.lineage is not None and other.lineage is not None:
        lineage = np.concatenate((one.lineage, other.lineage))[order]
    partner = np.concatenate((one.partner, other.partner))
    partner_ts = np.concatenate((one.partner_ts, other.partner_ts))
    return SliceMatches(row[order], partner[order], partner_ts[order], lineage)
