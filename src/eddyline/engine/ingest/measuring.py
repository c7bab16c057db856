"""What an engine knows of its inputs by having seen them: statistics like the declared ones."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from eddyline.algebra.plan import Plan
from eddyline.engine.ingest.meters import Meter
from eddyline.optimizer.compared import columns_compared
from eddyline.optimizer.statistics import Statistics
from eddyline.runtime.state import State, nested
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.sketch import count_values, different, new_registers
from eddyline.runtime.stores.stem import Stem
from eddyline.runtime.stores.table import TableStem
from eddyline.sql.catalog import Names
from eddyline.types import Schema


@dataclass
class _Table:
    """What is counted of a table when somebody asks: its values, as long as its rows are those."""

    columns: set[int] = field(default_factory=set)
    counted: tuple[int, int, dict[int, float]] = (0, 0, {})


class Measuring:
    """Meters of all streams and of the changes of tables.

    Args:
        stems: where the rows of tables are.
    """

    def __init__(self, stems: Names[Stem]) -> None:
        self._stems = stems
        self._meters: Names[Meter] = Names()
        self._tables: Names[_Table] = Names()
        self._schemas: Names[Schema] = Names()

    def add_stream(self, name: str, schema: Schema) -> None:
        """A stream has been declared."""
        self._meters[name], self._schemas[name] = Meter(), schema

    def add_table(self, name: str, schema: Schema, *, changes: bool) -> None:
        """A table has been declared."""
        self._tables[name], self._schemas[name] = _Table(), schema
        if changes:
            self._meters[name] = Meter()

    def drop(self, name: str) -> None:
        """A stream or table is gone."""
        for names in (self._meters, self._tables, self._schemas):
            names.pop(name, None)

    def restart(self, names: Iterable[str]) -> None:
        """Measure streams and changes of tables anew: time begins again."""
        for name in names:
            self._meters[name] = self._meters[name].anew()

    def watch(self, plan: Plan) -> None:
        """A query comes: count the values of what it compares."""
        places: dict[str, dict[str, int]] = {}
        for source, column in sorted(columns_compared(plan)):  # the same in every process
            if source not in places:
                places[source] = {f.name: i for i, f in enumerate(self._schemas[source])}
            place = places[source][column]
            if source in self._tables:
                self._tables[source].columns.add(place)
            else:
                self._meters[source].watch([place])

    def see(self, name: str, ts: Array, columns: Sequence[pa.Array]) -> None:
        """Rows of a stream are processed now, or rows are added to a table."""
        if ts.size:
            self._meters[name].see(ts, columns)

    def pass_time(self, to: int, names: Iterable[str]) -> None:
        """All rows of these streams and tables up to this instant have been processed, and some
        came just then.
        """
        for name in names:
            self._meters[name].pass_time(to)

    def statistics(self) -> Statistics:
        """What is known by now; what is not is left out."""
        rates = {n: m.rate for n, m in self._meters.items()}
        values = {(n, c): v for n, m in self._meters.items() for c, v in m.values().items()}
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
        """As plain arrays; tables are counted anew."""
        return {n: m.state() for n, m in self._meters.items()}

    def restore(self, state: State) -> None:
        """Take over what ``state`` returned."""
        for name in state:
            self._meters[name].restore(nested(state, name))


def _counted(table: _Table, stem: Stem) -> dict[int, float]:
    """How many values the columns of a table take among the rows that it holds."""
    first, end, known = table.counted
    if (first, end) != (stem.first, stem.end) or known.keys() != table.columns:
        known = {c: _different(stem, c) for c in table.columns}
        table.counted = (stem.first, stem.end, known)
    return known


def _different(stem: Stem, column: int) -> float:
    registers = new_registers()
    count_values(registers, stem.gather(column, stem.ids(np.arange(stem.first, stem.end))))
    return max(1.0, round(different(registers)))
