"""Distinct values by number, for as long as something refers to them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.kernels import references as kernels
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array, validity_of
from eddyline.runtime.stores.keytable import KeyTable
from eddyline.runtime.stores.order_keys import order_keys
from eddyline.runtime.stores.slots import SlotArray

#: The number of NULL.
NULL = -1


class CountedValues:
    """Numbers of distinct values, released with the last reference.

    Args:
        type_: of the values. ordered: whether to keep their order keys.
    """

    def __init__(self, type_: pa.DataType, *, ordered: bool = False) -> None:
        self.table = KeyTable([type_])
        self._type = type_
        self._ordered = ordered
        self._references = SlotArray(np.int64)
        self._order = SlotArray(np.int64)

    @property
    def order_keys(self) -> Array:
        """int64[capacity] by number, which compare as the values do, or tie."""
        return self._order.array

    def number(self, values: pa.Array) -> Array:
        """int64[n]: the numbers of values, NULL of NULLs."""
        valid = validity_of(values)
        if valid is None:
            return self._number(values)
        out = np.full(len(values), NULL, np.int64)
        rows = np.flatnonzero(valid)
        if rows.size:
            out[rows] = self._number(values.take(pa.array(rows)))
        return out

    def _number(self, values: pa.Array) -> Array:
        numbers = self.table.slots([values], len(values))
        self._references.grow(self.table.end)
        if self._ordered:
            self._order.grow(self.table.end)
            self._order.array[numbers] = order_keys(values)
        return numbers

    def values(self, numbers: Array) -> pa.Array:
        """The values of numbers."""
        if len(self.table) == 0:
            return pa.nulls(numbers.size, self._type)
        some = int(self.table.used()[0])
        values = self.table.keys(np.where(numbers >= 0, numbers, some))[0]
        return pc.if_else(pa.array(numbers >= 0), values, pa.scalar(None, self._type))

    def refer(self, numbers: Array) -> None:
        """Let there be a reference more to each of these."""
        kernels.refer(self._references.array, numbers)

    def drop(self, numbers: Array) -> None:
        """Let there be a reference less to each of these; values without any are released."""
        self.table.release(kernels.drop(self._references.array, numbers))

    def state(self) -> State:
        """The values, with their numbers."""
        return {
            "table": self.table.state(),
            "references": self._references.held(),
            "order": self._order.held(),
        }

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        self.table.restore(nested(state, "table"))
        self._references.restore(array(state, "references"))
        self._order.restore(array(state, "order"))
