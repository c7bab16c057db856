"""A gate that suspends rows after their first results."""

from __future__ import annotations

from typing import Any

import numpy as np

from eddyline.runtime.feedback.gate import Gate
from eddyline.runtime.stores.columns import Array

_NO_ROWS = np.zeros(0, np.int64)


class ReactiveGate(Gate):
    """A gate with one reader, which suspends rows that have passed."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._by_results: set[int] = set()  # questions that a Detector answers

    def judge_by_results(self, number: int) -> None:
        """Rows with results are suspended for this question by ``hold`` only."""
        self._by_results.add(number)

    def suspend(self, positions: Array, clock: int) -> Array:
        """bool[n]: which of the rows at these positions stay visible; the others are suspended."""
        if positions.size == 0 or any(r.takes_all for r in self._readers.values()):
            return np.ones(positions.size, np.bool_)
        now = np.full(positions.size, clock)
        return self._judge(self._kept.rows_at(positions), positions, now, but=self._by_results)

    def hold(self, number: int, positions: Array) -> Array:
        """Suspend rows for a question of the only reader; returns those suspended, none while the
        question is asleep.
        """
        (reader,) = self._readers.values()
        question = reader.questions[number]
        if question.asleep:
            return _NO_ROWS
        keys, usable = question.wanted.keys_of(self._kept.rows_at(positions))
        ever = slice(None) if usable is None else usable
        question.waiting.link(positions[ever], keys[ever])
        self.refused += positions.size
        return positions
