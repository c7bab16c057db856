"""Records: columns at paths of JSON, and columns that a source tells of a record beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
    StringType,
    StructField,
    StructType,
)

from eddyline.algebra.catalog import ColumnSources, JsonPath
from eddyline.engine.ingest.conversion import CORRUPT_RECORD
from eddyline.extras import extras_named
from eddyline.spark.formats.avro_options import AvroOptions
from eddyline.spark.formats.avro_records import read_records
from eddyline.spark.formats.lines import parsed_records
from eddyline.spark.formats.protobuf_options import ProtobufOptions
from eddyline.types import Field, Schema

if TYPE_CHECKING:
    from eddyline.spark.formats.protobuf_records import Reading

#: Options of records that are bytes.
BinaryOptions = AvroOptions | ProtobufOptions

#: Options with which a source tells more of its records, by the name of what it tells then.
_MORE: Final = {
    "kafka": {"headers": ("includeHeaders", "true")},
    "socket": {"timestamp": ("includeTimestamp", "true")},
}
#: A column of records between others, with no name of what is told.
_RECORD: Final = "RECORD"


def nested(fields: Sequence[StructField], paths: Mapping[str, JsonPath]) -> list[StructField]:
    """The fields of records that have columns at paths, and others at the top under their names.

    A value that is read in two types is text.
    """
    tree: dict[str, Any] = {}
    for field in fields:
        *way, last = paths.get(field.name, (field.name,))
        place: Any = tree
        for step in way:
            place = place.setdefault(step if isinstance(step, str) else 0, {})
        key = last if isinstance(last, str) else 0
        same = place.setdefault(key, field.dataType) == field.dataType
        place[key] = field.dataType if same else StringType()
    return _struct(tree).fields


def _struct(tree: Mapping[str, Any]) -> StructType:
    return StructType([StructField(name, _type(below)) for name, below in tree.items()])


def _type(tree: Any) -> DataType:
    """The type of a node: a leaf has a type, an array the key 0."""
    if isinstance(tree, DataType):
        return tree
    return ArrayType(_type(tree[0])) if 0 in tree else _struct(tree)


@dataclass(frozen=True)
class Records:
    """Records of a source that are not parsed yet.

    Attributes:
        rows: their texts in the column ``value``, and other columns.
        format, options: of the records; the names of options in lower case.
        fields: those of a record, with the types to read.
        columns: the declared ones. paths: in a record, or the name of another column of the rows;
            without a path a column has the place of its name.
        binary: options of records of Avro or Protobuf, which are bytes.
    """

    rows: DataFrame
    format: str
    options: Mapping[str, str]
    fields: Sequence[StructField]
    columns: Schema
    paths: Mapping[str, JsonPath]
    binary: BinaryOptions | None = None

    def parsed(self) -> DataFrame:
        """The declared columns, and the texts of records that cannot be parsed."""
        if isinstance(self.binary, AvroOptions):
            return self._parsed_avro(self.binary)
        if (messages := self.messages()) is not None:
            return messages.parsed()
        others = [f for f in self.rows.schema.fields if f.name != "value"]
        corrupt = StructField(CORRUPT_RECORD, StringType())
        schema = StructType([*self.fields, *others, corrupt])
        found = parsed_records(self.rows, self.format, self.options, schema)
        values = (at_path(self.path(f.name)).alias(f.name) for f in self.columns)
        return found.select(*values, F.col(CORRUPT_RECORD))

    def messages(self) -> Reading | None:
        """Records of Protobuf, and what reads them in a worker; None: they are no such records."""
        if not isinstance(self.binary, ProtobufOptions):
            return None
        with extras_named():
            from eddyline.spark.formats.protobuf_records import messages_of
        return messages_of(self.rows, self.binary, self.columns, self.paths)

    def _parsed_avro(self, options: AvroOptions) -> DataFrame:
        others = {name for name in self.rows.columns if name != "value"}
        found = read_records(self.rows, options, _RECORD, CORRUPT_RECORD)
        values = []
        for field in self.columns:
            path = self.path(field.name)
            within = path if path[0] in others else (_RECORD, *path)
            values.append(at_path(within).alias(field.name))
        return found.select(*values, F.col(CORRUPT_RECORD))

    def path(self, column: str) -> JsonPath:
        """The path of a declared column."""
        return self.paths.get(column, (column,))


def at_paths(df: DataFrame, columns: Schema, paths: Mapping[str, JsonPath]) -> DataFrame:
    """The columns of rows that have the fields of :func:`nested`; with corrupt records."""
    found = [at_path(paths.get(f.name, (f.name,))).alias(f.name) for f in columns]
    if CORRUPT_RECORD in df.columns:
        found.append(F.col(CORRUPT_RECORD))
    return df.select(*found)


def at_path(path: JsonPath) -> Column:
    """The value at a path, in columns of the record's fields."""
    value = F.col("`{}`".format(str(path[0]).replace("`", "``")))
    for step in path[1:]:
        value = value.getField(step) if isinstance(step, str) else F.get(value, F.lit(step))
    return value


