"""What a statement declares of a source, checked: its format, options, and where columns are."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from eddyline.algebra.catalog import ColumnSources, StreamDef, TableDef
from eddyline.spark.formats.format_options import (
    DEFAULTS,
    FILE_FORMATS,
    OF_SOURCES,
    PARSERS,
    RECORD_FORMAT,
    RECORDS,
    is_of_history,
    record_format,
    source_format,
    with_limit,
)
from eddyline.spark.formats.records import BinaryOptions, telling
from eddyline.spark.sources.format_check import (
    BINARY,
    Declared,
    check_columns,
    check_source,
    require_source,
)
from eddyline.sql.definitions import SIDE_PREFIXES


class DeclaredSource(NamedTuple):
    """A declared source.

    Attributes:
        format, options: for Spark; names of options in lower case for file formats, as Spark
            compares them without case.
        columns: where the columns are in a record.
        record: the format of its records, or None. parsing: options of their parser, in lower case.
        binary: options of records of Avro or Protobuf.
    """

    format: str
    options: dict[str, str]
    columns: ColumnSources
    record: str | None
    parsing: dict[str, str]
    binary: BinaryOptions | None = None

    @property
    def text_format(self) -> str:
        """The format that says how values are written."""
        return self.record or self.format

    def with_limit(self) -> DeclaredSource:
        """The source of a stream: a batch has a bound by default."""
        return self._replace(options=with_limit(self.format, self.options))

    def with_told(self, column: str, name: str) -> DeclaredSource:
        """The source with one more column: what it tells of a record as ``name``."""
        metadata = {**self.columns.metadata, column: name}
        return self._replace(columns=replace(self.columns, metadata=metadata))


def source_of(declared: StreamDef | TableDef, of: Declared) -> DeclaredSource:
    """The source of a stream or table.

    Raises:
        DataError: the format, or an option, is missing or wrong.
    """
    what = f"{'stream' if of == 'stream' else 'table'} '{declared.name}'"
    require_source(what, declared.options)
    check_source(declared.name, declared.options, of)
    check_columns(declared)
    format_ = source_format(declared.options)
    assert format_ is not None, "checked by require_source"
    options = {
        k: v
        for k, v in declared.options.items()
        if k not in OF_SOURCES and not k.startswith(SIDE_PREFIXES) and not is_of_history(k)
    }
    record = record_format(options) if format_ in RECORDS else None
    parsing: dict[str, str] = {}
    if record is not None:
        known = {name.lower() for name in (RECORD_FORMAT, *PARSERS[record])}
        parsing = {k.lower(): v for k, v in options.items() if k.lower() in known - {RECORD_FORMAT}}
        options = {k: v for k, v in options.items() if k.lower() not in known}
    if format_ in FILE_FORMATS:
        options = {k.lower(): v for k, v in options.items()}
    options = {**DEFAULTS.get(format_, {}), **telling(format_, options, declared.columns)}
    of_bytes = BINARY.get(record or "")
    binary = None if of_bytes is None else of_bytes.of(what, declared.options)
    return DeclaredSource(format_, options, declared.columns, record, parsing, binary)
