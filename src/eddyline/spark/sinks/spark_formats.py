"""Formats of sinks that are Spark's own or those of its packages: found by Spark, and read back."""

from __future__ import annotations

import re
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from eddyline.errors import DataError, did_you_mean
from eddyline.spark.formats.format_options import is_missing, package_of
from eddyline.spark.root_cause import root_cause
from eddyline.spark.sinks.sink_bases import Target
from eddyline.spark.sinks.sinks import SINKS, FileSink
from eddyline.spark.storage import files

#: A class of the format cannot be loaded; other errors of reading without options mean nothing.
_NOT_LOADED: Final = re.compile(
    r"_DATA_SOURCE_NOT_ENABLED|NoClassDefFoundError|ServiceConfigurationError"
    r"|IncompatibleClassChangeError|NoSuchMethodError|NoSuchFieldError|AbstractMethodError"
)


def check_spark_format(spark: SparkSession, target: Target, format_: str) -> None:
    """Check that Spark finds a format before the job starts."""
    try:
        spark.read.format(format_).load()  # fails for all formats but finds their classes first
    except Exception as e:  # of Java, in several types
        if is_missing(e):
            raise DataError(
                f"'{target.label}': Spark knows no sink '{format_}' ({package_of(format_)}); "
                f"{did_you_mean(format_, SINKS)}"
            ) from None
        if _NOT_LOADED.search(str(e)):
            raise DataError(f"'{target.label}': sink '{format_}': {root_cause(e)}") from e


def read_back(spark: SparkSession, sink: FileSink, *, streaming: bool) -> DataFrame:
    """The rows that a sink of files has written; ``streaming``: as a stream."""
    schema = from_arrow_schema(sink.schema)
    if streaming:
        files.directory(spark, sink.path).make()
        return spark.readStream.schema(schema).format(sink.format).load(sink.path)
    if not files.exists(spark, sink.path):
        return spark.createDataFrame([], schema)
    return spark.read.schema(schema).format(sink.format).load(sink.path)
