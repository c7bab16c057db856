"""Measured statistics of the inputs, in the form of the declared ones."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from eddyline.engine.ingest.meters import Meter
from eddyline.optimizer.compared import ComparedColumn
from eddyline.optimizer.statistics import Statistics
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.sketch import count_values, different, new_registers
from eddyline.runtime.stores.stem import Stem
from eddyline.runtime.stores.table import TableStem
from eddyline.sql.catalog import Names
from eddyline.types import Schema


@dataclass
class _Table:
    """The columns of a table whose values are counted; the last counts and their range of rows."""

    columns: set[int] = field(default_factory=set)
    counted: tuple[int, int, dict[int, float]] = (0, 0, {})


class Measuring:
    """Meters of all streams and of the changes of tables.

    Args:
        stems: of streams and tables.

    Attributes:
        meters: by stream, and by table that changes.
    """

    def __init__(self, stems: Names[Stem]) -> None:
        self._stems = stems
        self.meters: Names[Meter] = Names()
        self._tables: Names[_Table] = Names()
        self._schemas: Names[Schema] = Names()

    def add_stream(self, name: str, schema: Schema) -> None:
        """Add a declared stream."""
        self.meters[name], self._schemas[name] = Meter(), schema

    def add_table(self, name: str, schema: Schema, *, changes: bool) -> None:
        """Add a declared table."""
        self._tables[name], self._schemas[name] = _Table(), schema
        if changes:
            self.meters[name] = Meter()

    def drop(self, name: str) -> None:
        """Remove a stream or table."""
        for names in (self.meters, self._tables, self._schemas):
            names.pop(name, None)

    def restart(self, names: Iterable[str]) -> None:
        """Restart the measurements of streams and tables."""
        for name in names:
            self.meters[name] = self.meters[name].restarted()

    def watch(self, compared: Iterable[ComparedColumn]) -> None:
        """Count the values of columns from now on."""
        positions: dict[str, dict[str, int]] = {}
        for source, column in compared:
            if source not in positions:
                positions[source] = {f.name: i for i, f in enumerate(self._schemas[source])}
            position = positions[source][column]
            if source in self._tables:
                self._tables[source].columns.add(position)
            else:
                self.meters[source].watch([position])

    def statistics(self) -> Statistics:
        """The statistics measured so far."""
        rates = {n: m.rate for n, m in self.meters.items()}
        values = {(n, c): v for n, m in self.meters.items() for c, v in m.values().items()}
        rows: dict[str, float] = {}
        for name, table in self._tables.items():
            if name in self._stems:
                stem = self._stems[name]
                rows[name] = stem.alive if isinstance(stem, TableStem) else len(stem)
                values |= {(name, c): v for c, v in _counted(table, stem).items()}
        return Statistics(
            {n: r for n, r in rates.items() if r is not None},
            rows,
            {(n, self._schemas[n][c].name): v for (n, c), v in values.items()},
        )

    def state(self) -> State:
        """Meters as plain arrays; values of tables are counted again."""
        return {n: m.state() for n, m in self.meters.items()}

    def restore(self, state: State) -> None:
        """Restore ``state``."""
        for name in state:
            self.meters[name].restore(nested(state, name))


def _counted(table: _Table, stem: Stem) -> dict[int, float]:
    """The numbers of values of some columns of a table."""
    first, end, known = table.counted
    if (first, end) != (stem.first, stem.end) or known.keys() != table.columns:
        known = {c: _distinct(stem, c) for c in table.columns}
        table.counted = (stem.first, stem.end, known)
    return known


def _distinct(stem: Stem, column: int) -> float:
    registers = new_registers()
    count_values(registers, stem.gather(column, stem.ids(np.arange(stem.first, stem.end))))
    return max(1.0, round(different(registers)))
