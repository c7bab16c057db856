"""The sizes that CREATE statements declare in WITH, as statistics for the optimizer."""

from __future__ import annotations

from eddyline.algebra.catalog import DeclaredSizes
from eddyline.optimizer.statistics import Statistics


class DeclaredStatistics:
    """The declared sizes of all streams and tables.

    Attributes:
        statistics: a live view of them.
    """

    def __init__(self) -> None:
        self._rates: dict[str, float] = {}
        self._table_rows: dict[str, float] = {}
        self._values: dict[tuple[str, str], float] = {}
        self.statistics = Statistics(self._rates, self._table_rows, self._values)

    def add(self, source: str, sizes: DeclaredSizes) -> None:
        """Add the sizes of a new stream or table."""
        if sizes.rate is not None:
            self._rates[source] = sizes.rate
        if sizes.rows is not None:
            self._table_rows[source] = sizes.rows
        self._values.update({(source, column): n for column, n in sizes.distinct.items()})

    def drop(self, source: str) -> None:
        """Remove the sizes of a dropped stream or table."""
        self._rates.pop(source, None)
        self._table_rows.pop(source, None)
        for key in [k for k in self._values if k[0] == source]:
            del self._values[key]
