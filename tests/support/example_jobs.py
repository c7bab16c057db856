"""Scripts of pages over a broker of Kafka, in jobs that are stopped and killed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import SparkSession

from eddyline import Engine
from eddyline.spark import Session
from eddyline.sql.parser import parse
from eddyline.sql.statements import CreateQuery, CreateStream
from short_lived_java import SHORT_LIVED_RUN

if TYPE_CHECKING:
    from eddyline.bench.kafka_broker import KafkaBroker

DOCS = Path(__file__).parents[2] / "docs"
#: Kafka's part of the time until a job has begun.
_WAIT_S = 240


def blocks(page: str, language: str) -> list[str]:
    """The blocks of a page in a language."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def script_of(page: str, kafka: KafkaBroker, topics: Sequence[str], suffix: str) -> str:
    """The first script of a page, over the broker, with topics of its own and small batches."""
    text = blocks(page, "sql")[0]
    for topic in topics:
        for option in ("subscribe", "topic"):
            text = text.replace(f"{option} = '{topic}'", f"{option} = '{topic}{suffix}'")
    text = text.replace("localhost:9092", kafka.servers)
    return text.replace("format = 'json'", "format = 'json', maxOffsetsPerTrigger = 200")


def engine_of(text: str) -> Engine:
    """An embedded engine with the streams and queries of a script."""
    engine = Engine()
    for statement in parse(text):
        if isinstance(statement, CreateStream | CreateQuery):
            engine.sql(statement.sql)
    return engine


def run_to_the_end(
    spark: SparkSession, text: str, checkpoint: Path, *, ends: bool = False
) -> Session:
    """Run a job over the messages that are there.

    Args:
        ends: whether no more will come, so that all windows expire.
    """
    session = Session(spark, shards=2, checkpoint=checkpoint, base=checkpoint.parent)
    session.sql(text)
    run = session.start(available_now=True)
    if ends:
        run.finish()
    else:
        run.awaitTermination()
    return session


def batches(checkpoint: Path) -> int:
    """The number of batches that a job has begun."""
    return len(list(checkpoint.glob("spark/offsets/[0-9]*")))


def interrupted(file: Path, checkpoint: Path, more: int, number: int) -> int:
    """Run a script in a process, and send it a signal when it has begun some more batches; returns
    the exit code.
    """
    command = [sys.executable, "-m", "eddyline", "run", str(file), "--continuous", "--shards", "2"]
    command += ["--checkpoint", str(checkpoint), *SHORT_LIVED_RUN]
    before = batches(checkpoint)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        try:
            until = time.monotonic() + _WAIT_S
            while batches(checkpoint) < before + more:
                assert time.monotonic() < until and process.poll() is None
                time.sleep(0.02)
            process.send_signal(number)
            return process.wait(_WAIT_S)
        finally:
            process.kill()


def message_of(row: Mapping[str, Any]) -> str:
    """A change as the text of a message."""

    def value(v: Any) -> Any:
        return v.strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z" if hasattr(v, "strftime") else v

    return json.dumps({k: value(v) for k, v in row.items() if v is not None}, sort_keys=True)


def messages_of(*changes: pa.Table) -> Counter[str]:
    """Changes as the texts of messages."""
    return Counter(message_of(row) for table in changes for row in table.to_pylist())


def delivered(spark: SparkSession, kafka: KafkaBroker, topic: str) -> tuple[Counter[str], int]:
    """The messages of a topic without those that are repeated, and the number of these."""
    by_place: dict[tuple[str, ...], str] = {}
    messages = kafka.messages(spark, topic)
    for message in messages:
        place = tuple(h["value"].decode() for h in message["headers"])
        text = json.dumps(json.loads(message["value"]), sort_keys=True)
        assert by_place.setdefault(place, text) == text, "a repeated message is the same"
    return Counter(by_place.values()), len(messages) - len(by_place)
