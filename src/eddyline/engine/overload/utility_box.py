"""Drop boxes by utility: the rows of a stream with the lowest values are dropped first.

Event time is divided into periods: of one second at first, then each of twice the length of the one
before, up to ``decide_every``; with fewer rows than a few hundred a period lasts as many times as
long. The rows of a period are ranked by those of the period before: the *cut* is the value that the
keep rate's share of these had, or a higher one. Rows above the cut are kept, those below dropped,
and of those at the cut the rest is drawn by their hash, as in any drop box. The rows of the first
period are all drawn.

So whether a row is kept follows from its content, its time, and the rows of the period before, for
any division of a stream into calls, if no row comes after the first one of a later period. One that
does is kept by the cut of its own time, and does not count for the next cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.types as pt

from eddyline.algebra.expressions import Expr
from eddyline.engine.ingest.computed_columns import evaluated
from eddyline.engine.overload.drop_box import DropBox
from eddyline.engine.overload.utility_sketch import Ranks, UtilitySketch
from eddyline.kernels.hashing import fold_in, mix_all
from eddyline.physical.expressions import compile_expr
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array

#: Length of the first period.
_FIRST_US: Final = 1_000_000
#: Least number of rows of a period.
_LEAST: Final = 256
#: Number of periods whose rows can come out of order: earlier ones are drawn.
_MOST: Final = 8
_LOWEST: Final = np.iinfo(np.int64).min
_LARGEST: Final = np.iinfo(np.int64).max


class UtilityBox:
    """Keeps the rows of a stream that rank highest.

    Args:
        stream: its name. utility: over its columns.
        longest_us: the length of periods, in the end.
    """

    def __init__(self, stream: str, utility: Expr, longest_us: int) -> None:
        self.utility = utility
        self._evaluate = compile_expr(utility)
        self._longest_us = longest_us
        self._box = DropBox(stream, 1.0)
        self.forget()

    def forget(self) -> None:
        """Draw the next rows: they are the first of a period before which there is none."""
        self._span: tuple[int, int] | None = None  # of the period that lasts, in us; None: no row
        self._length_us = min(_FIRST_US, self._longest_us)
        self._sketch = UtilitySketch()  # of its rows
        self._starts: list[int] = []  # of the periods that are ranked
        self._ranks: list[Ranks] = []  # by what

    def keeps(self, columns: Sequence[pa.Array], ts: Array, rates: Array) -> Array:
        """Count rows, and say which are kept.

        Args:
            columns: all columns of the stream, in their declared types. ts: int64[n], us.
            rates: float64[n], the keep rates of the rows.

        Returns:
            bool[n].
        """
        if not ts.size:
            return np.zeros(0, np.bool_)
        keys = self._keys(columns, ts.size)
        hashes = self._box.hashes(columns)
        entries = hashes.copy()
        fold_in(entries, keys)
        self._count(ts, keys, mix_all(entries.view(np.int64)).view(np.uint64))
        first, last = np.searchsorted(self._starts, (ts.min(), ts.max()), "right") - 1
        if first == last and (rates == rates[0]).all():
            return self._kept(int(first), float(rates[0]), keys, hashes)
        kept = np.empty(ts.size, np.bool_)
        periods = np.searchsorted(self._starts, ts, "right") - 1
        for period in range(first, last + 1):
            of_period = periods == period
            for rate in np.unique(rates[of_period]).tolist():
                mine = np.flatnonzero(of_period & (rates == rate))
                kept[mine] = self._kept(period, rate, keys[mine], hashes[mine])
        return kept

    def _kept(self, period: int, rate: float, keys: Array, hashes: Array) -> Array:
        """Which of some rows of one period are kept."""
        if period < 0 or rate == 1:
            return self._box.draws(hashes, rate)
        cut, share = self._ranks[period].cut(rate)
        kept: Array = keys > cut
        at_cut = np.flatnonzero(keys == cut)
        kept[at_cut] = self._box.draws(hashes[at_cut], share)
        return kept

    def _keys(self, columns: Sequence[pa.Array], count: int) -> Array:
        values, failure = evaluated(self._evaluate, columns, count)
        keys = _ordered(values)
        if failure is not None:
            keys[failure.rows] = _LOWEST
        return keys

    def _count(self, ts: Array, keys: Array, hashes: Array) -> None:
        """Count rows in the samples of their periods."""
        if self._span is None:
            first = int(ts.min())
            self._span = first, first + self._length_us
        if ts.min() >= self._span[0] and ts.max() < self._span[1]:
            self._sketch.add(keys, hashes)
            return
        if (ts[1:] < ts[:-1]).any():
            order = np.argsort(ts, kind="stable")
            ts, keys, hashes = ts[order], keys[order], hashes[order]
        begin = int(np.searchsorted(ts, self._span[0]))
        while begin < ts.size:
            end = self._end_of_period(ts, begin)
            self._sketch.add(keys[begin:end], hashes[begin:end])
            if end < ts.size:
                self._begin_period()
            begin = end

    def _end_of_period(self, ts: Array, begin: int) -> int:
        """The number of the first row that is not of the period: int64[n] in order, from ``begin``
        on. If there are too few, it lasts longer.
        """
        assert self._span is not None, "there is a row"
        since, until = self._span
        end = int(np.searchsorted(ts, until))
        last = begin + _LEAST - self._sketch.rows - 1  # with which there are enough
        if last < end:
            return end
        if last >= ts.size:
            return int(ts.size)
        lengths = (int(ts[last]) - since) // self._length_us + 1
        self._span = since, since + lengths * self._length_us
        return int(np.searchsorted(ts, self._span[1]))

    def _begin_period(self) -> None:
        assert self._span is not None, "one ends"
        _, until = self._span
        self._starts.append(until)
        self._ranks.append(self._sketch.ranks())
        del self._starts[:-_MOST], self._ranks[:-_MOST]
        self._length_us = min(2 * self._length_us, self._longest_us)
        self._span = until, until + self._length_us
        self._sketch = UtilitySketch()

    def state(self) -> State:
        """As plain arrays."""
        span = self._span or ()
        return {
            "counters": np.array([self._sketch.rows, self._length_us, *span], np.int64),
            "sketch": self._sketch.state(),
            "starts": np.array(self._starts, np.int64),
            "ranks": {str(i): ranks.state() for i, ranks in enumerate(self._ranks)},
        }

    def restore(self, state: State) -> None:
        """Restore ``state``."""
        rows, self._length_us, *span = array(state, "counters").tolist()
        self._span = (span[0], span[1]) if span else None
        self._sketch.restore(rows, array(state, "sketch"))
        self._starts = array(state, "starts").tolist()
        ranks = nested(state, "ranks")
        self._ranks = [Ranks.of(array(ranks, str(i))) for i in range(len(self._starts))]


def _ordered(values: pa.Array) -> Array:
    """int64[n]: numbers in the order of the values; NULL is the lowest, NaN the highest."""
    if pt.is_floating(values.type) or pt.is_decimal(values.type):
        floats = values.cast(pa.float64(), safe=False)
        numbers = floats.fill_null(0.0).to_numpy() + 0.0  # 0.0 of -0.0
        bits = np.where(np.isnan(numbers), np.nan, numbers).view(np.int64)
        keys = np.where(bits < 0, bits ^ np.int64(_LARGEST), bits)
    else:
        integers = values.cast(pa.int32()) if pt.is_date32(values.type) else values
        keys = np.array(pc.cast(integers, pa.int64()).fill_null(0))
    if values.null_count:
        keys[values.is_null().to_numpy(zero_copy_only=False)] = _LOWEST
    return keys
