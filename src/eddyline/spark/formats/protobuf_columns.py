"""Messages of Protobuf as Arrow columns, by the library ``ptars``.

What it decodes is a form of the messages of its own, made by ``protobuf_form.py``: of each message
the fields that columns read, under names of their numbers. All other fields are passed over.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.list_parts import list_parts
from eddyline.extras import extras_named
from eddyline.kernels.protobuf_messages import (
    CUT,
    DEEP,
    GOOD,
    GROUP,
    LONG,
    MAX_DEPTH,
    NO_TEXT,
    TAG,
    checked_messages,
)
from eddyline.runtime.stores.columns import Array, bitmap, raw_values, validity_of
from eddyline.types import END_OF_TIME, FIRST_INSTANT, TIMESTAMP, element_type, is_list

#: The name of the root among the descriptors that are decoded, and of their file.
ROOT: Final = "eddyline.Root"
FILE: Final = "eddyline.proto"
#: To a part of a value: the field of a structure, an element of a list, the value of a key.
Step = tuple[Literal["field", "element", "key"], str | int]
#: The module of the exceptions that say that code in Rust has failed; they have no other name.
_PANIC: Final = "pyo3_runtime"
_WRONG: Final[Mapping[int, str]] = {
    CUT: "it ends within the field",
    LONG: "a number of more than ten bytes",
    TAG: "no field and no way to write one",
    GROUP: "the end of a group that did not begin, or none of one that did",
    DEEP: f"more than {MAX_DEPTH} messages or groups within each other",
    NO_TEXT: "a text that is not UTF-8",
}


@dataclass(frozen=True)
class Shape:
    """What is made of a decoded value.

    Attributes:
        type: the result's. parts: of a structure those of its fields, of a list that of its
            elements, of a map those of its keys and values. fields: of a structure, their names in
            what is decoded. numbers, names: of an enum that is text.
    """

    type: pa.DataType
    parts: tuple[Shape, ...] = ()
    fields: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Form:
    """The messages that are decoded.

    Attributes:
        name: of their type. file: the descriptor of their form. firsts, fields: for the kernel.
        columns: the way to each column, and what is made of the value there.
    """

    name: str
    file: bytes
    firsts: Array
    fields: Array
    columns: tuple[tuple[tuple[Step, ...], Shape], ...]

    @property
    def types(self) -> list[pa.DataType]:
        """The types of the columns."""
        return [shape.type for _, shape in self.columns]

    def read(self, messages: pa.Array) -> tuple[list[pa.Array], pa.Array | None]:
        """The columns of n messages, and string[n]: why each one is none, NULL for those that are;
        None: all are.

        Args:
            messages: binary; of NULL the columns are NULL, without a reason.
        """
        valid = validity_of(messages)
        reasons = self._reasons(messages, valid)
        if reasons is None and valid is None:
            return self._columns(messages)
        good = np.ones(len(messages), np.bool_) if valid is None else valid
        if reasons is not None:
            good = good & np.asarray(reasons.is_null())
        columns, more = self._columns(messages.filter(pa.array(good)))
        at = pa.array(np.cumsum(good) - 1, mask=~good)
        if more is not None:
            more = more.take(at)
            reasons = more if reasons is None else pc.coalesce(reasons, more)
        return [column.take(at) for column in columns], reasons

    def _reasons(self, messages: pa.Array, valid: Array | None) -> pa.Array | None:
        """Why messages are none, as far as the kernel knows."""
        offsets, data = buffers(messages)
        wrong = np.empty(len(messages), np.int8)
        places = np.empty(len(messages), np.int64)
        checked_messages(offsets, data, self.firsts, self.fields, wrong, places)
        if valid is not None:
            wrong[~valid] = GOOD  # a NULL may have bytes
        if not wrong.any():
            return None
        whats = pa.array([_WRONG.get(code) for code in range(max(_WRONG) + 1)], pa.string())
        texts = whats.take(pa.array(wrong))
        at = pa.array(places).cast(pa.string())
        head = f"no message {self.name}: "
        return pc.binary_join_element_wise(head, texts, " at byte ", at, "")

    def _columns(self, messages: pa.Array) -> tuple[list[pa.Array], pa.Array | None]:
        """As :meth:`read`, of messages without NULL that the kernel takes for good."""
        decoded, why = self._decoded(messages)
        columns = []
        for steps, shape in self.columns:
            values = decoded
            for step in steps:
                values = _part(values, *step)
            columns.append(_shaped(values, shape))
            if pa.types.is_nested(shape.type) and (beyond := _beyond(columns[-1])).any():
                reason = f"no message {self.name}: a time that is not of the years 1 to 9999"
                more = pc.if_else(pa.array(beyond), reason, pa.scalar(None, pa.string()))
                why = more if why is None else pc.coalesce(why, more)
        return columns, why

    def _decoded(self, messages: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        """Messages as structures. Those at which the decoder fails are found by bisection."""
        try:
            found = handler(self.file).array_to_record_batch(messages)
            return pa.StructArray.from_arrays(found.columns, fields=list(found.schema)), None
        except BaseException as e:
            if not isinstance(e, ValueError) and type(e).__module__ != _PANIC:
                raise
            if len(messages) == 1:
                empty = handler(self.file).array_to_record_batch(pa.array([b""], pa.binary()))
                row = pa.StructArray.from_arrays(empty.columns, fields=list(empty.schema))
                return row, pa.array([f"no message {self.name}: {e}"])
        middle = len(messages) // 2
        halves = [messages.slice(0, middle), messages.slice(middle)]
        (left, of_left), (right, of_right) = (self._decoded(half) for half in halves)
        reasons = [
            pa.nulls(len(half), pa.string()) if why is None else why
            for half, why in ((left, of_left), (right, of_right))
        ]
        return pa.concat_arrays([left, right]), pa.concat_arrays(reasons)


@lru_cache(maxsize=64)
def handler(file: bytes) -> Any:
    """The decoder of a form, one in each process.

    Raises:
        SetupError: the library is missing.
    """
    with extras_named():
        import ptars
        from google.protobuf import timestamp_pb2, wrappers_pb2
        from google.protobuf.descriptor_pool import DescriptorPool
    pool = DescriptorPool()
    for common in (timestamp_pb2, wrappers_pb2):
        pool.AddSerializedFile(common.DESCRIPTOR.serialized_pb)
    pool.AddSerializedFile(file)
    config = ptars.PtarsConfig(timestamp_unit="us")
    files = [pool.FindFileByName(FILE)]
    return ptars.HandlerPool(files, config).get_for_message(pool.FindMessageTypeByName(ROOT))


def buffers(messages: pa.Array) -> tuple[Array, Array]:
    """The offsets of messages, int64[n + 1], and their bytes; NULL has none."""
    _, offsets, data = messages.buffers()
    if not len(messages) or data is None:
        return np.zeros(len(messages) + 1, np.int64), np.zeros(0, np.uint8)
    ends = np.frombuffer(offsets, np.int32, len(messages) + 1, 4 * messages.offset)
    return ends.astype(np.int64), np.frombuffer(data, np.uint8)


def _part(values: pa.Array, kind: str, step: str | int) -> pa.Array:
    """The parts of values, NULL where there is none."""
    if kind == "field":
        return values.flatten()[values.type.get_field_index(step)]
    offsets, elements = list_parts(values)
    if kind == "element":
        at = offsets[:-1] + step
        return elements.take(pa.array(at, mask=at >= offsets[1:]))
    keys, items = elements.flatten()
    hits = np.flatnonzero(np.asarray(pc.equal(keys, step)))
    at = np.zeros(len(values), np.int64) - 1
    at[np.searchsorted(offsets, hits, side="right") - 1] = hits  # of equal keys the last one
    return items.take(pa.array(at, mask=at < 0))


def _shaped(values: pa.Array, shape: Shape) -> pa.Array:
    type_, count = shape.type, len(values)
    if shape.names:
        return _named(values, shape.numbers, shape.names)
    if pa.types.is_struct(type_):
        parts = values.flatten()
        given = (parts[values.type.get_field_index(name)] for name in shape.fields)
        children = [_shaped(v, s) for v, s in zip(given, shape.parts, strict=True)]
        valid = bitmap(validity_of(values))
        return pa.Array.from_buffers(type_, count, [valid], children=children)
    if pa.types.is_list(type_) or pa.types.is_map(type_):
        offsets, elements = list_parts(values)
        within = elements.flatten() if pa.types.is_map(type_) else [elements]
        inner = [_shaped(v, s) for v, s in zip(within, shape.parts, strict=True)]
        if pa.types.is_map(type_):
            inner = [pa.StructArray.from_arrays(inner, fields=list(element_type(type_)))]
        buffers = [bitmap(validity_of(values)), pa.py_buffer(offsets.astype(np.int32))]
        return pa.Array.from_buffers(type_, count, buffers, children=inner)
    return values if values.type == type_ else values.cast(type_)


def _beyond(values: pa.Array) -> Array:
    """bool[n], where a part of a value is a time that is not of the years 1 to 9999. Those that are
    columns are judged with the others of the stream.
    """
    beyond = np.zeros(len(values), np.bool_)
    if values.type == TIMESTAMP:
        us = raw_values(values, np.dtype(np.int64))
        beyond = ((us < FIRST_INSTANT) | (us >= END_OF_TIME)) & np.asarray(values.is_valid())
    elif pa.types.is_struct(values.type):
        for part in values.flatten():
            beyond = beyond | _beyond(part)
    elif is_list(values.type):
        offsets, elements = list_parts(values)
        hits = np.flatnonzero(_beyond(elements))
        beyond[np.searchsorted(offsets, hits, side="right") - 1] = True
    return beyond


def _named(values: pa.Array, numbers: Sequence[int], names: Sequence[str]) -> pa.Array:
    """The names of numbers; the digits of those that have none."""
    at = pc.index_in(values, pa.array(numbers, pa.int32()))
    found = pa.array(names, pa.string()).take(at)
    return pc.coalesce(found, values.cast(pa.string())) if found.null_count else found
