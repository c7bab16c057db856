"""The values of options of Spark's formats, as far as they are known without Spark.

Spark refuses wrong ones when the job runs: those of a source ends it, and those of a sink its first
batch.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Callable, Mapping
from typing import Final

from eddyline.errors import did_you_mean
from eddyline.spark.formats.format_options import OptionError

#: A value that is wrong has a sentence that says so.
_Check = Callable[[str], str | None]

_SERVER: Final = re.compile(r"(?:\[[0-9A-Fa-f:.]+\]|[^\s:,/]+):(\d{1,5})")
_INSTANT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
_MAX_PORT: Final = 65535


def _count(value: str) -> str | None:
    right = value.isascii() and value.isdigit() and int(value) > 0
    return None if right else f"'{value}' is not a number above 0"


def _boolean(value: str) -> str | None:
    right = value.lower() in ("true", "false")
    return None if right else f"'{value}' is neither 'true' nor 'false'"


def _port(value: str) -> str | None:
    right = value.isascii() and value.isdigit() and 0 < int(value) <= _MAX_PORT
    return None if right else f"'{value}' is not the number of a port"


def _servers(value: str) -> str | None:
    for server in value.split(","):
        found = _SERVER.fullmatch(server.strip())
        if found is None or not 0 < int(found[1]) <= _MAX_PORT:
            return f"'{server.strip()}' is not of the form host:port"
    return None


def _jdbc(value: str) -> str | None:
    return None if value.startswith("jdbc:") else "it is not of the form jdbc:DATABASE:..."


def _one_of(*choices: str, others: str | None = None) -> _Check:
    """One of some words, without case.

    Args:
        others: a character that words have which only Spark knows.
    """

    def check(value: str) -> str | None:
        if value.lower() in choices or (others is not None and others in value):
            return None
        return f"'{value}': {did_you_mean(value.lower(), choices)}"

    return check


def _offsets(value: str) -> str | None:
    if value.lower() in ("earliest", "latest"):
        return None
    try:
        right = isinstance(json.loads(value), dict)
    except ValueError:
        right = False
    return None if right else f"'{value}' is neither earliest nor latest, nor JSON of topics"


def _encoding(value: str) -> str | None:
    try:
        codecs.lookup(value)
    except LookupError:
        return f"there is no encoding '{value}'"
    return None


def _instant(value: str) -> str | None:
    if _INSTANT.fullmatch(value):
        return None
    return f"'{value}' is not of the form 2026-01-31T07:15:00"


def _some(value: str) -> str | None:
    return None if value else "it is empty"


def _named(names: str, check: _Check) -> dict[str, _Check]:
    return {name.lower(): check for name in names.split()}


_OF_FILES: Final = {
    **_named("maxFilesPerTrigger maxBytesPerTrigger", _count),
    **_named(
        """latestFirst fileNameOnly recursiveFileLookup ignoreCorruptFiles ignoreMissingFiles
        mergeSchema wholetext multiLine header inferSchema enforceSchema ignoreLeadingWhiteSpace
        ignoreTrailingWhiteSpace primitivesAsString prefersDecimal allowComments
        allowUnquotedFieldNames allowSingleQuotes allowNumericLeadingZeros
        allowNonNumericNumbers allowBackslashEscapingAnyCharacter allowUnquotedControlChars""",
        _boolean,
    ),
    **_named("encoding charset", _encoding),
    **_named("modifiedBefore modifiedAfter", _instant),
    **_named("sep delimiter rowTag", _some),
    "cleansource": _one_of("off", "archive", "delete"),
    "mode": _one_of("permissive", "dropmalformed", "failfast"),
}
#: By source, and option in lower case.
_SOURCES: Final[Mapping[str, Mapping[str, _Check]]] = {
    **dict.fromkeys(("csv", "json", "orc", "parquet", "text", "xml"), _OF_FILES),
    "kafka": {
        **_named("maxOffsetsPerTrigger minOffsetsPerTrigger", _count),
        **_named("minPartitions maxRecordsPerPartition", _count),
        **_named("failOnDataLoss includeHeaders", _boolean),
        "kafka.bootstrap.servers": _servers,
        "startingoffsets": _offsets,
    },
    "rate": _named("rowsPerSecond numPartitions", _count),
    "rate-micro-batch": _named("rowsPerBatch numPartitions", _count),
    "socket": {"port": _port, **_named("numPartitions", _count)},
    "jdbc": {"url": _jdbc},
}
_OF_TEXT: Final = _one_of(
    *("none", "uncompressed", "bzip2", "deflate", "gzip", "lz4", "snappy", "zstd"), others="."
)
_PARQUET: Final = _one_of(
    *("none", "uncompressed", "snappy", "gzip", "lzo", "brotli", "lz4", "lz4_raw", "zstd")
)
_ORC: Final = _one_of("none", "uncompressed", "snappy", "zlib", "lzo", "lz4", "zstd", "brotli")
_RECORDS: Final = _named("maxRecordsPerFile", _count)
#: By sink, and option in lower case.
_SINKS: Final[Mapping[str, Mapping[str, _Check]]] = {
    "parquet": {**_RECORDS, "compression": _PARQUET},
    "orc": {**_RECORDS, "compression": _ORC},
    "csv": {
        **_RECORDS,
        **_named("compression codec", _OF_TEXT),
        **_named("header quoteAll escapeQuotes", _boolean),
        **_named("sep delimiter", _some),
    },
    "json": {
        **_RECORDS,
        **_named("compression codec", _OF_TEXT),
        **_named("ignoreNullFields", _boolean),
    },
    "xml": {**_RECORDS, **_named("compression codec", _OF_TEXT)},
    "kafka": {"kafka.bootstrap.servers": _servers, **_named("ignoreNullFields", _boolean)},
    "jdbc": {"url": _jdbc},
}
#: Only one of these says what is read.
_TOPICS: Final = ("subscribe", "subscribepattern", "assign")
#: Settings of the consumer that Spark refuses, because it sets them itself.
_OF_SPARK: Final = (
    "kafka.auto.offset.reset",
    "kafka.enable.auto.commit",
    "kafka.interceptor.classes",
    "kafka.key.deserializer",
    "kafka.value.deserializer",
)


def check_source_values(
    subject: str, format_: str, options: Mapping[str, str], *, streams: bool
) -> None:
    """Check the values of the options of a source.

    Args:
        subject: of messages. streams: whether it is read as a stream.

    Raises:
        OptionError: a value is wrong, or two options exclude each other.
    """
    _check(subject, _SOURCES.get(format_, {}), options)
    if format_ != "kafka":
        return
    chosen = [option for option in options if option.lower() in _TOPICS]
    if len(chosen) > 1:
        message = f"{subject}: '{chosen[0]}' and '{chosen[1]}' exclude each other"
        raise OptionError(message, chosen[1])
    for option in options:
        if option.lower() in _OF_SPARK:
            message = f"{subject}: '{option}' cannot be set, because Spark sets it"
            raise OptionError(message, option)
        if streams and option.lower().startswith("ending"):
            raise OptionError(f"{subject}: '{option}' is for static tables only", option)


def check_sink_values(subject: str, format_: str, options: Mapping[str, str]) -> None:
    """Check the values of the options of a sink.

    Args:
        subject: of messages.

    Raises:
        OptionError: a value is wrong.
    """
    _check(subject, _SINKS.get(format_, {}), options)


def _check(subject: str, checks: Mapping[str, _Check], options: Mapping[str, str]) -> None:
    for option, value in options.items():
        check = checks.get(option.lower())
        if check is not None and (wrong := check(value)) is not None:
            raise OptionError(f"{subject}: {option}: {wrong}", option, "value")
