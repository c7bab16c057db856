"""Streams and tables of Kafka: what is in messages and what Kafka tells of them."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pyspark.sql import SparkSession

from eddyline.spark import Session

if TYPE_CHECKING:
    from eddyline.bench.kafka_broker import KafkaBroker

pytestmark = pytest.mark.spark

NEW_YEAR = 1_767_225_600_000  # 2026, in milliseconds
TRADES = """
    id BIGINT, price DOUBLE PATH '$.order.price', ms BIGINT PATH '$.at.ms',
    ts TIMESTAMP AS (timestamp_millis(ms))
"""
#: Messages that are bad rows, with a part of the reason.
BAD = [
    (b"", "cannot be read: "),
    (None, "NULL (no value)"),
    (b"[{}]", "[{}]"),
    (b"nothing", "nothing"),
    (b'{"id": 1, "order": {"price": 2', '{"price": 2'),
    (b'{"id": "\xff", "at": {"ms": 1767225600000}}', "\\xff"),
    (b'{"id": 1.5, "at": {"ms": 1767225600000}}', "1.5"),
    (b'{"id": 1, "at": {"ms": 1e40}}', "1e40"),
    (b'{"id": 1}', "ts is null"),
]


@pytest.fixture
def topic() -> str:
    return f"t{uuid.uuid4().hex[:12]}"


def trade(i: int, ms: int) -> bytes:
    return json.dumps({"id": i, "order": {"price": i / 2}, "at": {"ms": NEW_YEAR + ms}}).encode()


def job(spark: SparkSession, stream: str, select: str, checkpoint: Path | None = None) -> Session:
    session = Session(spark, shards=1, checkpoint=checkpoint)
    session.sql(stream)
    session.query("q", select, sink="memory")
    return session


def rows(session: Session, *columns: str, of: str = "q") -> list[tuple[Any, ...]]:
    found = session.results(of).toArrow()
    return sorted(zip(*(found[c].to_pylist() for c in columns), strict=True), key=repr)


def test_each_message_is_a_row_or_a_bad_row(
    spark: SparkSession, kafka: KafkaBroker, topic: str
) -> None:
    pretty = trade(2, 1).replace(b", ", b",\r\n\t").replace(b"{", b"{\n")
    kafka.send(spark, topic, [trade(1, 0), *(value for value, _ in BAD), pretty])
    session = job(
        spark,
        f"CREATE STREAM s ({TRADES}, at BIGINT METADATA FROM 'offset') TIMESTAMP BY ts "
        f"WITH ({kafka.source(topic)}, format = 'json')",
        "SELECT id, price, at FROM s [NOW]",
    )
    run = session.start(available_now=True)
    run.finish()
    assert rows(session, "id", "price", "at") == [(1, 0.5, 0), (2, 1.0, 10)]
    bad = session.results("bad:s").toArrow().to_pylist()
    by_offset = {int(row["at"]): row["_reason"] for row in bad}
    assert sorted(by_offset) == list(range(1, 10))
    for offset, (_, part) in enumerate(BAD, start=1):
        assert part in by_offset[offset], by_offset


def test_what_kafka_tells(spark: SparkSession, kafka: KafkaBroker, topic: str) -> None:
    spark.createDataFrame(
        [(bytearray(b"k\xff"), bytearray(trade(1, 0)))], "key BINARY, value BINARY"
    ).selectExpr(
        "key",
        "value",
        f"'{topic}' AS topic",
        "1 AS partition",
        "array(struct('trace' AS key, CAST('old' AS BINARY) AS value), "
        "struct('trace' AS key, CAST('new' AS BINARY) AS value)) AS headers",
    ).createOrReplaceTempView("messages")
    kafka.write(spark.table("messages"))
    told = """, key BINARY METADATA, place STRING METADATA FROM 'Topic', partition INT METADATA,
        written TIMESTAMP METADATA FROM 'timestamp', trace STRING METADATA FROM 'headers.trace',
        none STRING METADATA FROM 'headers.none', headers STRING METADATA,
        raw STRING METADATA FROM 'value'"""
    session = job(
        spark,
        f"CREATE STREAM s ({TRADES}{told}) TIMESTAMP BY ts "
        f"WITH ({kafka.source(topic)}, format = 'json')",
        "SELECT * FROM s [NOW]",
    )
    session.start(available_now=True).finish()
    (row,) = session.results("q").toArrow().to_pylist()
    assert (row["key"], row["place"], row["partition"]) == (b"k\xff", topic, 1)
    assert (row["trace"], row["none"], row["id"]) == ("new", None, 1)
    assert [h["value"] for h in json.loads(row["headers"])] == ["old", "new"]
    assert row["raw"].encode() == trade(1, 0)
    assert row["written"].year >= 2026


def test_without_a_format_the_columns_are_those_of_spark(
    spark: SparkSession, kafka: KafkaBroker, topic: str
) -> None:
    kafka.send(spark, topic, ["1", "x", b"\xff"], [b"a", None, b"b"])
    session = job(
        spark,
        "CREATE STREAM s (key STRING, value STRING, number BIGINT METADATA FROM 'value', "
        "timestamp TIMESTAMP, `offset` BIGINT) TIMESTAMP BY timestamp "
        f"WITH ({kafka.source(topic)})",
        "SELECT key, value, number, `offset` AS at FROM s [NOW]",
    )
    session.start(available_now=True).finish()
    assert rows(session, "key", "value", "number", "at") == [("a", "1", 1, 0)]
    bad = rows(session, "offset", "value", "_reason", of="bad:s")
    assert [(at, value) for at, value, _ in bad] == [("1", "x"), ("2", "\\xff")]
    assert "'x' as BIGINT" in bad[0][2] and "'\\xff' as BIGINT" in bad[1][2]


def test_csv(spark: SparkSession, kafka: KafkaBroker, topic: str) -> None:
    messages = ["1;a;2026-01-01T00:00:00Z", '2;"b;\n";2026-01-01T00:00:01Z', "x;c;2026-01-01", ""]
    kafka.send(spark, topic, messages)
    session = job(
        spark,
        "CREATE STREAM s (id BIGINT, n BIGINT METADATA FROM 'offset', name STRING, ts TIMESTAMP) "
        f"TIMESTAMP BY ts WITH ({kafka.source(topic)}, format = 'csv', sep = ';')",
        "SELECT id, n, name FROM s [NOW]",
    )
    session.start(available_now=True).finish()
    assert rows(session, "id", "n", "name") == [(1, 0, "a"), (2, 1, "b;\n")]
    assert [n for n, _ in rows(session, "n", "_reason", of="bad:s")] == ["2", "3"]


def test_a_restart_continues_where_it_stopped(
    spark: SparkSession, kafka: KafkaBroker, topic: str, tmp_path: Path
) -> None:
    source = f"{kafka.source(topic)}, format = 'json', maxOffsetsPerTrigger = 40"
    stream = f"CREATE STREAM s ({TRADES}) TIMESTAMP BY ts WITH ({source})"
    select = "SELECT id FROM s [NOW]"
    found: list[tuple[Any, ...]] = []
    for part in range(2):
        messages = [trade(i, i) for i in range(part * 100, part * 100 + 100)]
        kafka.send(spark, topic, messages[::2])
        kafka.send(spark, topic, messages[1::2], partition=1)
        session = job(spark, stream, select, tmp_path / "checkpoint")
        run = session.start(available_now=True)
        if part == 1:
            run.finish()
        else:
            run.awaitTermination()
        found += rows(session, "id") + rows(session, "id", of="late:s")
    assert sorted(found) == [(i,) for i in range(200)]


@pytest.mark.parametrize("begin", ["latest", "third"])
def test_where_reading_begins(
    spark: SparkSession, kafka: KafkaBroker, topic: str, tmp_path: Path, begin: str
) -> None:
    kafka.send(spark, topic, [trade(i, i) for i in range(4)])
    kafka.send(spark, topic, [trade(4, 4)], partition=1)
    offsets = json.dumps({topic: {"0": 2, "1": -2}}) if begin == "third" else begin
    source = kafka.source(topic).replace("'earliest'", f"'{offsets}'")
    stream = f"CREATE STREAM s ({TRADES}) TIMESTAMP BY ts WITH ({source}, format = 'json')"
    first = job(spark, stream, "SELECT id FROM s [NOW]", tmp_path)
    first.start(available_now=True).awaitTermination()
    kafka.send(spark, topic, [trade(5, 10)])
    then = job(spark, stream, "SELECT id FROM s [NOW]", tmp_path)
    then.start(available_now=True).finish()
    found = rows(first, "id") + rows(then, "id")
    assert found == [(i,) for i in ((2, 3, 4, 5) if begin == "third" else (5,))]


def test_the_changes_of_a_table(spark: SparkSession, kafka: KafkaBroker, topic: str) -> None:
    changes = [
        {"_ts": NEW_YEAR, "k": 1, "names": {"short": "one"}},
        {"_ts": NEW_YEAR, "k": 2, "names": {"short": "two"}},
        {"_ts": NEW_YEAR + 2, "_op": "-", "k": 1, "names": {"short": "one"}},
        {"_ts": NEW_YEAR + 3, "_op": "?", "k": 1, "names": {"short": "one"}},
    ]
    kafka.send(spark, f"{topic}c", [json.dumps(change) for change in changes])
    kafka.send(spark, topic, [trade(i, ms) for i, ms in ((1, 1), (2, 1), (1, 5), (2, 5))])
    session = job(
        spark,
        f"CREATE STREAM s ({TRADES}) TIMESTAMP BY ts LATENESS 1 SECOND "
        f"WITH ({kafka.source(topic)}, format = 'json');"
        "CREATE TABLE t (k BIGINT, name STRING PATH '$.names.short') "
        f"WITH ({kafka.source(topic + 'c')}, format = 'json', updates = 'non-retroactive', "
        "ts_unit = 'ms')",
        "SELECT s.id, t.name, s.ms FROM s [NOW], t WHERE s.id = t.k",
    )
    session.start(available_now=True).finish()
    assert rows(session, "id", "name", "ms") == [
        (1, "one", NEW_YEAR + 1),
        (2, "two", NEW_YEAR + 1),
        (2, "two", NEW_YEAR + 5),
    ]
    ((reason,),) = rows(session, "_reason", of="bad:t")
    assert "'?' is neither" in reason
