"""Meters of streams: rates, and numbers of distinct values of columns.

Both refer to recent *periods*: at the end of a period, the weight of earlier rows is halved
(rates), and values of the period before it are forgotten. Rates are per second of event time.
Values are counted in a sample of rows, by a sketch (``runtime/stores/sketch.py``), for the columns
that queries compare: those of small chunks wait until there are enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
import pyarrow as pa

from eddyline.optimizer.estimates import population
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.sketch import count_values, different, new_registers
from eddyline.types import BEGINNING

#: Minimum length of a period, in time, in rows (rates), and in sampled rows (values).
_PERIOD_US: Final = 10_000_000
_PERIOD_ROWS: Final = 4_096
_PERIOD_SAMPLED: Final = 8_192
#: Rows sampled of a chunk, and the multiple of them that is then skipped.
_SAMPLE_ROWS: Final = 512
_REST: Final = 64
#: Minimum of rows, or of time, for a rate.
_LEAST_ROWS: Final = 10
_LEAST_US: Final = 60_000_000


class Meter:
    """Measures one stream, or the rows that are added to a table."""

    def __init__(self) -> None:
        self._start = self._end = BEGINNING  # of the period
        self._rows = 0
        self._past_rows = self._past_us = 0.0
        self._values: dict[int, ValueCounter] = {}
        self._rest = 0  # rows to skip

    def watch(self, columns: Iterable[int]) -> None:
        """Count the values of these columns from now on."""
        for column in columns:
            if column not in self._values:
                self._values[column] = ValueCounter()

    def restarted(self) -> Meter:
        """A new meter of the same columns."""
        meter = Meter()
        meter.watch(self._values)
        return meter

    def see(self, ts: Array, columns: Sequence[pa.Array], places: Array | None = None) -> None:
        """Count rows; ``pass_time`` follows.

        Args:
            ts: int64[n], their timestamps in order. columns, places: as of ``OrderedRows``.
        """
        if not ts.size:
            return
        if self._start == BEGINNING:
            self._start = int(ts[0])
            self._rows = -1  # rates count the gaps between rows
        self._rows += ts.size
        if self._values:
            self._sample(ts, columns, places)

    def pass_time(self, to: int) -> None:
        """Record that all streams of the group are processed up to this instant."""
        if self._start == BEGINNING:
            return
        self._end = max(self._end, to)
        if self._end - self._start >= _PERIOD_US and self._rows >= _PERIOD_ROWS:
            self._past_rows = self._past_rows / 2 + self._rows
            self._past_us = self._past_us / 2 + self._end - self._start
            self._start, self._rows = self._end, 0

    def _sample(self, ts: Array, columns: Sequence[pa.Array], places: Array | None) -> None:
        count, now = ts.size, max(self._end, int(ts[-1]))
        self._rest -= count
        if self._rest > 0:
            return
        some = min(count, _SAMPLE_ROWS)
        self._rest = _REST * some
        start = now % (count - some + 1)  # deterministic, so that a replay takes these rows
        for column, counter in self._values.items():
            values = columns[column]
            if places is None:
                values = values.slice(start, some)
            else:
                values = values.take(pa.array(places[start : start + some]))
            counter.count(values, now)

    @property
    def rate(self) -> float | None:
        """Rows per second; None with too few rows."""
        rows = self._past_rows + self._rows
        us = self._past_us + self._end - self._start
        enough = rows >= _LEAST_ROWS or us >= _LEAST_US
        return rows * 1e6 / us if enough and us > 0 else None

    def values(self) -> dict[int, float]:
        """The number of values of each watched column with sampled rows."""
        return {c: v.estimate() for c, v in self._values.items() if v.sampled}

    def state(self) -> State:
        """Counters as plain arrays."""
        return {
            "period": np.array([self._start, self._end, self._rows, self._rest]),
            "past": np.array([self._past_rows, self._past_us]),
            "values": {str(c): v.state() for c, v in self._values.items()},
        }

    def restore(self, state: State) -> None:
        """Restore ``state``."""
        self._start, self._end, self._rows, self._rest = (int(v) for v in array(state, "period"))
        self._past_rows, self._past_us = (float(v) for v in array(state, "past"))
        self.watch(int(c) for c in nested(state, "values"))
        for column, counter in self._values.items():
            if str(column) in nested(state, "values"):
                counter.restore(nested(nested(state, "values"), str(column)))


class ValueCounter:
    """The number of distinct values of a column, in this period and the one before.

    Attributes:
        sampled: rows that were counted.
    """

    def __init__(self) -> None:
        self._now, self._before = new_registers(), new_registers()
        self._waiting: list[pa.Array] = []  # sampled values that are not in the registers yet
        self._rows_waiting = 0
        self._sampled_now = self._sampled_before = 0
        self._since = BEGINNING

    @property
    def sampled(self) -> int:
        return self._sampled_now + self._sampled_before

    def count(self, values: pa.Array, now: int) -> None:
        """Count values; ``now``: the instant of the last one."""
        if self._since == BEGINNING:
            self._since = now
        self._waiting.append(pa.concat_arrays([values]))  # a copy: the user's memory may change
        self._rows_waiting += len(values)
        if self._rows_waiting >= _SAMPLE_ROWS:
            self._count_waiting()
        self._sampled_now += len(values)
        if self._sampled_now >= _PERIOD_SAMPLED and now - self._since >= _PERIOD_US:
            self._count_waiting()
            self._before, self._now = self._now, new_registers()
            self._sampled_before, self._sampled_now = self._sampled_now, 0
            self._since = now

    def _count_waiting(self) -> None:
        if self._waiting:
            count_values(self._now, pa.concat_arrays(self._waiting))
            self._waiting, self._rows_waiting = [], 0

    def estimate(self) -> float:
        """The estimated number of distinct values in all rows."""
        self._count_waiting()
        seen = different(np.maximum(self._now, self._before))
        return max(1.0, round(population(seen, self.sampled)))

    def state(self) -> State:
        """Counters and registers as plain arrays."""
        self._count_waiting()
        counters = np.array([self._sampled_now, self._sampled_before, self._since])
        return {"counters": counters, "now": self._now, "before": self._before}

    def restore(self, state: State) -> None:
        """Restore ``state``."""
        self._sampled_now, self._sampled_before, self._since = (
            int(v) for v in array(state, "counters")
        )
        self._now, self._before = array(state, "now").copy(), array(state, "before").copy()
