"""Types and units shared by all layers.

Time is int64 microseconds since the epoch, UTC. Column types are Arrow's.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

#: No expiry; also the ``_exp`` of rows that only a '-' retracts.
FOREVER: Final = 1 << 62
#: Before every timestamp, when the rows of a static table "arrived"; BEGINNING + FOREVER is
#: behind every timestamp.
BEGINNING: Final = -(1 << 61)

#: Timestamps lie in the years 1 to 9999: from FIRST_INSTANT to just before END_OF_TIME.
FIRST_INSTANT: Final = -62_135_596_800_000_000
END_OF_TIME: Final = 253_402_300_800_000_000
#: No duration is longer, so that no sum of an instant and a duration leaves int64.
LONGEST_DURATION_US: Final = END_OF_TIME - FIRST_INSTANT

TIMESTAMP: Final = pa.timestamp("us", tz="UTC")
#: Sums of BIGINTs fit it: 128 bits.
WIDE_INTEGER: Final = pa.decimal128(38, 0)


@dataclass(frozen=True, slots=True)
class Field:
    """A named, typed column of a plan node, stream or table."""

    name: str
    type: pa.DataType

    def __str__(self) -> str:
        return f"{self.name} {sql_type(self.type)}"


Schema = tuple[Field, ...]


def arrow_schema(schema: Schema) -> pa.Schema:
    """The Arrow schema with the same names and types, all nullable."""
    return pa.schema([pa.field(f.name, f.type) for f in schema])


#: SQL type names (Spark's) to Arrow types; DECIMAL(p, s) is handled by the parser.
SQL_TYPES: Final[dict[str, pa.DataType]] = {
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    "INT": pa.int32(),
    "INTEGER": pa.int32(),
    "BIGINT": pa.int64(),
    "LONG": pa.int64(),
    "FLOAT": pa.float32(),
    "REAL": pa.float32(),
    "DOUBLE": pa.float64(),
    "STRING": pa.string(),
    "VARCHAR": pa.string(),
    "CHAR": pa.string(),
    "BINARY": pa.binary(),
    "DATE": pa.date32(),
    "TIMESTAMP": TIMESTAMP,
}


def is_list(type_: pa.DataType) -> bool:
    """Whether values are lists: of elements, or of the entries of a map."""
    return bool(pa.types.is_list(type_) or pa.types.is_map(type_))


def element_type(type_: pa.DataType) -> pa.DataType:
    """The type of the elements of a list; of a map a structure of key and value."""
    if pa.types.is_map(type_):
        return pa.struct([type_.key_field, type_.item_field])
    return type_.value_type


def with_nulls(type_: pa.DataType) -> pa.DataType:
    """The type with parts that can all be NULL, but keys of maps: that of a declared column."""
    if pa.types.is_struct(type_):
        return pa.struct([(f.name, with_nulls(f.type)) for f in type_])
    if pa.types.is_map(type_):
        return pa.map_(with_nulls(type_.key_type), with_nulls(type_.item_type))
    return pa.list_(with_nulls(type_.value_type)) if pa.types.is_list(type_) else type_


def sql_type(type_: pa.DataType) -> str:
    """The SQL name of an Arrow type, for messages and EXPLAIN."""
    if pa.types.is_decimal(type_):
        return f"DECIMAL({type_.precision},{type_.scale})"
    if pa.types.is_timestamp(type_):
        return "TIMESTAMP"
    if pa.types.is_duration(type_):
        return "INTERVAL"
    if pa.types.is_struct(type_):
        return f"STRUCT<{', '.join(f'{_quoted(f.name)}: {sql_type(f.type)}' for f in type_)}>"
    if pa.types.is_map(type_):
        return f"MAP<{sql_type(type_.key_type)}, {sql_type(type_.item_type)}>"
    if pa.types.is_list(type_):
        return f"ARRAY<{sql_type(type_.value_type)}>"
    for name, candidate in SQL_TYPES.items():
        if candidate == type_:
            return name
    return str(type_).upper()


def _quoted(name: str) -> str:
    return name if name.isidentifier() else "`" + name.replace("`", "``") + "`"
