"""Records of Protobuf as rows, and those that are none."""

from __future__ import annotations

import sys
from base64 import b64encode
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from pyspark.sql import SparkSession

from avro_bytes import framed
from eddyline.errors import DataError, SetupError
from eddyline.spark import Session
from eddyline.spark.formats import protobuf_columns, protobuf_records
from eddyline.spark.formats.protobuf_options import ProtobufOptions
from eddyline.spark.formats.protobuf_records import Framing, messages_of, read_records
from eddyline.spark.formats.protobuf_schema import ProtobufSchema
from eddyline.types import Field
from protobuf_orders import add, descriptors, message, orders

NEW_YEAR = 1_767_225_600  # 2026, in seconds
COLUMNS = (Field("id", pa.int64()), Field("note", pa.string()))


def order(i: int, **more: Any) -> bytes:
    made = message("shop.Order", orders())(id=i, price=i / 4, **more)
    made.at.FromSeconds(NEW_YEAR + i)
    return bytes(made.SerializeToString())


def read(spark: SparkSession, values: Sequence[bytes | None], **options: str) -> list[Any]:
    """The ids of the records, and the texts of those that cannot be read."""
    rows = spark.createDataFrame(
        [(None if v is None else bytearray(v),) for v in values], "value BINARY"
    ).coalesce(1)
    found = messages_of(rows, ProtobufOptions.of("stream 's'", options), COLUMNS, {}).parsed()
    return [(row["id"], row["_corrupt_record"]) for row in found.collect()]


def test_each_record_is_read_or_kept_as_bytes() -> None:
    schema = ProtobufSchema.of_set(descriptors(orders()), "shop.Order")
    form = schema.form([(("id",), pa.int64())])
    values = [order(1), None, b"", b"\xff", order(2), order(3)[:-1]]
    for type_ in (pa.binary(), pa.large_binary()):
        (ids,), texts = read_records(form, None, pa.array([b"cut", *values], type_)[1:])
        assert ids.to_pylist() == [1, None, 0, None, 2, None]
        assert texts.to_pylist() == [
            None,
            "NULL (no value)",
            None,
            "no message shop.Order: it ends within the field at byte 0; its bytes: ff",
            None,
            f"no message shop.Order: it ends within the field at byte 11; its bytes: "
            f"{order(3)[:-1].hex()}",
        ]
    (ids,), texts = read_records(form, None, pa.array([], pa.binary()))
    assert len(ids) == len(texts) == 0


def test_what_is_in_front() -> None:
    schema = ProtobufSchema.of_set(descriptors(orders()), "shop.Order")
    form = schema.form([(("id",), pa.int64())])
    framing = Framing("shop.Order", {7: (b"\2\2",), 8: (b"\0", b"\2\0")})
    values = [
        framed(7, b"\2\2" + order(1)),
        framed(8, b"\0" + order(2)),
        framed(8, b"\2\0" + order(3)),
        framed(7, b"\0" + order(4)),
        framed(9, b"\0" + order(5)),
        framed(2**32 - 1, b""),
        b"\0\0\0\0",
        b"",
        b"\1" + framed(7, b"")[1:],
        None,
        framed(8, b"\0\xff"),
        framed(8, b"\0"),
    ]
    (ids,), texts = read_records(form, framing, pa.array([b"cut", *values])[1:])
    assert ids.to_pylist() == [1, 2, 3, *[None] * 8, 0]
    reasons = [text and text.split("; its bytes: ") for text in texts.to_pylist()]
    no_header = "no zero byte and number of a schema in front"
    assert [reason and reason[0] for reason in reasons] == [
        *[None] * 3,
        "the message indexes in front are not those of shop.Order",
        "schema 9 is none of 7, 8",
        "schema 4294967295 is none of 7, 8",
        *[no_header] * 3,
        "NULL (no value)",
        "no message shop.Order: it ends within the field at byte 0",
        None,
    ]
    for value, reason in zip(values, reasons, strict=True):
        assert reason is None or value is None or reason[1] == value.hex()
    any_number = Framing("shop.Order", {None: (b"\2\2",)})
    (ids,), texts = read_records(form, any_number, pa.array(values[:4]))
    assert ids.to_pylist() == [1, None, None, None]
    assert texts[3].as_py().startswith("the message indexes in front are not those of shop.Order")


