"""The files of an Iceberg table, and which of their rows stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyiceberg.expressions import AlwaysTrue
from pyiceberg.io.pyarrow import (
    ArrowScan,
    UnsupportedPyArrowTypeException,
    _pyarrow_schema_ensure_small_types,
    _pyarrow_to_schema_without_ids,
    schema_to_pyarrow,
)
from pyiceberg.manifest import DataFile
from pyiceberg.schema import Schema, assign_fresh_schema_ids
from pyiceberg.table import FileScanTask, Table

from eddyline.errors import DataError
from eddyline.types import sql_type

#: So many small files become one, when rows of the table change anyway.
_MOST_SMALL: Final = 16
_SMALL_BYTES: Final = 1 << 20
_SMALL_ROWS: Final = 100_000


class KeptFiles:
    """The files of a table, with marks for the rows that are removed.

    Args:
        key: columns that are read of all rows; of none if there are none.

    Attributes:
        keys: these columns.
    """

    def __init__(self, table: Table, key: Sequence[str]) -> None:
        self._table = table
        self._tasks: list[FileScanTask] = list(table.scan().plan_files())
        parts = [self._read(task, table.schema().select(*key)) for task in self._tasks if key]
        names = arrow_schema(table.schema().select(*key))
        self.keys: pa.Table = pa.concat_tables(
            [names.empty_table(), *(part.select(names.names).cast(names) for part in parts)]
        )
        self._ends = np.cumsum([0, *(part.num_rows for part in parts)])
        self._is_kept = np.ones(self.keys.num_rows, bool)

    def all(self) -> list[DataFile]:
        """All files."""
        return [task.file for task in self._tasks]

    def kept_keys(self) -> pa.Table:
        """The keys of the rows that are not removed."""
        return self.keys.filter(pa.array(self._is_kept))

    def remove_all(self) -> None:
        """Remove all rows."""
        self._is_kept[:] = False

    def remove(self, column: pa.ChunkedArray, values: Sequence[str]) -> None:
        """Remove the rows that have one of some values in a column."""
        is_one = pc.is_in(column, value_set=pa.array(values, column.type))
        self._is_kept &= ~is_one.to_numpy(zero_copy_only=False).astype(bool)

    def remove_at(self, places: pa.ChunkedArray) -> None:
        """Remove the rows with some numbers."""
        self._is_kept[places.to_numpy()] = False

    def touched(self) -> list[DataFile]:
        """The files that are written anew."""
        return [self._tasks[i].file for i in self._touched()]

    def rows_kept(self) -> Iterator[pa.Table]:
        """The rows of these files that stay."""
        for i in self._touched():
            is_kept = self._is_kept[self._ends[i] : self._ends[i + 1]]
            if is_kept.any():
                rows = self._read(self._tasks[i], self._table.schema())
                yield rows.filter(pa.array(is_kept))

    def _touched(self) -> list[int]:
        """Those that lose rows; and all small ones, if they are many."""
        n = len(self._tasks)
        loses = [not self._is_kept[self._ends[i] : self._ends[i + 1]].all() for i in range(n)]
        small = [i for i, task in enumerate(self._tasks) if _is_small(task.file)]
        if len(small) >= _MOST_SMALL:
            return sorted({i for i in range(n) if loses[i]}.union(small))
        return [i for i in range(n) if loses[i]]

    def _read(self, task: FileScanTask, columns: Schema) -> pa.Table:
        """Columns of a file, without the rows that files of deletes remove."""
        table = self._table
        return ArrowScan(table.metadata, table.io, columns, AlwaysTrue()).to_table([task])


def iceberg_schema(columns: pa.Schema) -> Schema:
    """The columns as those of a new table.

    Raises:
        DataError: Iceberg has no such type.
    """
    for field in columns:
        try:
            _pyarrow_to_schema_without_ids(pa.schema([field]))
        except (UnsupportedPyArrowTypeException, NotImplementedError, TypeError) as e:
            raise DataError(
                f"column '{field.name}': Iceberg has no type for {sql_type(field.type)}"
            ) from e
    return assign_fresh_schema_ids(_pyarrow_to_schema_without_ids(columns))


def arrow_schema(schema: Schema) -> pa.Schema:
    """The columns of a table in types of Arrow."""
    return _pyarrow_schema_ensure_small_types(schema_to_pyarrow(schema, include_field_ids=False))


def _is_small(file: DataFile) -> bool:
    return file.file_size_in_bytes < _SMALL_BYTES and file.record_count < _SMALL_ROWS
