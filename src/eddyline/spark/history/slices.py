"""Slices of time: which rows of which histories are read in one batch.

All streams advance together: a slice has the rows of all histories from one instant to another, so
the rows that wait for the watermark are those of about a slice, however the files are laid out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import pairwise
from typing import Any, Final

import numpy as np

from eddyline.runtime.stores.columns import Array

#: How often rows may be read, on average, before it is better to sort them first.
MOST_READS: Final = 2.0


@dataclass(frozen=True)
class RowGroup:
    """A part of a Parquet file.

    Attributes:
        group: its number in the file. rows: how many it has.
        first_us, last_us: their smallest and largest event times.
    """

    path: str
    group: int
    rows: int
    first_us: int
    last_us: int


@dataclass(frozen=True)
class Piece:
    """What one task reads of a row group.

    Attributes:
        start, stop: its rows by number. from_us, to_us: of these, those in [from_us, to_us).
    """

    stream: str
    path: str
    group: int
    start: int
    stop: int
    from_us: int
    to_us: int

    def fields(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


def within(groups: Sequence[RowGroup], low: int, high: int) -> list[RowGroup]:
    """The parts of row groups whose event times are in [low, high). Rows count as spread evenly
    over the time of their group.

    >>> within([RowGroup("a", 0, 10, 0, 9)], 5, 100)
    [RowGroup(path='a', group=0, rows=5, first_us=5, last_us=9)]
    """
    found = []
    for g in groups:
        first, last = max(g.first_us, low), min(g.last_us, high - 1)
        if first <= last:
            rows = round(g.rows * (last - first + 1) / (g.last_us - g.first_us + 1))
            found.append(replace(g, rows=max(1, rows), first_us=first, last_us=last))
    return found


def cut_times(groups: Sequence[RowGroup], batch_rows: int) -> list[int]:
    """The instants between slices, in order, with the first and the last; without groups none.

    >>> cut_times([RowGroup("a", 0, 10, 0, 9), RowGroup("b", 0, 10, 10, 19)], 10)
    [0, 10, 20]
    """
    if not groups:
        return []
    first = np.array([g.first_us for g in groups], np.int64)
    end = np.array([g.last_us + 1 for g in groups], np.int64)
    rows = np.array([g.rows for g in groups], np.float64)
    base = int(first.min())
    slopes = rows / (end - first)
    points = np.concatenate([first, end])
    change = np.concatenate([slopes, -slopes])
    order = np.argsort(points, kind="stable")
    points, change = points[order], change[order]
    slope = np.cumsum(change)
    reached = np.concatenate([[0.0], np.cumsum(slope[:-1] * np.diff(points))])
    total, last = float(reached[-1]), int(points[-1])
    count = max(1, round(total / batch_rows))
    wanted = np.linspace(0, total, count + 1)[1:-1]
    inner = np.rint(np.interp(wanted, reached, (points - base).astype(np.float64)))
    cuts = {base + int(us) for us in inner}
    return [base, *sorted(us for us in cuts if base < us < last), last]


def reads_per_row(groups: Sequence[RowGroup], cuts: Sequence[int]) -> float:
    """How often a row is read on average: a group is read for each slice that it has rows of."""
    rows = sum(g.rows for g in groups)
    return sum(g.rows * _slices_of(g, cuts) for g in groups) / rows if rows else 1.0


def slices(
    streams: Mapping[str, Sequence[RowGroup]],
    cuts: Sequence[int],
    bounds: Mapping[str, tuple[int, int]],
    cells: int,
) -> Iterator[list[list[Piece]]]:
    """What the tasks read, by slice and cell.

    Args:
        cuts: the instants between slices. bounds: by stream, [from, to): what is read at all.
        cells: number of tasks of a slice; the rows of each stream are divided evenly.
    """
    ordered = {
        name: sorted(groups, key=lambda g: (g.first_us, g.path, g.group))
        for name, groups in streams.items()
    }
    first = {n: np.array([g.first_us for g in of], np.int64) for n, of in ordered.items()}
    last = {n: np.array([g.last_us for g in of], np.int64) for n, of in ordered.items()}
    for begin, end in pairwise(cuts):
        pieces: list[list[Piece]] = [[] for _ in range(cells)]
        for name, of in ordered.items():
            low, high = bounds[name]
            time = max(begin, low), min(end, high)
            if time[0] < time[1]:
                inside = np.flatnonzero((first[name] < time[1]) & (last[name] >= time[0]))
                _deal(name, [of[i] for i in inside], time, pieces)
        yield pieces


def _deal(
    stream: str, groups: Sequence[RowGroup], time: tuple[int, int], pieces: list[list[Piece]]
) -> None:
    """Divide the rows of groups, in order, over the cells."""
    ends: Array = np.cumsum([g.rows for g in groups], dtype=np.int64)
    total = int(ends[-1]) if ends.size else 0
    bounds = [total * cell // len(pieces) for cell in range(len(pieces) + 1)]
    for cell, (begin, end) in enumerate(pairwise(bounds)):
        at = int(np.searchsorted(ends, begin, side="right"))
        while begin < end:
            before = int(ends[at]) - groups[at].rows
            stop = min(end, int(ends[at]))
            place = groups[at].path, groups[at].group
            pieces[cell].append(Piece(stream, *place, begin - before, stop - before, *time))
            begin, at = stop, at + 1


def _slices_of(group: RowGroup, cuts: Sequence[int]) -> int:
    before, after = np.searchsorted(cuts, (group.first_us, group.last_us), side="right")
    return int(after - before) + 1
