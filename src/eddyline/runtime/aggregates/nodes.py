"""Distinct values by group, counted."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from eddyline.kernels.heaps import NO_NODE
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, validity_of
from eddyline.runtime.stores.keytable import KeyTable


class Nodes:
    """Numbers of distinct (group, value) pairs, released with the last row of the value."""

    def __init__(self, type_: pa.DataType) -> None:
        self.table = KeyTable([pa.int64(), type_])
        self.occurrences = np.zeros(self.table.capacity, np.int64)
        self._touched: list[Array] = []

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
        if self.table.capacity > self.occurrences.size:
            grown = np.zeros(self.table.capacity, np.int64)
            grown[: self.occurrences.size] = self.occurrences
            self.occurrences = grown
        return nodes

    def touch(self, nodes: Array) -> None:
        """These nodes may have lost their last occurrence in this chunk."""
        self._touched.append(nodes[nodes >= 0])

    def settle(self) -> None:
        """Release the nodes that no row refers to."""
        if self._touched:
            touched = np.unique(np.concatenate(self._touched))
            self._touched = []
            self.table.release(touched[self.occurrences[touched] == 0])

    def state(self) -> State:
        return {"table": self.table.state(), "occurrences": self.occurrences}

    def restore(self, state: State) -> None:
        self.table.restore(nested(state, "table"))
        self.occurrences = array(state, "occurrences").copy()
