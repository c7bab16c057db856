"""Ingest: the rows of one source become fat rows for their shard."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import DataFrame

from eddyline.algebra.catalog import StreamDef
from eddyline.session.arrow_values import instants
from eddyline.session.drop_box import DropBox
from eddyline.session.intake import Intake
from eddyline.spark.fatrows import (
    BLOB_BYTES,
    INPUT_ARROW,
    INPUT_SCHEMA,
    pack,
    pieces,
)
from eddyline.spark.garbage import exempt_what_stays
from eddyline.spark.parquet import Reader
from eddyline.spark.shares import announced
from eddyline.types import TIMESTAMP


def fat_rows(
    df: DataFrame, read: Reader | None, shard: int, stream: StreamDef, keep: float | None = 1.0
) -> DataFrame:
    """The streaming DataFrame of one stream as fat rows.

    Args:
        df: the stream's columns, in whatever types its source has; or what ``read`` takes.
        read: makes the stream's columns of the DataFrame's, in the worker; None: they are these.
        shard: id of the shard that the stream belongs to.
        stream: the largest timestamp of its rows travels with each fat row.
        keep: the share of its rows that is packed; the others are counted. None: what its shard
            has decided to keep.
    """
    return df.mapInArrow(_packer(read, shard, stream, keep), INPUT_SCHEMA)


def _packer(read: Reader | None, shard: int, stream: StreamDef, keep: float | None) -> Reader:
    def pack_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        exempt_what_stays()
        context = TaskContext.get()
        part = context.partitionId() if context is not None else 0
        share = announced(shard, stream.name) if keep is None else keep
        seq = 0
        for table in _coalesced(read(batches) if read is not None else batches):
            max_ts = _largest(table.column(stream.timestamp))
            kept = table if share == 1 else _thinned(table, stream, share)
            dropped = table.num_rows - kept.num_rows
            for piece in pieces(kept) if kept.num_rows else (kept,):
                size = (piece.num_rows, dropped, max_ts)
                row = (shard, "rows", stream.name, part, seq, *size, pack(piece))
                yield pa.record_batch([[v] for v in row], schema=INPUT_ARROW)
                dropped = 0  # they are counted once
                seq += 1

    return pack_partition


def _coalesced(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Tables of about a blob's size: Spark hands over some ten thousand rows at a time."""
    waiting: list[pa.RecordBatch] = []
    size = 0
    for batch in batches:
        waiting.append(batch)
        size += batch.nbytes
        if size >= BLOB_BYTES:
            yield pa.Table.from_batches(waiting)
            waiting, size = [], 0
    if waiting:
        yield pa.Table.from_batches(waiting)


def _thinned(table: pa.Table, stream: StreamDef, keep: float) -> pa.Table:
    """The rows that a drop box keeps, as they are; it never drops bad ones."""
    incoming = Intake(stream).read(table)
    keeps = pa.array(DropBox(stream.name, keep).keeps(incoming.columns))
    if incoming.reasons is not None:
        keeps = pc.or_(keeps, incoming.reasons.is_valid())
    return table.filter(keeps)


def _largest(column: Any) -> int | None:
    """The largest timestamp in microseconds; None if there is none (nulls, unparsable text)."""
    timestamps = pa.chunked_array([instants(c) for c in column.chunks], TIMESTAMP)
    largest = pc.max(timestamps).cast(pa.int64()).as_py()
    return None if largest is None else int(largest)
