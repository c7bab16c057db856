"""Checks of sinks of files that need no file system."""

from __future__ import annotations

from collections.abc import Mapping

from eddyline.engine.query import Query
from eddyline.spark.formats.file_encoders import SPARK_DEFAULTS, file_encoder
from eddyline.spark.formats.format_options import OF_ROLLING, OF_SINKS, OptionError, sink_format
from eddyline.spark.sinks.driver_files import BATCH_COLUMN
from eddyline.spark.sinks.rolling_files import roll_limits
from eddyline.spark.sinks.table_modes import wrong_option


def check_text(label: str, options: Mapping[str, str]) -> None:
    """Refuse files of one column.

    Raises:
        OptionError: always.
    """
    raise OptionError(
        f"'{label}': files of the format 'text' have one column, and rows have _op, _ts, _exp and "
        "those of the query; choose csv or json",
        "sink",
        "value",
    )


def check_files(query: Query) -> None:
    """Check that files can have the rows of a query.

    Raises:
        OptionError: a column has the name of the directories, or files of several batches cannot
            have the columns.
    """
    names = {name.lower(): name for name in query.schema.names}
    if (taken := names.get(BATCH_COLUMN)) is not None:
        message = f"the directories of batches are a column '{taken}': rename that of the query"
        raise wrong_option(query, "sink", message)
    if roll_limits(query.name, query.options) is None:
        return
    format_, rest = spark_options(query.options)
    rest = {k: v for k, v in rest.items() if k.lower() not in (*OF_ROLLING, "path")}
    if file_encoder(format_, rest, query.change_schema, SPARK_DEFAULTS.__getitem__) is None:
        option = next(name for name in OF_ROLLING if name in map(str.lower, query.options))
        raise wrong_option(query, option, only_spark(format_))


def only_spark(format_: str) -> str:
    """Said where the driver cannot write the files of several batches."""
    return (
        f"files of several batches ({', '.join(OF_ROLLING)}) are written by the driver, and with "
        f"these options, columns or settings of the session only Spark writes {format_} files "
        "(docs/sources-and-sinks.md, Who writes)"
    )


def spark_options(options: Mapping[str, str]) -> tuple[str, dict[str, str]]:
    """The format, and the options without those that are not Spark's."""
    return sink_format(options), {k: v for k, v in options.items() if k not in OF_SINKS}
