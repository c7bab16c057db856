"""Rows as Python dicts, to Arrow tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

import pyarrow as pa

from eddyline.errors import DataError
from eddyline.types import TIMESTAMP, Schema, arrow_schema

#: Values keep their type.
_ANY: Final = pa.null()


def table_of_rows(rows: Sequence[Any], schema: Schema, name: str) -> pa.Table:
    """Dicts, one per row, as a table with a column for each key of any of them.

    Values that are not of the declared type keep their own, or become text: the reader converts
    them, or finds that they are bad.

    Args:
        rows: a key that a row lacks is NULL in it. schema: the declared columns. name: for errors.

    Raises:
        DataError: a row is no dict.
    """
    types = {f.name.lower(): _ANY if f.type == TIMESTAMP else f.type for f in schema}
    for row in rows:
        if not isinstance(row, Mapping):
            raise DataError(f"{name}: a row must be a dict, not a {type(row).__name__}: {row!r}")
    keys = dict.fromkeys(key for row in rows for key in row)
    if not keys:
        return arrow_schema(schema).empty_table()
    arrays = [_column([row.get(k) for row in rows], types.get(str(k).lower(), _ANY)) for k in keys]
    return pa.Table.from_arrays(arrays, names=list(map(str, keys)))


def _column(values: list[Any], type_: pa.DataType) -> pa.Array:
    """Values as the type; or else as what they are; or else, if they are of several types, text."""
    if pa.types.is_integer(type_) and not all(v is None or type(v) is int for v in values):
        type_ = _ANY  # Arrow would cut off what is behind the point
    for wanted in (type_, None) if type_ != _ANY else (None,):
        with suppress(pa.ArrowException, OverflowError, TypeError, ValueError):
            return pa.array(values, wanted)
    return pa.array([None if value is None else str(value) for value in values], pa.string())
