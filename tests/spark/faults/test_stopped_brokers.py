"""A broker of Kafka is killed and started while a job reads from it and writes to it."""

from __future__ import annotations

import json
import random
import time
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import Engine
from eddyline.spark import Restart, Session
from eddyline.testing.text import to_us
from fault_record import survived
from faulty_jobs import read_bag
from spark_cases import SECOND, Twin, definitions, stream_tables, wait

if TYPE_CHECKING:
    from eddyline.bench.kafka_broker import KafkaBroker

pytestmark = [pytest.mark.spark, pytest.mark.fault]
SELECT = "SELECT k, v FROM a [RANGE 5 SECONDS] WHERE k < 4"


class KafkaJob:
    """A query whose results are messages, and one with files, over messages of JSON."""

    def __init__(self, spark: SparkSession, kafka: KafkaBroker, place: Path, files: int) -> None:
        self._spark, self._kafka, self._place = spark, kafka, place
        self._topics = [f"t{uuid.uuid4().hex[:12]}" for _ in range(2)]
        self._parts = iter(stream_tables(3, files))
        engine = Engine()
        engine.sql(definitions({"a": "source = 'none'"}))
        for name in ("to_kafka", "to_files"):
            engine.query(SELECT, name=name)
        self._twin = Twin(engine, {"a": 5 * SECOND})

    def session(self) -> Session:
        source, sink = self._topics
        session = Session(
            self._spark,
            shards=2,
            checkpoint=self._place / "checkpoint",
            restart=Restart(limit=100, first_s=0.1, most_s=1.0),
        )
        session.sql(definitions({"a": f"{self._kafka.source(source)}, format = 'json'"}))
        session.query(
            "to_kafka",
            SELECT,
            sink="kafka",
            topic=sink,
            timestampFormat="yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX",
            **{"kafka.bootstrap.servers": self._kafka.servers},
        )
        session.query("to_files", SELECT, sink="parquet", path=str(self._place / "out"))
        return session

    def send(self) -> None:
        """The next messages."""
        rows = next(self._parts)
        texts = [
            json.dumps({"ts": ts.isoformat(), "k": k, "v": v})
            for ts, k, v in zip(*(c.to_pylist() for c in rows.columns), strict=True)
        ]
        self._kafka.send(self._spark, self._topics[0], texts)
        self._twin.process({"a": [rows]})

    def check(self) -> None:
        """All is in the files once, and in the messages, of which some may be repeated."""
        expected = self._twin.changes()["to_files"]
        assert read_bag(self._place / "out") == expected
        assert self._messages() == sorted((ts, k, v) for _, ts, _, k, v in map(_filled, expected))

    def _messages(self) -> list[tuple[Any, ...]]:
        found: dict[tuple[bytes, ...], tuple[Any, ...]] = {}
        for message in self._kafka.messages(self._spark, self._topics[1]):
            place = tuple(bytes(h["value"]) for h in message["headers"])
            row = json.loads(message["value"])
            ts = to_us(pa.scalar(row["_ts"]).cast(pa.timestamp("us", "UTC")).as_py())
            values = ts, row["k"], row.get("v", -1)
            assert found.setdefault(place, values) == values, "a repeated message is the same"
        return sorted(found.values())


def _filled(row: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(-1 if value is None else value for value in row)


@pytest.mark.parametrize("count", [1, pytest.param(8, marks=pytest.mark.long)])
def test_at_random_instants(
    spark: SparkSession, kafka: KafkaBroker, tmp_path: Path, count: int
) -> None:
    rng = random.Random(count)
    job = KafkaJob(spark, kafka, tmp_path, 2 * count + 2)
    job.send()
    run = job.session().start()
    run.processAllAvailable()
    job.check()
    for _ in range(count):
        job.send()
        time.sleep(rng.random())
        restarts = run.restarts
        kafka.halt()
        try:
            time.sleep(2 * rng.random())
        finally:
            kafka.start()
        job.send()
        run.processAllAvailable()
        wait(run, lambda: not run.progress().undelivered)
        job.check()
        outcome = "the job is restarted" if run.restarts > restarts else "the job goes on"
        survived("broker of Kafka killed and started", outcome)
    run.stop()
