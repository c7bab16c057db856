"""Results and side outputs as messages of Kafka."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from eddyline.errors import DataError
from eddyline.spark import Session
from eddyline.spark.connectors import AVRO, directory_of
from eddyline.spark.formats.avro_schema import schema_of_rows
from spark_cases import Feed, definitions, stream_tables, wait

if TYPE_CHECKING:
    from eddyline.bench.kafka_broker import KafkaBroker

pytestmark = pytest.mark.spark

SECOND = 1_000_000
IMPATIENT = {
    "kafka.max.block.ms": "1000",
    "kafka.request.timeout.ms": "900",
    "kafka.delivery.timeout.ms": "2000",
}


@pytest.fixture
def source(tmp_path: Path) -> str:
    """A stream of ten rows; one is bad."""
    (tmp_path / "in").mkdir()
    ts = pa.array([*(i * SECOND for i in range(9)), None]).cast(pa.timestamp("us", "UTC"))
    values = [None if i == 3 else i / 2 for i in range(10)]
    table = pa.table({"ts": ts, "k": [f"k{i % 2}" for i in range(10)], "v": values})
    pq.write_table(table, tmp_path / "in" / "1.parquet")
    return (
        "CREATE STREAM s (ts TIMESTAMP, k STRING, v DOUBLE) TIMESTAMP BY ts "
        f"WITH (source = 'parquet', path = '{tmp_path / 'in'}'"
    )


def sink(kafka: KafkaBroker, topic: str, **more: str) -> dict[str, str]:
    return {
        "sink": "kafka",
        "kafka.bootstrap.servers": kafka.servers,
        "topic": topic,
        **more,
    }


def new_topic() -> str:
    return f"t{uuid.uuid4().hex[:12]}"


def headers(message: Any) -> dict[str, str]:
    return {h["key"]: h["value"].decode() for h in message["headers"]}


def test_rows_are_messages(spark: SparkSession, kafka: KafkaBroker, source: str) -> None:
    topic, bad = new_topic(), new_topic()
    session = Session(spark, shards=2)
    bad_sink = ", ".join(f"bad_{name} = '{value}'" for name, value in sink(kafka, bad).items())
    session.sql(f"{source}, {bad_sink})")
    session.query(
        "q", "SELECT k, v FROM s [RANGE 2 SECONDS]", **sink(kafka, topic, key="K"), shared="true"
    )
    session.start(available_now=True).finish()
    messages = kafka.messages(spark, topic)
    rows = sorted((json.loads(m["value"]) for m in messages), key=lambda row: row["_ts"])
    assert rows[1] == {
        "_query": "q",
        "_op": "+",
        "_ts": "1970-01-01T00:00:01.000Z",
        "_exp": "1970-01-01T00:00:03.000Z",
        "k": "k1",
        "v": 0.5,
    }
    assert [row.get("v") for row in rows] == [0, 0.5, 1, None, 2, 2.5, 3, 3.5, 4]
    assert all(m["key"].decode() == json.loads(m["value"])["k"] for m in messages)
    places = [
        (int(h["eddyline_batch"]), int(h["eddyline_position"])) for h in map(headers, messages)
    ]
    assert len(set(places)) == 9
    in_order = [
        json.loads(m["value"])["_ts"] for _, m in sorted(zip(places, messages, strict=True))
    ]
    assert in_order == sorted(in_order)
    assert {headers(m)["eddyline_job"].rpartition("-")[2] for m in messages} == {"q"}
    (refused,) = kafka.messages(spark, bad)
    assert json.loads(refused["value"])["_reason"] == "ts is null"
    assert refused["key"] is None


def test_keys_of_several_columns_and_formats(
    spark: SparkSession, kafka: KafkaBroker, source: str
) -> None:
    topic = new_topic()
    session = Session(spark, shards=1)
    session.sql(f"{source})")
    options = sink(kafka, topic, key="k, v", ignoreNullFields="false", timestampFormat="HH:mm:ss")
    session.query("q", "SELECT k, v FROM s [NOW] WHERE v IS NULL OR v = 1", **options)
    session.start(available_now=True).finish()
    found = {m["key"].decode(): json.loads(m["value"]) for m in kafka.messages(spark, topic)}
    assert set(found) == {'{"k":"k1","v":null}', '{"k":"k0","v":1.0}'}
    assert found['{"k":"k1","v":null}']["_ts"] == "00:00:03"


@pytest.mark.skipif(
    not directory_of(AVRO).exists(), reason="no library of Spark for Avro: make setup-connectors"
)
def test_records_of_avro_there_and_back(
    spark: SparkSession, kafka: KafkaBroker, source: str
) -> None:
    topic = new_topic()
    session = Session(spark, shards=1)
    session.sql(f"{source})")
    query = session.query(
        "q",
        "SELECT k, v FROM s [NOW] WHERE v IS NULL OR v >= 3",
        **sink(kafka, topic, key="k") | {"format": "avro"},
    )
    session.start(available_now=True).finish()
    schema = schema_of_rows(query.change_schema)
    reader = Session(spark, shards=1)
    reader.sql(
        "CREATE STREAM back (_op STRING, _ts TIMESTAMP, k STRING, v DOUBLE, "
        "key STRING METADATA) TIMESTAMP BY _ts "
        f"WITH ({kafka.source(topic)}, format = 'avro', schema = '{schema}')"
    )
    reader.query("q", "SELECT k, v, key FROM back [NOW]", sink="memory")
    reader.start(available_now=True).finish()
    rows = reader.results("q").toArrow().sort_by("_ts").to_pylist()
    assert [(r["k"], r["v"], r["key"]) for r in rows] == [
        ("k1", None, "k1"),
        ("k0", 3.0, "k0"),
        ("k1", 3.5, "k1"),
        ("k0", 4.0, "k0"),
    ]


def test_a_key_that_a_side_output_does_not_have(
    spark: SparkSession, kafka: KafkaBroker, source: str
) -> None:
    session = Session(spark, shards=1)
    options = sink(kafka, "t", key="w")
    session.sql(f"{source}, {', '.join(f'late_{n} = {v!r}' for n, v in options.items())})")
    session.query("q", "SELECT k FROM s [NOW]", sink="memory")
    with pytest.raises(DataError, match=r"'late:s': key: .* no column 'w'; "):
        session.start()


@pytest.mark.fault
def test_a_stopped_broker_stops_its_queries_only(
    spark: SparkSession, kafka: KafkaBroker, tmp_path: Path
) -> None:
    feed, topic = Feed(tmp_path / "feed"), new_topic()
    (part,) = stream_tables(1, files=1)
    session = Session(spark, shards=1)
    session.sql(definitions({"a": feed.source}))
    session.query("to_kafka", "SELECT ts, k FROM a [NOW]", **sink(kafka, topic, **IMPATIENT))
    session.query("other", "SELECT ts FROM a [NOW]", sink="memory")
    run = session.start()
    feed.write(part.slice(0, 10), part.slice(10, 10))
    run.processAllAvailable()
    kafka.halt()
    try:
        feed.write(part.slice(20, 10))
        run.processAllAvailable()
        feed.write(part.slice(30))
        run.processAllAvailable()
        assert set(run.progress().undelivered) == {"to_kafka"}
    finally:
        kafka.start()
    wait(run, lambda: not run.progress().undelivered)
    run.finish()
    assert session.results("other").count() == part.num_rows
    found = [json.loads(m["value"]) for m in kafka.messages(spark, topic)]
    assert len(found) == len({row["_ts"] for row in found}) == part.num_rows
