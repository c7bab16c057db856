"""Bounds of what windows hold of each group, from sums by lineage.

A condition of HAVING is ``slope * sum + weight * count + offset > 0``. The *running value* of a
lineage and a group adds up ``slope * x + weight`` over all rows that have come; a window of a query
holds, of each lineage that has the query, the running value now minus the one before its oldest
row. The lowest running values are kept for *pieces* of time, so that in a call the condition is at
most the sum, over the query's lineages, of the highest running value of the call minus the lowest
one of the pieces in which the window begins. Rows are added once, whatever the number of queries.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from eddyline.kernels import lineage_sums as kernels
from eddyline.kernels.quiet_windows import ERROR, SQUARE_ERROR
from eddyline.runtime.stores.columns import Array

#: In how many pieces the longest window is divided.
_PIECES: Final = 32
#: Pieces that are kept: of the longest window, and of a call that lasts about as long.
_RING: Final = 2 * _PIECES


class Bounds(NamedTuple):
    """Of what windows of a length hold, float64[lineages, groups] each.

    Attributes:
        value: at least the sum of ``slope * x + weight``. sure: at most how many rows they hold
            less those that come. rows: at least how many rows they hold.
    """

    value: Array
    sure: Array
    rows: Array


class LineageSums:
    """Running values of lineages and groups, from an instant on.

    Args:
        clock: this instant. longest_us: the longest window.
        slope, weight: of the condition; the largest weight of a query.
    """

    def __init__(self, clock: int, longest_us: int, slope: float, weight: float) -> None:
        self.begun = clock
        self.longest_us = longest_us
        self._slope, self.weight = slope, weight
        self._piece_us = longest_us // _PIECES + 1
        self._piece = clock // self._piece_us  # the piece that rows are added to
        self._based = self._piece  # where running values were 0
        self._now, self._highest, self._count, self._before = (np.zeros((0, 0)) for _ in range(4))
        self._lowest = np.zeros((_RING, 0, 0))  # by piece
        self._ends = np.zeros((_RING, 0, 0))  # numbers of rows at the ends of pieces
        self._rows = np.zeros(_RING)
        self._largest = abs(weight)

    @property
    def cells(self) -> int:
        """Number of lineages times groups."""
        return self._now.size

    def loosen(self, weight: float) -> None:
        """Let the largest weight be this."""
        more = weight - self.weight
        with np.errstate(invalid="ignore"):  # the weight may be infinite
            self._lowest += more * np.roll(self._ends, 1, axis=0)
            self._now += more * self._count
        self.weight, self._largest = weight, self._largest + more

    def add(
        self, ts: Array, lineage: Array, group: Array, valid: Array, value: Array, clock: int
    ) -> None:
        """Add the rows of a call, which ends at ``clock``, in the order of time.

        Args:
            ts, lineage, group: int64[n]; a lineage below 0 is none.
            valid, value: what is aggregated, and whether it is.
        """
        self._fit(int(lineage.max(initial=-1)) + 1, int(group.max(initial=-1)) + 1)
        self._highest[:], self._before[:] = self._now, self._count
        pieces = ts // self._piece_us
        ends = np.flatnonzero(np.diff(pieces)) + 1
        for first, end in zip([0, *ends.tolist()], [*ends.tolist(), ts.size], strict=True):
            if first == end:
                continue
            self._close(int(pieces[first]))
            at, mine = self._piece % _RING, slice(first, end)
            rows = lineage[mine], group[mine], valid[mine], value[mine]
            sums = self._now, self._highest, self._lowest[at], self._count
            largest = kernels.add(*rows, self._slope, self.weight, *sums)
            self._largest = max(self._largest, largest)
            self._rows[at] += end - first
        self._close(clock // self._piece_us)
        self._ends[self._piece % _RING] = self._count

    def bounds(self, length_us: int, since: int, clock: int) -> Bounds:
        """Of the last call, which lasted from ``since`` to ``clock``, for windows that are not
        longer than the longest and began after ``begun``.
        """
        first, last = ((c - length_us) // self._piece_us for c in (since, clock))
        if first < self._piece - _RING + 2:  # the call was longer than the pieces
            unknown = np.full(self._now.shape, np.inf)
            return Bounds(unknown, self._before, self._count + unknown)
        at = np.arange(first, last + 1) % _RING
        lowest = self._lowest[at[0]] if at.size == 1 else self._lowest[at].min(axis=0)
        with np.errstate(invalid="ignore"):
            value = self._highest - lowest
        rows = self._count - self._ends[(first - 1) % _RING]
        return Bounds(value, self._before - self._ends[at[-1]], rows)

    def margin(self) -> float:
        """How wrong rounding may make the sum of values."""
        rows = float(self._rows.sum())
        return max(ERROR, SQUARE_ERROR * rows) * rows * self._largest

    def _close(self, piece: int) -> None:
        """Begin a piece."""
        if piece <= self._piece:
            return
        self._ends[self._piece % _RING] = self._count
        if piece - self._based > _PIECES or not np.isfinite(self._now).all():
            self._rebase(piece)
        new = np.arange(max(self._piece, piece - _RING) + 1, piece + 1) % _RING
        self._lowest[new], self._ends[new], self._rows[new] = self._now, self._count, 0.0
        self._piece = piece

    def _rebase(self, piece: int) -> None:
        """Let running values be 0 now, so that they stay small."""
        with np.errstate(invalid="ignore"):  # of sums that are no numbers
            self._lowest -= self._now
            self._highest -= self._now
        self._ends -= self._count
        self._before -= self._count
        self._now[:], self._count[:] = 0.0, 0.0
        self._based = piece

    def _fit(self, lineages: int, groups: int) -> None:
        """Make room."""
        has = self._now.shape
        if lineages <= has[0] and groups <= has[1]:
            return
        wanted = zip((lineages, groups), has, strict=True)
        shape = [h if n <= h else max(n, h + h // 2) for n, h in wanted]
        self._now, self._highest = _larger(self._now, shape), _larger(self._highest, shape)
        self._count, self._before = _larger(self._count, shape), _larger(self._before, shape)
        self._lowest, self._ends = _larger(self._lowest, shape), _larger(self._ends, shape)


def _larger(array: Array, shape: Sequence[int]) -> Array:
    """The array, with zeros up to this shape of its last two axes."""
    larger = np.zeros((*array.shape[:-2], *shape))
    larger[..., : array.shape[-2], : array.shape[-1]] = array
    return larger
