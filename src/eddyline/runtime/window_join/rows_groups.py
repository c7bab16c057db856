"""Queries by their ROWS windows.

A new row evicts from windows of N rows the row that came N rows before it, and the results of that
row are retracted for the queries whose windows hold N rows: one *group* for each N of each source.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from eddyline.runtime.join_inputs.flow_windows import Levels, Windows
from eddyline.runtime.stores.columns import Array


@dataclass(frozen=True)
class RowsGroups:
    """The groups of all sources, one after the other.

    Attributes:
        starts: the groups of source s are ``[starts[s], starts[s + 1])``; none if its windows do
            not count rows.
        counts: int64[g], N. queries: uint64[g, W].
        longest: int64[sources, g]: the longest window of their queries, by source.
        first, last: int64[g]: their levels are ``[first, last)``, where results have levels.
    """

    starts: tuple[int, ...]
    counts: Array
    queries: Array
    longest: Array
    first: Array
    last: Array

    @classmethod
    def of(
        cls,
        counted: Sequence[bool],
        windows: Sequence[Windows],
        lengths: Sequence[Array],
        chosen: Array,
        levels: Levels | None,
    ) -> RowsGroups:
        """The groups of the queries with these bits (int64).

        Args:
            counted: by source, whether windows count rows. lengths: int64 of them by bit.
        """
        starts = [0]
        mine = [w if counts else None for w, counts in zip(windows, counted, strict=True)]
        longest, first, last = [], [], []
        for source, window in enumerate(mine):
            starts.append(starts[-1] + (0 if window is None else window.lengths.size))
            if window is None:
                continue
            group = np.searchsorted(window.lengths, lengths[source][chosen])
            most = np.zeros((len(mine), window.lengths.size), np.int64)
            for other, theirs in enumerate(lengths):
                np.maximum.at(most[other], group, theirs[chosen])
            longest.append(most)
            if levels is not None:
                bounds = levels.bounds[source]
                first.append(np.searchsorted(bounds, window.lengths, "left"))
                last.append(np.searchsorted(bounds, window.lengths, "right"))
        there = [w for w in mine if w is not None]
        none = np.zeros(0, np.int64)
        return cls(
            tuple(starts),
            np.concatenate([w.lengths for w in there]),
            np.concatenate([w.groups for w in there]),
            np.concatenate(longest, axis=1),
            np.concatenate([none, *first]),
            np.concatenate([none, *last]),
        )

    def of_source(self, source: int) -> slice:
        """The numbers of a source's groups."""
        return slice(self.starts[source], self.starts[source + 1])
