"""MIN and MAX: from a heap of the values of a group or, where rows leave in order, from a queue."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as pt

from eddyline.kernels import monotone_queues as queues
from eddyline.kernels.aggregates import SignedRows
from eddyline.kernels.heaps import NO_NODE, Heap, Values, run_extreme
from eddyline.runtime.aggregates.base import (
    Aggregate,
    ByRow,
    Reported,
    SlotArrays,
    Wanted,
    computes,
    valid_lane,
)
from eddyline.runtime.aggregates.nodes import OfNodes
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, unique
from eddyline.runtime.stores.order_keys import order_keys, values_of_keys
from eddyline.runtime.stores.slots import SlotArray


class _Heap(SlotArrays):
    """Order keys and links of heap nodes; a node's links are set when it is inserted."""

    order: Array
    child: Array
    sibling: Array
    previous: Array

    def __init__(self) -> None:
        names = ("order", "child", "sibling", "previous")
        super().__init__(**{name: SlotArray(np.int64) for name in names})


class Extreme(OfNodes):
    """MIN and MAX: a heap of distinct values by group."""

    dtypes: Sequence[Any] = (np.int64,)
    root: Array
    reported: Array

    def __init__(self, type_: pa.DataType, *, largest: bool) -> None:
        super().__init__(
            type_,
            root=SlotArray(np.int64, fill=NO_NODE),
            reported=SlotArray(np.int64, fill=NO_NODE),
        )
        self._largest = largest
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
            Values(heap.order, *self._nodes.texts()),
            Heap(heap.child, heap.sibling, heap.previous, self.root),
            self.reported,
        )
        return Reported(self._nodes.values(new), self._nodes.values(old), new != old)

    def current(self, slots: Array) -> pa.Array:
        return self._nodes.values(self.reported[slots])

    def state(self) -> State:
        return {**super().state(), "heap": self._heap.state()}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._heap.restore(nested(state, "heap"))


class QueuedExtreme(ByRow):
    """MIN and MAX of rows that leave in the order in which they came; not of texts."""

    dtypes: Sequence[Any] = (np.bool_, np.int64)
    remembers = "order keys"
    front: Array
    back: Array
    reported: Array
    shown: Array

    def __init__(self, type_: pa.DataType, *, largest: bool) -> None:
        super().__init__(
            front=SlotArray(np.int64, fill=queues.NO_RUN),
            back=SlotArray(np.int64, fill=queues.NO_RUN),
            reported=SlotArray(np.int64),
            shown=SlotArray(np.bool_),
        )
        self._type, self._largest = type_, largest
        self._runs = SlotArray(np.int64, (queues.RUN_COLUMNS,))
        self._free = np.array([queues.NO_RUN, 0])

    def lanes(self, slot: Array, values: pa.Array | None) -> list[Array]:
        assert values is not None
        return [valid_lane(values), order_keys(values)]

    def run(self, rows: SignedRows, lanes: Sequence[Array]) -> Reported:
        valid, key = lanes
        self._runs.grow(int(self._free[queues.FRESH]) + int((rows.sign > 0).sum()))
        new, new_valid, old, old_valid = queues.run_queues(
            rows,
            valid,
            key,
            self._largest,
            self.front,
            self.back,
            self._runs.array,
            self._free,
            self.reported,
            self.shown,
        )
        changed = (new_valid != old_valid) | (new_valid & (new != old))
        now = values_of_keys(new, new_valid, self._type)
        return Reported(now, values_of_keys(old, old_valid, self._type), changed)

    def limit(self, key: Any) -> float | None:
        floating = pt.is_floating(self._type)
        return float(order_keys(pa.array([key], pa.float64()))[0] if floating else key)

    def current(self, slots: Array) -> pa.Array:
        return values_of_keys(self.reported[slots], self.shown[slots], self._type)

    def forget(self, slots: Array) -> None:
        queues.release_queues(slots, self.front, self._runs.array, self._free)
        super().forget(slots)

    def state(self) -> State:
        return {**super().state(), "runs": self._runs.held(), "free": self._free}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._runs.restore(array(state, "runs"))
        self._free = array(state, "free").copy()


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
    kind: type[Extreme | QueuedExtreme] = EndlessExtreme if of.endless else Extreme
    if of.in_order and not of.distinct and _has_order_key(of.argument):
        kind = QueuedExtreme
    return kind(of.argument, largest=largest)


def _has_order_key(type_: pa.DataType) -> bool:
    """Whether an integer tells values of the type apart."""
    if pt.is_decimal(type_):
        return bool(type_.precision <= 18)
    return bool(
        pt.is_integer(type_)
        or pt.is_floating(type_)
        or pt.is_boolean(type_)
        or pt.is_date32(type_)
        or pt.is_timestamp(type_)
        or pt.is_duration(type_)
    )


computes("min")(partial(_extreme, largest=False))
computes("max")(partial(_extreme, largest=True))
