"""Rows in order of (timestamp, arrival): sorted, held until the watermark, merged over streams, and
cut into chunks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa

from eddyline.kernels.merge import merge_destinations
from eddyline.runtime.stores.columns import Array, any_of, taken
from eddyline.types import FOREVER

#: The arrival numbers of each call of an engine begin with a multiple of this, so that engines
#: which get different rows by the same calls number them in one order.
ARRIVALS_PER_CALL: Final = 1 << 28
#: Maximum of rows of a run that is merged from others: no call merges more.
_MOST_MERGED: Final = 1 << 16


class OrderedRows(NamedTuple):
    """Rows in order of time: int64[n] ts, int64[n] arrival numbers, and the stream's columns.

    Attributes:
        places: int64[n], where the rows are in the columns, which have more; None: n are all.
        is_own: whether callers cannot change the columns: they are not in memory of theirs.
    """

    ts: Array
    arrival: Array
    columns: list[pa.Array]
    places: Array | None = None
    is_own: bool = False

    def part(self, start: int, end: int) -> OrderedRows:
        """The rows in [start, end)."""
        if not start and end == self.ts.size:
            return self
        ts, arrival = self.ts[start:end], self.arrival[start:end]
        if self.places is not None:
            return OrderedRows(ts, arrival, self.columns, self.places[start:end], self.is_own)
        columns = [c.slice(start, end - start) for c in self.columns]
        return OrderedRows(ts, arrival, columns, None, self.is_own)

    def take(self, rows: Array) -> OrderedRows:
        """The rows at these positions."""
        ts, arrival = self.ts[rows], self.arrival[rows]
        if self.places is not None:
            return OrderedRows(ts, arrival, self.columns, self.places[rows], self.is_own)
        return OrderedRows(ts, arrival, taken(self.columns, rows), None, True)

    def whole(self) -> OrderedRows:
        """The rows with columns that have no others."""
        if self.places is None:
            return self
        columns = taken(self.columns, self.places)
        return OrderedRows(self.ts, self.arrival, columns, None, True)

    def copied(self) -> OrderedRows:
        """The rows with columns that have no others, and are in no caller's memory."""
        whole = self.whole()
        if whole.is_own:
            return whole
        columns = [pa.concat_arrays([c]) for c in whole.columns]
        return OrderedRows(whole.ts.copy(), whole.arrival, columns, None, True)

    def sorted(self) -> OrderedRows:
        """The rows in order of time; equal times in the order that they have."""
        if self.ts.size < 2 or not any_of(self.ts[1:] < self.ts[:-1]):
            return self
        return self.take(np.argsort(self.ts, kind="stable"))


def joined(parts: Sequence[OrderedRows]) -> OrderedRows:
    """The rows of at least one part in order of time; equal times in the order of the parts."""
    if len(parts) == 1:
        return parts[0]
    ts = np.concatenate([part.ts for part in parts])
    arrival = np.concatenate([part.arrival for part in parts])
    columns = zip(*(part.whole().columns for part in parts), strict=True)
    return OrderedRows(ts, arrival, [pa.concat_arrays(c) for c in columns], None, True).sorted()


@dataclass(slots=True)
class _Run:
    """Rows of which those before ``start`` have been released."""

    rows: OrderedRows
    start: int = 0

    @property
    def left(self) -> int:
        """Number of rows that have not been released."""
        return int(self.rows.ts.size) - self.start

    @property
    def rest(self) -> OrderedRows:
        """The rows that have not been released."""
        return self.rows.part(self.start, self.rows.ts.size)


