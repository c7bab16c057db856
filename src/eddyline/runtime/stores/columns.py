"""Growable columns: the payload of row stores, as NumPy buffers that Arrow arrays are cut from.

A column does not know which rows are alive. Its store decides where to write, what to gather and
when to move, always by *place*: the physical index in the buffers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from eddyline.errors import DataError
from eddyline.kernels.instants import sorted_by_digits
from eddyline.kernels.text import gather_bytes, gathered_offsets
from eddyline.runtime.stores.buffers import Buffer, roomy
from eddyline.types import sql_type

Array = np.ndarray[Any, np.dtype[Any]]
#: By width in bits, how NumPy sees plain numbers.
_DTYPES: Final = {bits: np.dtype(f"i{bits // 8}") for bits in (16, 32, 64)}
#: Fewer rows are sorted as soon by NumPy.
_FEW: Final = 1_000


# -- NumPy's functions that are written in Python, as calls of C -----------
# Each takes 1.5 to 2.5 us for an array of one value, where C takes 0.3: a call with one row has a
# dozen of them.


def any_of(flags: Array) -> bool:
    """Whether a value of bool or numbers is not 0."""
    return bool(np.count_nonzero(flags))


def all_of(flags: Array) -> bool:
    """Whether no value of bool or numbers is 0."""
    return bool(np.count_nonzero(flags) == flags.size)


def filled(count: int, value: int, dtype: Any = np.int64) -> Array:
    """dtype[count]: the value."""
    out = np.empty(count, dtype)
    out.fill(value)
    return out


def unique(values: Array) -> Array:
    """The distinct values, ascending: ``np.unique`` by sorting, which for integers is 10 times as
    fast as what NumPy 2.3 does.
    """
    ordered = np.sort(values)
    if ordered.size < 2:
        return ordered
    differs = np.empty(ordered.size, np.bool_)
    differs[0] = True
    np.not_equal(ordered[1:], ordered[:-1], out=differs[1:])
    return ordered[differs]


def order_by(first: Array, second: Array) -> Array:
    """int64[n]: the numbers of rows by two int64 of each; equal ones as they come."""
    if first.size < _FEW:
        return np.lexsort((second, first))
    return sorted_by_digits(np.ascontiguousarray(first), np.ascontiguousarray(second))


def taken(columns: Sequence[pa.Array], rows: Array) -> list[pa.Array]:
    """The values of columns at these positions (int64[k])."""
    return [_taken(column, rows) for column in columns]


def _taken(column: pa.Array, rows: Array) -> pa.Array:
    """NumPy takes plain numbers in half of the time."""
    if column.null_count or not is_plain(column.type):
        return column.take(pa.array(rows))
    values = raw_values(column, _DTYPES[column.type.bit_width]).take(rows)
    return pa.Array.from_buffers(column.type, rows.size, [None, pa.py_buffer(values)])


def is_plain(type_: pa.DataType, bits: int | None = None) -> bool:
    """Whether values are single numbers to NumPy; of this width."""
    widths = _DTYPES if bits is None else (bits,)
    return pa.types.is_primitive(type_) and type_.bit_width in widths


class Column(Protocol):
    """Values of one type by place."""

    type: pa.DataType

    def write(self, place: int, values: pa.Array) -> None:
        """Store ``values`` at ``place, place + 1, ...``, which is the end of the column."""

    def gather(self, places: Array) -> pa.Array:
        """The values at int64 places, as an Arrow array of the column's type."""

    def view(self, start: int, end: int) -> pa.Array:
        """The values at [start, end), valid until the column changes: of most types no copy."""

    def shift(self, start: int, end: int, capacity: int) -> None:
        """Move the places [start, end) to the front of buffers for ``capacity`` rows."""

    def take(self, places: Array, capacity: int) -> None:
        """Keep only these places, ascending, at the front of buffers for ``capacity`` rows."""

    def used_bytes(self, start: int, end: int) -> int:
        """What the values at [start, end) take."""


def single_column(type_: pa.DataType, capacity: int) -> Column:
    """The column for an Arrow type that is not nested: fixed-width values or text.

    Raises:
        DataError: values of the type cannot be stored.
    """
    if pa.types.is_string(type_) or pa.types.is_binary(type_):
        return TextColumn(type_, capacity)
    if pa.types.is_boolean(type_) or _byte_width(type_) is not None:
        return FixedColumn(type_, capacity)
    raise DataError(f"columns of type {sql_type(type_)} cannot be stored")


