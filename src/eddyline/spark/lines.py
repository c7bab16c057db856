"""Lines of JSON and CSV files: each becomes a row, or is handed on as one that cannot be read.

Spark's own readers of these formats make several rows of a line, or none: of a JSON array one per
element, of a CSV line that starts with a zero byte none. They replace bytes that are not UTF-8, and
a line with too many columns ends the job. Here Spark reads the lines as text and parses each of
them by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from eddyline.engine.ingest.row_reader import CORRUPT_RECORD

_FORMATS: Final = ("csv", "json")
#: A line of these characters only is none.
_BLANK: Final = " \t\r"
#: Spark's limit for the columns of a CSV line.
_MAX_COLUMNS: Final = 20_480
#: What a CSV line never starts with: else lines that start with a zero byte are comments.
_NO_COMMENT: Final = "\uffff"


def are_lines(format_: str, options: Mapping[str, str]) -> bool:
    """Whether each line of such files is a record, in UTF-8, and none is to be dropped."""
    given = {name.lower(): value.lower() for name, value in options.items()}
    return (
        format_ in _FORMATS
        and given.get("multiline", "false") != "true"
        and given.get("mode", "permissive") == "permissive"
        and given.get("encoding", given.get("charset", "utf-8")) in ("utf-8", "utf8")
    )


def header_of(spark: SparkSession, options: Mapping[str, str]) -> str | None:
    """The first line of the files of a path; None if there is none yet."""
    lines = spark.read.format("text").options(**options).load()
    first = lines.where("_metadata.file_block_start = 0").select("value").where(_is_record())
    found = first.head(1)
    return _without_mark(str(found[0]["value"])) if found else None


def parsed(
    lines: DataFrame,
    format_: str,
    options: Mapping[str, str],
    schema: StructType,
    header: str | None = None,
) -> DataFrame:
    """The rows of lines of text, whatever these hold.

    Args:
        lines: as Spark's source ``text`` brings them, perhaps with columns that the names of
            directories have.
        schema: of the rows, with the column for records that cannot be read.
        header: a line that is no row, wherever it stands.
    """
    partitions = {name.lower() for name in lines.columns if name != "value"}
    fields = [f for f in schema.fields if f.name.lower() not in partitions]
    line = F.col("value")
    lines = lines.where(_is_record()).withColumn(
        "value", F.when(line.startswith("\ufeff"), F.substr(line, F.lit(2))).otherwise(line)
    )
    if header is not None:
        lines = lines.where(line != header)
    row = _parser(format_, options, StructType(fields))
    corrupt = F.coalesce(F.col(f"row.{CORRUPT_RECORD}"), F.when(F.col("row").isNull(), line))
    columns = [
        corrupt.alias(CORRUPT_RECORD)
        if field.name == CORRUPT_RECORD
        else F.col(f"row.`{field.name}`")
        if field in fields
        else F.col(f"`{field.name}`")
        for field in schema.fields
    ]
    return lines.withColumn("row", row).select(*columns)


def _parser(format_: str, options: Mapping[str, str], schema: StructType) -> Column:
    """The row of a line; NULL where it cannot be parsed at all."""
    line, given = F.col("value"), {name.lower(): value for name, value in options.items()}
    sound = F.is_valid_utf8(line)
    if format_ == "json":
        return F.from_json(F.when(sound, line), schema, dict(options))
    most = int(given.get("maxcolumns", _MAX_COLUMNS))
    separator = given.get("sep", given.get("delimiter", ","))
    columns = F.length(line) - F.length(F.replace(line, F.lit(separator), F.lit("")))
    few = (F.octet_length(line) < most) | (columns < most * len(separator))
    settings = {"comment": _NO_COMMENT, **dict(options)}
    return F.from_csv(F.when(sound & few, line), _ddl(schema), settings)


def _is_record() -> Column:
    return F.btrim(F.col("value"), F.lit(_BLANK)) != ""


def _without_mark(line: str) -> str:
    return line.removeprefix("\ufeff")


def _ddl(schema: StructType) -> str:
    def quoted(field: Any) -> str:
        name = field.name.replace("`", "``")
        return f"`{name}` {field.dataType.simpleString()}"

    return ", ".join(map(quoted, schema.fields))
