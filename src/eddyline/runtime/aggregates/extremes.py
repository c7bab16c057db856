"""MIN and MAX."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from eddyline.kernels.aggregates import SignedRows
from eddyline.kernels.heaps import NO_NODE, run_extreme
from eddyline.kernels.unique import unique
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
from eddyline.runtime.stores.order_keys import order_keys
from eddyline.runtime.stores.slot_arrays import SlotArray


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
        self._largest = largest
        self._nodes = Nodes(type_)
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
        heap = self._heap
        new, old = run_extreme(
            rows,
            lanes[0],
            self._largest,
            self._nodes.occurrences,
            heap.order,
            *self._nodes.texts(),
            heap.child,
            heap.sibling,
            heap.previous,
            self.root,
            self.reported,
        )
        return Reported(self._nodes.values(new), self._nodes.values(old), new != old)

    def current(self, slots: Array) -> pa.Array:
        return self._nodes.values(self.reported[slots])

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


class EndlessExtreme(Extreme):
    """MIN and MAX of rows that never leave: of the values of a group one is kept."""

    def run(self, rows: SignedRows, lanes: Sequence[Array]) -> Reported:
        slots = unique(rows.slot)
        before = self.root[slots]
        reported = super().run(rows, lanes)
        kept = self.root[slots]
        kept = kept[kept >= 0]
        known = np.concatenate((before[before >= 0], lanes[0][lanes[0] >= 0]))
        others = np.setdiff1d(known, kept)
        self._nodes.occurrences[others] = 0
        self._nodes.touch(others)
        for links in (self._heap.child, self._heap.sibling, self._heap.previous):
            links[kept] = NO_NODE
        return reported


def _extreme(of: Wanted, *, largest: bool) -> Aggregate:
    assert of.argument is not None
    kind = EndlessExtreme if of.endless else Extreme
    return kind(of.argument, largest=largest)


computes("min")(partial(_extreme, largest=False))
computes("max")(partial(_extreme, largest=True))
