"""Checks options of sources and sinks, as far as this is possible without running Spark.

Used by ``eddyline check``, by the statements of a session and at the start of a job.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, Literal

import pyarrow as pa

from eddyline.algebra.catalog import StreamDef, TableDef
from eddyline.engine.ingest.table_changes import changes_of, is_live
from eddyline.engine.query import Query
from eddyline.errors import did_you_mean
from eddyline.spark.formats.avro_options import AvroOptions, check_avro_columns
from eddyline.spark.formats.format_options import (
    GENERATORS,
    HISTORY,
    OF_SINKS,
    OF_SOURCES,
    ON_FAILURE,
    PARSERS,
    RECORD_FORMAT,
    RECORDS,
    REQUIRED_OF_PARSERS,
    SEQ,
    SOURCES,
    WAITING_BYTES,
    WITH_PATHS,
    WITHOUT_NESTED,
    Format,
    OptionError,
    history_options,
    is_of_history,
    record_format,
    sink_format,
    source_format,
)
from eddyline.spark.formats.option_values import check_sink_values, check_source_values
from eddyline.spark.formats.protobuf_options import ProtobufOptions, check_protobuf_columns
from eddyline.spark.history.options import FORMATS, OF_HISTORY, declared_history
from eddyline.spark.sinks.failure_policy import FailurePolicy
from eddyline.spark.sinks.sequence import check_seq
from eddyline.spark.sinks.sinks import SINKS
from eddyline.spark.sinks.table_modes import wrong_option
from eddyline.sql.definitions import SIDE_PREFIXES
from eddyline.sql.statements import of_column
from eddyline.types import sql_type

#: What is declared with the options of a source.
Declared = Literal["stream", "table", "changing table"]

#: Options of records that are bytes, by their format.
BINARY: Final[Mapping[str, type[AvroOptions | ProtobufOptions]]] = {
    "avro": AvroOptions,
    "protobuf": ProtobufOptions,
}
#: Options of WITH that the parser has removed before these checks; suggested for misspellings.
_TAKEN: Final[Mapping[Declared, tuple[str, ...]]] = {
    "stream": (
        *("rate", "distinct", "ts_unit", "lateness_by"),
        *("history", "history_path", "history_until", "history_batch_rows"),
    ),
    "table": ("rows", "distinct", "updates"),
    "changing table": ("rows", "rate", "distinct", "updates", "ts_unit"),
}
_SIDES: Final = tuple(p + word for p in SIDE_PREFIXES for word in ("sink", "path"))
#: Similarity from which an unknown option counts as a misspelling of a known one.
_MISSPELT: Final = 0.8


def side_options(options: Mapping[str, str], prefix: str) -> dict[str, str]:
    """The options of the sink of a side output, without their prefix (``late_`` or ``bad_``)."""
    return {k.removeprefix(prefix): v for k, v in options.items() if k.startswith(prefix)}


def require_source(what: str, options: Mapping[str, str]) -> None:
    """Check that the option ``source`` is set.

    Args:
        what: the stream or table, for messages.

    Raises:
        OptionError: it is not set.
    """
    if "source" in options:
        return
    own = [o for o in options if not o.startswith(SIDE_PREFIXES) and not is_of_history(o)]
    nearest = _nearest("source", own)
    hint = f"; {did_you_mean(nearest, ('source',))}" if nearest else ""
    raise OptionError(
        f"{what} has no source: declare it WITH (source = 'parquet', path = '...'), "
        f"or supply a DataFrame from Python{hint}",
        nearest,
    )


def check_source(name: str, options: Mapping[str, str], of: Declared) -> list[str]:
    """Check the source of a stream or table, and the sinks of its side outputs.

    A source without options is accepted: its rows may be supplied from Python.

    Returns:
        Sentences about what only Spark can check.

    Raises:
        OptionError: the format or an option is unknown, or one is missing.
    """
    what = f"{'stream' if of == 'stream' else 'table'} '{name}'"
    own = {k: v for k, v in options.items() if not k.startswith(SIDE_PREFIXES)}
    check_history(what, own, of)
    own = {k: v for k, v in own.items() if not is_of_history(k)}
    unsure: list[str] = []
    for prefix in SIDE_PREFIXES:
        if sides := side_options(options, prefix):
            unsure += _check_side(f"{prefix[:-1]}:{name}", sides, prefix)
    format_ = source_format(own)
    if format_ is None:
        if own:
            require_source(what, own)
        return unsure
    _reject_misspelled_format("source", what, format_, SOURCES)
    known = SOURCES.get(format_)
    if known is None:
        return [*unsure, *_unchecked_format("source", what, format_)]
    known = _with_records(what, format_, known, own)
    reads = "tables" if of == "table" else "streams"
    if known.reads not in ("both", reads):
        use = "as a static table" if of == "table" else "as a stream"
        fitting = (name for name, f in SOURCES.items() if f.reads in ("both", reads))
        raise OptionError(
            f"{what}: the source '{format_}' cannot be read {use}; valid: {', '.join(fitting)}",
            "source",
            "value",
        )
    subject = f"{what}: the source '{format_}'"
    suggested = ("source", *_TAKEN[of], *_SIDES)
    _check_options(subject, own, known, OF_SOURCES, suggested, "source")
    of_bytes = BINARY.get(record_format(own) or "") if format_ in RECORDS else None
    if of_bytes is not None:
        of_bytes.of(what, own)
    check_source_values(subject, format_, own, streams=of != "table")
    return unsure


def check_history(what: str, options: Mapping[str, str], of: Declared) -> None:
    """Check the options of a history.

    Args:
        what: the stream or table, for messages. options: of its source and its history.

    Raises:
        OptionError: one is unknown, missing or wrong, or it is not the history of a stream.
    """
    given = next((name for name in options if is_of_history(name)), None)
    if given is None:
        return
    if of != "stream":
        advice = "the source of a table has its changes with their instants, _ts"
        raise OptionError(f"{what}: a history is for streams; {advice}", given)
    own = history_options(options)
    declared_history(options)
    own = {k: v for k, v in own.items() if k not in OF_HISTORY}
    if not own:
        return  # of a DataFrame
    format_ = source_format(own)
    if format_ is None:
        choices = ", ".join(FORMATS)
        raise OptionError(f"{what}: '{given}' needs the option 'history': {choices}", given)
    if format_ not in FORMATS:
        advice = did_you_mean(format_, FORMATS)
        raise OptionError(f"{what}: there is no history '{format_}'; {advice}", HISTORY, "value")
    subject = f"{what}: the history '{format_}'"
    try:
        _check_options(subject, own, SOURCES[format_], ("source",), OF_HISTORY, "source")
        check_source_values(subject, format_, own, streams=False)
    except OptionError as e:
        option = HISTORY if e.option in (None, "source") else f"{HISTORY}_{e.option}"
        raise OptionError(e.message, option, e.part) from None


def _with_records(what: str, source: str, known: Format, options: Mapping[str, str]) -> Format:
    """The options of a source, with those of the parser of its records.

    Raises:
        OptionError: there is no such format of records.
    """
    if source not in RECORDS:
        return known
    more = frozenset([RECORD_FORMAT])
    format_ = record_format(options)
    if format_ is None:
        return replace(known, options=known.options | more)
    if format_ not in PARSERS:
        given = next(name for name in options if name.lower() == RECORD_FORMAT)
        advice = did_you_mean(format_, PARSERS)
        message = f"{what}: there is no format '{format_}' of records; {advice}"
        raise OptionError(message, given, "value")
    return replace(
        known,
        options=known.options | more | PARSERS[format_],
        required=known.required + REQUIRED_OF_PARSERS.get(format_, ()),
    )


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


def check_sink(what: str, options: Mapping[str, str], *, of_query: bool) -> list[str]:
    """Check the sink of a query, or of a side output.

    Args:
        what: label of the query or side output, for messages.

    Returns:
        Sentences about what only Spark can check.

    Raises:
        OptionError: the format or an option is unknown or has a wrong value, or one is missing.
    """
    format_ = sink_format(options)
    _reject_misspelled_format("sink", f"'{what}'", format_, SINKS)
    known = SINKS.get(format_)
    if known is not None:
        of_side = ("sink", ON_FAILURE, WAITING_BYTES)
        own = (OF_SINKS if of_query else of_side) if known.sharable else ("sink",)
        subject = f"'{what}': the sink '{format_}'"
        _check_options(subject, options, known.options, own, own, "sink")
        check_sink_values(subject, format_, options)
        known.check(what, options)
    FailurePolicy.of(what, options)
    for option in ("shared", SEQ) if of_query else ():
        value = options.get(option, "true")
        if value.lower() not in ("true", "false"):
            raise OptionError(
                f"'{what}': {option} = '{value}' is neither 'true' nor 'false'", option, "value"
            )
    return [] if known is not None else _unchecked_format("sink", f"'{what}'", format_)


def check_sink_of(query: Query) -> None:
    """Check that the sink of a query can have its rows.

    Raises:
        OptionError: the options do not fit the query.
    """
    format_ = sink_format(query.options)
    nested = next((f for f in query.schema if pa.types.is_nested(f.type)), None)
    if nested is not None and format_ in WITHOUT_NESTED:
        message = (
            f"sink '{format_}' takes no {sql_type(nested.type)}, the type of '{nested.name}': "
            "select its parts, as in a.b, a[0] or UNNEST(a)"
        )
        raise wrong_option(query, "sink", message)
    check_seq(query)
    if (known := SINKS.get(format_)) is not None:
        known.check_query(query)


def _check_side(what: str, options: Mapping[str, str], prefix: str) -> list[str]:
    try:
        return check_sink(what, options, of_query=False)
    except OptionError as e:
        is_set = e.option is not None and e.option in options
        option = f"{prefix}{e.option}" if is_set else f"{prefix}{next(iter(options))}"
        raise OptionError(e.message, option, e.part) from None


def _reject_misspelled_format(
    kind: Literal["source", "sink"], what: str, format_: str, formats: Iterable[str]
) -> None:
    """Reject a format that is unknown and whose name is close to that of a known one.

    Raises:
        OptionError: it is such a format.
    """
    known = list(formats)
    if format_ in known or "." in format_:
        return
    if difflib.get_close_matches(format_, known, n=1):
        raise OptionError(
            f"{what}: there is no {kind} '{format_}'; {did_you_mean(format_, known)}; "
            "for a format of a package, use the name of its class",
            kind,
            "value",
        )


def _unchecked_format(kind: str, what: str, format_: str) -> list[str]:
    if "." in format_:  # the name of a class
        return []
    return [
        f"{what}: whether there is a {kind} '{format_}' (a package on the class path) is checked "
        "by Spark when the job starts; its options are not checked"
    ]


def _check_options(
    subject: str,
    options: Mapping[str, str],
    known: Format,
    own: Iterable[str],
    suggested: Iterable[str],
    format_option: str,
) -> None:
    """Check the names of options, and that required ones are set.

    Args:
        subject: of messages. own: options of Eddyline. suggested: candidates for a misspelled
            option, in addition to the format's. format_option: "source" or "sink".
    """
    names = {name.lower() for name in (*known.options, *own)}
    choices = (*known.options, *suggested)
    for option in options:
        if option.lower() in names or "." in option:
            continue
        if not known.open or difflib.get_close_matches(option, choices, n=1, cutoff=_MISSPELT):
            advice = did_you_mean(option, choices)
            raise OptionError(f"{subject} has no option '{option}'; {advice}", option)
    names_set = {option.lower() for option in options}
    for alternatives in known.required:
        if names_set.isdisjoint(a.lower() for a in alternatives):
            quoted = " or ".join(f"'{a}'" for a in alternatives)
            nearest = _nearest(alternatives[0], [o for o in options if o.lower() not in names])
            hint = f"; {did_you_mean(nearest, alternatives)}" if nearest else ""
            at = nearest or (format_option if format_option in options else None)
            part: Literal["name", "value"] = "name" if nearest else "value"
            raise OptionError(f"{subject} needs the option {quoted}{hint}", at, part)


def _nearest(word: str, options: Iterable[str]) -> str | None:
    return next(iter(difflib.get_close_matches(word, list(options), n=1)), None)
