"""Rows as Python dicts, to Arrow tables."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import Any, Final, NamedTuple, TypeAlias

import pyarrow as pa

from eddyline.errors import DataError
from eddyline.types import TIMESTAMP, Schema

_EPOCH: Final = datetime(1970, 1, 1)
_UTC_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def _numbers(type_: pa.DataType, code: str, values: list[Any]) -> pa.Array:
    """A column of numbers by ``array``, which takes a third of Arrow's time for few of them."""
    buffer = pa.py_buffer(array(code, values))
    return pa.Array.from_buffers(type_, len(values), [None, buffer])


def _instants(values: list[datetime]) -> pa.Array:
    us = []
    for value in values:
        since = value - (_EPOCH if value.utcoffset() is None else _UTC_EPOCH)
        us.append((since.days * 86_400 + since.seconds) * 1_000_000 + since.microseconds)
    return _numbers(TIMESTAMP, "q", us)


class _Exact(NamedTuple):
    """The Python type with the values of an Arrow type, alone in a set, and what makes columns."""

    python: frozenset[type]
    column: Callable[[list[Any]], pa.Array]


#: By Arrow's number of a type.
_EXACT: Final = {
    pa.int64().id: _Exact(frozenset((int,)), partial(_numbers, pa.int64(), "q")),
    pa.float64().id: _Exact(frozenset((float,)), partial(_numbers, pa.float64(), "d")),
    pa.bool_().id: _Exact(frozenset((bool,)), partial(pa.array, type=pa.bool_())),
    pa.string().id: _Exact(frozenset((str,)), partial(pa.array, type=pa.string())),
    TIMESTAMP.id: _Exact(frozenset((datetime,)), _instants),
}
#: Types of columns by name.
ColumnTypes: TypeAlias = Mapping[str, pa.DataType]


def column_types(schema: Schema) -> ColumnTypes:
    """The types of declared columns, by name in lower case."""
    return {f.name.lower(): f.type for f in schema}


class ExactRows:
    """Makes columns of dicts whose values are of the types with the declared columns' values.

    Takes a third of the time of a table.
    """

    def __init__(self, schema: Schema) -> None:
        found = [(f.name, _EXACT.get(f.type.id)) for f in schema]
        self._columns = {name: exact for name, exact in found if exact is not None}
        self._is_able = len(self._columns) == len(schema)

    def columns(self, rows: Sequence[Any]) -> list[pa.Array] | None:
        """The declared columns, in order; None: some row is no dict, lacks a column, has another
        one, or has a value of another type (NULL is one).
        """
        of, names = self._columns, self._columns.keys()
        if not self._is_able or not all(type(row) is dict and row.keys() == names for row in rows):
            return None
        columns = []
        for name, (python, column) in of.items():
            values = [row[name] for row in rows]
            if not python.issuperset(map(type, values)):
                return None
            try:
                columns.append(column(values))
            except (OverflowError, UnicodeEncodeError):
                return None
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
    exact = _EXACT.get(type_.id)
    if exact is None or not exact.python.issuperset(map(type, values)):
        return None
    try:
        return exact.column(values)
    except (OverflowError, UnicodeEncodeError):
        return None


def _is_taken(values: list[Any], type_: pa.DataType) -> bool:
    """Whether Arrow makes the same of values as the reader: it cuts off what is behind the point of
    an integer, and does not doubt a time that is a number.
    """
    if pa.types.is_integer(type_):
        return all(v is None or type(v) is int for v in values)
    return type_ != TIMESTAMP or all(v is None or isinstance(v, datetime) for v in values)
