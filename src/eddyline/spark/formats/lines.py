"""Lines of JSON and CSV files: each becomes one row, or one corrupt record.

Spark's own readers of these formats may make several rows of a line, or none: one per element of a
JSON array, none of a CSV line that starts with a zero byte. They replace bytes that are not UTF-8,
and a line with too many columns fails the job. Here Spark reads the lines as text and parses each
line separately.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from eddyline.engine.ingest.conversion import CORRUPT_RECORD

_FORMATS: Final = ("csv", "json")
#: For the parsers of records; of files the options say it.
_CORRUPT: Final = {"columnnameofcorruptrecord": CORRUPT_RECORD}
#: A line of only these characters is skipped.
_BLANK: Final = " \t\r"
#: Spark's limit for the columns of a CSV line.
_MAX_COLUMNS: Final = 20_480
#: What is shown of a message without a value.
_NO_TEXT: Final = "NULL (no value)"
#: A character with which no CSV line starts. By default Spark's is the zero byte.
_NO_COMMENT: Final = "\uffff"


def are_lines(format_: str, options: Mapping[str, str]) -> bool:
    """Whether each line of such files is a record in UTF-8, and corrupt records are kept."""
    lower = {name.lower(): value.lower() for name, value in options.items()}
    return (
        format_ in _FORMATS
        and lower.get("multiline", "false") != "true"
        and lower.get("mode", "permissive") == "permissive"
        and lower.get("encoding", lower.get("charset", "utf-8")) in ("utf-8", "utf8")
    )


def header_of(spark: SparkSession, options: Mapping[str, str]) -> str | None:
    """The first line of a path's files; None if there is none yet."""
    lines = spark.read.format("text").options(**options).load()
    first = lines.where("_metadata.file_block_start = 0").select("value").where(_is_record())
    found = first.head(1)
    return _without_mark(str(found[0]["value"])) if found else None


def records_of(lines: DataFrame, header: str | None = None) -> DataFrame:
    """The lines of text that are records.

    Args:
        lines: from Spark's source ``text``, possibly with partition columns.
        header: a line that is skipped in every file.
    """
    line = F.col("value")
    lines = lines.where(_is_record()).withColumn(
        "value", F.when(line.startswith("\ufeff"), F.substr(line, F.lit(2))).otherwise(line)
    )
    return lines if header is None else lines.where(line != header)


def parsed_records(
    records: DataFrame, format_: str, options: Mapping[str, str], schema: StructType
) -> DataFrame:
    """The rows of records, one of each.

    Args:
        records: their texts in the column ``value``, and other columns, which are kept.
        schema: of the rows, with the column for corrupt records.
    """
    others = {name.lower() for name in records.columns if name != "value"}
    fields = [f for f in schema.fields if f.name.lower() not in others]
    text = F.coalesce("value", F.lit(_NO_TEXT))
    row = _parser(format_, options, StructType(fields))
    corrupt = F.coalesce(F.col(f"row.{CORRUPT_RECORD}"), F.when(F.col("row").isNull(), text))
    columns = [
        corrupt.alias(CORRUPT_RECORD)
        if field.name == CORRUPT_RECORD
        else F.col(f"row.`{field.name}`")
        if field in fields
        else F.col(f"`{field.name}`")
        for field in schema.fields
    ]
    return records.withColumn("row", row).select(*columns)


def _parser(format_: str, options: Mapping[str, str], schema: StructType) -> Column:
    """The row of a line; NULL where it cannot be parsed at all."""
    line, lower = F.col("value"), {name.lower(): value for name, value in options.items()}
    is_text = F.is_valid_utf8(line)
    if format_ == "json":
        return F.from_json(F.when(is_text, line), schema, {**_CORRUPT, **options})
    limit = int(lower.get("maxcolumns", _MAX_COLUMNS))
    separator = lower.get("sep", lower.get("delimiter", ","))
    separators = F.length(line) - F.length(F.replace(line, F.lit(separator), F.lit("")))
    within = (F.octet_length(line) < limit) | (separators < limit * len(separator))
    settings = {"comment": _NO_COMMENT, **_CORRUPT, **options}
    return F.from_csv(F.when(is_text & within, line), _ddl(schema), settings)


def _is_record() -> Column:
    return F.btrim(F.col("value"), F.lit(_BLANK)) != ""


def _without_mark(line: str) -> str:
    return line.removeprefix("\ufeff")


def _ddl(schema: StructType) -> str:
    def quoted(field: Any) -> str:
        name = field.name.replace("`", "``")
        return f"`{name}` {field.dataType.simpleString()}"

    return ", ".join(map(quoted, schema.fields))
