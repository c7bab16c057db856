"""Growable columns of any type: those of single values, and trees of them for nested types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.algebra.list_parts import list_parts
from eddyline.errors import DataError
from eddyline.kernels.lists import ranges
from eddyline.kernels.text import gathered_offsets
from eddyline.runtime.stores.buffers import Buffer, roomy
from eddyline.runtime.stores.columns import (
    Array,
    Column,
    Nullable,
    all_of,
    bitmap,
    single_column,
)
from eddyline.types import element_type, is_list

_LONGEST: Final = np.iinfo(np.int32).max


def make_column(type_: pa.DataType, capacity: int) -> Column:
    """The column for an Arrow type.

    Raises:
        DataError: values of the type cannot be stored.
    """
    if pa.types.is_struct(type_):
        return StructColumn(type_, capacity)
    if is_list(type_):
        return ListColumn(type_, capacity)
    return single_column(type_, capacity)


class StructColumn(Nullable):
    """Structures: a column for each field, at the same places."""

    def __init__(self, type_: pa.DataType, capacity: int) -> None:
        super().__init__()
        self.type = type_
        self._capacity = capacity
        self._fields = [make_column(f.type, capacity) for f in type_]

    def write(self, place: int, values: pa.Array) -> None:
        for number, field in enumerate(self._fields):
            field.write(place, values.field(number))
        self._write_validity(place, values, self._capacity)

    def gather(self, places: Array) -> pa.Array:
        fields = [f.gather(places) for f in self._fields]
        return self._arrow(places.size, self._validity(places), fields)

    def part(self, places: Array, names: Sequence[str]) -> pa.Array:
        """As :meth:`gather`, of the field at a path of names only."""
        field = self._fields[self.type.get_field_index(names[0])]
        if len(names) > 1:
            assert isinstance(field, StructColumn), "only structures have fields"
            values = field.part(places, names[1:])
        else:
            values = field.gather(places)
        valid = self._validity(places)
        if valid is None or all_of(valid):
            return values
        return pc.if_else(pa.array(valid), values, pa.scalar(None, values.type))

    def view(self, start: int, end: int) -> pa.Array:
        fields = [f.view(start, end) for f in self._fields]
        return self._arrow(end - start, self._viewed_validity(start, end), fields)

    def _arrow(self, count: int, valid: Array | None, fields: list[pa.Array]) -> pa.Array:
        return pa.Array.from_buffers(self.type, count, [bitmap(valid)], children=fields)

    def shift(self, start: int, end: int, capacity: int) -> None:
        self._capacity = capacity
        for field in self._fields:
            field.shift(start, end, capacity)
        self._shift_validity(start, end, capacity)

    def take(self, places: Array, capacity: int) -> None:
        self._capacity = capacity
        for field in self._fields:
            field.take(places, capacity)
        self._take_validity(places, capacity)

    def used_bytes(self, start: int, end: int) -> int:
        fields = sum(field.used_bytes(start, end) for field in self._fields)
        return fields + self._used_validity(end - start)


class ListColumn(Nullable):
    """Lists and maps: int64 offsets by place into a column of elements.

    Elements are numbered from the first one ever, so offsets stay when elements are dropped.
    """

    def __init__(self, type_: pa.DataType, capacity: int) -> None:
        super().__init__()
        self.type = type_
        self._offsets = Buffer(capacity + 1, np.int64)
        self._room = max(capacity, 16)
        self._elements = make_column(element_type(type_), self._room)
        self._origin = 0  # number of the first element that is there

    def write(self, place: int, values: pa.Array) -> None:
        count = len(values)
        offsets, elements = list_parts(values)
        start = int(self._offsets.array[place])
        end = start + len(elements)
        if end - self._origin > self._room:
            self._room = roomy(end - self._origin, self._room)
            self._elements.shift(0, start - self._origin, self._room)
        self._elements.write(start - self._origin, elements)
        self._offsets.array[place : place + count + 1] = offsets + start
        self._write_validity(place, values, len(self._offsets.array) - 1)

    def gather(self, places: Array) -> pa.Array:
        offsets = gathered_offsets(self._offsets.array, places)
        elements = self._elements.gather(self._places_of_elements(places, offsets))
        return self._arrow(offsets, self._validity(places), elements)

    def view(self, start: int, end: int) -> pa.Array:
        offsets = self._offsets.array[start : end + 1]
        first, last = int(offsets[0]), int(offsets[-1])
        elements = self._elements.view(first - self._origin, last - self._origin)
        return self._arrow(offsets - first, self._viewed_validity(start, end), elements)

    def _arrow(self, offsets: Array, valid: Array | None, elements: pa.Array) -> pa.Array:
        if offsets[-1] > _LONGEST:
            raise DataError(
                f"one batch of results holds {offsets[-1]} elements of lists in one column: "
                "use a smaller chunk_rows"
            )
        buffers = [bitmap(valid), pa.py_buffer(offsets.astype(np.int32))]
        return pa.Array.from_buffers(self.type, offsets.size - 1, buffers, children=[elements])

    def _places_of_elements(self, places: Array, offsets: Array) -> Array:
        """The places of the elements of lists, of which ``offsets`` are those when gathered."""
        starts = self._offsets.array.take(places) - self._origin
        return ranges(starts, offsets)

    def shift(self, start: int, end: int, capacity: int) -> None:
        first, last = (int(self._offsets.array[place]) for place in (start, end))
        self._room = roomy(last - first, self._room)
        self._elements.shift(first - self._origin, last - self._origin, self._room)
        self._origin = first
        self._offsets.shift(start, end + 1, capacity + 1)
        self._shift_validity(start, end, capacity)

    def take(self, places: Array, capacity: int) -> None:
        offsets = gathered_offsets(self._offsets.array, places)
        kept = self._places_of_elements(places, offsets)
        self._room = roomy(kept.size, 16)
        self._elements.take(kept, self._room)
        self._origin = 0
        self._offsets = Buffer(capacity + 1, np.int64)
        self._offsets.array[: offsets.size] = offsets
        self._take_validity(places, capacity)

    def used_bytes(self, start: int, end: int) -> int:
        first, last = (int(self._offsets.array[place]) for place in (start, end))
        elements = self._elements.used_bytes(first - self._origin, last - self._origin)
        offsets = self._offsets.array.itemsize * (end - start)
        return elements + offsets + self._used_validity(end - start)
