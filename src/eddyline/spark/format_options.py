"""The options that Spark's formats have, as sources and as sinks: what a script can be checked by.

Spark itself ignores options that it does not know. Names are as Spark writes them; their case does
not matter. Names with a dot (``kafka.group.id``, ``fs.s3a.endpoint``) are settings of what lies
below a format, and not listed but for those that are required.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal


@dataclass(frozen=True)
class Format:
    """What a format takes.

    Attributes:
        options: that it knows. required: of each tuple one option must be given.
        open: whether other options mean something: to the driver of a database, say, or to another
            version of a package. Only those are wrong then that are nearly the name of a known one.
        brings: what can be read by it, of a source.
    """

    options: frozenset[str]
    required: tuple[tuple[str, ...], ...] = ()
    open: bool = False
    brings: Literal["streams", "tables", "both"] = "both"


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
_TIMES: Final = _names(
    """mode locale timeZone dateFormat timeFormat timestampFormat timestampNTZFormat
    columnNameOfCorruptRecord samplingRatio multiLine encoding charset compression codec
    singleVariantColumn"""
)
#: Spark gives a format the same options for reading and writing.
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

#: Formats whose rows are files below a path.
FILE_FORMATS: Final = tuple(_OF_FILES)

#: Sources by name in lower case.
SOURCES: Final[Mapping[str, Format]] = {
    **{name: Format(_READ_FILES | own, _PATH) for name, own in _OF_FILES.items()},
    "xml": Format(_READ_FILES | _OF_FILES["xml"], (*_PATH, ("rowTag",))),
    "rate": Format(_names("rowsPerSecond rampUpTime numPartitions"), brings="streams"),
    "rate-micro-batch": Format(
        _names("rowsPerBatch numPartitions startTimestamp advanceMillisPerBatch"),
        (("rowsPerBatch",),),
        brings="streams",
    ),
    "socket": Format(
        _names("host port numPartitions includeTimestamp"),
        (("host",), ("port",)),
        brings="streams",
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
    "jdbc": Format(_JDBC, (("url",), ("dbtable", "query")), open=True, brings="tables"),
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

#: Sinks by name in lower case.
SINKS: Final[Mapping[str, Format]] = {
    "print": Format(_names("rows")),
    "memory": Format(frozenset()),
    "noop": Format(frozenset()),
    **{name: Format(_WRITE_FILES | own, _PATH) for name, own in _OF_FILES.items()},
    "jdbc": Format(_JDBC, (("url",), ("dbtable",)), open=True),
    "kafka": Format(_names("topic includeHeaders") | {_KAFKA}, ((_KAFKA,),)),
    "delta": Format(
        _names(
            """path mergeSchema overwriteSchema replaceWhere partitionOverwriteMode dataChange
            userMetadata txnAppId txnVersion optimizeWrite maxRecordsPerFile compression"""
        ),
        _PATH,
        open=True,
    ),
}
