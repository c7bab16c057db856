"""Rows as Python dicts, to Arrow tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from eddyline.errors import DataError
from eddyline.types import TIMESTAMP, Schema


def _numbers(type_: pa.DataType, dtype: Any) -> Callable[[list[Any]], pa.Array]:
    """Makes columns of numbers by NumPy, which takes half of Arrow's time for few of them."""

    def column(values: list[Any]) -> pa.Array:
        numbers = np.array(values, dtype)
        return pa.Array.from_buffers(type_, numbers.size, [None, pa.py_buffer(numbers)])

    return column


def _instants(values: list[datetime]) -> pa.Array:
    if all(value.tzinfo is None for value in values):
        return _of_utc(values)
    return pa.array(values, TIMESTAMP)


_of_utc: Final = _numbers(TIMESTAMP, np.dtype("M8[us]"))
#: By Arrow's number of a type, the Python type with the same values, and what makes columns of it.
_EXACT: Final[dict[int, tuple[frozenset[type], Callable[[list[Any]], pa.Array]]]] = {
    pa.int64().id: (frozenset((int,)), _numbers(pa.int64(), np.dtype(np.int64))),
    pa.float64().id: (frozenset((float,)), _numbers(pa.float64(), np.dtype(np.float64))),
    pa.bool_().id: (frozenset((bool,)), partial(pa.array, type=pa.bool_())),
    pa.string().id: (frozenset((str,)), partial(pa.array, type=pa.string())),
    TIMESTAMP.id: (frozenset((datetime,)), _instants),
}
#: Types of columns by name.
ColumnTypes: TypeAlias = Mapping[str, pa.DataType]


def column_types(schema: Schema) -> ColumnTypes:
    """The types of declared columns, by name in lower case."""
    return {f.name.lower(): f.type for f in schema}


def columns_of_row(row: dict[str, Any], types: ColumnTypes) -> list[pa.Array] | None:
    """The columns of a dict that has a value of the type for each name, and no others, in the order
    of the types; None: it is another dict. Takes a third of the time of a table.
    """
    if row.keys() != types.keys():
        return None
    columns = []
    for name, type_ in types.items():
        column = _exact([row[name]], type_)
        if column is None:
            return None
        columns.append(column)
    return columns


def table_of_rows(rows: Sequence[Any], types: ColumnTypes, name: str) -> pa.Table:
    """Dicts, one per row, as a table with a column for each key of any of them; without any key, as
    one without rows.

    Values that are not of the declared type keep their own, or become text: the reader converts
    them, or finds that they are bad.

    Args:
        rows: a key that a row lacks is NULL in it. types: by name in lower case. name: for errors.

    Raises:
        DataError: a row is no dict.
    """
    for row in rows:
        if not isinstance(row, Mapping):
            raise DataError(f"{name}: a row must be a dict, not a {type(row).__name__}: {row!r}")
    keys = list(rows[0] if len(rows) == 1 else dict.fromkeys(chain.from_iterable(rows)))
    if not keys:
        return pa.schema(list(types.items())).empty_table()
    names = list(map(str, keys))
    declared = [types.get(name.lower()) for name in names]
    columns = ([row.get(key) for row in rows] for key in keys)
    return pa.Table.from_arrays(list(map(_column, columns, declared)), names=names)


def _column(values: list[Any], type_: pa.DataType | None) -> pa.Array:
    """Values as the type; or else as what they are; or else, if they are of several types, text."""
    exact = None if type_ is None else _exact(values, type_)
    if exact is not None:
        return exact
    for wanted in (type_, None) if type_ is not None and _is_taken(values, type_) else (None,):
        with suppress(pa.ArrowException, OverflowError, TypeError, ValueError):
            return pa.array(values, wanted)
    texts = (None if value is None else str(value) for value in values)
    # a text with surrogates is no UTF-8: the reader finds that its row is bad
    encoded = [None if text is None else text.encode(errors="surrogatepass") for text in texts]
    return pa.array(encoded, pa.binary()).view(pa.string())


def _exact(values: list[Any], type_: pa.DataType) -> pa.Array | None:
    """Values that all are of the Python type with the values of the type; None: they are others."""
    python, column = _EXACT.get(type_.id, (frozenset(), None))
    if column is None or not python.issuperset(map(type, values)):
        return None
    try:
        return column(values)
    except (OverflowError, UnicodeEncodeError):
        return None


def _is_taken(values: list[Any], type_: pa.DataType) -> bool:
    """Whether Arrow makes the same of values as the reader: it cuts off what is behind the point of
    an integer, and does not doubt a time that is a number.
    """
    if pa.types.is_integer(type_):
        return all(v is None or type(v) is int for v in values)
    return type_ != TIMESTAMP or all(v is None or isinstance(v, datetime) for v in values)
