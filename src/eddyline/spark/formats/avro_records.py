"""Records of Avro as columns, read by Spark's ``from_avro``, and the records that it cannot read.

``from_avro`` makes of such a record one whose fields are all NULL. So records are read with a
schema that has one more field than the one they are written with: its default is there in each
record that was read, and only in those.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import from_avro, to_avro

from eddyline.errors import DataError, EddylineError, SetupError
from eddyline.spark.formats.avro_limits import AVRO_LIMITS
from eddyline.spark.formats.avro_options import AvroOptions
from eddyline.spark.formats.avro_schema import AvroSchema
from eddyline.spark.formats.schema_options import HEADER
from eddyline.spark.formats.schema_registry import registered

#: Characters of Spark's words about a schema, which it repeats.
_LONGEST: Final = 300
_NO_VALUE: Final = "NULL (no value)"
_NOT_LOADED: Final = "AVRO_NOT_LOADED_SQL_FUNCTIONS_UNUSABLE"
#: What to do where Spark has no functions for Avro.
_MISSING: Final = (
    "format 'avro' needs Spark's library spark-avro, which is not on the class path: `eddyline "
    "connectors` fetches it for sessions that Eddyline creates"
)


def read_records(rows: DataFrame, options: AvroOptions, record: str, corrupt: str) -> DataFrame:
    """The rows, with a column of the records in the binary column ``value``, and one of the texts
    of those that cannot be read.

    Args:
        record, corrupt: the names of the two columns.

    Raises:
        SetupError: Spark's library for Avro is missing. DataError: the schema is.
    """
    _limit(rows.sparkSession)
    with _named(options):
        by_number = _schemas(options)
    reader, mark = list(by_number.values())[-1].with_mark()
    reason = _not_read("no record of the schema")
    if None in by_number:
        found = _read(F.col("value"), by_number[None], reader)
    else:
        found = _read_by_number(by_number, reader)
        known = ", ".join(map(str, by_number))
        other = F.concat(F.lit("schema "), _number(), F.lit(f" is none of {known}"))
        reason = (
            F.when(~_has_header(), _not_read("no zero byte and number of a schema in front"))
            .when(_number().isin(*map(str, by_number)), reason)
            .otherwise(_not_read(other))
        )
    with _named(options):
        check_library(rows.sparkSession)
        try:
            read = rows.withColumn(record, found)
        except AnalysisException as e:
            raise DataError(f"Spark cannot use the schema: {str(e).splitlines()[0]}") from None
        except Py4JJavaError as e:
            said = " ".join(str(e.java_exception.getMessage()).split())
            raise DataError(f"Spark cannot use the schema: {said[:_LONGEST]}") from None
    unread = F.col(record).getField(mark).isNull()
    return read.withColumn(corrupt, F.when(unread, F.coalesce(reason, F.lit(_NO_VALUE))))


def check_library(spark: SparkSession) -> None:
    """Check that Spark has its functions for Avro.

    Raises:
        SetupError: it has not.
    """
    try:
        spark.range(0).select(to_avro("id"))
    except AnalysisException as e:
        if e.getCondition() != _NOT_LOADED:
            raise
        raise SetupError(_MISSING) from None


def _schemas(options: AvroOptions) -> dict[int | None, AvroSchema]:
    """The schemas that records may have, by their numbers; that of all records by None."""
    if options.registry is not None and options.subject is not None:
        return dict[int | None, AvroSchema](registered(options.registry, options.subject).items())
    return {options.schema_id: options.read()}


def _read(value: Column, schema: AvroSchema, reader: str) -> Column:
    return from_avro(value, schema.text, {"mode": "PERMISSIVE", "avroSchema": reader})


def _read_by_number(by_number: Mapping[int | None, AvroSchema], reader: str) -> Column:
    """Each record by the schema that it was written with; NULL with another number."""
    body = F.substr(F.col("value"), F.lit(HEADER + 1))
    found: Column | None = None
    for number, schema in by_number.items():
        is_of = _has_header() & (_number() == str(number))
        read = _read(body, schema, reader)
        found = F.when(is_of, read) if found is None else found.when(is_of, read)
    assert found is not None, "there is a schema"
    return found


def _has_header() -> Column:
    value = F.col("value")
    zero = F.substr(value, F.lit(1), F.lit(1)) == F.lit(bytearray(1))
    return (F.octet_length(value) >= HEADER) & zero


def _number() -> Column:
    """The number of the schema in front of a record, as text."""
    return F.conv(F.hex(F.substr(F.col("value"), F.lit(2), F.lit(HEADER - 1))), 16, 10)


def _not_read(why: str | Column) -> Column:
    """The reason, with the bytes; NULL without a value."""
    reason = F.lit(why) if isinstance(why, str) else why
    return F.concat(reason, F.lit("; its bytes: "), F.lower(F.hex("value")))


def _limit(spark: SparkSession) -> None:
    """Limit what Avro allocates, in this process; see ``avro_limits.py``."""
    assert spark._jvm is not None, "the session runs"
    system = spark._jvm.java.lang.System
    for name, value in AVRO_LIMITS.items():
        if system.getProperty(name) is None:
            system.setProperty(name, value)


@contextmanager
def _named(options: AvroOptions) -> Iterator[None]:
    try:
        yield
    except EddylineError as e:
        raise type(e)(f"{options.what}: {e}") from None
