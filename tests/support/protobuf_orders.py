"""A type of messages of Protobuf with all kinds of fields, made without a compiler."""

from __future__ import annotations

from typing import Any

from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
    FileDescriptorSet,
)
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.timestamp_pb2 import DESCRIPTOR as TIMESTAMP
from google.protobuf.wrappers_pb2 import DESCRIPTOR as WRAPPERS

_SCALARS = ("double", "float", "int64", "uint64", "int32", "fixed64", "fixed32", "bool", "string")
_TYPES = {name: number + 1 for number, name in enumerate(_SCALARS)} | {
    "group": 10,
    "bytes": 12,
    "uint32": 13,
    "sfixed32": 15,
    "sfixed64": 16,
    "sint32": 17,
    "sint64": 18,
}


def add(
    message: DescriptorProto, number: int, name: str, type_: str, *more: str
) -> FieldDescriptorProto:
    """Add a field.

    Args:
        type_: of a scalar, or ``enum`` or ``.package.Message``. more: ``repeated``, ``optional``.
    """
    field = message.field.add(name=name, number=number, label=3 if "repeated" in more else 1)
    if type_.startswith("enum "):
        field.type, field.type_name = 14, type_.removeprefix("enum ")
    elif type_.startswith("."):
        field.type, field.type_name = 11, type_
    else:
        field.type = _TYPES[type_]
    if "optional" in more:
        field.proto3_optional, field.oneof_index = True, len(message.oneof_decl)
        message.oneof_decl.add(name=f"_{name}")
    return field


def add_map(message: DescriptorProto, number: int, name: str, key: str, value: str) -> None:
    """Add a map to the message ``.shop.Order``."""
    entry = message.nested_type.add(name=f"{name.capitalize()}Entry")
    entry.options.map_entry = True
    add(entry, 1, "key", key)
    add(entry, 2, "value", value)
    add(message, number, name, f".shop.Order.{entry.name}", "repeated")


def orders(syntax: str = "proto3") -> FileDescriptorProto:
    """The file ``orders.proto`` with the messages ``shop.Other`` and ``shop.Order``."""
    file = FileDescriptorProto(name="orders.proto", package="shop", syntax=syntax)
    file.dependency.extend(["google/protobuf/timestamp.proto", "google/protobuf/wrappers.proto"])
    side = file.enum_type.add(name="Side")
    for number, name in ((0, "BUY"), (1, "SELL"), (7, "SHORT")):
        side.value.add(name=name, number=number)
    file.message_type.add(name="Other")
    order = file.message_type.add(name="Order")
    item = order.nested_type.add(name="Item")
    add(item, 1, "name", "string")
    add(item, 2, "count", "int32")
    add(item, 3, "bundle", ".shop.Order", "repeated")
    add(order, 1, "id", "int64")
    add(order, 2, "price", "double")
    add(order, 3, "side", "enum .shop.Side")
    add(order, 4, "item", ".shop.Order.Item")
    add(order, 5, "items", ".shop.Order.Item", "repeated")
    add(order, 6, "sizes", "sint32", "repeated")
    add_map(order, 7, "fees", "string", "double")
    add_map(order, 8, "parts", "int64", ".shop.Order.Item")
    add(order, 9, "at", ".google.protobuf.Timestamp")
    add(order, 10, "limit", ".google.protobuf.Int64Value")
    order.oneof_decl.add(name="target")
    for number, name, type_ in ((11, "venue", "string"), (12, "desk", "uint32")):
        add(order, number, name, type_).oneof_index = 0
    add(order, 13, "note", "string", *(["optional"] if syntax == "proto3" else []))
    add(order, 14, "big", "uint64")
    add(order, 15, "raw", "bytes")
    add(order, 16, "names", ".google.protobuf.StringValue", "repeated")
    add(order, 17, "times", ".google.protobuf.Timestamp", "repeated")
    add(order, 18, "sides", "enum .shop.Side", "repeated")
    add(order, 19, "marks", "fixed32", "repeated")
    add(order, 20, "ratios", "float", "repeated")
    add(order, 300, "far", "bool")
    return file


def with_group() -> FileDescriptorProto:
    """As :func:`orders` in proto2, and with a group."""
    file = orders("proto2")
    order = file.message_type[1]
    add(order.nested_type.add(name="Old"), 1, "x", "int32")
    field = add(order, 301, "old", ".shop.Order.Old")
    field.type = 10
    return file


def descriptors(*files: FileDescriptorProto) -> bytes:
    """A set of descriptors, as ``protoc`` writes it."""
    return bytes(FileDescriptorSet(file=files).SerializeToString())


def message(name: str, *files: FileDescriptorProto) -> Any:
    """The class of a message of the last file, as Protobuf's own library makes it."""
    pool = DescriptorPool()
    for common in (TIMESTAMP, WRAPPERS):
        pool.AddSerializedFile(common.serialized_pb)
    for file in files:
        pool.AddSerializedFile(file.SerializeToString())
    return GetMessageClass(pool.FindMessageTypeByName(name))
