"""The output buffer of a shared window join: results, and what waits until it may be released.

Source: Hammad et al. 2003, section 3.2.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from eddyline.runtime.columns import Array


@dataclass(frozen=True, slots=True)
class Pairs:
    """Results, in the order of the rows that brought them about, newest partner first.

    Attributes:
        row: int64[n], numbers of the rows, in the order in which all rows came.
        ts, seq: int64[n], when: those of the row.
        ids, instants: per side int64[n], the two base rows and their timestamps.
        lineage: uint64[n, W]; None: every query whose windows hold the result wants it.
    """

    row: Array
    ts: Array
    seq: Array
    ids: tuple[Array, Array]
    instants: tuple[Array, Array]
    lineage: Array | None

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
        )


class FoundInSlice:
    """What joining rows with a slice has brought, by row."""

    def __init__(self) -> None:
        self._lasts: list[int] = []  # the parts end before these rows
        self._parts: list[Pairs] = []
        self._gone = 0  # so many at the front have been forgotten

    def add(self, last: int, pairs: Pairs) -> None:
        """What the rows up to ``last`` found; they come in order."""
        self._lasts.append(last)
        self._parts.append(pairs)

    def between(self, first: int, last: int) -> Iterator[Pairs]:
        """What the rows ``[first, last)`` found."""
        part = bisect_right(self._lasts, first, lo=self._gone)
        begun = first
        while part < len(self._parts) and begun < last:
            if len(pairs := self._parts[part].between(first, last)):
                yield pairs
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


def merged(parts: Sequence[Pairs]) -> Pairs:
    """Pairs of several slices (newer ones first) in the order of their rows."""
    if not parts:
        return _NO_PAIRS
    row = np.concatenate([p.row for p in parts])
    order = np.argsort(row, kind="stable")
    lineages = [p.lineage for p in parts if p.lineage is not None]
    return Pairs(
        row[order],
        np.concatenate([p.ts for p in parts])[order],
        np.concatenate([p.seq for p in parts])[order],
        (
            np.concatenate([p.ids[0] for p in parts])[order],
            np.concatenate([p.ids[1] for p in parts])[order],
        ),
        (
            np.concatenate([p.instants[0] for p in parts])[order],
            np.concatenate([p.instants[1] for p in parts])[order],
        ),
        np.concatenate(lineages)[order] if lineages else None,
    )


_NOTHING = np.zeros(0, np.int64)
_NO_PAIRS = Pairs(_NOTHING, _NOTHING, _NOTHING, (_NOTHING,) * 2, (_NOTHING,) * 2, None)
