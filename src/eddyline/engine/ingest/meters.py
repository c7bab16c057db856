"""What an engine sees of its inputs while rows pass: rates, and how many values columns take.

Both are of recent *periods*: when one is over, what came before it counts half (rates) or no more
than one period back (values). Rates are per second of event time. Values are counted in a sample of
rows, by a sketch (``runtime/stores/sketch.py``), and only of columns that queries compare.
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

#: A period is at least so long, and has at least so many rows (sampled ones where values count).
_PERIOD_US: Final = 10_000_000
_PERIOD_ROWS: Final = 4_096
_PERIOD_SAMPLED: Final = 8_192
#: So many rows of a chunk are sampled; then none, for so many times as many rows.
_SAMPLE_ROWS: Final = 512
_REST: Final = 64
#: A rate is told from so many rows, or such a time, on.
_LEAST_ROWS: Final = 10
_LEAST_US: Final = 60_000_000


class Meter:
    """Measures one stream, or the rows that are added to a table."""

    def __init__(self) -> None:
        self._start = self._end = BEGINNING  # of the period
        self._rows = 0
        self._past_rows = self._past_us = 0.0
        self._values: dict[int, ValueCounter] = {}
        self._rest = 0  # rows that are not looked at

    def watch(self, columns: Iterable[int]) -> None:
        """From now on count the values of these columns too."""
        for column in columns:
            self._values.setdefault(column, ValueCounter())

    def anew(self) -> Meter:
        """A meter of the same columns that has seen nothing."""
        meter = Meter()
        meter.watch(self._values)
        return meter

    def see(self, ts: Array, columns: Sequence[pa.Array]) -> None:
        """Rows have come: int64 timestamps in order, and their columns."""
        if self._start == BEGINNING:
            self._start = int(ts[0])
            self._rows = -1  # rates count the gaps between rows
        self._rows += ts.size
        self.pass_time(int(ts[-1]))
        if self._values:
            self._sample(ts.size, columns)

    def pass_time(self, to: int) -> None:
        """Rows of any stream have come up to this instant."""
        if self._start == BEGINNING:
            return
        self._end = max(self._end, to)
        if self._end - self._start >= _PERIOD_US and self._rows >= _PERIOD_ROWS:
            self._past_rows = self._past_rows / 2 + self._rows
            self._past_us = self._past_us / 2 + self._end - self._start
            self._start, self._rows = self._end, 0

    def _sample(self, count: int, columns: Sequence[pa.Array]) -> None:
        self._rest -= count
        if self._rest > 0:
            return
        some = min(count, _SAMPLE_ROWS)
        self._rest = _REST * some
        start = self._end % (count - some + 1)  # anywhere, yet the same in a replay
        for column, counter in self._values.items():
            counter.count(columns[column].slice(start, some), self._end)

    @property
    def rate(self) -> float | None:
        """Rows per second; None: it is too early to tell."""
        rows = self._past_rows + self._rows
        us = self._past_us + self._end - self._start
        enough = rows >= _LEAST_ROWS or us >= _LEAST_US
        return rows * 1e6 / us if enough and us > 0 else None

    def values(self) -> dict[int, float]:
        """How many values each watched column takes, as far as rows were sampled."""
        return {c: v.estimate() for c, v in self._values.items() if v.sampled}

    def state(self) -> State:
        """What was measured, as plain arrays."""
        return {
            "period": np.array([self._start, self._end, self._rows, self._rest]),
            "past": np.array([self._past_rows, self._past_us]),
            "values": {str(c): v.state() for c, v in self._values.items()},
        }

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self._start, self._end, self._rows, self._rest = (int(v) for v in array(state, "period"))
        self._past_rows, self._past_us = (float(v) for v in array(state, "past"))
        self.watch(int(c) for c in nested(state, "values"))
        for column, counter in self._values.items():
            if str(column) in nested(state, "values"):
                counter.restore(nested(nested(state, "values"), str(column)))


class ValueCounter:
    """How many values a column takes, in this period and the one before.

    Attributes:
        sampled: rows that were looked at.
    """

    def __init__(self) -> None:
        self._now, self._before = new_registers(), new_registers()
        self._sampled_now = self._sampled_before = 0
        self._since = BEGINNING

    @property
    def sampled(self) -> int:
        return self._sampled_now + self._sampled_before

    def count(self, values: pa.Array, now: int) -> None:
        """Look at some values; ``now`` is the instant of the last one."""
        if self._since == BEGINNING:
            self._since = now
        count_values(self._now, values)
        self._sampled_now += len(values)
        if self._sampled_now >= _PERIOD_SAMPLED and now - self._since >= _PERIOD_US:
            self._before, self._now = self._now, new_registers()
            self._sampled_before, self._sampled_now = self._sampled_now, 0
            self._since = now

    def estimate(self) -> float:
        """The number of values, those that the sample missed included."""
        seen = different(np.maximum(self._now, self._before))
        return max(1.0, round(population(seen, self.sampled)))

    def state(self) -> State:
        """As plain arrays."""
        counters = np.array([self._sampled_now, self._sampled_before, self._since])
        return {"counters": counters, "now": self._now, "before": self._before}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self._sampled_now, self._sampled_before, self._since = (
            int(v) for v in array(state, "counters")
        )
        self._now, self._before = array(state, "now").copy(), array(state, "before").copy()
