"""The form of messages of Protobuf that have only what columns read.

Each message within another one is a type of its own there, so that one that contains itself can be
read to the depth of the columns. Maps are lists of keys and values, as they are written: ptars ends
at a map of which an entry has no value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import pyarrow as pa
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.descriptor_pb2 import (
    DescriptorProto,
    FieldDescriptorProto,
    FileDescriptorProto,
)

from eddyline.algebra.catalog import JsonPath
from eddyline.engine.ingest.arrow_values import converted
from eddyline.errors import DataError, did_you_mean
from eddyline.kernels.protobuf_messages import (
    FIELD,
    FIXED32,
    FIXED64,
    MESSAGE,
    SKIPPED,
    TEXT,
    VARINTS,
)
from eddyline.spark.formats.protobuf_columns import FILE, ROOT, Form, Shape, Step
from eddyline.types import TIMESTAMP, sql_type

_UNSIGNED: Final = pa.decimal128(20)
#: What is made of scalar fields, and how the numbers of a packed list are written.
_SCALARS: Final[Mapping[int, tuple[str, pa.DataType, int]]] = {
    FieldDescriptor.TYPE_DOUBLE: ("double", pa.float64(), FIXED64),
    FieldDescriptor.TYPE_FLOAT: ("float", pa.float32(), FIXED32),
    FieldDescriptor.TYPE_INT64: ("int64", pa.int64(), VARINTS),
    FieldDescriptor.TYPE_UINT64: ("uint64", _UNSIGNED, VARINTS),
    FieldDescriptor.TYPE_INT32: ("int32", pa.int32(), VARINTS),
    FieldDescriptor.TYPE_FIXED64: ("fixed64", _UNSIGNED, FIXED64),
    FieldDescriptor.TYPE_FIXED32: ("fixed32", pa.int64(), FIXED32),
    FieldDescriptor.TYPE_BOOL: ("bool", pa.bool_(), VARINTS),
    FieldDescriptor.TYPE_STRING: ("string", pa.string(), TEXT),
    FieldDescriptor.TYPE_BYTES: ("bytes", pa.binary(), SKIPPED),
    FieldDescriptor.TYPE_UINT32: ("uint32", pa.int64(), VARINTS),
    FieldDescriptor.TYPE_ENUM: ("enum", pa.string(), VARINTS),
    FieldDescriptor.TYPE_SFIXED32: ("sfixed32", pa.int32(), FIXED32),
    FieldDescriptor.TYPE_SFIXED64: ("sfixed64", pa.int64(), FIXED64),
    FieldDescriptor.TYPE_SINT32: ("sint32", pa.int32(), VARINTS),
    FieldDescriptor.TYPE_SINT64: ("sint64", pa.int64(), VARINTS),
}
_TIME: Final = "google.protobuf.Timestamp"
_WRAPPERS: Final = frozenset(
    f"google.protobuf.{name}Value"
    for name in ("Double", "Float", "Int64", "UInt64", "Int32", "UInt32", "Bool", "String", "Bytes")
)
_IMPORTS: Final = ("google/protobuf/timestamp.proto", "google/protobuf/wrappers.proto")


@dataclass
class _Message:
    """A message, and the fields of it that are read, by number."""

    type: Any
    fields: dict[int, _Field] = field(default_factory=dict)

    def read(self, name: str | int, shown: str) -> _Field:
        """A field, read from now on.

        Args:
            shown: the message, for errors.
        """
        names = [f.name for f in self.type.fields]
        if not isinstance(name, str):
            advice = f"valid: {', '.join(names)}"
            raise DataError(f"{shown} has fields, and no element {name}; {advice}")
        if name not in self.type.fields_by_name:
            raise DataError(f"{shown} has no field '{name}'; {did_you_mean(name, names)}")
        found = self.type.fields_by_name[name]
        if found.type == FieldDescriptor.TYPE_GROUP:
            raise DataError(f"'{name}' is a group, which cannot be read")
        return self.fields.setdefault(found.number, _Field(found))


class _Field:
    """A field that is read, and the message within it."""

    def __init__(self, descriptor: Any) -> None:
        self.descriptor = descriptor
        of = descriptor.message_type
        self.is_known = of is not None and of.full_name in (_TIME, *_WRAPPERS)
        self.is_map = of is not None and bool(of.GetOptions().map_entry)
        self.below = None if of is None or self.is_known else _Message(of)

    @property
    def shown(self) -> str:
        """Its type, without that it is repeated."""
        of = self.descriptor.message_type
        return str(of.full_name) if of is not None else _SCALARS[self.descriptor.type][0]


class FormBuilder:
    """Collects what columns read of a type of messages.

    Args:
        type_: its descriptor.
    """

    def __init__(self, type_: Any) -> None:
        self._root = _Message(type_)
        self._nodes: list[list[tuple[int, int, int]]] = []

    def column(self, path: JsonPath, type_: pa.DataType) -> tuple[tuple[Step, ...], Shape]:
        """The way to a column, and what is made of the values there.

        Args:
            type_: the declared one.

        Raises:
            DataError: there is no such value, or it is of another type.
        """
        steps: list[Step] = []
        shape = _field_at(self._root, "a message", path, type_, steps)
        return tuple(steps), shape

    def form(self, columns: tuple[tuple[tuple[Step, ...], Shape], ...]) -> Form:
        """The messages with what these columns read, which are all."""
        file = FileDescriptorProto(name=FILE, package="eddyline", syntax="proto3")
        file.dependency.extend(_IMPORTS)
        self._nodes = []
        self._write(self._root, file.message_type.add(name="Root"), f".{ROOT}")
        counts = [len(rows) for rows in self._nodes]
        firsts = np.cumsum([0, *counts], dtype=np.int64)
        fields = np.array([row for rows in self._nodes for row in rows], FIELD)
        name, data = self._root.type.full_name, file.SerializeToString(deterministic=True)
        return Form(name, data, firsts, fields, columns)

    def _write(self, message: _Message, into: DescriptorProto, place: str) -> int:
        """Describe a message; returns its node for the kernel."""
        node = len(self._nodes)
        rows: list[tuple[int, int, int]] = []
        self._nodes.append(rows)
        for number, read in sorted(message.fields.items()):
            of = read.descriptor
            label = of.is_repeated and FieldDescriptor.LABEL_REPEATED
            label = label or FieldDescriptor.LABEL_OPTIONAL
            found = into.field.add(name=f"f{number}", number=number, label=label)
            if read.below is not None:
                found.type = FieldDescriptor.TYPE_MESSAGE
                within = into.nested_type.add(name=f"M{number}")
                found.type_name = f"{place}.{within.name}"
                rows.append((number, MESSAGE, self._write(read.below, within, found.type_name)))
            elif read.is_known:
                found.type = FieldDescriptor.TYPE_MESSAGE
                found.type_name = f".{of.message_type.full_name}"
                rows.append((number, MESSAGE, self._known(of.message_type)))
            else:
                is_enum = of.type == FieldDescriptor.TYPE_ENUM
                found.type = FieldDescriptor.TYPE_INT32 if is_enum else of.type
                if of.has_presence and not message.type.GetOptions().map_entry:
                    _make_optional(into, found)
                rows.append((number, _checked(of), -1))
        return node

    def _known(self, type_: Any) -> int:
        self._nodes.append([(f.number, _checked(f), -1) for f in type_.fields])
        return len(self._nodes) - 1


def _field_at(
    message: _Message, shown: str, path: JsonPath, type_: pa.DataType, steps: list[Step]
) -> Shape:
    """What is made of a field of a message, or of what is at a path below it.

    Args:
        steps: to the message, continued to the value.
    """
    name, *rest = path
    read = message.read(name, shown)
    shown = f"'{name}'"
    steps.append(("field", f"f{read.descriptor.number}"))
    if not read.descriptor.is_repeated:
        return _value_at(read, shown, rest, type_, steps)
    if read.is_map:
        return _map_at(read, shown, rest, type_, steps)
    if rest:
        if not isinstance(rest[0], int):
            raise DataError(f"{shown} is a list, and has no field '{rest[0]}'; elements are at [0]")
        steps.append(("element", rest[0]))
        return _value_at(read, f"element {rest[0]}", rest[1:], type_, steps)
    if not pa.types.is_list(type_):
        of = f"{shown} is a list of {read.shown}"
        raise DataError(f"{of}, and no {sql_type(type_)}: declare an ARRAY, or a path with [0]")
    inner = _value_at(read, shown, rest, type_.value_type, [])
    return Shape(pa.list_(inner.type), (inner,))


def _map_at(
    read: _Field, shown: str, rest: list[str | int], type_: pa.DataType, steps: list[Step]
) -> Shape:
    entry = read.below
    assert entry is not None, "entries are messages"
    key, item = entry.read("key", shown), entry.read("value", shown)
    if rest:
        if key.descriptor.type != FieldDescriptor.TYPE_STRING or not isinstance(rest[0], str):
            raise DataError(f"{shown} is a map with keys of {key.shown}, and has no {rest[0]!r}")
        steps.append(("key", rest[0]))
        return _value_at(item, f"'{rest[0]}'", rest[1:], type_, steps)
    if not pa.types.is_map(type_):
        of = f"{shown} is a map of {key.shown} and {item.shown}"
        raise DataError(f"{of}, and no {sql_type(type_)}: declare a MAP, or a path with a key")
    keys = _value_at(key, f"the key of {shown}", [], type_.key_type, [])
    items = _value_at(item, f"the value of {shown}", [], type_.item_type, [])
    return Shape(pa.map_(keys.type, items.type), (keys, items))


def _value_at(
    read: _Field, shown: str, rest: list[str | int], type_: pa.DataType, steps: list[Step]
) -> Shape:
    """As :func:`_field_at`, of one value of a field."""
    if read.below is not None and rest:
        return _field_at(read.below, shown, tuple(rest), type_, steps)
    if rest:
        part = f"field '{rest[0]}'" if isinstance(rest[0], str) else f"element {rest[0]}"
        raise DataError(f"{shown} is of the type {read.shown}, which has no {part}")
    if read.below is None:
        return _scalar(read, shown, type_)
    if not pa.types.is_struct(type_):
        names = ", ".join(f.name for f in read.below.type.fields)
        of = f"{shown} is a message {read.shown}, and no {sql_type(type_)}"
        raise DataError(f"{of}: declare a STRUCT, or a path to one of its fields ({names})")
    parts, ways = [], []
    for f in type_:
        way: list[Step] = []
        parts.append(_field_at(read.below, shown, (f.name,), f.type, way))
        ways.append(str(way[0][1]))
    made = [pa.field(f.name, part.type) for f, part in zip(type_, parts, strict=True)]
    return Shape(pa.struct(made), tuple(parts), tuple(ways))


def _scalar(read: _Field, shown: str, type_: pa.DataType) -> Shape:
    of = read.descriptor
    if read.is_known:
        value = of.message_type.fields_by_name.get("value")
        made = TIMESTAMP if value is None else _SCALARS[value.type][1]
        shape = Shape(made)
    elif of.type == FieldDescriptor.TYPE_ENUM and pa.types.is_integer(type_):
        shape = Shape(pa.int32())
    elif of.type == FieldDescriptor.TYPE_ENUM:
        by_number = {v.number: v.name for v in reversed(of.enum_type.values)}  # the first of equals
        shape = Shape(pa.string(), (), (), tuple(by_number), tuple(by_number.values()))
    else:
        shape = Shape(_SCALARS[of.type][1])
    try:
        converted(pa.array([], shape.type), type_)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
        raise DataError(f"{shown} is of the type {read.shown}, and no {sql_type(type_)}") from None
    return shape


def _checked(of: Any) -> int:
    """What the kernel checks of a field."""
    kind = _SCALARS[of.type][2]
    return kind if kind == TEXT or of.is_repeated else SKIPPED


def _make_optional(into: DescriptorProto, found: FieldDescriptorProto) -> None:
    """Give a field presence: without a value it is NULL, not its default."""
    found.proto3_optional = True
    found.oneof_index = len(into.oneof_decl)
    into.oneof_decl.add(name=f"_{found.name}")
