"""The options of Spark's formats, as sources and as sinks, for checking a script.

Spark itself ignores unknown options. Names are spelled as in Spark; case is ignored. Names with a
dot (``kafka.group.id``, ``fs.s3a.endpoint``) are passed on to the client library of a format and
listed only if they are required.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from eddyline.errors import DataError

#: Options of streams and tables, and of queries, that are not for Spark.
OF_SOURCES: Final = ("source", "updates")
#: Of sinks: what happens to rows that are not taken, and how many bytes of them may wait.
ON_FAILURE: Final = "on_failure"
WAITING_BYTES: Final = "max_waiting_bytes"
#: Of sinks: whether changes have the column ``_seq``.
SEQ: Final = "seq"
OF_SINKS: Final = ("sink", "shared", SEQ, ON_FAILURE, WAITING_BYTES)
#: Sinks of which a column cannot be a structure, list or map.
WITHOUT_NESTED: Final = frozenset(["csv", "jdbc", "postgres", "text", "webhook"])
#: Options of sinks of files that the driver writes: when a file of several batches is due.
ROLL_INTERVAL: Final = "roll_interval"
ROLL_BYTES: Final = "roll_bytes"
OF_ROLLING: Final = (ROLL_INTERVAL, ROLL_BYTES)


#: Prefix of the options of a stream's history.
HISTORY: Final = "history"


def history_options(options: Mapping[str, str]) -> dict[str, str]:
    """The options of the history in those of a stream, as those of a source; {} without one.

    >>> history_options({"source": "kafka", "history": "csv", "history_path": "/old"})
    {'source': 'csv', 'path': '/old'}
    """
    of = {name: value for name, value in options.items() if is_of_history(name)}
    return {name[len(HISTORY) + 1 :] or "source": value for name, value in of.items()}


def is_of_history(option: str) -> bool:
    """Whether an option of a stream is one of its history."""
    return option == HISTORY or option.startswith(f"{HISTORY}_")


@dataclass(frozen=True)
class Format:
    """The options of a format.

    Attributes:
        options: names of its options. required: of each tuple one option must be set.
        open: whether other options may be valid, for instance for the driver of a database. An
            unknown option is then an error only if its name is close to that of a known one.
        reads: what a source can be read as.
        files: whether it is a format of files below a path, read with a schema.
    """

    options: frozenset[str]
    required: tuple[tuple[str, ...], ...] = ()
    open: bool = False
    reads: Literal["streams", "tables", "both"] = "both"
    files: bool = False


class OptionError(DataError):
    """An option of a source or sink is missing or wrong.

    Attributes:
        message: without a position. option: the wrong one, if there is one.
        part: whether its name or its value is wrong.
    """

    def __init__(
        self, message: str, option: str | None, part: Literal["name", "value"] = "name"
    ) -> None:
        super().__init__(message)
        self.message = message
        self.option = option
        self.part = part


def source_format(options: Mapping[str, str]) -> str | None:
    """The format of a source: a name in lower case, or that of a class; None if there is none."""
    return _normalized(options["source"]) if "source" in options else None


def sink_format(options: Mapping[str, str]) -> str:
    """The format of a sink: a name in lower case, or that of a class."""
    return _normalized(options.get("sink", "print"))


def _normalized(format_: str) -> str:
    return format_ if "." in format_ else format_.lower()


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_PATH: Final = (("path",),)
_READ_FILES: Final = _names(
    """path basePath pathGlobFilter recursiveFileLookup modifiedBefore modifiedAfter
    ignoreCorruptFiles ignoreMissingFiles ignoreInvalidPartitionPaths ignoredPathSegmentRegex
    archivePathFilter maxFilesPerTrigger maxBytesPerTrigger maxFileAge maxCachedFiles
    discardCachedInputRatio latestFirst fileNameOnly cleanSource sourceArchiveDir"""
)
_WRITE_FILES: Final = _names("path maxRecordsPerFile partitionOverwriteMode")
#: The formats whose files the driver can write.
_ROLLING: Final = ("csv", "json", "parquet")
_TIMES: Final = _names(
    """mode locale timeZone dateFormat timeFormat timestampFormat timestampNTZFormat
    columnNameOfCorruptRecord samplingRatio multiLine encoding charset compression codec
    singleVariantColumn"""
)
#: Options of file formats, for reading and writing.
_OF_FILES: Final[Mapping[str, frozenset[str]]] = {
    "csv": _TIMES
    | _names(
        """sep delimiter header inferSchema enforceSchema preferDate quote escape comment quoteAll
        escapeQuotes charToEscapeQuoteEscaping unescapedQuoteHandling ignoreLeadingWhiteSpace
        ignoreTrailingWhiteSpace emptyValue nullValue nanValue positiveInf negativeInf lineSep
        maxColumns maxCharsPerColumn inputBufferSize enableDateTimeParsingFallback columnPruning
        extension"""
    ),
    "json": _TIMES
    | _names(
        """primitivesAsString prefersDecimal allowComments allowUnquotedFieldNames allowSingleQuotes
        allowNumericLeadingZeros allowNonNumericNumbers allowBackslashEscapingAnyCharacter
        allowUnquotedControlChars dropFieldIfAllNull ignoreNullFields inferTimestamp lineSep pretty
        sortKeys enableDateTimeParsingFallback writeNonAsciiCharacterAsCodePoint useUnsafeRow
        maxNestingDepth maxNumLen maxStringLen"""
    ),
    "orc": _names("mergeSchema compression"),
    "parquet": _names("mergeSchema compression datetimeRebaseMode int96RebaseMode"),
    "text": _names("wholetext encoding lineSep compression"),
    "xml": _TIMES
    | _names(
        """rowTag rootTag declaration arrayElementName excludeAttribute attributePrefix valueTag
        nullValue ignoreSurroundingSpaces rowValidationXSDPath wildcardColName ignoreNamespace
        inferSchema preferDate prefersDecimal validateName indent useLegacyXMLParser"""
    ),
}
_JDBC: Final = _names(
    """url dbtable query driver user password partitionColumn lowerBound upperBound numPartitions
    queryTimeout fetchsize batchsize truncate cascadeTruncate createTableOptions
    createTableColumnTypes customSchema isolationLevel sessionInitStatement prepareQuery hint
    pushDownPredicate pushDownAggregate pushDownLimit pushDownOffset pushDownTableSample
    pushDownJoin keytab principal refreshKrb5Config connectionProvider tableComment
    preferTimestampNTZ preferTimestampNanos"""
)
_KAFKA: Final = "kafka.bootstrap.servers"

#: Sources by name in lower case.
SOURCES: Final[Mapping[str, Format]] = {
    **{n: Format(_READ_FILES | own, _PATH, files=True) for n, own in _OF_FILES.items()},
    "xml": Format(_READ_FILES | _OF_FILES["xml"], (*_PATH, ("rowTag",)), files=True),
    "rate": Format(_names("rowsPerSecond rampUpTime numPartitions"), reads="streams"),
    "rate-micro-batch": Format(
        _names("rowsPerBatch numPartitions startTimestamp advanceMillisPerBatch"),
        (("rowsPerBatch",),),
        reads="streams",
    ),
    "socket": Format(
        _names("host port numPartitions includeTimestamp"),
        (("host",), ("port",)),
        reads="streams",
    ),
    "kafka": Format(
        _names(
            """assign subscribe subscribePattern startingOffsets startingTimestamp endingOffsets
            endingTimestamp startingOffsetsByTimestamp endingOffsetsByTimestamp
            startingOffsetsByTimestampStrategy failOnDataLoss minPartitions maxRecordsPerPartition
            groupIdPrefix includeHeaders maxOffsetsPerTrigger minOffsetsPerTrigger
            maxTriggerDelay"""
        )
        | {_KAFKA},
        ((_KAFKA,), ("subscribe", "subscribePattern", "assign")),
    ),
    "jdbc": Format(_JDBC, (("url",), ("dbtable", "query")), open=True, reads="tables"),
    "delta": Format(
        _names(
            """path versionAsOf timestampAsOf startingVersion startingTimestamp endingVersion
            endingTimestamp maxFilesPerTrigger maxBytesPerTrigger ignoreDeletes ignoreChanges
            skipChangeCommits readChangeFeed readChangeData failOnDataLoss excludeRegex
            withEventTimeOrder schemaTrackingLocation streamingSourceTrackingId"""
        ),
        _PATH,
        open=True,
    ),
}
#: Sources of records in a column ``value``, and what they tell of each record. Of headers one is
#: read by its name, as in ``headers.trace``.
RECORDS: Final[Mapping[str, frozenset[str]]] = {
    "kafka": _names("key value topic partition offset timestamp timestampType headers"),
    "socket": _names("value timestamp"),
    "text": _names("value"),
}
#: Sources that make their rows, and the columns of these.
GENERATORS: Final = dict.fromkeys(("rate", "rate-micro-batch"), ("timestamp", "value"))
_VALUES: Final = _names(
    """locale timeZone dateFormat timeFormat timestampFormat timestampNTZFormat
    enableDateTimeParsingFallback"""
)
#: Formats of such records, with the options of their parsers.
PARSERS: Final[Mapping[str, frozenset[str]]] = {
    "json": _VALUES
    | _names(
        """primitivesAsString allowComments allowUnquotedFieldNames allowSingleQuotes
        allowNumericLeadingZeros allowNonNumericNumbers allowBackslashEscapingAnyCharacter
        allowUnquotedControlChars maxNestingDepth maxNumLen maxStringLen"""
    ),
    "csv": _VALUES
    | _names(
        """sep delimiter quote escape charToEscapeQuoteEscaping unescapedQuoteHandling
        ignoreLeadingWhiteSpace ignoreTrailingWhiteSpace emptyValue nullValue nanValue positiveInf
        negativeInf maxColumns maxCharsPerColumn"""
    ),
    "avro": _names("schema schema_file schema_registry subject wire schema_id"),
    "protobuf": _names("descriptor_file message schema_registry subject wire schema_id"),
}
#: Of each tuple one option must be set, by format of records.
REQUIRED_OF_PARSERS: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "avro": (("schema", "schema_file", "schema_registry"),),
    "protobuf": (("descriptor_file", "schema_registry"),),
}
#: Formats in which values are at paths.
WITH_PATHS: Final = ("json", "avro", "protobuf")
#: The option that is the format of records.
RECORD_FORMAT: Final = "format"


def record_format(options: Mapping[str, str]) -> str | None:
    """The format of the records of a source, in lower case; None if it has none."""
    return next((v.lower() for k, v in options.items() if k.lower() == RECORD_FORMAT), None)


def is_missing(error: Exception) -> bool:
    """Whether Spark says that it does not know a format."""
    said = str(error)
    return "DATA_SOURCE_NOT_FOUND" in said or "KAFKA_DATA_SOURCE_NOT_ENABLED" in said


def package_of(format_: str) -> str:
    """What to do where Spark does not know a format."""
    if format_ == "kafka":
        return (
            "its package is not on the class path: `eddyline connectors` fetches it for sessions "
            "that Eddyline creates"
        )
    return "is its package on the class path?"


#: Sources that are files below a path.
FILE_FORMATS: Final = frozenset(name for name, source in SOURCES.items() if source.files)

#: What bounds a batch of a stream, by source: the options of which one is enough, and a default.
LIMITS: Final[Mapping[str, tuple[frozenset[str], tuple[str, str]]]] = {
    **dict.fromkeys(
        FILE_FORMATS,
        (_names("maxFilesPerTrigger maxBytesPerTrigger"), ("maxBytesPerTrigger", "268435456")),
    ),
    "kafka": (_names("maxOffsetsPerTrigger"), ("maxOffsetsPerTrigger", "1000000")),
}


#: Options of sources that are set unless they are given. Records that a poll of Kafka returns have
#: been fetched already; with 500, its default, reading takes twice the CPU time.
DEFAULTS: Final[Mapping[str, Mapping[str, str]]] = {"kafka": {"kafka.max.poll.records": "10000"}}


def with_limit(format_: str, options: Mapping[str, str]) -> dict[str, str]:
    """The options of a stream's source with the default that bounds a batch, if they have none.

    >>> with_limit("kafka", {"subscribe": "t"})
    {'subscribe': 't', 'maxOffsetsPerTrigger': '1000000'}
    """
    if format_ not in LIMITS:
        return dict(options)
    alternatives, (name, value) = LIMITS[format_]
    given = {option.lower() for option in options}
    if not given.isdisjoint(a.lower() for a in alternatives):
        return dict(options)
    return {**options, name: value}


#: Options of JSON that is written to Kafka.
JSON_VALUES: Final = _names("dateFormat timestampFormat ignoreNullFields")
#: Formats of the values of messages that are written.
VALUE_FORMATS: Final = ("json", "avro")
#: Formats that Spark writes, by name in lower case.
WRITERS: Final[Mapping[str, Format]] = {
    "noop": Format(frozenset()),
    **{n: Format(_WRITE_FILES | own, _PATH, files=True) for n, own in _OF_FILES.items()},
    **{
        n: Format(_WRITE_FILES | _OF_FILES[n] | frozenset(OF_ROLLING), _PATH, files=True)
        for n in _ROLLING
    },
    "jdbc": Format(_JDBC, (("url",), ("dbtable",)), open=True),
    "kafka": Format(_names("topic key format") | {_KAFKA} | JSON_VALUES, ((_KAFKA,), ("topic",))),
    "postgres": Format(
        _names("url host port database user password_env table mode key"), (("table",),)
    ),
    "python": Format(_names("function"), (("function",),)),
    "webhook": Format(_names("url url_env timeout"), (("url", "url_env"),)),
    "delta": Format(_names("path mode key"), _PATH),
    "iceberg": Format(
        _names("table catalog catalog_name catalog_uri warehouse credential token scope mode key"),
        (("table",), ("catalog", "catalog_name", "catalog_uri")),
    ),
}
