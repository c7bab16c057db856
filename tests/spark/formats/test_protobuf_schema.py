"""Types of messages: what they have, and what columns can read of it."""

from __future__ import annotations

import pyarrow as pa
import pytest
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.struct_pb2 import Struct

from eddyline.errors import DataError
from eddyline.spark.formats.protobuf_schema import ProtobufSchema
from eddyline.types import TIMESTAMP
from protobuf_orders import add, descriptors, orders, with_group


def schema() -> ProtobufSchema:
    return ProtobufSchema.of_set(descriptors(with_group()), "shop.Order")


@pytest.mark.parametrize(
    ("path", "type_", "message"),
    [
        (("id",), pa.int64(), None),
        (("id",), pa.string(), None),
        (("at",), TIMESTAMP, None),
        (("id",), TIMESTAMP, None),
        (("big",), pa.decimal128(20), None),
        (("item",), pa.struct([("name", pa.string())]), None),
        (("parts",), pa.map_(pa.int64(), pa.struct([("count", pa.int64())])), None),
        (("fees", "any key"), pa.float64(), None),
        (("prise",), pa.int64(), "a message has no field 'prise'; did you mean 'price'?"),
        (("item", "nme"), pa.string(), "'item' has no field 'nme'; did you mean 'name'?"),
        (("item",), pa.struct([("nme", pa.string())]), "'item' has no field 'nme'; did you m"),
        (("item", 0), pa.string(), "'item' has fields, and no element 0; valid: name, count"),
        (("id", "x"), pa.int64(), "'id' is of the type int64, which has no field 'x'"),
        (("at", "seconds"), pa.int64(), r"google\.protobuf\.Timestamp, which has no field 'sec"),
        (("id", 0), pa.int64(), "'id' is of the type int64, which has no element 0"),
        (("items", "name"), pa.string(), r"'items' is a list, and has no field 'name'; elements"),
        (("items",), pa.string(), r"'items' is a list of shop\.Order\.Item, and no STRING: decl"),
        (("items",), pa.list_(pa.string()), r"is a message shop\.Order\.Item, and no STRING"),
        (("item",), pa.string(), r"declare a STRUCT, or a path to one of its fields \(name, cou"),
        (("fees",), pa.string(), "'fees' is a map of string and double, and no STRING: declare"),
        (("fees", 0), pa.float64(), "is a map with keys of string, and has no 0"),
        (("parts", "k"), pa.float64(), "is a map with keys of int64, and has no 'k'"),
        (("side",), TIMESTAMP, None),
        (("raw",), TIMESTAMP, "'raw' is of the type bytes, and no TIMESTAMP"),
        (("note",), pa.list_(pa.string()), "'note' is of the type string, and no ARRAY<STRING>"),
        (("old",), pa.string(), "'old' is a group, which cannot be read"),
    ],
)
def test_what_a_column_reads(
    path: tuple[str | int, ...], type_: pa.DataType, message: str | None
) -> None:
    if message is None:
        schema().check(path, type_)
        return
    with pytest.raises(DataError, match=message):
        schema().check(path, type_)


def test_the_type_of_messages() -> None:
    found = ProtobufSchema.of_set(descriptors(orders()), ".shop.Order.Item")
    assert (found.name, found.indexes) == ("shop.Order.Item", [1, 0])
    assert schema().indexes == [1]
    first = ProtobufSchema.of_files({"o.proto": orders().SerializeToString()}, None)
    assert (first.name, first.indexes) == ("shop.Other", [0])
    with pytest.raises(DataError, match=r"no message 'shop\.order'; did you mean 'shop\.Order'"):
        ProtobufSchema.of_set(descriptors(orders()), "shop.order")


def test_imports() -> None:
    main = FileDescriptorProto(name="main.proto", syntax="proto3")
    main.dependency.append("orders.proto")
    add(main.message_type.add(name="Main"), 1, "order", ".shop.Order")
    found = ProtobufSchema.of_set(descriptors(main, orders()), "Main")  # in any order
    found.check(("order", "item", "name"), pa.string())
    with pytest.raises(DataError, match=r"'main\.proto' imports 'orders\.proto', which is not th"):
        ProtobufSchema.of_set(descriptors(main), "Main")
    other = orders()
    other.dependency.append("main.proto")
    with pytest.raises(DataError, match="imports itself"):
        ProtobufSchema.of_set(descriptors(main, other), "Main")


def test_messages_that_contain_themselves() -> None:
    file = FileDescriptorProto(name="s.proto", syntax="proto3")
    file.dependency.append("google/protobuf/struct.proto")
    add(file.message_type.add(name="S"), 1, "more", ".google.protobuf.Struct")
    of = ProtobufSchema.of_set(descriptors(file), "S")
    path = ("more", "fields", "a", "struct_value", "fields", "b", "number_value")
    inner = Struct()
    inner.update({"a": {"b": 1.5}})
    data = b"\x0a" + bytes([inner.ByteSize()]) + inner.SerializeToString()
    (column,), reasons = of.form([(path, pa.float64())]).read(pa.array([data, b""]))
    assert column.to_pylist() == [1.5, None] and reasons is None


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "these are no descriptors: protoc --include_imports"),
        (b"syntax = 'proto3';", "these are no descriptors"),
        (orders().SerializeToString(), "these are no descriptors"),
    ],
)
def test_what_is_no_set_of_descriptors(data: bytes, message: str) -> None:
    with pytest.raises(DataError, match=message):
        ProtobufSchema.of_set(data, "shop.Order")


def test_a_type_that_is_not_there() -> None:
    file = FileDescriptorProto(name="s.proto", syntax="proto3")
    add(file.message_type.add(name="S"), 1, "x", ".Missing")
    with pytest.raises(DataError, match=r"Protobuf cannot use 's\.proto': .*Missing"):
        ProtobufSchema.of_set(descriptors(file), "S")
