"""Sources: the DataFrame of a declared stream or table, checked before the job starts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type
from pyspark.sql.types import StringType, StructField, StructType

from eddyline.algebra.catalog import JsonPath, StreamDef, TableDef
from eddyline.engine.ingest.arrow_values import with_valid_text
from eddyline.engine.ingest.conversion import CORRUPT_RECORD
from eddyline.engine.ingest.row_reader import RowReader
from eddyline.engine.ingest.table_changes import OPERATION, changes_of
from eddyline.engine.ingest.tables import table_columns
from eddyline.errors import DataError, did_you_mean
from eddyline.spark.exchange.result_ages import ARRIVED
from eddyline.spark.formats.format_options import FILE_FORMATS, SOURCES, is_missing, package_of
from eddyline.spark.formats.lines import are_lines, header_of, records_of
from eddyline.spark.formats.parquet import Reader, local_parquet, local_rows
from eddyline.spark.formats.records import (
    Records,
    at_paths,
    nested,
    records_beside,
    told_columns,
)
from eddyline.spark.root_cause import root_cause
from eddyline.spark.sources.declared import DeclaredSource, source_of
from eddyline.spark.sources.format_check import Declared
from eddyline.spark.sources.parsed_by_columns import parsed_by_columns
from eddyline.spark.sources.paths import wrong_path
from eddyline.spark.storage import files
from eddyline.types import TIMESTAMP, Field, Schema, with_nulls

#: Formats whose parser can return the text of a corrupt record.
_TEXTUAL: Final = ("csv", "json", "xml")
_ARRIVED: Final = Field(ARRIVED, TIMESTAMP)


def stream_source(
    spark: SparkSession, stream: StreamDef, kind: str = "stream"
) -> tuple[DataFrame, Reader | None]:
    """A streaming DataFrame of a stream's declared source, and its reader.

    Without a reader it has the declared columns in the types of the source (the engine converts
    them, and reports a value that does not fit with its text), and ``_corrupt_record`` for textual
    formats.

    Args:
        kind: "stream" or "table", for messages.

    Raises:
        DataError: the format, path or a column is missing, or a type cannot be converted.
    """
    what = f"{kind} '{stream.name}'"
    of: Declared = "stream" if kind == "stream" else "changing table"
    source = source_of(stream, of)
    source = source.with_limit()
    if wrong := wrong_path(what, source.format, source.options):
        raise DataError(wrong)
    if source.format == "parquet":
        by_arrow = local_parquet(spark, stream, source.options, kind)
        if by_arrow is not None:
            return by_arrow
    as_read = _as_read(stream, source.text_format, {**source.options, **source.parsing})
    declared = stream.supplied
    if source.format == "kafka":
        source, declared = source.with_told(ARRIVED, "timestamp"), (*declared, _ARRIVED)
    given = (spark, spark.readStream, what, source, declared, as_read)
    records = _records(*given)
    if records is None:
        return declared_columns(_rows(*given), stream, kind), None
    if (messages := records.messages()) is not None:
        declared_columns(messages.parsed(), stream, kind)  # checks the types
        return messages.rows, messages.read
    parsed = declared_columns(records.parsed(), stream, kind)
    return parsed_by_columns(records) or (parsed, None)


def history_rows(spark: SparkSession, stream: StreamDef) -> DataFrame:
    """A static DataFrame of the rows of a stream's history.

    Args:
        stream: with the options of the history as those of its source.

    Raises:
        DataError: as for :func:`stream_source`.
    """
    what = f"history of stream '{stream.name}'"
    source = source_of(stream, "table")
    as_read = _as_read(stream, source.text_format, {**source.options, **source.parsing})
    given = (spark, spark.read, what, source, stream.supplied, as_read)
    records = _records(*given)
    df = _rows(*given) if records is None else records.parsed()
    return declared_columns(df, stream)


def change_source(spark: SparkSession, table: TableDef) -> tuple[DataFrame, Reader | None]:
    """As :func:`stream_source` for the changes of a table: ``_ts``, ``_op`` if the source has it,
    and the table's columns.

    Raises:
        DataError: as for :func:`stream_source`.
    """
    what = f"table '{table.name}'"
    source = source_of(table, "changing table")
    options = source.options
    if source.format in FILE_FORMATS and not files.exists(spark, options["path"]):
        raise DataError(f"{what}: there is no file or directory '{options['path']}'")
    known = None if source.record else _own_columns(spark, what, source.format, options)
    return stream_source(spark, declared_changes(table, known), "table")


def declared_changes(table: TableDef, columns: Sequence[str] | None) -> StreamDef:
    """The stream of a table's changes, without ``_op`` if ``columns`` lack it."""
    changes = changes_of(table)
    if columns is None or OPERATION.name in (c.lower() for c in columns):
        return changes
    return replace(changes, schema=tuple(f for f in changes.schema if f != OPERATION))


