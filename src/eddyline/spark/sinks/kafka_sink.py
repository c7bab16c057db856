"""The sink ``kafka``: each row is a message, a JSON object or a record of Avro."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.avro.functions import to_avro

from eddyline.engine.query import Query
from eddyline.errors import DataError, EddylineError, did_you_mean
from eddyline.spark.formats.avro_records import check_library
from eddyline.spark.formats.avro_schema import schema_of_rows
from eddyline.spark.formats.format_options import (
    JSON_VALUES,
    OF_SINKS,
    RECORD_FORMAT,
    VALUE_FORMATS,
    OptionError,
)
from eddyline.spark.sinks.sink_bases import SparkSink, Target, column_of
from eddyline.spark.sinks.table_modes import resolved, wrong_option

#: Timestamps are in UTC, as in files.
_JSON: Final = {"timezone": "UTC"}
#: One request at a time: of two to a topic that Kafka is creating, the first may be refused and the
#: second accepted; the first is then refused until it expires. So requests are larger.
_PRODUCER: Final = {
    "kafka.max.in.flight.requests.per.connection": "1",
    "kafka.batch.size": "262144",
    "kafka.linger.ms": "5",
}
#: So that a batch does not wait for a broker that is down as long as Kafka's own defaults say: two
#: minutes in each attempt of the task.
_PATIENCE: Final = {
    "kafka.max.block.ms": "15000",
    "kafka.request.timeout.ms": "10000",
    "kafka.delivery.timeout.ms": "30000",
}


@dataclass(eq=False)
class KafkaSink(SparkSink):
    """Messages of a topic, in the order of the rows, with the place of each in its headers.

    A batch that is repeated writes its messages again, with the same headers.

    Attributes:
        key: the columns that are the key of a message; () for none. json: options of JSON.
        avro: whether values are records of Avro, not JSON.
        application: identifies the job and the first target.
    """

    key: tuple[str, ...]
    json: Mapping[str, str]
    avro: bool
    application: str

    def write(self, batch_id: int, rows: DataFrame) -> None:
        """Send the rows of a batch."""
        one = rows.coalesce(1)  # so that the ids are 0, 1, 2, ...
        headers = F.array(
            _header("eddyline_job", F.lit(self.application)),
            _header("eddyline_batch", F.lit(batch_id)),
            _header("eddyline_position", F.monotonically_increasing_id()),
        )
        value = self._record(rows.columns) if self.avro else self._object(rows.columns)
        columns = [value.alias("value"), headers.alias("headers")]
        if self.key:
            columns.append(self._key().alias("key"))
        one.select(*columns).write.format(self.format).options(**self.options).save()

    def _object(self, names: Sequence[str]) -> Column:
        return F.to_json(F.struct(*map(column_of, names)), dict(self.json))

    def _record(self, names: Sequence[str]) -> Column:
        return to_avro(F.struct(*map(column_of, names)), schema_of_rows(self.schema))

    def _key(self) -> Column:
        """The text of one column, or a JSON object of several."""
        if len(self.key) == 1:
            return column_of(self.key[0]).cast("string")
        return self._object(self.key)


def kafka_sink(
    spark: SparkSession, target: Target, options: Mapping[str, str], application: str
) -> KafkaSink:
    """The sink of a target.

    Raises:
        OptionError: the key is no column of the target. DataError: Avro has no such name or type as
            a column. SetupError: Spark's library for Avro is missing.
    """
    key = resolved(target.label, key_names(target.label, options), target.schema.names)
    json, rest = dict(_JSON), dict(_PRODUCER)
    if options.keys().isdisjoint(_PATIENCE):  # they depend on each other
        rest |= _PATIENCE
    known = {name.lower() for name in JSON_VALUES}
    for name, value in options.items():
        if name.lower() in known:
            json[name.lower()] = value
        elif name not in OF_SINKS and name.lower() not in ("key", "format"):
            rest[name] = value
    is_avro = value_format(target.label, options) == "avro"
    if is_avro:
        _check_avro(target, spark)
    return KafkaSink(target, "kafka", rest, key, json, is_avro, application)


def check_messages(label: str, options: Mapping[str, str]) -> None:
    """Check the format of values, and that the key is a list.

    Raises:
        OptionError: it is not, or there is no such format.
    """
    value_format(label, options)
    key_names(label, options)


def check_messages_of(query: Query) -> None:
    """Check that the key is in the rows of a query, and that they can be messages.

    Raises:
        OptionError: a column is not; or Avro has no such name or type.
    """
    resolved(query.name, key_names(query.name, query.options), query.change_schema.names)
    if value_format(query.name, query.options) == "avro":
        try:
            schema_of_rows(query.change_schema)
        except DataError as e:
            raise wrong_option(query, "format", str(e)) from None


def value_format(label: str, options: Mapping[str, str]) -> str:
    """The format of the values of messages.

    Raises:
        OptionError: there is no such format, or an option is of another one.
    """
    option = next((name for name in options if name.lower() == RECORD_FORMAT), None)
    format_ = "json" if option is None else options[option].lower()
    if format_ not in VALUE_FORMATS:
        message = f"'{label}': values of messages have no format '{format_}'; "
        raise OptionError(message + did_you_mean(format_, VALUE_FORMATS), option, "value")
    of_json = {name.lower() for name in JSON_VALUES}
    wrong = next((name for name in options if name.lower() in of_json), None)
    if format_ != "json" and wrong is not None:
        raise OptionError(f"'{label}': '{wrong}' is for values of JSON, not of {format_}", wrong)
    return format_


def key_names(label: str, options: Mapping[str, str]) -> tuple[str, ...]:
    """The names in the option ``key``; () without it.

    Raises:
        OptionError: a name is empty.
    """
    option = next((name for name in options if name.lower() == "key"), None)
    if option is None:
        return ()
    names = tuple(name.strip() for name in options[option].split(","))
    if not all(names):
        message = f"'{label}': key = '{options[option]}' is not a list of columns"
        raise OptionError(message, option, "value")
    return names


def _check_avro(target: Target, spark: SparkSession) -> None:
    try:
        schema_of_rows(target.schema)
        check_library(spark)
    except EddylineError as e:
        raise type(e)(f"'{target.label}': {e}") from None


def _header(name: str, value: Column) -> Column:
    return F.struct(F.lit(name).alias("key"), value.cast("string").cast("binary").alias("value"))
