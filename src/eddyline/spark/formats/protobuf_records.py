"""Records of Protobuf as columns, decoded in the workers that read them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import StringType, StructField, StructType

from eddyline.algebra.catalog import JsonPath
from eddyline.engine.ingest.conversion import CORRUPT_RECORD
from eddyline.errors import EddylineError
from eddyline.runtime.stores.columns import Array, bitmap
from eddyline.spark.formats.parquet import Reader
from eddyline.spark.formats.protobuf_columns import Form, buffers, handler
from eddyline.spark.formats.protobuf_options import ProtobufOptions
from eddyline.spark.formats.protobuf_schema import ProtobufSchema
from eddyline.spark.formats.schema_options import HEADER
from eddyline.spark.formats.schema_registry import registered_messages
from eddyline.types import Schema

#: Records that are decoded at once.
_PIECE_BYTES: Final = 64 << 20
_NO_VALUE: Final = "NULL (no value)"
_NO_HEADER: Final = "no zero byte and number of a schema in front"


class Framing(NamedTuple):
    """What is in front of messages.

    Attributes:
        name: of their type. fronts: by the number of a schema, the bytes that may say which type of
            it a message has; a number of None is any one.
    """

    name: str
    fronts: Mapping[int | None, tuple[bytes, ...]]

    def bodies(self, records: pa.Array) -> tuple[pa.Array, pa.Array | None]:
        """The messages of n records, and string[n]: why there is none; None: each one has one.

        Args:
            records: binary, maybe NULL.
        """
        offsets, data = buffers(records)
        valid = np.asarray(records.is_valid())
        kept = np.ones(data.size, np.bool_)
        removed = np.zeros(len(records), np.int64)
        for number, fronts in self.fronts.items():
            for front in fronts:
                rows = self._rows(offsets, data, number, front)
                rows = rows[valid[rows]]
                length = HEADER + len(front)
                removed[rows] = length
                kept[offsets[rows, None] + np.arange(length)] = False
        first, last = offsets[0], offsets[-1]
        ends = (offsets - first - np.append(0, np.cumsum(removed))).astype(np.int32)
        rest = pa.py_buffer(data[first:last][kept[first:last]])
        valid_bodies = bitmap(valid & (removed > 0))
        bodies = pa.Array.from_buffers(
            pa.binary(), len(records), [valid_bodies, pa.py_buffer(ends), rest]
        )
        without = valid & (removed == 0)
        if not without.any():
            return bodies, None
        rest = records.filter(pa.array(without))
        reasons = pc.replace_with_mask(
            pa.nulls(len(records), pa.string()), pa.array(without), self._why_none(rest)
        )
        return bodies, reasons

    def _why_none(self, records: pa.Array) -> pa.Array:
        """Why records without NULL have no message."""
        offsets, data = buffers(records)
        begins = offsets[:-1]
        framed = np.flatnonzero(np.diff(offsets) >= HEADER)
        framed = framed[data[begins[framed]] == 0]
        digits = data[begins[framed, None] + np.arange(1, HEADER)].astype(np.int64)
        numbers = pa.array(digits @ (1 << np.arange(24, -1, -8)))
        known = pa.array([n for n in self.fronts if n is not None], pa.int64())
        is_known = pc.is_in(numbers, known) if len(known) else pa.array([True] * len(numbers))
        others = f" is none of {', '.join(map(str, known.to_pylist()))}"
        text = pc.binary_join_element_wise("schema ", numbers.cast(pa.string()), others, "")
        text = pc.if_else(
            is_known, f"the message indexes in front are not those of {self.name}", text
        )
        has_header = np.zeros(len(records), np.bool_)
        has_header[framed] = True
        reasons = pa.array(np.full(len(records), _NO_HEADER))
        return pc.replace_with_mask(reasons, pa.array(has_header), text)

    def _rows(self, offsets: Array, data: Array, number: int | None, front: bytes) -> Array:
        """The rows that have a number of a schema, and the bytes behind it, in front."""
        head = b"\0" if number is None else b"\0" + number.to_bytes(HEADER - 1, "big")
        places = np.append(np.arange(len(head)), HEADER + np.arange(len(front)))
        rows = np.flatnonzero(np.diff(offsets) >= HEADER + len(front))
        found = data[offsets[rows, None] + places]
        same: Array = rows[(found == np.frombuffer(head + front, np.uint8)).all(axis=1)]
        return same


class Reading(NamedTuple):
    """Records, and what reads them in a worker.

    Attributes:
        rows: the records, in the column ``value``, and others. read: makes of them the declared
            columns, with the texts of those that cannot be read. schema: of these.
    """

    rows: DataFrame
    read: Reader
    schema: StructType

    def parsed(self) -> DataFrame:
        """The declared columns."""
        return self.rows.mapInArrow(self.read, self.schema)


def messages_of(
    rows: DataFrame, options: ProtobufOptions, columns: Schema, paths: Mapping[str, JsonPath]
) -> Reading:
    """The declared columns of records.

    Args:
        rows: records in the binary column ``value``, and others. paths: of columns in a message, or
            the name of another column of the rows.

    Raises:
        DataError: there is no such type of messages, or it has not what columns read.
        SetupError: the library that decodes them is missing.
    """
    try:
        schema, framing = _described(options)
        others = {name: rows.schema[name].dataType for name in rows.columns if name != "value"}
        at = {f.name: paths.get(f.name, (f.name,)) for f in columns}
        beside = {name: str(path[0]) for name, path in at.items() if path[0] in others}
        within = [f for f in columns if f.name not in beside]
        form = schema.form((at[f.name], f.type) for f in within)
        handler(form.file)
    except EddylineError as e:
        raise type(e)(f"{options.what}: {e}") from None
    made = dict(zip((f.name for f in within), form.types, strict=True))
    names = [f.name for f in columns]
    fields = [
        StructField(name, others[beside[name]] if name in beside else from_arrow_type(made[name]))
        for name in names
    ]
    corrupt = StructField(CORRUPT_RECORD, StringType())
    passed = rows.select("value", *(f"`{name}`" for name in beside.values()))
    read = reader(form, framing, list(made), list(beside), names)
    return Reading(passed, read, StructType([*fields, corrupt]))


def _described(options: ProtobufOptions) -> tuple[ProtobufSchema, Framing | None]:
    """The type of the messages, and what is in front of each one."""
    if options.registry is None or options.subject is None:
        schema = options.read()
        by_number = {options.schema_id: schema}
    else:
        found = registered_messages(options.registry, options.subject, options.message)
        by_number = dict[int | None, ProtobufSchema](found.items())
        schema = list(found.values())[-1]
    if not options.framed:
        return schema, None
    fronts = {number: _fronts(s.indexes) for number, s in by_number.items()}
    return schema, Framing(schema.name, fronts)


def _fronts(indexes: Sequence[int]) -> tuple[bytes, ...]:
    """How the position of a type is written: numbers in zigzag, the first type shortly."""
    written = b"".join(_varint(2 * n) for n in (len(indexes), *indexes))
    return (written, b"\0") if list(indexes) == [0] else (written,)


def _varint(number: int) -> bytes:
    more = b""
    while number > 127:
        more += bytes([number & 127 | 128])
        number >>= 7
    return more + bytes([number])


def reader(
    form: Form, framing: Framing | None, within: list[str], beside: list[str], names: list[str]
) -> Reader:
    """In a worker: the declared columns of records.

    Args:
        within: the columns of messages. beside: of the others. names: all, in order.
    """

    def read(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for piece in _pieces(batch):
                records, *others = piece.columns
                columns, corrupt = read_records(form, framing, records)
                by_name = dict(zip([*within, *beside], [*columns, *others], strict=True))
                ordered = [by_name[name] for name in names]
                yield pa.RecordBatch.from_arrays([*ordered, corrupt], [*names, CORRUPT_RECORD])

    return read


def read_records(
    form: Form, framing: Framing | None, records: pa.Array
) -> tuple[list[pa.Array], pa.Array]:
    """The columns of n records, and the texts of those that cannot be read, string[n].

    Args:
        records: binary, maybe NULL.
    """
    if records.type != pa.binary():
        records = records.cast(pa.binary())
    bodies, unframed = (records, None) if framing is None else framing.bodies(records)
    columns, reasons = form.read(bodies)
    if unframed is not None:
        reasons = unframed if reasons is None else pc.coalesce(reasons, unframed)
    texts = pa.nulls(len(records), pa.string())
    if reasons is not None:
        bad = reasons.is_valid()
        hexed = _hexed(records.filter(bad))
        said = pc.binary_join_element_wise(reasons.filter(bad), "; its bytes: ", hexed, "")
        texts = pc.replace_with_mask(texts, bad, said)
    if records.null_count:
        texts = pc.if_else(records.is_null(), _NO_VALUE, texts)
    return columns, texts


def _pieces(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """A batch in pieces of bounded size, of at least a row each."""
    if batch.nbytes <= _PIECE_BYTES or batch.num_rows < 2:
        yield batch
        return
    middle = batch.num_rows // 2
    yield from _pieces(batch.slice(0, middle))
    yield from _pieces(batch.slice(middle))


def _hexed(values: pa.Array) -> pa.Array:
    """Bytes without NULL in hexadecimal digits."""
    offsets, data = buffers(values)
    digits = data[offsets[0] : offsets[-1]].tobytes().hex().encode()
    ends = (2 * (offsets - offsets[0])).astype(np.int32)
    return pa.Array.from_buffers(
        pa.string(), len(values), [None, pa.py_buffer(ends), pa.py_buffer(digits)]
    )
