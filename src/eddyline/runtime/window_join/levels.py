"""Windows of the queries of one join, from the smallest to the largest.

The distinct windows of queries are numbered as *levels*, ascending. Where windows are *nested* (the
containment property of the paper), the smallest window that contains a result, its level,
determines the queries that get it: those of this level and all above.

Source: Hammad et al. 2003, section 2.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from eddyline.runtime.stores.columns import Array
from eddyline.types import FOREVER

_BUCKETS: Final = 4_096  # of ages


@dataclass(frozen=True)
class Levels:
    """The levels of a set of queries.

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
    def of(cls, windows: Sequence[Array], bits: Sequence[int], words: int) -> Levels:
        """The levels of the queries with these bits.

        Args:
            windows: per source, int64 window lengths by bit.
        """
        chosen = np.asarray(bits, np.int64)
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