def table_source(spark: SparkSession, table: TableDef) -> pa.Table:
    """The content of a declared table, read once.

    Raises:
        DataError: as for :func:`stream_source`; or a record is malformed.
    """
    what = f"table '{table.name}'"
    source = source_of(table, "table")
    if source.format == "parquet":
        by_arrow = local_rows(spark, table, source.options)
        if by_arrow is not None:
            return table_columns(table, by_arrow)
    given = (spark, spark.read, what, source, table.schema, table.schema)
    records = _records(*given)
    df = _rows(*given) if records is None else records.parsed()
    table_columns(table, _no_rows(what, df))  # checks the columns before the rows are read
    with _reading(what, source.format):
        content, _ = with_valid_text(_selected(df, table.schema).toArrow(), {CORRUPT_RECORD})
    if CORRUPT_RECORD in content.column_names:
        malformed = content.column(CORRUPT_RECORD).drop_null()
        if len(malformed):
            raise DataError(
                f"{what}: {len(malformed)} records cannot be read; the first: "
                f"{malformed[0].as_py()!r}"
            )
    return table_columns(table, content)


def declared_columns(df: DataFrame, stream: StreamDef, kind: str = "stream") -> DataFrame:
    """The declared columns of a DataFrame, without computed ones, in their order and under their
    names.

    Raises:
        DataError: a column is missing, or there is no conversion to its declared type.
    """
    RowReader(stream, kind).read(_no_rows(f"{kind} '{stream.name}'", df))
    return _selected(df, stream.supplied)


def arrow_fields(what: str, df: DataFrame) -> Schema:
    """The columns of a DataFrame as those of a stream or table.

    Raises:
        DataError: a column has a type that streams cannot have.
    """
    return tuple(Field(c.name, with_nulls(_arrow_type(what, c))) for c in df.schema.fields)


def resolve_path(options: Mapping[str, str], base: Path | None) -> dict[str, str]:
    """The options with relative local paths resolved against ``base``."""
    resolved = dict(options)
    for name, value in options.items():
        is_path = name in ("path", "schema_file", "descriptor_file") or name.endswith("_path")
        if is_path and base is not None and "://" not in value and not Path(value).is_absolute():
            resolved[name] = str(base / value)
    return resolved


def _rows(
    spark: SparkSession,
    read: Any,
    what: str,
    source: DeclaredSource,
    declared: Schema,
    as_read: Schema,
) -> DataFrame:
    """The declared columns of a source without :func:`_records`, and others if it has others.

    Args:
        read: ``spark.read`` or ``spark.readStream``. as_read: with the types in which Spark reads.
    """
    format_, options, columns = source.format, source.options, source.columns
    if columns.metadata or format_ == "kafka":
        given = _load(what, format_, read.format(format_).options(**options))
        return told_columns(given, declared, columns.metadata)
    schema = _read_schema(spark, what, format_, options, as_read, columns.paths)
    reader = read.format(format_).options(**options)
    df = _load(what, format_, reader if schema is None else reader.schema(schema))
    return at_paths(df, declared, columns.paths) if columns.paths else df


def _records(
    spark: SparkSession,
    read: Any,
    what: str,
    source: DeclaredSource,
    declared: Schema,
    as_read: Schema,
) -> Records | None:
    """The records of a source that has a text of each; None if Spark reads it otherwise."""
    format_, options, columns = source.format, source.options, source.columns
    if source.record is not None:
        given = _load(what, format_, read.format(format_).options(**options))
        fields = _declared_types([f for f in as_read if f.name not in columns.metadata])
        return records_beside(
            given, source.record, source.parsing, fields, declared, columns, source.binary
        )
    if not are_lines(format_, options):
        return None
    schema = _read_schema(spark, what, format_, options, as_read, columns.paths)
    assert schema is not None, "lines are in files"
    named = format_ == "csv" and options.get("header", "false").lower() == "true"
    with _reading(what, format_):
        header = header_of(spark, options) if named else None
    if named and header is None:
        return None
    lines = records_of(_load(what, "text", read.format("text").options(**options)), header)
    others = {name.lower() for name in lines.columns if name != "value"} | {CORRUPT_RECORD}
    fields = [f for f in schema.fields if f.name.lower() not in others]
    return Records(lines, format_, options, fields, declared, columns.paths)


def _read_schema(
    spark: SparkSession,
    what: str,
    format_: str,
    options: dict[str, str],
    declared: Schema,
    paths: Mapping[str, JsonPath],
) -> StructType | None:
    """The schema for reading files; None for other sources, which have their own.

    Raises:
        DataError: there is no such path, or a column is not in the files.
    """
    if format_ not in FILE_FORMATS:
        return None
    path = options["path"]
    if not files.exists(spark, path):
        raise DataError(f"{what}: there is no file or directory '{path}'")
    if format_ in _TEXTUAL:
        options.setdefault("mode", "PERMISSIVE")
        options.setdefault("columnnameofcorruptrecord", CORRUPT_RECORD)
        fields = _declared_types(declared)
        if paths:
            fields = nested(fields, paths)
        if format_ == "csv" and options.get("header", "false").lower() == "true":
            fields = _by_header(spark, what, options, fields)
        return StructType([*fields, StructField(CORRUPT_RECORD, StringType())])
    return _own_schema(spark, what, format_, options) or StructType(_declared_types(declared))


