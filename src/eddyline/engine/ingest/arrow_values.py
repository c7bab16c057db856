"""Arrow data as users hand it over, as tables and arrays of the declared types."""

from __future__ import annotations

from typing import Any

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
    if hasattr(data, "__arrow_c_stream__"):  # pandas, polars, and whoever speaks Arrow
        return pa.table(data)
    raise DataError(
        f"{name}: rows come as a pyarrow Table or RecordBatch, a pandas or a polars DataFrame, "
        f"not as {type(data).__name__}"
    )


def flat(values: pa.ChunkedArray) -> pa.Array:
    """One array; large and dictionary encodings are undone."""
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
    """The values as another type, NULL where that would change them.

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
    """Values as they are shown among bad rows."""
    return (
        convert(values, pa.string())
        if pa.types.is_binary(values.type)
        else values.cast(pa.string())
    )
