"""Plain messages of JSON as Arrow columns, equal to what Spark's ``from_json`` makes of them.

The kernel (``kernels/json_messages.py``) says which messages are plain; the others are for
``from_json``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    ByteType,
    DataType,
    DecimalType,
    DoubleType,
    IntegerType,
    LongType,
    ShortType,
    StringType,
    StructType,
)

from eddyline.algebra.catalog import JsonPath
from eddyline.kernels.json_messages import (
    ARRAY,
    BOOLEAN,
    DECIMAL,
    DOUBLE,
    INTEGER,
    NODE,
    OBJECT,
    TEXT,
    gathered_texts,
    plain_messages,
)
from eddyline.runtime.stores.columns import Array, bitmap

#: Integers, with their number of bits.
_BITS: Final[Mapping[type[DataType], int]] = {
    ByteType: 8,
    ShortType: 16,
    IntegerType: 32,
    LongType: 64,
}
#: Digits of decimals that are int64.
_DIGITS: Final = 18


@dataclass(eq=False)
class _Node:
    """A node of a declaration.

    Attributes:
        kind: of the kernel. type: in Arrow, of a value. slots: the columns that it is the value of.
        below: the nodes of its fields by name, or of its elements by position. rest: of the other
            elements.
    """

    kind: int
    type: pa.DataType | None = None
    low: int = 0
    high: int = 0
    scale: int = 0
    columns: Sequence[int] = ()
    below: Mapping[str | int, _Node] = field(default_factory=dict)
    rest: _Node | None = None


class JsonColumns:
    """Columns at paths of messages.

    Args:
        record: the fields of a message. paths: of each column.
    """

    def __init__(self, record: StructType, paths: Sequence[JsonPath]) -> None:
        self._nodes: list[_Node] = []
        root = _node(record, dict(enumerate(paths)))
        assert root is not None, "see can_read"
        self._table, self._names = self._numbered(root)
        self._slots = [node for node in self._nodes if node.columns]
        self._slot_of = {c: slot for slot, node in enumerate(self._slots) for c in node.columns}
        self._count = len(paths)

    @property
    def types(self) -> list[pa.DataType]:
        """The types of the columns."""
        return [self._slots[self._slot_of[c]].type for c in range(self._count)]

    def read(self, messages: pa.Array) -> tuple[list[pa.Array], Array]:
        """The columns of n messages, NULL where one is not plain; and bool[n]: the plain ones.

        Args:
            messages: strings or binary, maybe not UTF-8.
        """
        n, slots = len(messages), len(self._slots)
        plain = np.zeros(n, np.bool_)
        values, lengths = np.zeros((slots, n), np.int64), np.empty((slots, n), np.int32)
        offsets, data = _buffers(messages)
        more = np.empty(data.size, np.uint8)
        reals = values.view(np.float64)
        plain_messages(offsets, data, self._table, self._names, values, reals, lengths, more, plain)
        if messages.null_count:
            plain &= np.asarray(messages.is_valid())
        columns = [
            _column(node, values[slot], lengths[slot], data, more)
            for slot, node in enumerate(self._slots)
        ]
        return [columns[self._slot_of[c]] for c in range(self._count)], plain

    def _numbered(self, root: _Node) -> tuple[Array, Array]:
        """The nodes for the kernel, those below a node beside each other, and all names."""
        nodes, names = [root], bytearray()
        rows: list[tuple[int, ...]] = []
        at: dict[_Node, tuple[int, int]] = {root: (0, 0)}
        slots = 0
        for node in nodes:  # grows meanwhile
            first = len(nodes)
            for key, below in node.below.items():
                name = key if isinstance(key, int) else len(names)
                text = b"" if isinstance(key, int) else key.encode()
                names += text
                at[below] = (name, len(text))
                nodes.append(below)
            rest = -1
            if node.rest is not None:
                rest = len(nodes)
                at[node.rest] = (-1, 0)
                nodes.append(node.rest)
            slot = slots if node.columns else -1
            slots += slot >= 0
            own = (node.kind, slot, first, len(node.below), rest, *at[node])
            rows.append((*own, node.low, node.high, node.scale))
        self._nodes = nodes
        return np.array(rows, NODE), np.frombuffer(bytes(names) or b" ", np.uint8)


def can_read(record: StructType) -> bool:
    """Whether all fields of messages, and those within them, have types of the kernel."""
    return _node(record, {}) is not None


def _node(type_: DataType, columns: Mapping[int, JsonPath]) -> _Node | None:
    """The node of a type; None if the kernel does not know it.

    Args:
        columns: the rest of the paths of the columns that are in it.
    """
    if isinstance(type_, StructType):
        fields = {
            f.name: _node(f.dataType, {c: p[1:] for c, p in columns.items() if p[0] == f.name})
            for f in type_.fields
        }
        known: dict[str | int, _Node] = {
            name: node for name, node in fields.items() if node is not None
        }
        return _Node(OBJECT, below=known) if len(known) == len(fields) else None
    if isinstance(type_, ArrayType):
        rest = _node(type_.elementType, {})
        if rest is None:
            return None
        elements: dict[str | int, _Node] = {}
        for position in {p[0] for p in columns.values()}:
            within = {c: p[1:] for c, p in columns.items() if p[0] == position}
            node = _node(type_.elementType, within)
            assert node is not None, "known as the rest"
            elements[position] = node
        return _Node(ARRAY, below=elements, rest=rest)
    return _leaf(type_, tuple(columns))


def _leaf(type_: DataType, columns: Sequence[int]) -> _Node | None:
    if type(type_) in _BITS:
        bits = _BITS[type(type_)]
        arrow = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}[bits]
        low, high = -(2 ** (bits - 1)), 2 ** (bits - 1) - 1
        return _Node(INTEGER, arrow, low, high, columns=columns)
    if isinstance(type_, DecimalType) and type_.precision <= _DIGITS:
        arrow = pa.decimal128(type_.precision, type_.scale)
        high = 10**type_.precision - 1
        return _Node(DECIMAL, arrow, -high, high, type_.scale, columns)
    if isinstance(type_, DoubleType):
        return _Node(DOUBLE, pa.float64(), columns=columns)
    if isinstance(type_, BooleanType):
        return _Node(BOOLEAN, pa.bool_(), columns=columns)
    return _Node(TEXT, pa.string(), columns=columns) if type_ == StringType() else None


def _buffers(messages: pa.Array) -> tuple[Array, Array]:
    """The offsets of messages, int64[n + 1], and their bytes."""
    _, offsets, data = messages.buffers()
    if not len(messages) or data is None:
        return np.zeros(len(messages) + 1, np.int64), np.zeros(0, np.uint8)
    large = pa.types.is_large_string(messages.type) or pa.types.is_large_binary(messages.type)
    width = np.dtype(np.int64 if large else np.int32)
    ends = np.frombuffer(offsets, width, len(messages) + 1, width.itemsize * messages.offset)
    return ends.astype(np.int64), np.frombuffer(data, np.uint8)


def _column(node: _Node, values: Array, lengths: Array, data: Array, more: Array) -> pa.Array:
    """The values of a slot, int64[n]; NULL where the length is negative."""
    none, n = lengths < 0, values.size
    if node.kind == TEXT:
        return _texts(values, lengths, none, data, more)
    if node.kind == DOUBLE:
        reals = values.view(np.float64)
        rest = np.flatnonzero(lengths > 0)
        if rest.size:
            texts = _texts(values[rest], lengths[rest], none[rest], data, more)
            reals[rest] = texts.cast(pa.float64())
        return pa.array(reals, mask=none)
    if node.kind == DECIMAL:
        wide = np.stack([values, values >> 63], axis=1)
        return pa.Array.from_buffers(node.type, n, [bitmap(~none), pa.py_buffer(wide)])
    if node.kind == BOOLEAN:
        return pa.array(values.astype(np.bool_), mask=none)
    return pa.array(values, node.type, mask=none, safe=False)


def _texts(values: Array, lengths: Array, none: Array, data: Array, more: Array) -> pa.Array:
    offsets, text = gathered_texts(values, lengths, data, more)
    buffers = [bitmap(~none), pa.py_buffer(offsets), pa.py_buffer(text)]
    return pa.Array.from_buffers(pa.string(), values.size, buffers)