def _byte_width(type_: pa.DataType) -> int | None:
    try:
        bits = int(type_.bit_width)
    except ValueError:
        return None
    return bits // 8 if bits in (8, 16, 32, 64, 128) else None


def validity_of(values: pa.Array) -> Array | None:
    """bool[n], True where there is a value; None if there is one everywhere."""
    if values.null_count == 0:
        return None
    return np.asarray(pc.is_valid(values).to_numpy(zero_copy_only=False))


def raw_values(values: pa.Array, dtype: np.dtype[Any]) -> Array:
    """The values buffer of a fixed-width array, reinterpreted; undefined where null."""
    buffer = values.buffers()[1]
    if buffer is None or len(values) == 0:
        return np.zeros(len(values), dtype)
    return np.ndarray((len(values),), dtype, buffer, values.offset * dtype.itemsize)


def bitmap(valid: Array | None) -> pa.Buffer | None:
    """An Arrow validity bitmap of bool[n]; None means all valid, in and out."""
    if valid is None or all_of(valid):
        return None
    return pa.py_buffer(np.packbits(valid, bitorder="little"))


class Nullable:
    """Which places are NULL, allocated at the first NULL."""

    def __init__(self) -> None:
        self._null: Buffer | None = None  # bool by place

    def _write_validity(self, place: int, values: pa.Array, capacity: int) -> None:
        if self._null is None and not values.null_count:
            return
        valid = validity_of(values)
        if self._null is None:
            self._null = Buffer(capacity, np.bool_)
        self._null.array[place : place + len(values)] = False if valid is None else ~valid

    def _validity(self, places: Array) -> Array | None:
        return None if self._null is None else ~self._null.array.take(places)

    def _viewed_validity(self, start: int, end: int) -> Array | None:
        return None if self._null is None else ~self._null.array[start:end]

    def _used_validity(self, count: int) -> int:
        return 0 if self._null is None else count

    def _shift_validity(self, start: int, end: int, capacity: int) -> None:
        if self._null is not None:
            self._null.shift(start, end, capacity)

    def _take_validity(self, places: Array, capacity: int) -> None:
        if self._null is not None:
            self._null.take(places, capacity)


