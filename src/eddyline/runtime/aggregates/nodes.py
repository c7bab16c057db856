"""Distinct values by group, counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.kernels import references as kernels
from eddyline.kernels.heaps import NO_NODE
from eddyline.runtime.aggregates.base import SlotArrays
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, unique, validity_of
from eddyline.runtime.stores.keytable import KeyTable, KeyTexts
from eddyline.runtime.stores.slots import SlotArray

_NONE: Final = np.zeros(0, np.int64)
_NO_TEXTS: Final = KeyTexts(_NONE, 0, _NONE, 0, np.zeros(0, np.uint8))


class Nodes:
    """Numbers of distinct (group, value) pairs, released with the last row of the value."""

    def __init__(self, type_: pa.DataType) -> None:
        self.table = KeyTable([pa.int64(), type_])
        self._type = type_
        self._is_text = pa.types.is_string(type_) or pa.types.is_binary(type_)
        self._occurrences = SlotArray(np.int64)
        self._kept = SlotArray(np.int64)
        self._touched: list[Array] = []

    @property
    def occurrences(self) -> Array:
        """int64[capacity], by node: how many rows there are."""
        return self._occurrences.array

    def number(self, slot: Array, values: pa.Array) -> Array:
        """int64[n] nodes, NO_NODE where the value is NULL."""
        valid = validity_of(values)
        if valid is None:
            return self._number(slot, values)
        out = np.full(slot.size, NO_NODE, np.int64)
        rows = np.flatnonzero(valid)
        if rows.size:
            out[rows] = self._number(slot[rows], values.take(pa.array(rows)))
        return out

    def _number(self, slot: Array, values: pa.Array) -> Array:
        nodes = self.table.slots([pa.array(slot), values], slot.size)
        self._occurrences.grow(self.table.end)
        return nodes

    def values(self, nodes: Array) -> pa.Array:
        """The values of nodes, NULL of NO_NODE."""
        if len(self.table) == 0:
            return pa.nulls(nodes.size, self._type)
        some = int(self.table.used()[0])
        values = self.table.keys(np.where(nodes >= 0, nodes, some))[1]
        return pc.if_else(pa.array(nodes >= 0), values, pa.scalar(None, self._type))

    def texts(self) -> KeyTexts:
        """The texts by node, for kernels that compare them; empty of other values."""
        return self.table.texts(1) if self._is_text else _NO_TEXTS

    def touch(self, nodes: Array) -> None:
        """These nodes may have lost their last occurrence in this chunk."""
        self._touched.append(nodes[nodes >= 0])

    def refer(self, nodes: Array) -> None:
        """Let nodes stay without occurrences, once more for each time that they are named."""
        self._kept.grow(self.table.end)
        kernels.refer(self._kept.array, nodes[nodes >= 0])

    def drop(self, nodes: Array) -> None:
        """Take this back."""
        nodes = nodes[nodes >= 0]
        self.touch(kernels.drop(self._kept.array, nodes))

    def settle(self) -> None:
        """Release the nodes that no row refers to."""
        if self._touched:
            touched = unique(np.concatenate(self._touched))
            self._touched = []
            unused = self.occurrences[touched] == 0
            if self._kept.end:
                self._kept.grow(self.table.end)
                unused &= self._kept.array[touched] == 0
            self.table.release(touched[unused])

    def forget(self, slots: Array) -> None:
        """Release all nodes of slots."""
        used = self.table.used()
        gone = used[np.isin(self.table.keys(used)[0].to_numpy(), slots)]
        self.occurrences[gone] = 0
        self.table.release(gone)

    def state(self) -> State:
        occurrences, kept = self._occurrences.held(), self._kept.held()
        return {"table": self.table.state(), "occurrences": occurrences, "kept": kept}

    def restore(self, state: State) -> None:
        self.table.restore(nested(state, "table"))
        self._occurrences.restore(array(state, "occurrences"))
        self._kept.restore(array(state, "kept"))


class OfNodes(SlotArrays):
    """State by slot, and the distinct values of each slot's rows."""

    def __init__(self, type_: pa.DataType, **arrays: SlotArray) -> None:
        super().__init__(**arrays)
        self._nodes = Nodes(type_)

    def settle(self) -> None:
        self._nodes.settle()

    def refer(self, lanes: Sequence[Array]) -> None:
        self._nodes.refer(lanes[0])

    def drop(self, lanes: Sequence[Array]) -> None:
        self._nodes.drop(lanes[0])

    def forget(self, slots: Array) -> None:
        super().forget(slots)
        self._nodes.forget(slots)

    def state(self) -> State:
        return {**super().state(), "nodes": self._nodes.state()}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._nodes.restore(nested(state, "nodes"))
