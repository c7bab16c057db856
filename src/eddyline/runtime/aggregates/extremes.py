"""MIN and MAX."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.kernels.aggregates import SignedRows
from eddyline.kernels.heaps import NO_NODE, run_extreme
from eddyline.runtime.aggregates.base import (
    Aggregate,
    Reported,
    SlotArrays,
    Wanted,
    computes,
)
from eddyline.runtime.aggregates.nodes import Nodes
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.keytable import KeyTexts
from eddyline.runtime.stores.order_keys import order_keys
from eddyline.runtime.stores.slot_arrays import SlotArray

_NO_TEXTS = KeyTexts(np.zeros(0, np.int64), 0, np.zeros(0, np.int64), 0, np.zeros(0, np.uint8))


class _Heap(SlotArrays):
    """Order keys and links of heap nodes; a node's links are set when it is inserted."""

    order: Array
    child: Array
    sibling: Array
    previous: Array

    def __init__(self) -> None:
        names = ("order", "child", "sibling", "previous")
        super().__init__(**{name: SlotArray(np.int64) for name in names})


class Extreme(SlotArrays):
    """MIN and MAX: a heap of distinct values by group."""

    dtypes: Sequence[Any] = (np.int64,)
    root: Array
    reported: Array

    def __init__(self, type_: pa.DataType, *, largest: bool) -> None:
        super().__init__(
            root=SlotArray(np.int64, fill=NO_NODE), reported=SlotArray(np.int64, fill=NO_NODE)
        )
        self._type = type_
        self._largest = largest
        self._nodes = Nodes(type_)
        self._is_text = pa.types.is_string(type_) or pa.types.is_binary(type_)
        self._heap = _Heap()

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        assert values is not None
        nodes = self._nodes.number(slot, values)
        self._heap.grow(self._nodes.table.end)
        rows = np.flatnonzero(nodes >= 0)
        self._heap.order[nodes[rows]] = order_keys(values)[rows]
        return [nodes]

    def run(self, rows: SignedRows, lanes: Sequence[Array]) -> Reported:
        self._nodes.touch(lanes[0])
        texts = self._nodes.table.texts(1) if self._is_text else _NO_TEXTS
        heap = self._heap
        new, old = run_extreme(
            rows,
            lanes[0],
            self._largest,
            self._nodes.occurrences,
            heap.order,
            *texts,
            heap.child,
            heap.sibling,
            heap.previous,
            self.root,
            self.reported,
        )
        return Reported(self._values(new), self._values(old), new != old)

    def _values(self, nodes: Array) -> pa.Array:
        if len(self._nodes.table) == 0:
            return pa.nulls(nodes.size, self._type)
        some = int(self._nodes.table.used()[0])
        values = self._nodes.table.keys(np.where(nodes >= 0, nodes, some))[1]
        return pc.if_else(pa.array(nodes >= 0), values, pa.scalar(None, self._type))

    def current(self, slots: Array) -> pa.Array:
        return self._values(self.reported[slots])

    def settle(self) -> None:
        self._nodes.settle()

    def forget(self, slots: Array) -> None:
        super().forget(slots)
        self._nodes.forget(slots)

    def state(self) -> State:
        return {**super().state(), "nodes": self._nodes.state(), "heap": self._heap.state()}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._nodes.restore(nested(state, "nodes"))
        self._heap.restore(nested(state, "heap"))


@computes("min")
def _min(of: Wanted) -> Aggregate:
    assert of.argument is not None
    return Extreme(of.argument, largest=False)


@computes("max")
def _max(of: Wanted) -> Aggregate:
    assert of.argument is not None
    return Extreme(of.argument, largest=True)
