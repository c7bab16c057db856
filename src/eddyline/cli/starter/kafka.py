"""A sample of a topic of Kafka, by Spark's connector."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import pyarrow as pa

from eddyline.cli.starter.columns import Column, event_times_in
from eddyline.cli.starter.sample import Sample, is_object, json_rows
from eddyline.errors import DataError, SetupError
from eddyline.spark.connectors import connector_jars
from eddyline.spark.environment import local_session
from eddyline.spark.sources.sampling import Sampler
from eddyline.sql.naming import quoted_text
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateStream
from eddyline.types import TIMESTAMP

MESSAGE_TIME: Final = "kafka_time"
_METADATA: Final = "METADATA FROM 'timestamp'"


def sample_topic(place: str, limit: int, seconds: float) -> Sample:
    """The first messages of a topic, whose values are JSON objects.

    Args:
        place: ``kafka://HOST:PORT/TOPIC``, with further servers after commas.
        seconds: how long to read at most.

    Raises:
        DataError: the place is wrong, the topic cannot be read, has no messages, or they are no
            JSON.
        SetupError: the connector is missing.
    """
    parts = urlsplit(place)
    topic = parts.path.strip("/")
    if not parts.netloc or not topic or "/" in topic:
        raise DataError(f"'{place}': write kafka://HOST:PORT/TOPIC")
    if not connector_jars():
        raise SetupError("the connector for Kafka is not here: `eddyline connectors` fetches it")
    options = {
        "source": "kafka",
        "kafka.bootstrap.servers": parts.netloc,
        "subscribe": topic,
        "startingOffsets": "earliest",
    }
    messages = _messages(options, limit, seconds)
    pairs = zip(messages["value"].to_pylist(), messages["timestamp"], strict=True)
    lines = [(" ".join((value or "").splitlines()).encode(), at) for value, at in pairs]
    objects = [(line, at) for line, at in lines if is_object(line)]
    if not objects:
        first = lines[0][0][:60].decode(errors="replace")
        raise DataError(
            f"'{place}': the messages are no JSON objects; the first one is {first!r}. Records of "
            "Avro, Protobuf and CSV need a stream that you declare: docs/kafka.md"
        )
    rows, _ = json_rows([line for line, _ in objects])
    times = pa.array([at.as_py() for _, at in objects], TIMESTAMP)
    if MESSAGE_TIME not in rows.column_names:
        rows = rows.append_column(MESSAGE_TIME, times)
    return Sample(rows, {**options, "format": "json"}, len(lines) - len(objects))


def with_message_time(columns: Sequence[Column]) -> list[Column]:
    """The columns, of which the last one is the time that Kafka has of each message, if none of the
    others can be the event time; else without it.
    """
    fields = [c for c in columns if c.name != MESSAGE_TIME]
    if event_times_in(fields):
        return fields
    return [*fields, *(replace(c, clause=_METADATA) for c in columns if c.name == MESSAGE_TIME)]


def _messages(options: dict[str, str], limit: int, seconds: float) -> pa.Table:
    with_ = ", ".join(f"{name} = {quoted_text(value)}" for name, value in options.items())
    (statement,) = parse(
        "CREATE STREAM sample (value STRING, timestamp TIMESTAMP) TIMESTAMP BY timestamp "
        f"WITH ({with_})"
    )
    assert isinstance(statement, CreateStream)
    with tempfile.NamedTemporaryFile(prefix="eddyline-", suffix=".log", delete=False) as file:
        log = Path(file.name)
    session = local_session(1, log)
    try:
        messages = Sampler(lambda: session, None, limit, seconds, present=True).stream(
            statement.definition
        )
    finally:
        session.stop()
    log.unlink()
    return messages
