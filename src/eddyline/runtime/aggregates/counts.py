"""COUNT(*), COUNT(x) and COUNT(DISTINCT x)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import pyarrow as pa

from eddyline.kernels import aggregates as kernels
from eddyline.kernels.aggregates import SignedRows
from eddyline.runtime.aggregates.base import (
    Aggregate,
    ByRow,
    Reported,
    Wanted,
    computes,
    number_array,
    valid_lane,
)
from eddyline.runtime.aggregates.nodes import OfNodes
from eddyline.runtime.stores.columns import Array, filled
from eddyline.runtime.stores.slots import SlotArray

#: A lane of ``Count`` for rows that all have a value.
ALL_VALUES: Final = np.zeros(0, np.bool_)


class Count(ByRow):
    """COUNT(*) and COUNT(x)."""

    dtypes: Sequence[Any] = (np.bool_,)
    remembers = "whether there is a value"
    count: Array
    reported: Array

    def __init__(self) -> None:
        super().__init__(count=SlotArray(np.int64), reported=SlotArray(np.int64))

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        return [filled(slot.size, 1, np.bool_) if values is None else valid_lane(values)]

    def counts(self, rows: SignedRows, lane: Array) -> tuple[Array, Array]:
        """As :meth:`run`: int64[k] the new counts, and those before."""
        counted: tuple[Array, Array] = kernels.run_count(rows, lane, self.count, self.reported)
        return counted

    def run(self, rows: SignedRows, lanes: Sequence[Array]) -> Reported:
        new, old = self.counts(rows, lanes[0])
        return _reported(new, old)

    def limit(self, key: Any) -> float | None:
        return float(key)

    def current(self, slots: Array) -> pa.Array:
        return pa.array(self.reported[slots])


class CountDistinct(OfNodes):
    """COUNT(DISTINCT x)."""

    dtypes: Sequence[Any] = (np.int64,)
    count: Array
    reported: Array

    def __init__(self, type_: pa.DataType) -> None:
        super().__init__(type_, count=SlotArray(np.int64), reported=SlotArray(np.int64))

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        assert values is not None
        return [self._nodes.number(slot, values)]

    def run(self, rows: SignedRows, lanes: Sequence[Array]) -> Reported:
        self._nodes.touch(lanes[0])
        new, old = kernels.run_count_distinct(
            rows,
            lanes[0],
            self._nodes.occurrences,
            self.count,
            self.reported,
        )
        return _reported(new, old)

    def current(self, slots: Array) -> pa.Array:
        return pa.array(self.reported[slots])


def _reported(new: Array, old: Array) -> Reported:
    numbers = [number_array(counts, None, pa.int64()) for counts in (new, old)]
    return Reported(numbers[0], numbers[1], new != old)


@computes("count")
def _count(of: Wanted) -> Aggregate:
    return CountDistinct(of.argument) if of.distinct and of.argument is not None else Count()
