"""Aggregates by slot over rows that never leave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from eddyline.kernels.aggregates import SignedRows, last_of_event
from eddyline.runtime.aggregates import Aggregate
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.slots import SlotArray


class Values(NamedTuple):
    """Aggregates of n slots.

    Attributes:
        columns: one per aggregate.
        failed: bool[n], whether an aggregate has no value. reasons: string[n], why.
    """

    columns: list[pa.Array]
    failed: Array
    reasons: pa.Array


class RunningAggregates:
    """Aggregates of the rows that have come, by slot."""

    def __init__(self, aggregates: Sequence[Aggregate]) -> None:
        self._aggregates = list(aggregates)
        self._seen = SlotArray(np.int64)

    def add(self, slot: Array, columns: Sequence[pa.Array | None], end: int) -> None:
        """Let rows into slots, int64[n], all of which are below ``end``.

        Args:
            columns: of the arguments; None: whole rows.
        """
        lanes = [a.lanes(slot, values) for a, values in zip(self._aggregates, columns, strict=True)]
        self._seen.grow(end)
        same = np.zeros(slot.size, np.int64)
        last = last_of_event(same, same, slot, self._seen.array)
        rows = SignedRows(slot, np.ones(slot.size, np.int8), last)
        for aggregate, lane in zip(self._aggregates, lanes, strict=True):
            aggregate.grow(end)
            aggregate.run(rows, lane)
            aggregate.settle()

    def values(self, slots: Array) -> Values:
        """The aggregates of slots."""
        reasons = np.full(slots.size, "", object)
        failed = np.zeros(slots.size, np.bool_)
        for aggregate in self._aggregates:
            fails = aggregate.has_failed(slots) & ~failed
            reasons[fails] = aggregate.failure
            failed |= fails
        columns = [a.current(slots) for a in self._aggregates]
        return Values(columns, failed, pa.array(reasons, pa.string()))

    def forget(self, slots: Array) -> None:
        """Let distinct slots be as new ones. Takes as long as there are rows in all slots."""
        for aggregate in self._aggregates:
            aggregate.forget(slots)

    def state(self) -> State:
        """Saved as plain arrays."""
        return {str(i): a.state() for i, a in enumerate(self._aggregates)}

    def restore(self, state: State, end: int) -> None:
        """Take over what ``state`` returned; slots are below ``end``."""
        self._seen.grow(end)
        for i, aggregate in enumerate(self._aggregates):
            aggregate.restore(nested(state, str(i)))
