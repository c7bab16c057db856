"""Which results go to which queries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from eddyline.kernels.lineage import by_bit, earliest, expand
from eddyline.runtime.batch import Batch
from eddyline.runtime.columns import Array
from eddyline.types import FOREVER


@dataclass(frozen=True, slots=True)
class Fanout:
    """The results of a chunk, each once, and who gets them.

    Attributes:
        batch: n results in (ts, seq) order.
        rows: int64[m], numbers of results, query by query.
        starts: int64[bits + 1]: those of the query with bit b are ``[starts[b], starts[b + 1])``.
        exp: int64[m], when each leaves that query's answer.
    """

    batch: Batch
    rows: Array
    starts: Array
    exp: Array

    @property
    def member(self) -> Array:
        """int64[m]: whose each of ``rows`` is."""
        return np.repeat(np.arange(self.starts.size - 1), np.diff(self.starts))

    def only(self, chosen: Array) -> Fanout:
        """Those of ``rows`` for which bool[m] is true."""
        kept = np.flatnonzero(chosen)
        counts = np.bincount(self.member[kept], minlength=self.starts.size - 1)
        starts = np.concatenate((np.zeros(1, np.int64), np.cumsum(counts)))
        return Fanout(self.batch, self.rows[kept], starts, self.exp[kept])

    def alive_at(self, clock: int) -> Fanout:
        """What has not left at ``clock``."""
        return self.only(self.exp > clock)

    def used(self) -> Fanout:
        """The same without results that nobody gets."""
        wanted = np.zeros(len(self.batch), np.bool_)
        wanted[self.rows] = True
        if wanted.all():
            return self
        batch = self.batch.take(np.flatnonzero(wanted))
        return Fanout(batch, (np.cumsum(wanted) - 1)[self.rows], self.starts, self.exp)


def fan_out(
    batch: Batch,
    blocks: Iterable[tuple[int, Array]],
    bits: int,
    instants: Iterable[tuple[Array, Array]],
) -> Fanout:
    """The fan-out of results to queries.

    Args:
        blocks: first number and lineage (uint64[k, W]) of pieces of the batch.
        bits: larger than any bit that is set.
        instants: per source with windows, int64[n] ts of its rows and int64[bits] window lengths.
    """
    pieces = [expand(lineage, first) for first, lineage in blocks]
    row = np.concatenate([r for r, _ in pieces]) if pieces else np.zeros(0, np.int64)
    bit = np.concatenate([b for _, b in pieces]) if pieces else np.zeros(0, np.int32)
    rows, starts = by_bit(row, bit, bits)
    member = np.repeat(np.arange(bits, dtype=np.int32), np.diff(starts))
    exp = batch.exp.take(rows)
    for ts, window_us in instants:
        earliest(exp, rows, member, ts, window_us)
    return Fanout(batch, rows, starts, np.minimum(exp, FOREVER))
