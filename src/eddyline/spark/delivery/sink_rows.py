"""The rows of one sink in a batch: how they are written, kept for later, or put aside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from eddyline.spark.delivery.collected import CollectedBatch, in_time_order, rows_of
from eddyline.spark.delivery.sink_uses import Key
from eddyline.spark.delivery.spark_writes import (
    of_keys,
    rows_for_sink,
    sink_columns,
    with_numbers,
)
from eddyline.spark.exchange.packed_batches import OUTPUT_COLUMNS, packed_content
from eddyline.spark.exchange.query_rows import QueryRows, decoded_query
from eddyline.spark.sinks.sequence import numbered
from eddyline.spark.sinks.sink_bases import DriverSink, SparkSink, Target
from eddyline.spark.sinks.sinks import FileSink, file_sink

#: The column of dead letters that says why a sink has refused them.
REASON: Final = "_reason"


@dataclass(frozen=True)
class SinkRows:
    """The rows of a batch for one sink.

    Attributes:
        keys: of its packed batches. batch: with the rows of keys that are not large there.
        packed: all packed batches of the job; None: no key is large.
        emptied: queries whose answers have become empty before these rows.
    """

    sink: DriverSink | SparkSink
    batch_id: int
    keys: Sequence[Key]
    batch: CollectedBatch
    packed: DataFrame | None = None
    emptied: Sequence[str] = ()

    @property
    def by_spark(self) -> bool:
        """Whether Spark has to write them."""
        return isinstance(self.sink, SparkSink) and self._files is None

    def write(self, spark: SparkSession) -> None:
        """Write them to the sink."""
        if isinstance(self.sink, DriverSink):
            self.sink.deliver(self.batch_id, self.parts, self._counts, self.emptied)
        elif self._files is not None:
            self._files.write_here(self.batch_id, self._rows)
        elif self.packed is not None:
            several = len(self.batch.shards(self.keys)) > 1
            rows = rows_for_sink(self.packed, self.keys, self.sink, several_shards=several)
            if self.sink.owner.has_seq:
                rows = with_numbers(rows, self.batch_id, self.sink.schema.names)
            self.sink.write(self.batch_id, rows)
        else:
            self.sink.write(self.batch_id, spark.createDataFrame(self._rows.combine_chunks()))

    @cached_property
    def parts(self) -> list[QueryRows]:
        """The rows by key, of all shards in the order of time."""
        parts, start = [self._part(key) for key in self.keys], 0
        if not isinstance(self.sink, DriverSink) or not self.sink.has_seq:
            return parts
        for i, part in enumerate(parts):
            rows = numbered(part.rows, self.batch_id, start, named=part.is_named)
            parts[i] = QueryRows(rows, part.names, part.owner, named=part.is_named)
            start += rows.num_rows
        return parts

    def refused(self) -> Iterator[tuple[str, pa.Table]]:
        """By query, the rows that the sink cannot have, as bad rows of the query."""
        if isinstance(self.sink, DriverSink) and self.sink.has_rules:
            yield from self.sink.refused(self.parts)

    def kept(self) -> pa.Table:
        """The packed batches with these rows, complete in themselves, for ``CollectedBatch``."""
        if self._is_large:
            assert self.packed is not None, "some of the rows are there only"
            found = of_keys(self.packed, self.keys).toArrow()
        else:
            found = self.batch.packed(self.keys)
        contents = (memoryview(packed_content(blob.as_buffer())) for blob in found["blob"])
        blobs = pa.array(contents, pa.binary())
        columns = [found[name] for name in OUTPUT_COLUMNS[:-1]]
        return pa.table([*columns, blobs], names=list(OUTPUT_COLUMNS))

    def write_dead_letters(self, spark: SparkSession, path: str, reason: str) -> None:
        """Write them to Parquet files below a path, with the reason; a repeat overwrites them."""
        tables = [decoded_query(p.rows) if p.is_named else p.rows for p in self.parts]
        if not tables:
            return
        rows = pa.concat_tables(tables)
        name = REASON if REASON not in rows.column_names else f"_sink{REASON}"
        rows = rows.append_column(name, pa.repeat(reason, rows.num_rows))
        dead = file_sink(spark, Target("bad", "", rows.schema), "parquet", {}, path)
        if dead.here is not None and dead.here.accepts(rows):
            dead.write_here(self.batch_id, rows)
        else:
            dead.write(self.batch_id, spark.createDataFrame(rows.combine_chunks()))

    def _part(self, key: Key) -> QueryRows:
        if key not in self.batch.large:
            return self.batch.rows(key)
        assert self.packed is not None, "some of the rows are there only"
        return rows_of(key, of_keys(self.packed, [key]).toArrow())

    @property
    def _counts(self) -> dict[str, int]:
        """Number of rows by label; of a preview, of all rows."""
        own: dict[str, int] = {}
        for label, n in (item for part in self.parts for item in part.counts.items()):
            own[label] = own.get(label, 0) + n
        return own | self.batch.counts

    @property
    def _is_large(self) -> bool:
        return not self.batch.large.keys().isdisjoint(self.keys)

    @cached_property
    def _files(self) -> FileSink | None:
        """The sink, if the driver writes its files."""
        sink = self.sink
        if not isinstance(sink, FileSink) or sink.here is None or self._is_large:
            return None
        return sink if sink.here.accepts(self._rows) else None

    @cached_property
    def _rows(self) -> pa.Table:
        """The rows of a sink of Spark, with its columns."""
        assert isinstance(self.sink, SparkSink)
        parts = [sink_columns(self.sink, self.batch.rows(key).rows) for key in self.keys]
        rows = pa.concat_tables(parts)
        if len(self.keys) > 1 and len(self.batch.shards(self.keys)) > 1:
            rows = in_time_order(rows)
        if not self.sink.owner.has_seq:
            return rows
        return numbered(rows, self.batch_id, named=self.sink.shared)
