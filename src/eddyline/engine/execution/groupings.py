"""Queries of a flow that group in the same way: one grouping serves all of them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Protocol

import numpy as np

from eddyline.engine.execution.latency import Latencies
from eddyline.engine.execution.result_tables import Shape
from eddyline.runtime.eddy.fanout import Fanout
from eddyline.runtime.eddy.per_query import PerQuery
from eddyline.types import BEGINNING


class Answers(Protocol):
    """A flow that says what is in the answers of its queries."""

    def answer(self, clock: int, bits: Sequence[int]) -> Fanout:
        """The results that are in the answers of some queries at ``clock``."""


class Grouping:
    """A shape whose results come from operators above the flow.

    Attributes:
        rows_out, latencies: by number of the query, since it came.
    """

    def __init__(self, shared: Answers, shape: Shape, operator: PerQuery) -> None:
        self.shape = shape
        self.operator = operator
        self.rows_out = np.zeros(64, np.int64)
        self.latencies = Latencies()
        self._shared = shared

    def admit(self, name: str, bit: int, number: int | None) -> int:
        """A query comes; returns its number."""
        number = self.operator.admit(bit, number, reuse=not self.shape.pending)
        self._fit(number)
        self.rows_out[number] = 0
        self.latencies.forget(number)
        self.shape.seat(name, number)
        return number

    def dismiss(self, name: str, bit: int) -> None:
        """A query goes."""
        self.operator.dismiss(bit)
        self.shape.unseat(name)
        self._renew()

    def _renew(self) -> None:
        """Forget what belongs to queries that have gone, if it may be a lot."""
        clock = self.operator.clock
        if self.operator.members and self.operator.is_worn and clock > BEGINNING:
            self.operator.renew(self._shared.answer(clock, self.operator.bits), clock)

    def collect(self, arrived: float) -> None:
        """Take in the chunk's results; ``arrived``: when its rows could be processed."""
        fanouts, self.operator.fanouts = self.operator.fanouts, []
        for fanout in fanouts:
            counts = self.shape.collect(fanout)
            self.rows_out[: counts.size] += counts
            self.latencies.add(counts, time.perf_counter() - arrived)
        self._renew()

    def _fit(self, number: int) -> None:
        if number >= self.rows_out.size:
            self.rows_out = np.pad(self.rows_out, (0, 2 * number - self.rows_out.size))
