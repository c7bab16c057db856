"""Ingest: the rows of one source become fat rows for their shard."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame

from eddyline.algebra.catalog import StreamDef
from eddyline.engine.ingest.row_reader import RowReader
from eddyline.engine.overload.drop_box import DropBox
from eddyline.spark.batch_time import TimedBatches, with_batch_time
from eddyline.spark.gc_control import freeze_live_objects
from eddyline.spark.keep_rates import keep_rate
from eddyline.spark.packed_batches import (
    BLOB_BYTES,
    INPUT_ARROW,
    INPUT_SCHEMA,
    pack,
    pieces,
)
from eddyline.spark.parquet import Reader


def packed_batches(
    df: DataFrame, read: Reader | None, shard: int, stream: StreamDef, keep: float | None = 1.0
) -> DataFrame:
    """The streaming DataFrame of one stream as fat rows.

    Args:
        df: the stream's columns, in whatever types its source has; or what ``read`` takes.
        read: makes the stream's columns of the DataFrame's, in the worker; None: they are these.
        shard: id of the shard that the stream belongs to.
        stream: how rows are judged that may be dropped.
        keep: the share of its rows that is packed; the others are counted. None: what its shard
            has decided to keep.
    """
    if stream.lateness_by == "row":  # the shard has to see which row came before which
        keep = 1.0
    return with_batch_time(
        with_batch_time(df).mapInArrow(_packer(read, shard, stream, keep), INPUT_SCHEMA)
    )


def _packer(read: Reader | None, shard: int, stream: StreamDef, keep: float | None) -> Reader:
    def pack_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        freeze_live_objects()
        context = TaskContext.get()
        part = context.partitionId() if context is not None else 0
        share = keep_rate(shard, stream.name) if keep is None else keep
        source = TimedBatches(batches)
        seq = 0
        for table in _coalesced(read(iter(source)) if read is not None else iter(source)):
            kept, max_ts = table, None
            if share < 1:
                kept, max_ts = _thinned(table, stream, share, source.now_us)
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


def _thinned(
    table: pa.Table, stream: StreamDef, keep: float, now_us: int
) -> tuple[pa.Table, int | None]:
    """The rows that a drop box keeps, as they are, and the largest timestamp of all good ones.

    It drops no row that is bad, or may be.
    """
    reader = RowReader(stream)
    rows = reader.read(table)
    good = reader.surely_good(rows, now_us)
    keeps = DropBox(stream.name, keep).keeps(rows.columns) | ~good
    times = reader.times(rows)[good]
    return table.filter(pa.array(keeps)), int(times.max()) if times.size else None
