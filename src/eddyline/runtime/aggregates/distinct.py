"""An aggregate of distinct values: each counts once, from the first row with it to the last."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from eddyline.kernels.aggregates import SignedRows, first_and_last
from eddyline.runtime.aggregates.base import Aggregate, Reported
from eddyline.runtime.aggregates.nodes import Nodes
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array


class OfDistinct:
    """An aggregate over the distinct values of each group.

    Args:
        inner: the aggregate; its first lane says where there is a value. type_: of the values.
    """

    def __init__(self, inner: Aggregate, type_: pa.DataType) -> None:
        self._inner = inner
        self._nodes = Nodes(type_)
        self.remembers, self.failure = "", inner.failure
        self.dtypes: Sequence[Any] = (np.int64, *inner.dtypes)

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        assert values is not None
        return [self._nodes.number(slot, values), *self._inner.lanes(slot, values)]

    def grow(self, end: int) -> None:
        self._inner.grow(end)

    def run(self, rows: SignedRows, lanes: Sequence[Array]) -> Reported:
        nodes, _, *rest = lanes
        self._nodes.touch(nodes)
        counts = first_and_last(rows.sign, nodes, self._nodes.occurrences)
        return self._inner.run(rows, [counts, *rest])

    def current(self, slots: Array) -> pa.Array:
        return self._inner.current(slots)

    def has_failed(self, slots: Array) -> Array:
        return self._inner.has_failed(slots)

    def settle(self) -> None:
        self._nodes.settle()
        self._inner.settle()

    def refer(self, lanes: Sequence[Array]) -> None:
        self._nodes.refer(lanes[0])
        self._inner.refer(lanes[1:])

    def drop(self, lanes: Sequence[Array]) -> None:
        self._nodes.drop(lanes[0])
        self._inner.drop(lanes[1:])

    def forget(self, slots: Array) -> None:
        self._nodes.forget(slots)
        self._inner.forget(slots)

    def state(self) -> State:
        return {"nodes": self._nodes.state(), "inner": self._inner.state()}

    def restore(self, state: State) -> None:
        self._nodes.restore(nested(state, "nodes"))
        self._inner.restore(nested(state, "inner"))
