"""A gate that suspends rows after their first results."""

from __future__ import annotations

from typing import Any

import numpy as np

from eddyline.runtime.feedback.gate import Gate
from eddyline.runtime.stores.columns import Array

_NO_ROWS = np.zeros(0, np.int64)


class ReactiveGate(Gate):
    """A gate with one consumer, which suspends rows that have passed."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._by_results: set[int] = set()  # probes whose rows a Detector judges

    def judge_by_results(self, number: int) -> None:
        """Rows with results are suspended for this probe by ``suspend_for`` only."""
        self._by_results.add(number)

    def suspend(self, positions: Array, clock: int) -> Array:
        """bool[n]: which of the rows at these positions stay visible; the others are suspended."""
        if positions.size == 0 or self.is_unprobed:
            return np.ones(positions.size, np.bool_)
        now = np.full(positions.size, clock)
        return self._judge(self._buffer.rows_at(positions), positions, now, but=self._by_results)

    def suspend_for(self, number: int, positions: Array) -> Array:
        """Suspend rows for a probe of the only consumer; returns those suspended, none while the
        probe is asleep.
        """
        (consumer,) = self._consumers.values()
        queue = consumer.queues[number]
        if queue.asleep:
            return _NO_ROWS
        keys, usable = queue.probe.keys_of(self._buffer.rows_at(positions))
        ever = slice(None) if usable is None else usable
        queue.suspended.link(positions[ever], keys[ever])
        self.refused += positions.size
        return positions
