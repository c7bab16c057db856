"""Encoders: a table as the content of one file, as Spark's writer of the format would write it.

A file has the schema and values that Spark's own file has, for any reader. What cannot be written
in that way (an option, a type, a setting of the session) is known before the first batch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq

from eddyline.spark.formats.text_encoders import csv_encoder, json_encoder
from eddyline.types import TIMESTAMP

#: A table to the content of a file.
Encoder = Callable[[pa.Table], bytes]
#: The value of a setting of the Spark session.
Setting = Callable[[str], str]

_PARQUET: Final = "spark.sql.parquet"
#: Settings whose other values only Spark's writer implements.
_PARQUET_SETTINGS: Final = {
    f"{_PARQUET}.writeLegacyFormat": "false",
    f"{_PARQUET}.datetimeRebaseModeInWrite": "CORRECTED",
    f"{_PARQUET}.int96RebaseModeInWrite": "CORRECTED",
}
#: These settings, and others that encoders depend on, in a new session of Spark.
SPARK_DEFAULTS: Final = {
    **_PARQUET_SETTINGS,
    f"{_PARQUET}.compression.codec": "snappy",
    f"{_PARQUET}.outputTimestampType": "TIMESTAMP_MICROS",
}
_CODECS: Final = {"uncompressed": "none", **{c: c for c in ("none", "snappy", "gzip", "zstd")}}


def file_encoder(
    format_: str, options: Mapping[str, str], schema: pa.Schema, setting: Setting
) -> Encoder | None:
    """The encoder of a file sink; None if only Spark's writer can write its files.

    ORC, XML and text are written by Spark: of ORC files that PyArrow writes, Spark cannot read
    timestamps before 1970.

    Args:
        options: of the format; their names in any case.
    """
    named = {name.lower(): value for name, value in options.items()}
    if len({name.lower() for name in schema.names}) < len(schema):
        return None  # which Spark refuses
    if format_ == "parquet":
        return _parquet_encoder(named, schema, setting)
    if format_ == "csv":
        return csv_encoder(named, schema)
    return json_encoder(named, schema) if format_ == "json" else None


def _parquet_encoder(
    options: Mapping[str, str], schema: pa.Schema, setting: Setting
) -> Encoder | None:
    codec = options.get("compression", setting(f"{_PARQUET}.compression.codec")).lower()
    times = setting(f"{_PARQUET}.outputTimestampType")
    if (
        not options.keys() <= {"compression"}
        or codec not in _CODECS
        or times not in ("INT96", "TIMESTAMP_MICROS")
        or any(setting(name) != value for name, value in _PARQUET_SETTINGS.items())
        or not all(_is_plain(field.type) for field in schema)
    ):
        return None

    def encode(table: pa.Table) -> bytes:
        sink = pa.BufferOutputStream()
        pq.write_table(
            table,
            sink,
            compression=_CODECS[codec],
            use_deprecated_int96_timestamps=times == "INT96",
            store_schema=False,
            store_decimal_as_integer=True,
        )
        content: bytes = sink.getvalue().to_pybytes()
        return content

    return encode


def _is_plain(type_: pa.DataType) -> bool:
    """Whether Parquet has the same type for PyArrow and for Spark."""
    if pa.types.is_struct(type_):
        return all(_is_plain(field.type) for field in type_)
    if pa.types.is_map(type_):
        return _is_plain(type_.key_type) and _is_plain(type_.item_type)
    if pa.types.is_list(type_):
        return _is_plain(type_.value_type)
    return (
        pa.types.is_boolean(type_)
        or pa.types.is_signed_integer(type_)
        or type_ in (pa.float32(), pa.float64(), pa.string(), pa.binary(), pa.date32())
        or pa.types.is_decimal128(type_)
        or type_ == TIMESTAMP
    )
