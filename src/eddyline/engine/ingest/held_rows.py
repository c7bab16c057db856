"""Rows that wait for the watermark.

They lie in *runs*: each is in order of time, and all its rows arrived before those of the next one.
The newest runs are merged as they grow (O'Neil et al. 1996, "The log-structured merge-tree", with
levels that double), so a row is copied a few times, however many wait and however small calls are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from eddyline.engine.ingest.ordered_rows import OrderedRows, joined
from eddyline.runtime.stores.columns import Array
from eddyline.types import FOREVER

#: Maximum of rows of a run that is merged from others: no call merges more.
_MOST_MERGED: Final = 1 << 16


@dataclass(slots=True)
class _Run:
    """Rows of which those before ``start`` have been released."""

    rows: OrderedRows
    start: int = 0

    @property
    def left(self) -> int:
        """How many have not."""
        return int(self.rows.ts.size) - self.start

    @property
    def rest(self) -> OrderedRows:
        """Those."""
        return self.rows.part(self.start, self.rows.ts.size)


class HeldRows:
    """The rows of one stream that wait.

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

    def times(self) -> tuple[Array, Array]:
        """Their timestamps and arrival numbers, int64 each, in the same order."""
        rests = (run.rest for run in self._runs)
        bare = [rest._replace(columns=[]) for rest in rests]
        rows = joined(bare) if bare else self._nothing
        return rows.ts, rows.arrival

    def add(self, rows: OrderedRows) -> None:
        """Add rows in any order, which arrived after all others."""
        if not rows.ts.size:
            return
        runs = self._runs
        runs.append(_Run(rows.sorted()))
        while len(runs) > 1 and _may_merge(runs[-2].left, runs[-1].left):
            newest = runs.pop()
            runs[-1] = _Run(joined([runs[-1].rest, newest.rest]))

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
