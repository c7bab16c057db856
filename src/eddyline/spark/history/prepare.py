"""The row groups of a history: those of its Parquet files, or of a sorted copy.

Parquet files on a local disk whose row groups say which event times they have, and overlap little
in time, are read where they are. Of any other history Spark makes a copy in the checkpoint, sorted
by event time, with all cores.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

from eddyline.algebra.catalog import StreamDef
from eddyline.engine.ingest.row_reader import RowReader
from eddyline.errors import DataError
from eddyline.spark.formats.parquet import files_below, local_path
from eddyline.spark.history.options import History
from eddyline.spark.history.slices import RowGroup
from eddyline.spark.history.tickets import Columns
from eddyline.spark.storage.files import qualified
from eddyline.types import FIRST_INSTANT

#: The column of event times in a sorted copy.
TIME: Final = "_eddyline_us"
_ORDER: Final = "_eddyline_order"
#: Rows of a row group of a sorted copy: no more are read for a slice than it has.
_GROUP_ROWS: Final = 1 << 17
#: How Spark writes timestamps; INT96 has other limits than Spark.
_TIMES: Final = "spark.sql.parquet.outputTimestampType"
_PARTITION_BYTES: Final = 128 << 20
_PARTITIONS_PER_CORE: Final = 64
#: Options of histories that are read in place.
_PLAIN: Final = frozenset(["source", "path"])
_UNITS: Final = {"us": 1, "ms": 1_000}


class StoredHistory(NamedTuple):
    """Where the rows of a history are."""

    groups: Sequence[RowGroup]
    columns: Columns


def in_place(
    spark: SparkSession, stream: StreamDef, history: History, now_us: int
) -> StoredHistory | None:
    """The row groups of a history's own files; None if they have to be sorted, or converted.

    Args:
        stream: with its limit AHEAD AT MOST. now_us: the wall clock.

    Raises:
        DataError: the files lack a column, or its type does not convert.
    """
    options = history.options
    if options is None or options["source"].lower() != "parquet" or set(options) - _PLAIN:
        return None
    if not qualified(spark, options["path"]).startswith("file:"):
        return None
    if stream.event_time is not None or stream.lateness_by == "row":
        return None
    place, found = local_path(options["path"]), files_below(options["path"])
    if not found or any("=" in str(f.relative_to(place or f)) for f in found):
        return None
    if any(f != place and f.suffix != ".parquet" for f in found):
        return None
    newest = now_us + (stream.ahead_us or 0)
    with ThreadPoolExecutor() as pool:
        groups: list[RowGroup] = []
        columns: Columns | None = None
        for of in pool.map(partial(_of_file, stream=stream, newest=newest), found):
            if of is None or (columns is not None and of.columns != columns):
                return None
            groups += of.groups
            columns = of.columns
    assert columns is not None, "there are files"
    return StoredHistory(groups, columns)


def sorted_copy(
    df: DataFrame, stream: StreamDef, place: Path, now_us: int, cores: int
) -> StoredHistory:
    """Write the rows of a history in the order of event time.

    A row without a usable event time stands beside those before it in the source.

    Args:
        df: the supplied columns of the stream, perhaps CORRUPT_RECORD. place: a new directory.
        stream: with its limit AHEAD AT MOST. now_us: the wall clock.
    """
    spark = df.sparkSession
    schema = StructType([*df.schema.fields, StructField(TIME, LongType())])
    size = int(str(df._jdf.queryExecution().optimizedPlan().stats().sizeInBytes()))
    count = min(max(cores, math.ceil(size / _PARTITION_BYTES)), _PARTITIONS_PER_CORE * cores)
    timed = df.mapInArrow(partial(_with_times, stream, now_us), schema)
    ordered = (
        timed.withColumn(_ORDER, F.monotonically_increasing_id())
        .repartitionByRange(count, TIME)
        .sortWithinPartitions(TIME, _ORDER)
        .drop(_ORDER)
    )
    before = spark.conf.get(_TIMES)
    spark.conf.set(_TIMES, "TIMESTAMP_MICROS")
    try:
        ordered.write.option("parquet.block.row.count.limit", _GROUP_ROWS).parquet(str(place))
    finally:
        spark.conf.set(_TIMES, before or "INT96")
    names = {name: name for name in df.columns}
    columns = Columns(names, TIME)
    groups = [g for file in files_below(str(place)) for g in _groups(file, TIME, 1) or ()]
    return StoredHistory(groups, columns)


def _of_file(file: Path, *, stream: StreamDef, newest: int) -> StoredHistory | None:
    try:
        schema = pq.read_schema(file)
    except pa.ArrowInvalid as e:
        raise DataError(f"stream '{stream.name}': cannot read '{file}': {e}") from None
    RowReader(stream).read(schema.empty_table())
    names = {name.lower(): name for name in schema.names}
    columns = {f.name: names[f.name.lower()] for f in stream.supplied}
    if stream.timestamp not in columns:  # it is computed
        return None
    time = columns[stream.timestamp]
    type_ = schema.field(time).type
    if not pa.types.is_timestamp(type_) or type_.unit not in _UNITS:
        return None
    groups = _groups(file, time, _UNITS[type_.unit])
    if groups is None:
        return None
    if any(g.first_us < FIRST_INSTANT or g.last_us > newest for g in groups):
        return None  # there are bad rows
    return StoredHistory(groups, Columns(columns, time))


def _groups(file: Path, time: str, unit_us: int) -> list[RowGroup] | None:
    """The row groups of a file; None if they do not say which event times all their rows have."""
    metadata = pq.read_metadata(file)
    paths = [metadata.schema.column(i).path for i in range(len(metadata.schema))]
    column = paths.index(time)
    found = []
    for n in range(metadata.num_row_groups):
        group = metadata.row_group(n)
        if not group.num_rows:
            continue
        of = group.column(column).statistics
        known = of is not None and of.has_min_max and of.has_null_count and of.null_count == 0
        if not known or not isinstance(of.min_raw, int):
            return None
        first, last = of.min_raw * unit_us, of.max_raw * unit_us
        found.append(RowGroup(str(file), n, group.num_rows, first, last))
    return found


def _with_times(
    stream: StreamDef, now_us: int, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """In a task: rows with their event times; that of a bad row is that of the row before it."""
    reader = RowReader(stream)
    for batch in batches:
        table = pa.Table.from_batches([batch])
        typed = reader.read(table)
        bad = reader.surely_bad(typed, now_us)
        times = pa.array(np.where(bad, 0, reader.times(typed)), mask=bad)
        filled = pc.fill_null_backward(pc.fill_null_forward(times)).fill_null(0)
        yield batch.append_column(pa.field(TIME, pa.int64()), filled)
