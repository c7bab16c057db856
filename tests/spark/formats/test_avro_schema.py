"""Schemas of Avro: what is at paths, and the schema of the rows of a query."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from eddyline.errors import DataError
from eddyline.spark.formats.avro_schema import AvroSchema, schema_of_rows

ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "price", "type": "double"},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
        {"name": "sizes", "type": ["null", {"type": "map", "values": "long"}]},
    ],
}
TRADE = {
    "type": "record",
    "name": "Trade",
    "namespace": "org.example",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "order", "type": ORDER},
        {"name": "former", "type": ["null", "Order"], "default": None},
        {"name": "legs", "type": {"type": "array", "items": "org.example.Order"}},
        {
            "name": "either",
            "type": ["null", "string", {"type": "enum", "name": "E", "symbols": []}],
        },
        {"name": "number", "type": ["int", "long"]},
    ],
}


@pytest.mark.parametrize(
    "path",
    [
        ("id",),
        ("order", "price"),
        ("order", "tags", 1),
        ("order", "sizes", "any"),
        ("former", "tags"),
        ("legs", 0, "price"),
        ("either", "member1"),
        ("number",),
    ],
)
def test_what_is_there(path: tuple[str | int, ...]) -> None:
    AvroSchema(json.dumps(TRADE)).check(path)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (("ID",), r"a record has no field 'ID'; valid: either, former, id"),
        (("order", "prise"), r"'order' has no field 'prise'; did you mean 'price'"),
        (("order", 0), "'order' is of the type record, which has no element 0"),
        (("id", "x"), "'id' is of the type long, which has no field 'x'"),
        (("legs", "price"), "'legs' is of the type array, which has no field 'price'"),
        (("either", "member2"), "'either' is a union has no field 'member2'"),
        (("number", 0), "'number' is of the type long, which has no element 0"),
    ],
)
def test_what_is_not_there(path: tuple[str | int, ...], reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        AvroSchema(json.dumps(TRADE)).check(path)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "the schema is no JSON: "),
        ('"long"', "not that of a record"),
        ("[1]", "not that of a record"),
        ('{"type": "record", "name": "r"}', "not one of Avro"),
        ('{"type": "record", "fields": []}', "not one of Avro"),
        ('{"type": "record", "name": "r", "fields": [{"type": "int"}]}', "not one of Avro"),
        ('{"type": "record", "name": "r", "fields": 7}', "not one of Avro"),
        ("[" * 100_000, "the schema is no JSON|not that of"),
    ],
)
def test_what_is_no_schema(text: str, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        AvroSchema(text)


def test_an_unknown_name() -> None:
    fields = [{"name": "x", "type": "Nothing"}]
    schema = AvroSchema(json.dumps({"type": "record", "name": "r", "fields": fields}))
    with pytest.raises(DataError, match="the schema has no type 'Nothing'"):
        schema.check(("x", "y"))


def test_the_mark_has_a_name_of_its_own() -> None:
    fields = [{"name": "Eddyline_read", "type": "int"}]
    text, mark = AvroSchema(
        json.dumps({"type": "record", "name": "r", "fields": fields})
    ).with_mark()
    assert mark == "eddyline_read_"
    assert json.loads(text)["fields"][1] == {"name": mark, "type": "boolean", "default": True}


def test_the_schema_of_rows() -> None:
    part = pa.struct([("a", pa.int32()), ("b", pa.list_(pa.string()))])
    rows = pa.schema(
        [
            ("_op", pa.string()),
            ("_ts", pa.timestamp("us", "UTC")),
            ("n", pa.decimal128(10, 2)),
            ("s", part),
            ("m", pa.map_(pa.string(), part)),
        ]
    )
    op, ts, n, s, m = json.loads(schema_of_rows(rows))["fields"]
    assert op == {"name": "_op", "type": ["null", "string"], "default": None}
    assert ts["type"][1] == {"type": "long", "logicalType": "timestamp-micros"}
    assert n["type"][1] == {
        "type": "bytes",
        "logicalType": "decimal",
        "precision": 10,
        "scale": 2,
    }
    names = {(t["namespace"], t["name"]) for t in (s["type"][1], m["type"][1]["values"][1])}
    assert len(names) == 2
    assert s["type"][1]["fields"][1]["type"][1]["items"] == ["null", "string"]


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        (pa.field("a b", pa.int64()), "no field of Avro can have the name 'a b': use AS"),
        (pa.field("1", pa.int64()), "no field of Avro can have the name '1': use AS"),
        (pa.field("d", pa.duration("us")), "Avro has no type for .*, the type of 'd'"),
        (pa.field("m", pa.map_(pa.int64(), pa.int64())), "Avro has no type for MAP<"),
    ],
)
def test_what_cannot_be_a_record(field: pa.Field, reason: str) -> None:
    with pytest.raises(DataError, match=reason):
        schema_of_rows(pa.schema([field]))
