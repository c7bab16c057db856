"""Rows as Python dicts, to Arrow tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import chain
from typing import Any, Final, TypeAlias

import numpy as np
import pyarrow as pa

from eddyline.engine.instants import instant_us
from eddyline.errors import DataError
from eddyline.types import TIMESTAMP, Schema

#: By Arrow's number of a type, the Python type with the same values, and NumPy's: NumPy makes an
#: array of few of them in half of the time.
_EXACT: Final[dict[int, tuple[frozenset[type], Any]]] = {
    pa.int64().id: (frozenset((int,)), np.dtype(np.int64)),
    pa.float64().id: (frozenset((float,)), np.dtype(np.float64)),
    TIMESTAMP.id: (frozenset((datetime,)), np.dtype("M8[us]")),
}


def _number(type_: pa.DataType, dtype: Any) -> Callable[[Any], pa.Array]:
    def column(value: Any) -> pa.Array:
        return pa.Array.from_buffers(type_, 1, [None, pa.py_buffer(np.array([value], dtype))])

    return column


def _text(value: str) -> pa.Array:
    data = value.encode()
    offsets = np.array([0, len(data)], np.int32)
    return pa.Array.from_buffers(pa.string(), 1, [None, pa.py_buffer(offsets), pa.py_buffer(data)])


def _instant(value: datetime) -> pa.Array:
    return _number_of_us(instant_us(value))


_number_of_us: Final = _number(TIMESTAMP, np.dtype(np.int64))
#: By Arrow's number of a type, the Python type with the same values, and what makes a column with
#: one of them.
_MADE: Final[dict[int, tuple[type, Callable[[Any], pa.Array]]]] = {
    pa.int64().id: (int, _number(pa.int64(), np.dtype(np.int64))),
    pa.float64().id: (float, _number(pa.float64(), np.dtype(np.float64))),
    pa.bool_().id: (bool, lambda value: pa.array([value], pa.bool_())),
    pa.string().id: (str, _text),
    TIMESTAMP.id: (datetime, _instant),
}
#: The types of declared columns, by name in lower case.
ColumnTypes: TypeAlias = Mapping[str, pa.DataType]


def column_types(schema: Schema) -> ColumnTypes:
    """The types of declared columns."""
    return {f.name.lower(): f.type for f in schema}


class DeclaredRow:
    """Columns of single dicts that have a value of the declared type for each column.

    Most rows of services are like that, and take a third of the time of a table.
    """

    def __init__(self, schema: Schema) -> None:
        self._names = {f.name for f in schema}
        self._columns = [(f.name, *_MADE.get(f.type.id, (None, None))) for f in schema]

    def columns(self, row: dict[str, Any]) -> list[pa.Array] | None:
        """The columns, in the declared order; None: it is another row."""
        if row.keys() != self._names:
            return None
        arrays = []
        for name, exact, make in self._columns:
            value = row[name]
            if type(value) is not exact or make is None:
                return None
            try:
                arrays.append(make(value))
            except (OverflowError, UnicodeEncodeError):
                return None
        return arrays


def table_of_rows(rows: Sequence[Any], types: ColumnTypes, name: str) -> pa.Table:
    """Dicts, one per row, as a table with a column for each key of any of them; without any key, as
    one without rows.

    Values that are not of the declared type keep their own, or become text: the reader converts
    them, or finds that they are bad.

    Args:
        rows: a key that a row lacks is NULL in it. name: for errors.

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
    if type_ is not None and type_.id in _EXACT:
        exact, dtype = _EXACT[type_.id]
        if exact.issuperset(map(type, values)) and (
            type_ != TIMESTAMP or all(v.tzinfo is None for v in values)
        ):
            try:
                numbers = np.array(values, dtype)
            except OverflowError:
                pass
            else:
                return pa.Array.from_buffers(type_, numbers.size, [None, pa.py_buffer(numbers)])
    for wanted in (type_, None) if type_ is not None and _is_taken(values, type_) else (None,):
        with suppress(pa.ArrowException, OverflowError, TypeError, ValueError):
            return pa.array(values, wanted)
    texts = (None if value is None else str(value) for value in values)
    # a text with surrogates is no UTF-8: the reader finds that its row is bad
    encoded = [None if text is None else text.encode(errors="surrogatepass") for text in texts]
    return pa.array(encoded, pa.binary()).view(pa.string())


def _is_taken(values: list[Any], type_: pa.DataType) -> bool:
    """Whether Arrow makes the same of values as the reader: it cuts off what is behind the point of
    an integer, and does not doubt a time that is a number.
    """
    if pa.types.is_integer(type_):
        return all(v is None or type(v) is int for v in values)
    return type_ != TIMESTAMP or all(v is None or isinstance(v, datetime) for v in values)