class HeldRows:
    """The rows of one stream that wait for the watermark.

    They lie in *runs*: each is in order of time, and all its rows arrived before those of the next
    one. The newest runs are merged as they grow (O'Neil et al. 1996, "The log-structured
    merge-tree", with levels that double), so a row is copied a few times, however many wait and
    however small calls are.

    Args:
        nothing: no rows, with the columns of the stream.
    """

    def __init__(self, nothing: OrderedRows) -> None:
        self._nothing = nothing
        self._runs: list[_Run] = []

    def __len__(self) -> int:
        return sum(run.left for run in self._runs)

    @property
    def runs(self) -> int:
        """Number of runs."""
        return len(self._runs)

    @property
    def nbytes(self) -> int:
        """Their size in memory."""
        rests = [run.rest for run in self._runs]
        columns = sum(c.nbytes for rest in rests for c in rest.columns)
        return int(sum(rest.ts.nbytes + rest.arrival.nbytes for rest in rests) + columns)

    @property
    def first(self) -> int:
        """The smallest timestamp; FOREVER without rows."""
        return min((int(run.rows.ts[run.start]) for run in self._runs), default=FOREVER)

    def last(self, default: int) -> int:
        """The largest timestamp, or ``default`` if that is larger."""
        return max([default, *(int(run.rows.ts[-1]) for run in self._runs)])

    def whole(self) -> OrderedRows:
        """All rows, in order of (timestamp, arrival)."""
        return joined([run.rest for run in self._runs]) if self._runs else self._nothing

    def times(self) -> Iterator[tuple[Array, Array]]:
        """By run, without a copy: timestamps, in order, and arrival numbers (int64[n] each)."""
        for run in self._runs:
            yield run.rows.ts[run.start :], run.rows.arrival[run.start :]

    def add(self, rows: OrderedRows) -> None:
        """Add rows in any order, which arrived after all others."""
        if not rows.ts.size:
            return
        runs = self._runs
        runs.append(_Run(rows.sorted()))
        while len(runs) > 1 and _may_merge(runs[-2].left, runs[-1].left):
            newest = runs.pop()
            runs[-1] = _Run(joined([runs[-1].rest, newest.rest]))

    def restore(self, rows: OrderedRows) -> None:
        """Hold these rows and no others."""
        self._runs = []
        self.add(rows)

    def release(self, watermark: int) -> OrderedRows:
        """Remove and return the rows up to the watermark, in order of (timestamp, arrival)."""
        runs = self._runs
        if len(runs) == 1 and not runs[0].start and runs[0].rows.ts[-1] <= watermark:
            self._runs = []
            return runs[0].rows
        released = list(self._released(watermark))
        self._runs = [run for run in runs if run.left]
        for run in self._runs:
            if not run.rows.is_own:  # it waits longer than the call: the caller's memory may change
                run.rows, run.start = run.rest.copied(), 0
        return joined(released) if released else self._nothing

    def _released(self, watermark: int) -> Iterator[OrderedRows]:
        for run in self._runs:
            ts, start = run.rows.ts, run.start
            if ts[start] <= watermark:
                run.start = start + int(ts[start:].searchsorted(watermark, "right"))
                yield run.rows.part(start, run.start)


def _may_merge(older: int, newer: int) -> bool:
    """Whether runs with as many rows are merged."""
    return older <= 2 * newer and older + newer <= _MOST_MERGED


@dataclass(frozen=True, slots=True)
class Chunk:
    """Successive rows of several streams that are processed together.

    Attributes:
        ts: int64[n], of all of them. apart: whether they share a chunk only at one instant.
        parts: by stream, its rows, and int64[k], their numbers among the rows of all chunks.
    """

    ts: Array
    apart: bool
    parts: dict[str, tuple[OrderedRows, Array]]


def chunks(rows: Mapping[str, OrderedRows], apart: Set[str], chunk_rows: int) -> Iterator[Chunk]:
    """Merges rows of several streams in (ts, arrival) order, and cuts them into chunks.

    Args:
        apart: the streams whose rows are apart from those of others, and of other instants.
        chunk_rows: maximum of rows of a chunk.
    """
    ts, positions = _merged(list(rows.values()))
    alone = np.zeros(ts.size, np.bool_)
    for name, position in zip(rows, positions, strict=True):
        alone[position] = name in apart
    done = dict.fromkeys(rows, 0)
    for start, end in pairwise([*_chunk_starts(ts, alone, chunk_rows).tolist(), ts.size]):
        parts = {}
        for (name, of), position in zip(rows.items(), positions, strict=True):
            first, last = done[name], int(position.searchsorted(end))
            if first < last:
                done[name] = last
                parts[name] = (of.part(first, last), position[first:last])
        yield Chunk(ts[start:end], bool(alone[start]), parts)


def _merged(rows: list[OrderedRows]) -> tuple[Array, list[Array]]:
    """Merges rows of several streams in (ts, arrival) order.

    Returns:
        int64[n] timestamps, and for each stream the positions of its rows in the merge.
    """
    ts, arrival = rows[0].ts, rows[0].arrival
    positions = [np.arange(ts.size)]
    for more in rows[1:]:
        to_known, to_more = merge_destinations(ts, arrival, more.ts, more.arrival)

        def mixed(known: Array, new: Array, to: tuple[Array, Array]) -> Array:
            out = np.empty(to[0].size + to[1].size, np.int64)
            out[to[0]], out[to[1]] = known, new
            return out

        to = (to_known, to_more)
        ts, arrival = mixed(ts, more.ts, to), mixed(arrival, more.arrival, to)
        positions = [*(to_known[p] for p in positions), to_more]
    return ts, positions


def _chunk_starts(ts: Array, alone: Array, chunk_rows: int) -> Array:
    """The first rows of chunks. ``alone``, bool[n]: rows that share a chunk only at one instant."""
    starts = np.zeros(ts.size, np.bool_)
    starts[::chunk_rows] = True
    if any_of(alone):
        starts[1:] |= alone[1:] != alone[:-1]
        starts[1:] |= alone[1:] & (ts[1:] != ts[:-1])
    return np.flatnonzero(starts)
