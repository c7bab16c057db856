"""Arrow data of callers: as tables of one chunk, valid UTF-8, and the declared types."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.functions.conversion import convert
from eddyline.errors import DataError
from eddyline.types import TIMESTAMP


def to_table(data: Any, name: str) -> pa.Table:
    """Arrow, pandas or polars data as an Arrow table.

    Raises:
        DataError: the data is of none of these kinds.
    """
    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if hasattr(data, "__arrow_c_stream__"):  # pandas, polars, DuckDB, ...
        return pa.table(data)
    raise DataError(
        f"{name}: rows come as a pyarrow Table or RecordBatch, a pandas or a polars DataFrame, "
        f"not as {type(data).__name__}"
    )


def flat(values: pa.ChunkedArray) -> pa.Array:
    """One array without dictionary encoding or large offsets."""
    if values.num_chunks == 1:
        out = values.chunk(0)
    else:
        out = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)
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
        return values.cast(type_)
    if pa.types.is_timestamp(type_):
        return instants(values, type_)
    if any(pa.types.is_string(t) or pa.types.is_decimal(t) for t in (values.type, type_)):
        return convert(values, type_)
    narrowed = values.cast(type_, safe=False)
    if pa.types.is_floating(type_):
        return narrowed
    same = pc.equal(narrowed.cast(values.type, safe=False), values)
    if pa.types.is_unsigned_integer(values.type):  # wraps round on the way back as well
        same = pc.and_(same, pc.greater_equal(narrowed, 0))
    return pc.if_else(same, narrowed, pa.scalar(None, type_))


def instants(values: pa.Array, type_: pa.DataType = TIMESTAMP) -> pa.Array:
    """Timestamps of any unit (without a zone: UTC), integers as microseconds, ISO 8601 text.

    NULL where text cannot be read.

    Raises:
        pa.ArrowTypeError: values of this type are no timestamps.
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
        "give a timestamp, microseconds since 1970, or ISO 8601 text; of an event time that comes "
        "as another number declare the unit, as in WITH (ts_unit = 's')"
    )


def as_text(values: pa.Array) -> pa.Array:
    """Values as text, as bad rows show them."""
    return (
        convert(values, pa.string())
        if pa.types.is_binary(values.type)
        else values.cast(pa.string())
    )


def with_valid_text(
    table: pa.Table, names: Collection[str]
) -> tuple[pa.Table, dict[str, pa.Array]]:
    r"""Replace text that is not valid UTF-8.

    Args:
        names: the columns to check, in lower case.

    Returns:
        The table, with invalid bytes written as ``\xff``; and by column with invalid bytes, for
        each row whether it has some.
    """
    broken: dict[str, pa.Array] = {}
    for place, field in enumerate(table.schema):
        if field.name.lower() not in names or not _is_text(field.type):
            continue
        rows = list(_invalid(values := flat(table.column(place)), 0))
        if rows:
            broken[field.name] = _flags(rows, len(values))
            table = table.set_column(place, field.name, _escaped(values, rows))
    return table, broken


def _is_text(type_: pa.DataType) -> bool:
    if pa.types.is_dictionary(type_):
        return _is_text(type_.value_type)
    return bool(
        pa.types.is_string(type_)
        or pa.types.is_large_string(type_)
        or pa.types.is_string_view(type_)
    )


def _invalid(values: pa.Array, start: int) -> Iterator[int]:
    """The places of values that are not UTF-8, found by bisection."""
    try:
        values.validate(full=True)
        return
    except pa.ArrowInvalid:
        if len(values) == 1:
            yield start
            return
    middle = len(values) // 2
    yield from _invalid(values.slice(0, middle), start)
    yield from _invalid(values.slice(middle), start + middle)


def _flags(rows: list[int], count: int) -> pa.Array:
    flags = np.zeros(count, np.bool_)
    flags[rows] = True
    return pa.array(flags)


def _escaped(values: pa.Array, rows: list[int]) -> pa.Array:
    """The values, those of some rows with escaped bytes."""
    raw = values.view(pa.binary())
    readable = [raw[row].as_py().decode("utf-8", "backslashreplace") for row in rows]
    bytes_ = pa.array([text.encode() for text in readable], pa.binary())
    return pc.replace_with_mask(raw, _flags(rows, len(values)), bytes_).cast(pa.string())
