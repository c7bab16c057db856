"""Changes of tables: rows with an instant and an operation."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.catalog import StreamDef, TableDef
from eddyline.engine.ingest.arrow_values import to_table
from eddyline.engine.ingest.conversion import first_reason
from eddyline.engine.ingest.intake import Intake
from eddyline.engine.ingest.row_reader import RowReader, TypedRows
from eddyline.errors import CatalogError
from eddyline.runtime.stores.columns import Array
from eddyline.runtime.stores.stem import Stem
from eddyline.runtime.stores.table import TableStem
from eddyline.types import TIMESTAMP, Field

#: The instant of a change, and whether it adds its row ('+', the default) or deletes it ('-').
INSTANT: Final = Field("_ts", TIMESTAMP)
OPERATION: Final = Field("_op", pa.string())
_OWN: Final = (INSTANT, OPERATION)


def is_live(table: TableDef) -> bool:
    """Whether the table can change while queries run."""
    return table.updates != "static"


def changes_of(table: TableDef) -> StreamDef:
    """The stream of a table's changes: ``_ts``, ``_op`` and the table's columns.

    Raises:
        CatalogError: the table has a column ``_ts`` or ``_op``.
    """
    for field in _OWN:
        if any(f.name.lower() == field.name for f in table.schema):
            raise CatalogError(
                f"table {table.name!r} cannot have a column {field.name!r}: in the changes of a "
                "table this is the instant, or the operation, of a change"
            )
    return StreamDef(
        table.name,
        (*_OWN, *table.schema),
        INSTANT.name,
        options=table.options,
        ts_unit=table.ts_unit,
        columns=table.columns,
    )


class ChangeReader(RowReader):
    """Reads changes of one table."""

    def __init__(self, table: TableDef) -> None:
        super().__init__(changes_of(table), kind="table")

    def content(self, rows: TypedRows) -> list[pa.Array]:
        """Those of the table."""
        return rows.columns[len(_OWN) :]

    def read(self, data: Any) -> TypedRows:
        table = to_table(data, self.definition.name, self._types)
        if all(name.lower() != OPERATION.name for name in table.column_names):
            table = table.append_column(OPERATION.name, pa.repeat("+", table.num_rows))
        rows = super().read(table)
        when, operation, *columns = rows.columns
        operation = operation.fill_null("+")
        unknown = pc.invert(pc.is_in(operation, pa.array(["+", "-"])))
        reasons = rows.reasons
        if pc.any(unknown).as_py():
            why = pc.binary_join_element_wise("_op: '", operation, "' is neither '+' nor '-'", "")
            none = pa.scalar(None, pa.string())
            reasons = first_reason(reasons, pc.if_else(unknown, why, none))
        plain = rows.plain if reasons is None else None
        columns = [when, operation, *columns]
        return TypedRows(rows.given, columns, rows.times, reasons, plain=plain)


def reader_of(definition: StreamDef | TableDef) -> RowReader:
    """Reads the rows of a stream, or the changes of a table."""
    return RowReader(definition) if isinstance(definition, StreamDef) else ChangeReader(definition)


class ChangeIntake(Intake):
    """Ingests the changes of one table."""

    def __init__(self, table: TableDef) -> None:
        super().__init__(ChangeReader(table))

    def additions(self, columns: list[pa.Array]) -> Array:
        """bool[n]: whether each released change adds a row."""
        added: Array = pc.not_equal(columns[1], "-").to_numpy(zero_copy_only=False)
        return added

    def apply(
        self, table: TableStem, ts: Array, seq: Array, columns: list[pa.Array]
    ) -> pa.Table | None:
        """Apply released changes to the table; returns deletions of missing rows, as bad rows."""
        values = columns[2:]
        signs = np.where(self.additions(columns), 1, -1)
        orphans = table.change(ts, seq, signs.astype(np.int8), values)
        if orphans.size == 0:
            return None
        rows = [c.take(pa.array(orphans)) for c in columns]
        return self.refuse(rows, f"there is no such row in table {table.name!r}")

    def stats(self, stem: Stem | None) -> dict[str, int]:
        """As for a stream, without ``dropped``; ``rows``: number of rows in the table."""
        counters = {**super().stats(stem), "rows": stem.alive if isinstance(stem, TableStem) else 0}
        del counters["dropped"]
        return counters
