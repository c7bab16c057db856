"""Initial rows of tables: supplied by the user, or read from files."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.catalog import TableDef
from eddyline.algebra.plan import Updates
from eddyline.engine.ingest.arrow_values import as_text, converted, flat, to_table, with_valid_text
from eddyline.engine.ingest.event_times import improbable_without_others
from eddyline.engine.ingest.row_values import column_types
from eddyline.errors import DataError, did_you_mean
from eddyline.runtime.stores.stem import Stem
from eddyline.types import BEGINNING, TIMESTAMP, arrow_schema, sql_type

_SUPPLY = "supply timestamps, or declare it BIGINT"
_FORMATS = ("parquet", "csv", "json", "orc")


class ParameterTable(NamedTuple):
    """A table whose rows are parameters of a query.

    Attributes:
        rows: its SteM. updates: the meaning of its changes.
    """

    rows: Stem
    updates: Updates

    @property
    def name(self) -> str:
        """The table's name."""
        return self.rows.name


def table_columns(definition: TableDef, data: Any) -> pa.Table:
    """The declared columns of the data, in the declared types.

    Raises:
        DataError: a column is missing or cannot be converted.
    """
    types = column_types(definition.schema)
    rows, broken = with_valid_text(to_table(data, definition.name, types), types.keys())
    for name, where in broken.items():
        first = rows.column(name).filter(where)[0].as_py()
        raise DataError(
            f"table {definition.name!r}, column {name!r}: the text of {pc.sum(where).as_py()} rows "
            f"is not UTF-8; the first: '{first}'"
        )
    positions = {n.lower(): i for i, n in enumerate(rows.column_names)}
    columns = []
    for field in definition.schema:
        if field.name.lower() not in positions:
            raise DataError(
                f"table {definition.name!r}: the rows have no column {field.name!r}; "
                + did_you_mean(field.name, rows.column_names)
            )
        what = f"table {definition.name!r}, column {field.name!r}"
        values = flat(rows.column(positions[field.name.lower()]))
        columns.append(_declared(values, field.type, what))
    return pa.Table.from_arrays(columns, schema=arrow_schema(definition.schema))


def _declared(values: pa.Array, type_: pa.DataType, what: str) -> pa.Array:
    """The values in the declared type."""
    if values.type == type_:
        return values
    try:
        typed = converted(values, type_)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise DataError(
            f"{what}: it is declared {sql_type(type_)} but the rows have {sql_type(values.type)}, "
            f"which cannot be converted: {error}"
        ) from None
    lost = values.filter(pc.and_(values.is_valid(), typed.is_null()))
    if len(lost):
        first = as_text(lost.slice(0, 1))[0]
        raise DataError(f"{what}: cannot read '{first}' as {sql_type(type_)}")
    if type_ == TIMESTAMP and pa.types.is_integer(values.type):
        reason = improbable_without_others(values, lambda unit: _SUPPLY)
        if reason is not None:
            raise DataError(f"{what}: {reason}")
    return typed


def static_stem(definition: TableDef, contents: pa.Table) -> Stem:
    """The SteM of a table that does not change."""
    stem = Stem(definition.name, definition.schema)
    begin = np.full(contents.num_rows, BEGINNING, np.int64)
    lanes = {"ts": begin, "seq": np.arange(contents.num_rows)}
    stem.append(contents.num_rows, lanes, [c.combine_chunks() for c in contents.columns])
    return stem


def load_table(definition: TableDef) -> pa.Table:
    """The initial rows of a table, from its source; empty for a changing table without source.

    Raises:
        DataError: there is no source, or it cannot be read here.
    """
    source, path = definition.options.get("source"), definition.options.get("path")
    if source is None and definition.updates != "static":
        return arrow_schema(definition.schema).empty_table()
    if source is None:
        raise DataError(
            f"table {definition.name!r} has no rows: declare it WITH (source = 'parquet', "
            f"path = '...') or supply them by table({definition.name!r}, rows)"
        )
    if source not in _FORMATS:
        raise DataError(
            f"table {definition.name!r}: source {source!r} cannot be read here; "
            + did_you_mean(source, _FORMATS)
        )
    if path is None:
        raise DataError(f"table {definition.name!r}: WITH lacks path = '...'")
    import pyarrow.dataset as ds  # imports pandas, if that is installed

    try:
        rows = ds.dataset(path, format=source).to_table()
        if definition.updates != "static" and "_ts" in rows.column_names:
            raise DataError(
                f"table {definition.name!r}: {path} contains changes (it has a column '_ts'): "
                "pass them to process(), and omit the source"
            )
        return table_columns(definition, rows)
    except (OSError, pa.ArrowInvalid) as error:
        raise DataError(f"table {definition.name!r}: {error}") from None
