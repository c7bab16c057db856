"""Ingest: the rows of one source become packed batches for their shard."""

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
    """The streaming DataFrame of one stream as packed batches.

    Args:
        df: the stream's columns, in the types of its source; or the input of ``read``.
        read: converts the DataFrame's columns to the stream's, in the worker; None: not needed.
        shard: id of the stream's shard.
        stream: its definition, to recognise bad rows.
        keep: keep rate: the fraction of rows to pack; the others are counted. None: the rate that
            the shard has decided.
    """
    if stream.lateness_by == "row":  # lateness depends on all rows before, also dropped ones
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
                kept, max_ts = _shed(table, stream, share, source.now_us)
            dropped = table.num_rows - kept.num_rows
            for piece in pieces(kept) if kept.num_rows else (kept,):
                size = (piece.num_rows, dropped, max_ts, None)
                row = (shard, "rows", stream.name, part, seq, *size, pack(piece))
                yield pa.record_batch([[v] for v in row], schema=INPUT_ARROW)
                dropped = 0  # counted with the first piece only
                seq += 1

    return pack_partition


def _coalesced(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Tables of about a blob's size, from Spark's batches of some ten thousand rows."""
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


def _shed(
    table: pa.Table, stream: StreamDef, keep: float, now_us: int
) -> tuple[pa.Table, int | None]:
    """The rows that a drop box keeps, and the largest timestamp in us of all good rows.

    Rows that are or may be bad are kept.
    """
    reader = RowReader(stream)
    rows = reader.read(table)
    good = reader.surely_good(rows, now_us)
    keeps = DropBox(stream.name, keep).keeps(rows.columns) | ~good
    times = reader.times(rows)[good]
    return table.filter(pa.array(keeps)), int(times.max()) if times.size else None
