"""Records by number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from eddyline.runtime.state import State, array
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.slots import SlotArray


class Lanes:
    """Records by number, in one array; ``lanes[name]`` is the view of one field.

    Args:
        dtype: of a record.
        fills: by field, its value in new records; others are 0.
    """

    def __init__(self, dtype: np.dtype[Any], fills: Mapping[str, Any]) -> None:
        fill = np.zeros((), dtype)
        for name, value in fills.items():
            fill[name] = value
        self._rows = SlotArray(dtype, fill=fill)

    @property
    def records(self) -> Array:
        """By number; another array after some calls of ``grow``."""
        return self._rows.array

    def __getitem__(self, name: str) -> Array:
        return self._rows.array[name]

    def grow(self, end: int) -> None:
        """Let there be records with the numbers below ``end``."""
        self._rows.grow(end)

    def state(self) -> State:
        """Saved as plain arrays."""
        held = self._rows.held()
        return {name: np.ascontiguousarray(held[name]) for name in held.dtype.names or ()}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        dtype = self.records.dtype
        names = dtype.names or ()
        records = np.zeros(array(state, names[0]).size, dtype)
        for name in names:
            records[name] = array(state, name)
        self._rows.restore(records)
