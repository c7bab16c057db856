"""Rows as Python dicts, to Arrow tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, Final

import numpy as np
import pyarrow as pa

from eddyline.errors import DataError
from eddyline.types import TIMESTAMP, Schema, arrow_schema

#: By Arrow's number of a type, the Python type with the same values, and NumPy's: NumPy makes an
#: array of few of them in half of the time.
_EXACT: Final[dict[int, tuple[type, Any]]] = {
    pa.int64().id: (int, np.int64),
    pa.float64().id: (float, np.float64),
}


def table_of_rows(rows: Sequence[Any], schema: Schema, name: str) -> pa.Table:
    """Dicts, one per row, as a table with a column for each key of any of them.

    Values that are not of the declared type keep their own, or become text: the reader converts
    them, or finds that they are bad.

    Args:
        rows: a key that a row lacks is NULL in it. schema: the declared columns. name: for errors.

    Raises:
        DataError: a row is no dict.
    """
    types = {f.name.lower(): f.type for f in schema}
    for row in rows:
        if not isinstance(row, Mapping):
            raise DataError(f"{name}: a row must be a dict, not a {type(row).__name__}: {row!r}")
    keys = dict.fromkeys(key for row in rows for key in row)
    if not keys:
        return arrow_schema(schema).empty_table()
    arrays = [_column([row.get(k) for row in rows], types.get(str(k).lower())) for k in keys]
    return pa.Table.from_arrays(arrays, names=list(map(str, keys)))


def _column(values: list[Any], type_: pa.DataType | None) -> pa.Array:
    """Values as the type; or else as what they are; or else, if they are of several types, text."""
    exact = None if type_ is None else _EXACT.get(type_.id)
    if exact is not None and {exact[0]}.issuperset(map(type, values)):
        with suppress(OverflowError):
            numbers = np.array(values, exact[1])
            return pa.Array.from_buffers(type_, numbers.size, [None, pa.py_buffer(numbers)])
    for wanted in (type_, None) if type_ is not None and _is_taken(values, type_) else (None,):
        with suppress(pa.ArrowException, OverflowError, TypeError, ValueError):
            return pa.array(values, wanted)
    return pa.array([None if value is None else str(value) for value in values], pa.string())


def _is_taken(values: list[Any], type_: pa.DataType) -> bool:
    """Whether Arrow makes the same of values as the reader: it cuts off what is behind the point of
    an integer, and does not doubt a time that is a number.
    """
    if pa.types.is_integer(type_):
        return all(v is None or type(v) is int for v in values)
    return type_ != TIMESTAMP or all(v is None or isinstance(v, datetime) for v in values)
