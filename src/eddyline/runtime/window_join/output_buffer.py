"""The output buffer of a shared window join: results, and what waits until it may be released.

Source: Hammad et al. 2003, section 3.2.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from eddyline.kernels.release import put, tally
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.window_join.scheduling_queue import WaitingRows

#: Of pairs (int64[n] ids on both sides; uint64[n, W] who wants them, or None): int64[m], which are
#: results, and who wants those.
Verify = Callable[[Array, Array, Array | None], tuple[Array, Array | None]]
#: Who wants pairs: of a side, uint64[n, W] lineage of probes, int64[p] their numbers, positions of
#: the rows found and their ages; returns the pairs that somebody wants and uint64[q, W].
Meet = Callable[[int, Array, Array, Array, Array], tuple[Array, Array]]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Results, in the order of the rows that brought them about, newest partner first.

    Attributes:
        row: int64[n], numbers of the rows, in the order in which all rows came.
        ts, seq: int64[n], when: those of the row.
        ids, instants: per side int64[n], the two base rows, and ``ts`` less how old they are: where
            windows go by time, their timestamps.
        lineage: uint64[n, W]; None: every query whose windows hold the result wants it.
        group: int64[n], whose windows a row has been pushed out of: the results are taken back (-1:
            they come). None: all of them come.
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

    def between(self, first: int, last: int) -> Pairs:
        """Those of the rows ``[first, last)``."""
        if len(self) and self.row[0] >= first and self.row[-1] < last:
            return self
        start, end = np.searchsorted(self.row, (first, last))
        return self.take(slice(start, end))

    def take(self, which: slice | Array) -> Pairs:
        """Some of them."""
        return Pairs(
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
    """Results that the queries of a rung get now.

    Attributes:
        rung: which; its queries are those of the levels above the rung below, up to its own.
        first, last: the rows ``[first, last)`` brought them about.
        pairs: the results, of all ages up to the rung's.
    """

    rung: int
    first: int
    last: int
    pairs: Pairs


@dataclass(frozen=True, slots=True)
class Found:
    """What rows found in a slice, by row, newest first.

    Attributes:
        row: int64[n], numbers of the rows. partner, partner_ts: id and instant of the row found.
        lineage: as of ``Pairs``.
    """

    row: Array
    partner: Array
    partner_ts: Array
    lineage: Array | None

    def __len__(self) -> int:
        return int(self.row.size)

    def between(self, first: int, last: int) -> Found:
        """What the rows ``[first, last)`` found."""
        if len(self) and self.row[0] >= first and self.row[-1] < last:
            return self
        start, end = np.searchsorted(self.row, (first, last))
        return self.take(slice(start, end))

    def take(self, which: slice | Array) -> Found:
        """Some of it."""
        lineage = None if self.lineage is None else self.lineage[which]
        return Found(self.row[which], self.partner[which], self.partner_ts[which], lineage)


class FoundInSlice:
    """What joining rows with a slice has brought, by row."""

    def __init__(self) -> None:
        self._lasts: list[int] = []  # the parts end before these rows
        self._parts: list[Found] = []
        self._gone = 0  # so many at the front have been forgotten

    def add(self, last: int, found: Found) -> None:
        """What the rows up to ``last`` found; they come in order."""
        self._lasts.append(last)
        self._parts.append(found)

    def between(self, first: int, last: int) -> Iterator[Found]:
        """What the rows ``[first, last)`` found."""
        part = bisect_right(self._lasts, first, lo=self._gone)
        begun = first
        while part < len(self._parts) and begun < last:
            if len(found := self._parts[part].between(first, last)):
                yield found
            begun = self._lasts[part]
            part += 1

    def forget(self, last: int) -> None:
        """Nobody waits for what the rows before ``last`` found."""
        self._gone = bisect_right(self._lasts, last, lo=self._gone)
        if 2 * self._gone > len(self._parts):
            del self._lasts[: self._gone], self._parts[: self._gone]
            self._gone = 0

    def __len__(self) -> int:
        return sum(map(len, self._parts[self._gone :]))


def assembled(parts: Sequence[Found], waiting: WaitingRows, first: int, last: int) -> Pairs:
    """What the rows ``[first, last)`` found in several slices (newer ones first)."""
    count = sum(map(len, parts))
    starts = np.zeros(last - first + 1, np.int64)
    for part in parts:
        tally(part.row, first, starts)
    at = np.cumsum(starts)
    row, ts, seq = (np.empty(count, np.int64) for _ in range(3))
    ids, instants = (np.empty((2, count), np.int64) for _ in range(2))
    lineage = None
    mine = slice(first - waiting.first, last - waiting.first)
    side, own, row_ts, row_seq = (waiting[name][mine] for name in ("side", "id", "ts", "seq"))
    for part in parts:
        to = put(
            part.row,
            part.partner,
            part.partner_ts,
            first,
            at,
            side,
            own,
            row_ts,
            row_seq,
            row,
            ts,
            seq,
            ids,
            instants,
        )
        if part.lineage is not None:
            if lineage is None:
                lineage = np.empty((count, part.lineage.shape[1]), np.uint64)
            lineage[to] = part.lineage
    return Pairs(row, ts, seq, (ids[0], ids[1]), (instants[0], instants[1]), lineage)


def with_leaving(leaving: Sequence[Pairs], coming: Pairs) -> Pairs:
    """Results that are taken back, among those that come."""
    parts = [*leaving, replace(coming, group=np.full(len(coming), -1))]
    parts = [part for part in parts if len(part)] or parts[:1]
    lineages = [part.lineage for part in parts if part.lineage is not None]
    groups = [part.group for part in parts if part.group is not None]
    whole = Pairs(
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


def in_turn(parts: Sequence[Found]) -> Found:
    """What rows found, piece by piece of them."""
    if not parts:
        none = np.zeros(0, np.int64)
        return Found(none, none, none, None)
    row, partner, partner_ts = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("row", "partner", "partner_ts")
    )
    lineages = [part.lineage for part in parts if part.lineage is not None]
    return Found(row, partner, partner_ts, np.concatenate(lineages) if lineages else None)


def by_row(one: Found, other: Found) -> Found:
    """What rows of both sides found, row by row."""
    row = np.concatenate((one.row, other.row))
    order = np.argsort(row, kind="stable")
    lineage = None
    if one.lineage is not None and other.lineage is not None:
        lineage = np.concatenate((one.lineage, other.lineage))[order]
    partner = np.concatenate((one.partner, other.partner))
    partner_ts = np.concatenate((one.partner_ts, other.partner_ts))
    return Found(row[order], partner[order], partner_ts[order], lineage)
