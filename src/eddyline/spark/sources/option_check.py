"""Checks options of sources and sinks in statements; errors have the option's position."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from eddyline.algebra.catalog import StreamDef, TableDef
from eddyline.engine.ingest.table_changes import is_live
from eddyline.engine.query import Query
from eddyline.errors import SqlError, UnsupportedError
from eddyline.spark.formats.format_options import OptionError, sink_format
from eddyline.spark.sinks.places import SinkPlaces
from eddyline.spark.sources.format_check import (
    Declared,
    check_columns,
    check_sink,
    check_sink_of,
    check_source,
    require_source,
    side_options,
)
from eddyline.spark.sources.sources import resolve_path
from eddyline.sql.definitions import SIDE_PREFIXES
from eddyline.sql.source import SourceText
from eddyline.sql.statements import AlterQuery, CreateQuery, CreateStream, CreateTable, Statement

#: Said of a script, or a session, without a query.
NO_QUERY: Final = "there is no query to run: add one with query() or CREATE QUERY"
#: Statements with options of sources or sinks.
WithOptions = CreateStream | CreateTable | CreateQuery


def check_options(statement: Statement, text: str, base: Path | None = None) -> None:
    """Check the options of a statement's source or sink, as far as possible without Spark.

    Args:
        text: the script that contains the statement. base: directory of relative paths; None: not
            known, so files with a relative path are not read.

    Raises:
        SqlError: an option is missing or wrong.
    """
    if isinstance(statement, AlterQuery):
        raise UnsupportedError(
            "ALTER QUERY is for running jobs: write the options in CREATE QUERY",
            line=statement.line,
            column=statement.column,
            sql=text,
        )
    if not isinstance(statement, WithOptions):
        return
    try:
        match statement:
            case CreateStream(definition=stream):
                check_source(stream.name, stream.options, "stream")
                check_columns(replace(stream, options=resolve_path(stream.options, base)))
            case CreateTable(definition=table):
                check_source(table.name, table.options, _kind(table))
                check_columns(replace(table, options=resolve_path(table.options, base)))
            case CreateQuery(in_parts=True):
                raise UnsupportedError(
                    "PARTIAL is for the shards of a job: write CREATE QUERY",
                    line=statement.line,
                    column=statement.column,
                    sql=text,
                )
            case CreateQuery(name=name, options=options):
                check_sink(name, options, of_query=True)
    except OptionError as e:
        raise _placed(e, statement, text) from None


def check_fit(statement: CreateQuery, query: Query, text: str) -> None:
    """Check that the sink of a query can have its rows.

    Args:
        text: the script that contains the statement.

    Raises:
        SqlError: the options do not fit the query.
    """
    try:
        check_sink_of(query)
    except OptionError as e:
        raise _placed(e, statement, text) from None


def require_sources(statements: Iterable[Statement], read: Collection[str], text: str) -> None:
    """Check that each stream and table that queries read has a source.

    Args:
        statements: of a script. read: names of streams and tables that queries read. text: of the
            script.

    Raises:
        SqlError: one has none.
    """
    for statement in statements:
        if not isinstance(statement, CreateStream | CreateTable):
            continue
        definition = statement.definition
        if definition.name not in read:
            continue
        kind = "stream" if isinstance(statement, CreateStream) else "table"
        try:
            require_source(f"{kind} '{definition.name}'", definition.options)
        except OptionError as e:
            raise _placed(e, statement, text) from None


def check_places(
    statements: Iterable[Statement], queries: Mapping[str, Query], read: Collection[str], text: str
) -> None:
    """Check that sinks of a script can write where they do, and that its functions have a module.

    Args:
        statements: of the script. queries: that run, by name. read: names of streams that they
            read. text: of the script.

    Raises:
        SqlError: two sinks cannot share a place, or a function is of no module.
    """
    places = SinkPlaces()
    for statement in statements:
        try:
            if isinstance(statement, CreateStream) and statement.definition.name in read:
                _add_sides(places, statement.definition)
            elif isinstance(statement, CreateQuery) and statement.name in queries:
                query = queries[statement.name]
                _require_module(query)
                places.add(query.name, query.options, query)
        except OptionError as e:
            assert isinstance(statement, WithOptions)
            raise _placed(e, statement, text) from None


def _add_sides(places: SinkPlaces, stream: StreamDef) -> None:
    for prefix in SIDE_PREFIXES:
        options = side_options(stream.options, prefix)
        if not options:
            continue
        try:
            places.add(f"{prefix[:-1]}:{stream.name}", options)
        except OptionError as e:
            raise OptionError(e.message, f"{prefix}{e.option}", e.part) from None


def _require_module(query: Query) -> None:
    """Check that the function of a sink is named as a script has to name it."""
    if sink_format(query.options) != "python":
        return
    for option, value in query.options.items():
        if option.lower() == "function" and ":" not in value:
            message = f"'{query.name}': function = '{value}': in a script it is 'module:name'"
            raise OptionError(message, option, "value")


def unchecked_formats(
    definitions: Iterable[StreamDef | TableDef], queries: Iterable[Query]
) -> Iterator[str]:
    """A sentence for each source and sink that only Spark can check."""
    for definition in definitions:
        yield from check_source(definition.name, definition.options, _kind(definition))
    for query in queries:
        yield from check_sink(query.name, query.options, of_query=True)


def _kind(definition: StreamDef | TableDef) -> Declared:
    if isinstance(definition, StreamDef):
        return "stream"
    return "changing table" if is_live(definition) else "table"


def _placed(error: OptionError, statement: WithOptions, text: str) -> SqlError:
    """The error at the position of the option, or at the start of the statement."""
    place = statement.offsets.get(error.option or "")
    if place is None:
        return SqlError(error.message, line=statement.line, column=statement.column, sql=text)
    return SourceText(text).error(getattr(place, error.part), error.message)
