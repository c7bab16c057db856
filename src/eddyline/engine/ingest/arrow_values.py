"""Conversion of callers' Arrow data to single-chunk tables, valid UTF-8 and declared types."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.functions.conversion import convert
from eddyline.engine.ingest.nested_values import converted_nested, nested_text
from eddyline.engine.ingest.row_values import ColumnTypes, table_of_rows
from eddyline.errors import DataError
from eddyline.runtime.stores.columns import Array, text_buffers
from eddyline.types import TIMESTAMP

_NOT_ASCII: Final = 0x80
#: Minimum number of texts whose largest byte is looked at.
_LEAST_ASCII: Final = 1_024


def to_table(data: Any, name: str, types: ColumnTypes = MappingProxyType({})) -> pa.Table:
    """Arrow, pandas or polars data, a dict (one row) or several as an Arrow table.

    Args:
        name: for errors. types: of the declared columns.

    Raises:
        DataError: the data is of another kind.
    """
    if isinstance(data, pa.Table):
        return data
    if type(data) is dict:
        return table_of_rows((data,), types, name)
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if hasattr(data, "__arrow_c_stream__"):  # pandas, polars, DuckDB, ...
        return pa.table(data)
    if isinstance(data, Mapping):
        return table_of_rows((data,), types, name)
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes)):
        return table_of_rows(list(data), types, name)
    raise DataError(
        f"{name}: rows must be a pyarrow Table or RecordBatch, a pandas or a polars DataFrame, a "
        f"dict or several, not a {type(data).__name__}"
    )


def flat(values: pa.ChunkedArray) -> pa.Array:
    """One array without dictionary encoding or large offsets."""
    if values.num_chunks == 1:
        out = values.chunk(0)
    else:
        out = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)
    return _decoded(out)


def _decoded(out: pa.Array) -> pa.Array:
    if pa.types.is_dictionary(out.type):
        out = out.dictionary_decode()
    if pa.types.is_large_string(out.type) or pa.types.is_string_view(out.type):
        return out.cast(pa.string())
    if pa.types.is_large_binary(out.type) or pa.types.is_binary_view(out.type):
        return out.cast(pa.binary())
    return out


def converted(values: pa.Array, type_: pa.DataType) -> pa.Array:
    """The values as another type; NULL where the conversion would lose information.

    Raises:
        pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError: there is no conversion.
    """
    if pa.types.is_null(values.type):
        return pa.nulls(len(values), type_)
    if pa.types.is_nested(type_):
        return converted_nested(values, type_, _converted_part)
    if pa.types.is_timestamp(type_):
        return instants(values, type_)
    if any(pa.types.is_string(t) or pa.types.is_decimal(t) for t in (values.type, type_)):
        return convert(values, type_)
    narrowed = values.cast(type_, safe=False)
    if pa.types.is_floating(type_):
        return narrowed
    same = pc.equal(narrowed.cast(values.type, safe=False), values)
    if pa.types.is_unsigned_integer(values.type):  # the conversion back wraps as well
        same = pc.and_(same, pc.greater_equal(narrowed, 0))
    return pc.if_else(same, narrowed, pa.scalar(None, type_))


def _converted_part(values: pa.Array, type_: pa.DataType) -> pa.Array:
    plain = _decoded(values)
    return plain if plain.type == type_ else converted(plain, type_)


def instants(values: pa.Array, type_: pa.DataType = TIMESTAMP) -> pa.Array:
    """Timestamps of any unit (without a zone: UTC), integers as microseconds, ISO 8601 text.

    NULL where text is not a timestamp.

    Raises:
        pa.ArrowTypeError: values of this type are not timestamps.
    """
    if pa.types.is_integer(values.type):
        return values.cast(pa.int64()).cast(type_)
    if pa.types.is_timestamp(values.type):
        return (
            values.cast(pa.timestamp("us", values.type.tz), safe=False).cast(pa.int64()).cast(type_)
        )
    if pa.types.is_date(values.type) or pa.types.is_string(values.type):
        return convert(values, type_)
    raise pa.ArrowTypeError(
        "use a timestamp, microseconds since 1970, or ISO 8601 text; for an event time in another "
        "unit declare it, as in WITH (ts_unit = 's')"
    )


def as_text(values: pa.Array) -> pa.Array:
    """Values as text, for bad rows."""
    if pa.types.is_nested(values.type):
        return nested_text(values)
    return (
        convert(values, pa.string())
        if pa.types.is_binary(values.type)
        else values.cast(pa.string())
    )


def with_valid_text(
    table: pa.Table, names: Collection[str]
) -> tuple[pa.Table, dict[str, pa.Array]]:
    r"""Replace text that is not valid UTF-8; nested values with such text become NULL.

    Args:
        names: the columns to check, in lower case.

    Returns:
        The table, with invalid bytes as ``\xff``; and by column with invalid bytes, bool[n]: the
        rows that have some.
    """
    broken: dict[str, pa.Array] = {}
    for position, field in enumerate(table.schema):
        if field.name.lower() not in names or not has_text(field.type):
            continue
        rows = list(_invalid(values := flat(table.column(position)), 0))
        if rows:
            broken[field.name] = _flags(rows, len(values))
            table = table.set_column(position, field.name, _escaped(values, rows))
    return table, broken


def is_text(type_: pa.DataType) -> bool:
    """Whether values are text, dictionary encoded or not."""
    if pa.types.is_dictionary(type_):
        return is_text(type_.value_type)
    return bool(
        pa.types.is_string(type_)
        or pa.types.is_large_string(type_)
        or pa.types.is_string_view(type_)
    )


def has_text(type_: pa.DataType) -> bool:
    """Whether values are or contain text."""
    if pa.types.is_nested(type_):
        return any(has_text(type_.field(i).type) for i in range(type_.num_fields))
    return is_text(type_)


def is_valid_text(values: pa.Array) -> bool:
    """Whether all texts of values that are or contain text are UTF-8, and the array is sound.

    ASCII, which most texts are, is told by the largest byte; for few values that takes longer.
    """
    try:
        if len(values) < _LEAST_ASCII or not pa.types.is_string(values.type):
            values.validate(full=True)
            return True
        values.validate()
        if not _is_ascii(*text_buffers(values)):
            values.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _is_ascii(offsets: Array, data: Array) -> bool:
    """Whether texts are ASCII, and their offsets in order."""
    used = data[int(offsets[0]) : int(offsets[-1])]
    is_sound = used.size == offsets[-1] - offsets[0] and (offsets[1:] >= offsets[:-1]).all()
    return bool(is_sound and used.max(initial=0) < _NOT_ASCII)


def _invalid(values: pa.Array, start: int) -> Iterator[int]:
    """The positions of values that are not UTF-8, found by bisection."""
    try:
        values.validate(full=True)
        return
    except pa.ArrowInvalid:
        if len(values) == 1:
            yield start
            return
    middle = len(values) // 2
    yield from _invalid(_part(values, 0, middle), start)
    yield from _invalid(_part(values, middle, len(values)), start + middle)


def _part(values: pa.Array, start: int, end: int) -> pa.Array:
    """Successive values; nested ones are copied, as a slice is validated with all values."""
    if pa.types.is_nested(values.type):
        return values.take(pa.array(np.arange(start, end)))
    return values.slice(start, end - start)


def _flags(rows: list[int], count: int) -> pa.Array:
    flags = np.zeros(count, np.bool_)
    flags[rows] = True
    return pa.array(flags)


def _escaped(values: pa.Array, rows: list[int]) -> pa.Array:
    """The values, with escaped bytes in some rows."""
    if pa.types.is_nested(values.type):
        return pc.if_else(_flags(rows, len(values)), pa.scalar(None, values.type), values)
    raw = values.view(pa.binary())
    readable = [raw[row].as_py().decode("utf-8", "backslashreplace") for row in rows]
    bytes_ = pa.array([text.encode() for text in readable], pa.binary())
    return pc.replace_with_mask(raw, _flags(rows, len(values)), bytes_).cast(pa.string())