def test_large_batches_are_decoded_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protobuf_records, "_PIECE_BYTES", 100)
    schema = ProtobufSchema.of_set(descriptors(orders()), "shop.Order")
    form = schema.form([(("id",), pa.int64())])
    values = pa.array([order(i) for i in range(50)] + [b"\xff"])
    batch = pa.record_batch([values, pa.array(range(51))], ["value", "offset"])
    read = protobuf_records.reader(form, None, ["id"], ["o"], ["o", "id"])
    pieces = list(read(iter([batch])))
    assert len(pieces) > 10
    found = pa.Table.from_batches(pieces)
    assert found.column_names == ["o", "id", "_corrupt_record"]
    assert found["o"].to_pylist() == list(range(51))
    assert found["id"].to_pylist() == [*range(50), None]
    assert found["_corrupt_record"].null_count == 50


def version(number: int, file: FileDescriptorProto, *references: tuple[str, str]) -> dict[str, Any]:
    refers = [{"name": name, "subject": subject, "version": 1} for name, subject in references]
    encoded = b64encode(file.SerializeToString()).decode()
    return {"id": number, "schemaType": "PROTOBUF", "schema": encoded, "references": refers}


@pytest.mark.spark
def test_versions_of_a_registry(spark: SparkSession, registry: tuple[str, dict[str, Any]]) -> None:
    url, answers = registry
    old = FileDescriptorProto(name="default", package="shop", syntax="proto3")
    add(old.message_type.add(name="Order"), 1, "id", "int64")
    place, form = "/subjects/a%2Fb-value/versions", "?format=serialized"
    answers |= {
        place: [1, 2],
        f"{place}/1{form}": version(11, old),
        f"{place}/2{form}": version(12, orders(), ("other.proto", "other")),
        f"/subjects/other/versions/1{form}": version(13, FileDescriptorProto(name="x")),
    }
    values = [
        framed(12, b"\2\2" + order(1)),
        framed(11, b"\0" + order(2)),
        framed(13, b"\0" + order(3)),
    ]
    options = {"schema_registry": url, "message": "shop.Order"}
    found = read(spark, values, subscribe="a/b", **options)
    assert found[:2] == [(1, None), (2, None)]
    assert found[2][1].startswith("schema 13 is none of 11, 12; its bytes: ")
    with pytest.raises(DataError, match=r"stream 's': schema registry: .* answers 404 .*40401"):
        read(spark, [], subject="none", **options)
    with pytest.raises(DataError, match=r"version 1 of 'a/b-value': there is no message 'shop\.X'"):
        read(spark, [], subscribe="a/b", schema_registry=url, message="shop.X")
    answers[f"{place}/1{form}"]["schema"] = 'syntax = "proto3";'
    with pytest.raises(DataError, match=r"no descriptors of 'a/b-value, version 1' .*, but a text"):
        read(spark, [], subscribe="a/b", **options)
    answers[f"{place}/1{form}"] = {"id": 11, "schema": "{}"}
    with pytest.raises(DataError, match="'a/b-value' is of AVRO, not of Protobuf"):
        read(spark, [], subscribe="a/b", **options)


@pytest.mark.spark
def test_without_the_library(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "o.desc").write_bytes(descriptors(orders()))
    protobuf_columns.handler.cache_clear()
    monkeypatch.setitem(sys.modules, "ptars", None)
    options = {"descriptor_file": str(tmp_path / "o.desc"), "message": "shop.Order"}
    with pytest.raises(SetupError, match=r"stream 's': .* pip install 'eddyline\[protobuf\]'"):
        read(spark, [], **options)