def _as_read(stream: StreamDef, format_: str, options: Mapping[str, str]) -> Schema:
    """The columns with the types in which Spark reads them.

    Event times are read as text where they may be numbers: Spark would interpret those of JSON as
    seconds. With the option ``timestampFormat`` Spark reads them itself.
    """
    numbers = format_ == "json" or (format_ in _TEXTUAL and stream.ts_unit is not None)
    if not numbers or "timestampformat" in (name.lower() for name in options):
        return stream.supplied
    times = stream.event_time_columns
    return tuple(
        replace(f, type=pa.string()) if f.type == TIMESTAMP and f.name in times else f
        for f in stream.supplied
    )


def _own_schema(
    spark: SparkSession, what: str, format_: str, options: Mapping[str, str]
) -> StructType | None:
    """The schema stored in the files; None if there is no file yet."""
    try:
        return spark.read.format(format_).options(**options).load().schema
    except PySparkException as e:
        if e.getCondition() == "UNABLE_TO_INFER_SCHEMA":
            return None
        raise DataError(f"{what}: cannot read '{options['path']}': {_first_line(e)}") from None


def _own_columns(
    spark: SparkSession, what: str, format_: str, options: Mapping[str, str]
) -> list[str] | None:
    """The actual columns of a source; None if they are unknown before it is read."""
    if format_ not in FILE_FORMATS:
        return _load(what, format_, spark.readStream.format(format_).options(**options)).columns
    named = format_ == "csv" and options.get("header", "false").lower() == "true"
    if format_ in _TEXTUAL and not named:
        return None
    own = _own_schema(spark, what, format_, options)
    return None if own is None else own.names


def _by_header(
    spark: SparkSession, what: str, options: Mapping[str, str], fields: list[StructField]
) -> list[StructField]:
    """Columns in the order of the files' header, because Spark reads CSV columns by position."""
    header = _own_schema(spark, what, "csv", {**options, "inferschema": "false"})
    if header is None or not header.names:
        return fields
    by_name = {f.name.lower(): f for f in fields}
    missing = [f.name for f in fields if f.name.lower() not in {n.lower() for n in header.names}]
    if missing:
        raise DataError(
            f"{what}: the header of '{options['path']}' has no column '{missing[0]}'; "
            f"{did_you_mean(missing[0], header.names)}"
        )
    return [by_name.get(n.lower(), StructField(n, StringType())) for n in header.names]


def _declared_types(declared: Sequence[Field]) -> list[StructField]:
    return [StructField(f.name, from_arrow_type(f.type)) for f in declared]


def _arrow_type(what: str, column: StructField) -> pa.DataType:
    try:
        return to_arrow_type(column.dataType, timezone="UTC")
    except PySparkException:
        raise DataError(
            f"{what}: column '{column.name}' is {column.dataType.simpleString()}, "
            "which Arrow has no type for"
        ) from None


def _selected(df: DataFrame, declared: Schema) -> DataFrame:
    columns = [F.col(f"`{f.name}`").alias(f.name) for f in declared]
    columns += [F.col(name) for name in (CORRUPT_RECORD, ARRIVED) if name in df.columns]
    return df.select(*columns)


def _no_rows(what: str, df: DataFrame) -> pa.Table:
    """An empty table with the columns and types of the DataFrame."""
    fields = [pa.field(c.name, _arrow_type(what, c)) for c in df.schema.fields]
    return pa.schema(fields).empty_table()


def _load(what: str, format_: str, reader: Any) -> DataFrame:
    with _reading(what, format_):
        df: DataFrame = reader.load()
    return df


@contextmanager
def _reading(what: str, format_: str) -> Iterator[None]:
    """Turn Spark's errors into errors that name the stream or table.

    Raises:
        DataError: Spark cannot read it.
    """
    try:
        yield
    except Py4JJavaError as e:  # raised by streaming sources; batch sources: PySparkException
        if is_missing(e):
            raise _unknown_source(what, format_) from None
        raise DataError(f"{what}: source '{format_}': {root_cause(e)}") from e
    except PySparkException as e:
        if is_missing(e):
            raise _unknown_source(what, format_) from None
        raise DataError(f"{what}: source '{format_}': {_first_line(e)}") from e


def _unknown_source(what: str, format_: str) -> DataError:
    return DataError(
        f"{what}: Spark knows no source '{format_}' ({package_of(format_)}); "
        f"{did_you_mean(format_, SOURCES)}"
    )


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
