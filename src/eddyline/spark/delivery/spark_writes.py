"""Rows of a cached batch as DataFrames, for the sinks that Spark writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final

import numpy as np
import pyarrow as pa
from pyspark import inheritable_thread_target
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from eddyline.spark.delivery.collected import TIME_COLUMN
from eddyline.spark.delivery.sink_uses import Key
from eddyline.spark.exchange.packed_batches import unpack
from eddyline.spark.exchange.query_rows import QueryRows, decoded_query
from eddyline.spark.gc_control import freeze_live_objects
from eddyline.spark.sinks.sequence import SEQ_COLUMN, first_number
from eddyline.spark.sinks.sink_bases import SparkSink, column_of
from eddyline.spark.sinks.sinks import FileSink

#: Maximum number of sinks that are written at the same time.
_MAX_WRITES: Final = 4
#: Maximum number of servers that are waited for at the same time.
_MAX_REMOTE: Final = 32
#: Columns added to sort rows: shard, and position among the rows of a task.
_SHARD: Final = "_eddyline_shard"
_POSITION: Final = "_eddyline_position"

_Unpacker = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


def of_keys(packed: DataFrame, keys: Sequence[Key]) -> DataFrame:
    """The packed batches with these keys, which are of one kind."""
    kinds, names = zip(*keys, strict=True)
    return packed.where((F.col("kind") == kinds[0]) & F.col("name").isin(list(names)))


def rows_for_sink(
    packed: DataFrame, keys: Sequence[Key], sink: SparkSink, *, several_shards: bool
) -> DataFrame:
    """The rows of packed batches, with the columns that the sink writes but ``_seq``.

    Changes of several shards are sorted by time: of files the first has the first changes, other
    sinks, and those with ``_seq``, are written by one task.
    """
    own = of_keys(packed, keys).select("shard", "blob")
    columns = _columns(sink)
    seq = [SEQ_COLUMN.name] if sink.owner.has_seq else []
    schema = pa.schema([field for field in sink.schema if field.name not in seq])
    if not (several_shards and sink.owner.kind == "changes"):
        return own.mapInArrow(_unpacker(columns), from_arrow_schema(schema))
    more = [pa.field(_SHARD, pa.int64()), pa.field(_POSITION, pa.int64())]
    with_more = from_arrow_schema(pa.schema([*schema, *more]))
    rows = own.mapInArrow(_with_positions(columns), with_more)
    order = [TIME_COLUMN, _SHARD, _POSITION]
    if isinstance(sink, FileSink) and not seq:
        rows = rows.orderBy(*order)
    else:
        rows = rows.repartition(1).sortWithinPartitions(*order)
    return rows.drop(_SHARD, _POSITION)


def with_numbers(rows: DataFrame, batch_id: int, columns: Sequence[str]) -> DataFrame:
    """Changes of a batch with the column ``_seq``, written by one task.

    Args:
        columns: of the outcome.
    """
    place = F.monotonically_increasing_id()  # of one task: 0, 1, 2, ...
    number = (F.lit(first_number(batch_id)) + place).alias(SEQ_COLUMN.name)
    names = [name for name in columns if name != SEQ_COLUMN.name]
    numbered = rows.coalesce(1).select(*map(column_of, names), number)
    return numbered.select(*map(column_of, columns))


def first_rows(packed: DataFrame, key: Key, query: str, schema: pa.Schema, limit: int) -> pa.Table:
    """The first rows of one query, of each task that has some."""

    def unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        left = limit
        for _, table in _tables(batches):
            rows = QueryRows.of(table).only(query).slice(0, left)
            left -= rows.num_rows
            yield from rows.to_batches()

    own = of_keys(packed, [key]).select("shard", "blob")
    return own.mapInArrow(unpacked, from_arrow_schema(schema)).toArrow().cast(schema)


def write_concurrently(
    spark: SparkSession,
    writes: Sequence[Callable[[], None]],
    remote: Sequence[Callable[[], None]] = (),
) -> None:
    """Call functions that run Spark jobs, and those that wait for servers, side by side. All have
    ended when this returns.

    Raises:
        Exception: the first error of one of them.
    """
    if len(writes) + len(remote) == 1:
        (*writes, *remote)[0]()
        return
    if not writes and not remote:
        return
    with ThreadPoolExecutor(_MAX_WRITES) as threads, ThreadPoolExecutor(_MAX_REMOTE) as waiting:
        inheriting = inheritable_thread_target(spark)  # local properties, such as the job group
        running = [threads.submit(inheriting(write)) for write in writes]
        running += [waiting.submit(write) for write in remote]
    for write in running:
        write.result()


#: From a table of changes or of a side output to the columns that a sink writes.
_Columns = Callable[[pa.Table], pa.Table]


def sink_columns(sink: SparkSink, rows: pa.Table) -> pa.Table:
    """The rows of a packed batch, with the columns that the sink writes."""
    return _columns(sink)(rows)


def _columns(sink: SparkSink) -> _Columns:
    if sink.shared:
        return decoded_query
    return _without_query if sink.owner.kind == "changes" else _unchanged


def _unchanged(table: pa.Table) -> pa.Table:
    return table


def _without_query(table: pa.Table) -> pa.Table:
    return table.remove_column(0)


def _unpacker(columns: _Columns) -> _Unpacker:
    def unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _, table in _tables(batches):
            yield from columns(table).to_batches()

    return unpacked


def _with_positions(columns: _Columns) -> _Unpacker:
    def unpacked(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        position = 0
        for shard, table in _tables(batches):
            for rows in columns(table).to_batches():
                n = rows.num_rows
                positions = pa.array(np.arange(position, position + n))
                shards = pa.repeat(pa.scalar(shard, pa.int64()), n)
                position += n
                yield rows.append_column(_SHARD, shards).append_column(_POSITION, positions)

    return unpacked


def _tables(batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[int, pa.Table]]:
    """Shard and rows of each packed batch."""
    freeze_live_objects()
    for batch in batches:
        shards = batch.column("shard").to_pylist()
        for shard, blob in zip(shards, batch.column("blob"), strict=True):
            yield shard, unpack(blob.as_buffer())
