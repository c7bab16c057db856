"""Constants that differ from query to query, in operators that many queries share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from eddyline.runtime.stores.columns import Array


class Constants:
    """Values by the number of a query, in columns.

    Args:
        types: of the columns.
    """

    def __init__(self, types: Sequence[pa.DataType]) -> None:
        self.types = tuple(types)
        self._values: list[list[Any]] = [[] for _ in self.types]  # by column and number
        self._columns: list[pa.Array] | None = None  # None: not computed

    def put(self, number: int, values: Sequence[Any]) -> None:
        """Set the values of a query."""
        for column, value in zip(self._values, values, strict=True):
            column.extend([None] * (number + 1 - len(column)))
            column[number] = value
        self._columns = None

    def value(self, column: int, number: int) -> Any:
        """One value of a query."""
        return self._values[column][number]

    def of(self, numbers: Array) -> list[pa.Array]:
        """The columns for queries with these numbers, int64[n]; NULL for those that are gone."""
        columns = self._all()
        places = pa.array(numbers, mask=numbers >= len(columns[0]) if columns else None)
        return [column.take(places) for column in columns]

    def floats(self, column: int) -> Array:
        """float64 by number: a column, rounded; NaN for numbers without a query."""
        values = self._all()[column].cast(pa.float64(), safe=False).fill_null(np.nan)
        return np.asarray(values.to_numpy(zero_copy_only=False))

    def _all(self) -> list[pa.Array]:
        if self._columns is None:
            self._columns = list(map(pa.array, self._values, self.types))
        return self._columns
