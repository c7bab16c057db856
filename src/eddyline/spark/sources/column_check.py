"""Checks that a source can have the declared columns, as far as this is possible without Spark."""

from __future__ import annotations

import pyarrow as pa

from eddyline.algebra.catalog import StreamDef, TableDef
from eddyline.engine.ingest.table_changes import changes_of, is_live
from eddyline.errors import did_you_mean
from eddyline.spark.formats.avro_options import check_avro_columns
from eddyline.spark.formats.format_options import (
    GENERATORS,
    PARSERS,
    RECORD_FORMAT,
    RECORDS,
    WITH_PATHS,
    OptionError,
    record_format,
    source_format,
)
from eddyline.spark.formats.protobuf_options import check_protobuf_columns
from eddyline.sql.statements import of_column
from eddyline.types import sql_type


def check_columns(definition: StreamDef | TableDef) -> None:
    """Check that the source of a stream or table can have its columns, as far as this follows from
    the source. One without a source is accepted.

    Raises:
        OptionError: it cannot.
    """
    what = f"{'stream' if isinstance(definition, StreamDef) else 'table'} '{definition.name}'"
    source = source_format(definition.options)
    if source is None:
        return
    if isinstance(definition, StreamDef):
        _check_generated(what, source, definition)
    record = record_format(definition.options) if source in RECORDS else None
    paths, metadata = definition.columns.paths, definition.columns.metadata
    if paths and source != "json" and record not in WITH_PATHS:
        *others, last = (f"'{name}'" for name in WITH_PATHS)
        advice = f"set format = {', '.join(others)} or {last}"
        advice = advice if source in RECORDS else "declare columns by their names"
        raise OptionError(
            f"{what}: PATH is for records of JSON, Avro or Protobuf, and the source is '{source}'; "
            f"{advice}",
            of_column(next(iter(paths))),
        )
    for column, name in metadata.items():
        _check_metadata(f"{what}, column '{column}'", source, name, of_column(column))
    nested = next((f for f in definition.schema if pa.types.is_nested(f.type)), None)
    if nested is not None and "csv" in (source, record):
        raise OptionError(
            f"{what}: CSV has no {sql_type(nested.type)}, the type of '{nested.name}'",
            "source" if record is None else RECORD_FORMAT,
            "value",
        )
    if isinstance(definition, TableDef):
        # _op is optional
        fields = (changes_of(definition).schema[0], *definition.schema)
        fields = fields if is_live(definition) else definition.schema
    else:
        fields = definition.supplied
    if record == "avro":
        check_avro_columns(what, definition.options, fields, definition.columns)
    if record == "protobuf":
        check_protobuf_columns(what, definition.options, fields, definition.columns)
    if source != "kafka" or record is not None:
        return
    known = {name.lower() for name in RECORDS[source]}
    for field in fields:
        if field.name.lower() not in known and field.name not in metadata:
            raise OptionError(
                f"{what}: without the option 'format' the source '{source}' has the columns "
                f"{', '.join(sorted(RECORDS[source]))}, and no '{field.name}'; if it is in the "
                f"messages, set format = {', '.join(map(repr, PARSERS))}",
                "source",
                "value",
            )


def _check_generated(what: str, source: str, stream: StreamDef) -> None:
    """Check the columns of a source that makes its rows itself."""
    if source not in GENERATORS:
        return
    known = GENERATORS[source]
    for field in stream.supplied:
        if field.name.lower() not in known:
            message = f"{what}: the source '{source}' has no column '{field.name}'"
            raise OptionError(f"{message}; valid: {', '.join(known)}", "source", "value")


def _check_metadata(what: str, source: str, name: str, option: str) -> None:
    known = RECORDS.get(source, frozenset())
    if not known:
        having = ", ".join(s for s in RECORDS if RECORDS[s])
        raise OptionError(f"{what}: METADATA is for the sources {having}, not '{source}'", option)
    is_header = source == "kafka" and name.startswith("headers.") and name != "headers."
    if name.lower() not in (n.lower() for n in known) and not is_header:
        choices = sorted(known) + (["headers.NAME"] if source == "kafka" else [])
        raise OptionError(
            f"{what}: the source '{source}' has no METADATA '{name}'; "
            f"{did_you_mean(name, choices)}",
            option,
            "value",
        )
