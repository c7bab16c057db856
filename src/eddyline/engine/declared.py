"""What the statements of an engine declare of the rows to come, as statistics."""

from __future__ import annotations

from eddyline.algebra.catalog import Known
from eddyline.optimizer.statistics import Statistics


class Declared:
    """The declarations in WITH of all streams and tables that there are.

    Attributes:
        statistics: what they say; it follows as streams and tables come and go.
    """

    def __init__(self) -> None:
        self._rates: dict[str, float] = {}
        self._table_rows: dict[str, float] = {}
        self._values: dict[tuple[str, str], float] = {}
        self.statistics = Statistics(self._rates, self._table_rows, self._values)

    def add(self, source: str, known: Known) -> None:
        """A stream or table has been declared."""
        if known.rate is not None:
            self._rates[source] = known.rate
        if known.rows is not None:
            self._table_rows[source] = known.rows
        self._values.update({(source, column): n for column, n in known.distinct.items()})

    def drop(self, source: str) -> None:
        """A stream or table is gone."""
        self._rates.pop(source, None)
        self._table_rows.pop(source, None)
        for key in [k for k in self._values if k[0] == source]:
            del self._values[key]
