"""What OVER keeps of the rows of each partition, by number: their order, and what is shown of them.

``TreapOrders`` have all rows; ``ListOrders`` those that can be among the first, where rows leave in
the order in which they came, or never.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from eddyline.kernels import first_places, treaps
from eddyline.kernels import ordered_rows as kernels
from eddyline.kernels.ordered_partitions import run
from eddyline.runtime.state import State, array, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.counted_values import CountedValues
from eddyline.runtime.stores.lanes import Lanes
from eddyline.runtime.stores.slots import SlotArray


class RowOrders(Protocol):
    """Rows in the order of their partitions.

    Attributes:
        rows: records by number, with the expiry of each row, and of those that are shown the number
            of the change since which they are.
    """

    rows: Lanes

    def grow(self, rows: int, partitions: int) -> None:
        """Let there be rows and partitions with numbers below these."""

    def run(self, events: kernels.Events, changes: int) -> tuple[Array, Array, Array]:
        """Process events in order; how many changes there have been before. Returns changes,
        CHANGE[n], the values of functions, int64[n, f], and the numbers of the rows that left.
        """

    def there(self, rows: Array) -> Array:
        """bool[n]: which rows have not left."""

    def shown(self) -> Array:
        """The numbers of the rows that are shown."""

    def values(self, rows: Array) -> Array:
        """int64[n, f]: the values of functions of rows that are shown."""

    def emptied(self, partitions: Array, left: Array) -> Array:
        """Which of some partitions, and of those of rows that left, have no rows; with repeats."""

    def referred(self, left: Array) -> Sequence[Array]:
        """The numbers to which rows that left refer: of sort keys, of the parts of these that ties
        are about, and of arguments.
        """

    def state(self) -> State:
        """Saved as plain arrays."""

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""


class TreapOrders(RowOrders):
    """All rows, in treaps: see ``kernels/ordered_partitions.py``.

    Args:
        arguments: how many values functions take. keys: the sort keys.
    """

    def __init__(self, functions: kernels.Functions, arguments: int, keys: CountedValues) -> None:
        self._functions, self._keys, self._arguments = functions, keys, arguments
        self.rows = Lanes(kernels.ROW, {"slot": kernels.NOTHING})
        self._cells = {
            "arguments": SlotArray(np.int64, (max(arguments, 1),)),
            "values": SlotArray(np.int64, (max(functions.kind.size, 1),)),
            "occurrences": SlotArray(np.int64, fill=1),
            "links": SlotArray(np.int64, (treaps.LINKS,), fill=kernels.NOTHING),
        }
        self._roots = SlotArray(np.int64, fill=kernels.NOTHING)
        self._partitions = Lanes(kernels.PARTITION, {"since": kernels.NOWHERE})

    def grow(self, rows: int, partitions: int) -> None:
        for cells in self._cells.values():
            cells.grow(rows)
        self.rows.grow(rows)
        self._roots.grow(partitions)
        self._partitions.grow(partitions)

    def run(self, events: kernels.Events, changes: int) -> tuple[Array, Array, Array]:
        return run(self._functions, events, self._state(changes))

    def _state(self, changes: int) -> kernels.State:
        cells = {name: held.array for name, held in self._cells.items()}
        return kernels.State(
            self.rows.records,
            cells["arguments"],
            cells["values"],
            cells["occurrences"],
            cells["links"],
            self._partitions.records,
            self._roots.array,
            changes,
            *_key_arrays(self._keys),
        )

    def there(self, rows: Array) -> Array:
        left: Array = self.rows["slot"][rows] == kernels.NOTHING
        return ~left

    def shown(self) -> Array:
        return np.flatnonzero(self.rows["shown"])

    def values(self, rows: Array) -> Array:
        values: Array = self._cells["values"].array[rows]
        return values

    def emptied(self, partitions: Array, left: Array) -> Array:
        partitions = np.concatenate((partitions, self.rows["last_slot"][left]))
        found: Array = partitions[self._roots.array[partitions] == kernels.NOTHING]
        return found

    def referred(self, left: Array) -> Sequence[Array]:
        arguments = self._cells["arguments"].array[left].T[: self._arguments]
        return [self.rows["key"][left], self.rows["peer"][left], *arguments]

    def state(self) -> State:
        return {
            "rows": self.rows.state(),
            "cells": {name: held.held() for name, held in self._cells.items()},
            "roots": self._roots.held(),
            "partitions": self._partitions.state(),
        }

    def restore(self, state: State) -> None:
        self.rows.restore(nested(state, "rows"))
        for name, cells in self._cells.items():
            cells.restore(array(nested(state, "cells"), name))
        self._roots.restore(array(state, "roots"))
        self._partitions.restore(nested(state, "partitions"))


class ListOrders(RowOrders):
    """The rows that can be among the first ones, in lists: see ``kernels/first_places.py``.

    Args:
        keys: the sort keys.
    """

    def __init__(self, first: first_places.First, keys: CountedValues) -> None:
        self._first, self._keys = first, keys
        self.rows = Lanes(first_places.LISTED, {})
        none = dict.fromkeys(("first", "end", "last"), kernels.NOTHING)
        self._partitions = Lanes(first_places.LIST, none)

    def grow(self, rows: int, partitions: int) -> None:
        self.rows.grow(rows)
        self._partitions.grow(partitions)

    def run(self, events: kernels.Events, changes: int) -> tuple[Array, Array, Array]:
        keys = _key_arrays(self._keys)
        lists = first_places.Lists(self.rows.records, self._partitions.records, changes, *keys)
        return first_places.run_lists(self._first, events, lists)

    def there(self, rows: Array) -> Array:
        there: Array = self.rows["there"][rows]
        return there

    def shown(self) -> Array:
        return np.flatnonzero(self.rows["place"])

    def values(self, rows: Array) -> Array:
        return self.rows["place"][rows].astype(np.int64)[:, np.newaxis]

    def emptied(self, partitions: Array, left: Array) -> Array:
        partitions = np.concatenate((partitions, self.rows["slot"][left]))
        found: Array = partitions[self._partitions["first"][partitions] == kernels.NOTHING]
        return found

    def referred(self, left: Array) -> Sequence[Array]:
        key = self.rows["key"][left]
        return [key, key]

    def state(self) -> State:
        return {"rows": self.rows.state(), "partitions": self._partitions.state()}

    def restore(self, state: State) -> None:
        self.rows.restore(nested(state, "rows"))
        self._partitions.restore(nested(state, "partitions"))


def _key_arrays(keys: CountedValues) -> tuple[Array, Array, int, Array, int, Array]:
    """The sort keys by number, as kernels take them."""
    texts = keys.table.texts(0)
    return (keys.order_keys, texts.row, texts.base, texts.offsets, texts.origin, texts.data)
