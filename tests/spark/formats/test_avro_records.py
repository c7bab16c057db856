"""Records of Avro as rows, and those that are none."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from avro_bytes import array, branch, data, decimal, double, framed, long, map_
from eddyline.errors import DataError, SetupError
from eddyline.spark import Session
from eddyline.spark.connectors import AVRO, directory_of
from eddyline.spark.formats.avro_options import AvroOptions
from eddyline.spark.formats.avro_records import read_records

pytestmark = [
    pytest.mark.spark,
    pytest.mark.skipif(
        not directory_of(AVRO).exists(),
        reason="no library of Spark for Avro: make setup-connectors",
    ),
]

NEW_YEAR = 1_767_225_600_000  # 2026, in milliseconds
ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "price", "type": "double"},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "sizes", "type": {"type": "map", "values": "long"}},
    ],
}
DECIMAL = {"type": "bytes", "logicalType": "decimal", "precision": 10, "scale": 2}
TRADE = json.dumps(
    {
        "type": "record",
        "name": "Trade",
        "fields": [
            {"name": "id", "type": "long"},
            {"name": "symbol", "type": ["null", "string"], "default": None},
            {"name": "order", "type": ORDER},
            {"name": "fee", "type": DECIMAL},
            {"name": "day", "type": {"type": "int", "logicalType": "date"}},
            {"name": "ms", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
            {"name": "side", "type": {"type": "enum", "name": "Side", "symbols": ["BUY", "SELL"]}},
        ],
    }
)
NULLS = json.dumps(
    {"type": "record", "name": "N", "fields": [{"name": "x", "type": ["null", "long"]}]}
)


def trade(i: int, symbol: bytes | str | None = "ABC") -> bytes:
    parts = [
        long(i),
        branch(0) if symbol is None else branch(1, data(symbol)),
        double(i / 4),
        array([data("a"), data(f"b{i}")]),
        map_({"lot": long(100 * i)}),
        decimal(-250 - i),
        long(20_454),
        long(NEW_YEAR + i),
        long((NEW_YEAR + i) * 1000 + 7),
        long(i % 2),
    ]
    return b"".join(parts)


def read(spark: SparkSession, values: Sequence[bytes | None], **options: str) -> list[Any]:
    """The records, and the texts of those that cannot be read."""
    rows = spark.createDataFrame(
        [(None if v is None else bytearray(v),) for v in values], "value BINARY"
    ).coalesce(1)
    found = read_records(rows, AvroOptions.of("stream 's'", options), "r", "bad")
    return [(row["r"], row["bad"]) for row in found.collect()]


def test_each_record_is_read_or_kept_as_bytes(spark: SparkSession) -> None:
    huge = long(1) + branch(1) + long(2**31 - 20)  # a text of 2 GB, says its length
    many = trade(2)[:14] + long(2**31 - 20)
    values = [trade(1), None, b"", trade(1)[:-1], b"\xff\xff", huge, many, framed(7, trade(1))]
    (good, kept), *bad = read(spark, [*values, trade(2, None)], schema=TRADE)[:-1]
    assert kept is None
    assert good["order"].asDict() == {"price": 0.25, "tags": ["a", "b1"], "sizes": {"lot": 100}}
    assert (good["symbol"], good["fee"]) == ("ABC", Decimal("-2.51"))
    assert (good["day"], good["side"]) == (date(2026, 1, 1), "SELL")
    texts = [text for _, text in bad]
    assert texts[0] == "NULL (no value)"
    for value, text in zip(values[2:], texts[1:], strict=True):
        assert value is not None
        assert text == f"no record of the schema; its bytes: {value.hex()}"


def test_a_record_of_nothing_but_null_is_no_bad_row(spark: SparkSession) -> None:
    (found, kept), (_, text) = read(spark, [branch(0), branch(2)], schema=NULLS)
    assert found["x"] is None and kept is None
    assert text == "no record of the schema; its bytes: 04"


def test_the_number_of_the_schema_in_front(spark: SparkSession) -> None:
    values = [framed(7, branch(1, long(5))), framed(8, branch(0)), branch(0), b"\1\0\0\0\7\0"]
    options = {"schema": NULLS, "wire": "confluent", "schema_id": "7"}
    found = read(spark, [*values, framed(7, branch(3)), framed(2**32 - 1, b""), None], **options)
    assert found[0][0]["x"] == 5
    assert [text for _, text in found] == [
        None,
        "schema 8 is none of 7; its bytes: 000000000800",
        "no zero byte and number of a schema in front; its bytes: 00",
        "no zero byte and number of a schema in front; its bytes: 010000000700",
        "no record of the schema; its bytes: 000000000706",
        "schema 4294967295 is none of 7; its bytes: 00ffffffff",
        "NULL (no value)",
    ]


def test_versions_of_a_registry(spark: SparkSession, registry: tuple[str, dict[str, Any]]) -> None:
    url, answers = registry
    old = {"type": "record", "name": "N", "fields": [{"name": "x", "type": "int"}]}
    added = {"name": "y", "type": "string", "default": "none"}
    new = {**old, "fields": [{"name": "x", "type": "long"}, added]}
    place = "/subjects/a%2Fb-value/versions"
    answers |= {
        place: [1, 2],
        f"{place}/1": {"id": 11, "schema": json.dumps(old)},
        f"{place}/2": {"id": 12, "schema": json.dumps(new), "schemaType": "AVRO"},
    }
    values = [framed(12, long(1) + data("new")), framed(11, long(2)), framed(13, long(3))]
    found = read(spark, values, schema_registry=url, subscribe="a/b")
    assert [(r["x"], r["y"]) for r, text in found if text is None] == [(1, "new"), (2, "none")]
    assert found[2][1] == "schema 13 is none of 11, 12; its bytes: 000000000d06"
    with pytest.raises(DataError, match=r"stream 's': schema registry: .* answers 404 .*40401"):
        read(spark, [], schema_registry=url, subject="other")
    answers[f"{place}/1"]["references"] = [{"name": "other"}]
    with pytest.raises(DataError, match="version 1 of 'a/b-value' refers to other schemas"):
        read(spark, [], schema_registry=url, subscribe="a/b")
    answers[f"{place}/1"] = {"id": 11, "schema": "", "schemaType": "PROTOBUF"}
    with pytest.raises(DataError, match="'a/b-value' is of PROTOBUF, not of Avro"):
        read(spark, [], schema_registry=url, subscribe="a/b")
    with pytest.raises(DataError, match=r"schema registry: http://127\.0\.0\.1:1/"):
        read(spark, [], schema_registry="http://127.0.0.1:1", subject="other")


def test_a_schema_that_spark_cannot_read(spark: SparkSession) -> None:
    tree = {"name": "below", "type": ["null", "T"]}
    recursive = json.dumps({"type": "record", "name": "T", "fields": [tree]})
    with pytest.raises(DataError, match=r"stream 's': Spark cannot use the schema: .*ecursi"):
        read(spark, [], schema=recursive)


def test_without_the_library(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    from eddyline.spark.formats import avro_records

    def missing(session: SparkSession) -> None:
        raise SetupError("it is missing")

    monkeypatch.setattr(avro_records, "check_library", missing)
    with pytest.raises(SetupError, match="stream 's': it is missing"):
        read(spark, [], schema=TRADE)


def test_a_stream_of_files(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "trade.avsc").write_text(TRADE)
    (tmp_path / "in").mkdir()
    values = [trade(1), trade(2, None), trade(3, b"\xff"), trade(4)[:-3]]
    for i, value in enumerate(values):
        (tmp_path / "in" / f"{i}.bin").write_bytes(value)
    session = Session(spark, shards=1, base=tmp_path)
    session.sql(
        """CREATE STREAM s (id BIGINT, symbol STRING, price DOUBLE PATH '$.order.price',
        tag STRING PATH '$.order.tags[1]', sizes MAP<STRING, BIGINT> PATH '$.order.sizes',
        fee DECIMAL(10, 2), day DATE, side STRING, `at` TIMESTAMP, ms TIMESTAMP) TIMESTAMP BY ms
        WITH (source = 'text', path = 'in', wholetext = 'true', format = 'avro',
        schema_file = 'trade.avsc')"""
    )
    session.query("q", "SELECT * FROM s [NOW]", sink="memory")
    session.start(available_now=True).finish()
    rows = sorted(session.results("q").toArrow().to_pylist(), key=lambda row: int(row["id"]))
    assert [(r["id"], r["symbol"], r["price"], r["tag"]) for r in rows] == [
        (1, "ABC", 0.25, "b1"),
        (2, None, 0.5, "b2"),
    ]
    first = rows[0]
    assert (first["fee"], first["day"], first["side"]) == (
        Decimal("-2.51"),
        date(2026, 1, 1),
        "SELL",
    )
    assert dict(first["sizes"]) == {"lot": 100}
    assert first["ms"] == first["_ts"] == datetime(2026, 1, 1, 0, 0, 0, 1000, UTC)
    assert first["at"] == datetime(2026, 1, 1, 0, 0, 0, 1007, UTC)
    reasons = sorted(row["_reason"] for row in session.results("bad:s").toArrow().to_pylist())
    assert reasons == [
        f"cannot be read: no record of the schema; its bytes: {values[3].hex()}",
        "symbol is not UTF-8",
    ]