def telling(source: str, options: Mapping[str, str], columns: ColumnSources) -> dict[str, str]:
    """The options of a source with which it tells what the columns read."""
    more = _MORE.get(source, {})
    told = {name.partition(".")[0].lower() for name in columns.metadata.values()}
    return {**dict(value for name, value in more.items() if name in told), **options}


def told_columns(records: DataFrame, columns: Schema, metadata: Mapping[str, str]) -> DataFrame:
    """Columns of which the source tells the values, those not in ``metadata`` by their names. Those
    that it does not have are left out.
    """
    own = {name.lower() for name in records.columns}
    found = [f for f in columns if f.name in metadata or f.name.lower() in own]
    return records.select(
        *(_told(records, metadata.get(f.name, f.name), f).alias(f.name) for f in found)
    )


def records_beside(
    records: DataFrame,
    format_: str,
    options: Mapping[str, str],
    fields: Sequence[StructField],
    columns: Schema,
    sources: ColumnSources,
    binary: BinaryOptions | None = None,
) -> Records:
    """The records in the column ``value`` of a source, with what it tells of them.

    Args:
        format_, options: of the records. fields: the columns in them, with the types to read.
        columns: all declared ones. sources: where they are. binary: options of records of Avro or
            Protobuf.
    """
    told = [f for f in columns if f.name in sources.metadata]
    beside = {f.name: f"METADATA {f.name}" for f in told}  # no name of a field of a record
    text = F.col("value").cast("string" if binary is None else "binary").alias("value")
    named = (_told(records, sources.metadata[f.name], f).alias(beside[f.name]) for f in told)
    in_record = nested(fields, sources.paths) if format_ == "json" else fields
    paths = {**sources.paths, **{name: (other,) for name, other in beside.items()}}
    return Records(
        records.select(text, *named), format_, options, in_record, columns, paths, binary
    )


def _told(records: DataFrame, name: str, field: Field) -> Column:
    """What the source tells: bytes are text, unless the column is BINARY."""
    main, _, header = name.partition(".")
    if main.lower() != "headers":
        (type_,) = (c.dataType for c in records.schema if c.name.lower() == name.lower())
        is_text = type_ == BinaryType() and field.type != pa.binary()
        return F.col(name).cast("string") if is_text else F.col(name)
    headers = F.col("headers")
    if header:
        found = F.filter(headers, lambda h: h["key"] == header)
        value = F.get(found, F.size(found) - 1)["value"]
        return value if field.type == pa.binary() else value.cast("string")
    as_text = F.transform(
        headers,
        lambda h: F.struct(h["key"].alias("key"), h["value"].cast("string").alias("value")),
    )
    return F.to_json(as_text)