class FixedColumn(Nullable):
    """Values of fixed width, stored as raw bits (booleans as bytes)."""

    def __init__(self, type_: pa.DataType, capacity: int) -> None:
        super().__init__()
        self.type = type_
        self._boolean = pa.types.is_boolean(type_)
        width = 1 if self._boolean else _byte_width(type_)
        self._dtype = np.dtype({1: "u1", 2: "u2", 4: "u4", 8: "i8", 16: "V16"}[width or 0])
        self._data = Buffer(capacity, self._dtype)

    def write(self, place: int, values: pa.Array) -> None:
        if self._boolean:
            filled = values.fill_null(False) if values.null_count else values
            raw = filled.to_numpy(zero_copy_only=False).view(np.uint8)
        else:
            raw = raw_values(values, self._dtype)
        self._data.array[place : place + raw.size] = raw
        if self._null is not None or values.null_count:
            self._write_validity(place, values, len(self._data.array))

    def gather(self, places: Array) -> pa.Array:
        data = self._data.array.take(places)
        if self._boolean:
            data = np.packbits(data, bitorder="little")
        buffers = [bitmap(self._validity(places)), pa.py_buffer(data)]
        return pa.Array.from_buffers(self.type, places.size, buffers)

    def view(self, start: int, end: int) -> pa.Array:
        data = self._data.array[start:end]
        data = np.packbits(data, bitorder="little") if self._boolean else data.view(np.uint8)
        buffers = [bitmap(self._viewed_validity(start, end)), pa.py_buffer(data)]
        return pa.Array.from_buffers(self.type, end - start, buffers)

    def shift(self, start: int, end: int, capacity: int) -> None:
        self._data.shift(start, end, capacity)
        self._shift_validity(start, end, capacity)

    def take(self, places: Array, capacity: int) -> None:
        self._data.take(places, capacity)
        self._take_validity(places, capacity)

    def used_bytes(self, start: int, end: int) -> int:
        return (end - start) * self._dtype.itemsize + self._used_validity(end - start)


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts of a column: those of place i are the bytes [offsets[i], offsets[i + 1]).

    Attributes:
        offsets: int64, by place. data: uint8. origin: the number of the first byte in ``data``.
    """

    offsets: Array
    data: Array
    origin: int


class TextColumn(Nullable):
    """Strings or bytes: int64 offsets by place into one growing byte buffer.

    Bytes are numbered from the first one ever, so offsets stay when bytes are dropped.
    """

    def __init__(self, type_: pa.DataType, capacity: int) -> None:
        super().__init__()
        self.type = type_
        self._offsets = Buffer(capacity + 1, np.int64)
        self._data = Buffer(max(capacity, 16), np.uint8)
        self._origin = 0  # number of the first byte in the buffer

    def write(self, place: int, values: pa.Array) -> None:
        n = len(values)
        offsets, data = text_buffers(values)
        start = int(self._offsets.array[place])
        end = start + int(offsets[-1] - offsets[0])
        if end - self._origin > len(self._data.array):
            self._make_room(start, end)
        at = start - self._origin
        self._data.array[at : end - self._origin] = data[offsets[0] : offsets[-1]]
        moved = offsets.astype(np.int64) + (start - int(offsets[0]))
        self._offsets.array[place : place + n + 1] = moved
        self._write_validity(place, values, len(self._offsets.array) - 1)

    def _make_room(self, used: int, end: int) -> None:
        """Make room for bytes up to ``end``; those before ``used`` are there."""
        capacity = roomy(end - self._origin, len(self._data.array))
        self._data.shift(0, used - self._origin, capacity)

    def gather(self, places: Array) -> pa.Array:
        offsets = gathered_offsets(self._offsets.array, places)
        return self._arrow(offsets, self._bytes(places, offsets), self._validity(places))

    def view(self, start: int, end: int) -> pa.Array:
        offsets = self._offsets.array[start : end + 1]
        data = self._data.array[offsets[0] - self._origin : offsets[-1] - self._origin]
        return self._arrow(offsets - offsets[0], data, self._viewed_validity(start, end))

    def _arrow(self, offsets: Array, data: Array, valid: Array | None) -> pa.Array:
        """Texts at the bytes [offsets[i], offsets[i + 1]) of ``data``."""
        if offsets[-1] > np.iinfo(np.int32).max:
            raise DataError(
                f"one batch of results holds {offsets[-1]} bytes of text in one column: "
                "use a smaller chunk_rows"
            )
        buffers = [bitmap(valid), pa.py_buffer(offsets.astype(np.int32)), pa.py_buffer(data)]
        return pa.Array.from_buffers(self.type, offsets.size - 1, buffers)

    def _bytes(self, places: Array, offsets: Array) -> Array:
        return gather_bytes(self._offsets.array, self._data.array, self._origin, places, offsets)

    def shift(self, start: int, end: int, capacity: int) -> None:
        first, last = (int(self._offsets.array[place]) for place in (start, end))
        room = roomy(last - first, len(self._data.array))
        self._data.shift(first - self._origin, last - self._origin, room)
        self._origin = first
        self._offsets.shift(start, end + 1, capacity + 1)
        self._shift_validity(start, end, capacity)

    def take(self, places: Array, capacity: int) -> None:
        offsets = gathered_offsets(self._offsets.array, places)
        data = self._bytes(places, offsets)
        self._origin = 0
        self._data = Buffer(roomy(data.size, 16), np.uint8)
        self._data.array[: data.size] = data
        self._offsets = Buffer(capacity + 1, np.int64)
        self._offsets.array[: offsets.size] = offsets
        self._take_validity(places, capacity)

    def used_bytes(self, start: int, end: int) -> int:
        first, last = (int(self._offsets.array[place]) for place in (start, end))
        offsets = self._offsets.array.itemsize * (end - start)
        return last - first + offsets + self._used_validity(end - start)

    def texts(self) -> Texts:
        """The texts by place, for kernels that compare them."""
        return Texts(self._offsets.array, self._data.array, self._origin)


def text_buffers(values: pa.Array) -> tuple[Array, Array]:
    """int32 offsets[n + 1] and the bytes they point into, of a string or binary array."""
    _, offsets, data = values.buffers()
    if offsets is None or len(values) == 0:
        return np.zeros(len(values) + 1, np.int32), np.zeros(0, np.uint8)
    ends = values.offset + len(values) + 1
    int_offsets = np.frombuffer(offsets, np.int32, count=ends)[values.offset :]
    raw = np.zeros(0, np.uint8) if data is None else np.frombuffer(data, np.uint8)
    return int_offsets, raw