@pytest.mark.spark
def test_a_stream_of_files(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "o.desc").write_bytes(descriptors(orders()))
    (tmp_path / "in").mkdir()
    item = {"bundle": [{"item": {"name": "in"}}]}
    items = [{"name": "a", "count": 5}, {"name": "b"}]
    values = [
        order(1, items=items, fees={"lot": 1.5}, side=1, big=7, item=item, parts={4: items[1]}),
        order(2, note="\n"),
        order(3, big=2**63),
        order(4)[:-3],
        b"\xc3\x3e" * 200_000,
    ]
    for i, value in enumerate(values):
        (tmp_path / "in" / f"{i}.bin").write_bytes(value)
    session = Session(spark, shards=1, base=tmp_path)
    columns = """id BIGINT, price DOUBLE, side STRING, items ARRAY<STRUCT<name STRING, count INT>>,
        lot DOUBLE PATH '$.fees.lot', part MAP<BIGINT, STRUCT<name STRING>> PATH '$.parts',
        within STRING PATH '$.item.bundle[0].item.name', note STRING, big BIGINT, `at` TIMESTAMP"""
    source = """source = 'text', path = 'in', wholetext = 'true', format = 'protobuf',
        descriptor_file = 'o.desc', message = 'shop.Order'"""
    session.sql(f"CREATE STREAM s ({columns}) TIMESTAMP BY `at` WITH ({source})")
    session.query("q", "SELECT * FROM s [NOW]", sink="memory")
    session.start(available_now=True).finish()
    rows = sorted(session.results("q").toArrow().to_pylist(), key=lambda row: int(row["id"]))
    assert [(r["id"], r["price"], r["side"], r["note"], r["within"], r["lot"]) for r in rows] == [
        (1, 0.25, "SELL", None, "in", 1.5),
        (2, 0.5, "BUY", "\n", None, None),
    ]
    assert rows[0]["items"] == [{"name": "a", "count": 5}, {"name": "b", "count": 0}]
    assert dict(rows[0]["part"]) == {4: {"name": "b"}} and rows[1]["items"] == []
    assert rows[0]["at"] == rows[0]["_ts"] == datetime(2026, 1, 1, 0, 0, 1, tzinfo=UTC)
    reasons = sorted(row["_reason"] for row in session.results("bad:s").toArrow().to_pylist())
    assert reasons == [
        "big: cannot read '9223372036854775808' as BIGINT",
        f"cannot be read: no message shop.Order: it ends within the field at byte 11; its bytes: "
        f"{values[3].hex()}",
        "cannot be read: no message shop.Order: more than 100 messages or groups within each other "
        f"at byte 200; its bytes: {values[4].hex()}",
    ]


@pytest.mark.spark
def test_a_table(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "o.desc").write_bytes(descriptors(orders()))
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.bin").write_bytes(order(1, items=[{"name": "a"}]))
    session = Session(spark, shards=1, base=tmp_path)
    session.sql(
        """CREATE TABLE t (id BIGINT, items ARRAY<STRUCT<name STRING>>) WITH (source = 'text',
        path = 'in', wholetext = 'true', format = 'protobuf', descriptor_file = 'o.desc',
        message = 'shop.Order')"""
    )
    ts = pa.array([0], pa.timestamp("us", "UTC"))
    (tmp_path / "rows").mkdir()
    pq.write_table(pa.table({"ts": ts, "id": [1]}), tmp_path / "rows" / "1.parquet")
    session.sql(
        "CREATE STREAM s (ts TIMESTAMP, id BIGINT) TIMESTAMP BY ts "
        "WITH (source = 'parquet', path = 'rows')"
    )
    query = "SELECT s.id, t.items[0].name AS name FROM s [NOW], t WHERE s.id = t.id"
    session.query("q", query, sink="memory")
    session.start(available_now=True).finish()
    assert [(r["id"], r["name"]) for r in session.results("q").collect()] == [(1, "a")]
