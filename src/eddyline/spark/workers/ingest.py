"""Ingest: the rows of one source are dealt to shards, as packed batches.

A source is read once for all layouts. Each row is sent to the cells of each layout that its
coordinates fit, and the clock batches tell every cell how far the stream is: the largest timestamp
of all rows in the task, wherever these are sent. A row that is surely bad is sent to one shard.
Where the rows before decide what is bad (integers as timestamps, without a unit), all shards get
the timestamps of all rows, so that each of them finds the same rows bad as one engine would; and
all cells of a layout get those of its counted streams, for windows of rows. Keys with many rows are
counted for the driver, which decides which ones are split (``key_splits``).

Rows are sent whole and unfiltered, also those that no query reads now: the shards find the late
ones, which are written as they came, and a query that is added later starts with stored rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame

from eddyline.algebra.catalog import StreamDef, TableDef
from eddyline.engine.ingest.row_reader import COPY, DROPPED, ELSEWHERE, OWN, ROLE
from eddyline.engine.ingest.table_changes import reader_of
from eddyline.engine.overload.drop_box import DropBox
from eddyline.runtime.stores.columns import Array
from eddyline.spark.exchange.batch_time import batch_number, batch_time
from eddyline.spark.exchange.keep_rates import keep_rate
from eddyline.spark.exchange.packed_batches import (
    BLOB_BYTES,
    INPUT_ARROW,
    INPUT_BLOB_BYTES,
    INPUT_SCHEMA,
    Arrivals,
    Compression,
    packed,
    pieces,
)
from eddyline.spark.exchange.result_ages import ARRIVED, age_buckets
from eddyline.spark.exchange.row_files import WrittenFiles
from eddyline.spark.formats.parquet import Reader
from eddyline.spark.gc_control import freeze_live_objects
from eddyline.spark.history.tickets import Packing
from eddyline.spark.layouts.added_layouts import added_layouts
from eddyline.spark.layouts.key_splits import split_keys
from eddyline.spark.partitioning.dealing import Dealer, Dealt
from eddyline.spark.partitioning.layouts import Layout
from eddyline.spark.partitioning.split_keys import SplitKey


class Destination(NamedTuple):
    """A layout of a group that reads the input. Without the input in the layout, its shards get
    the clock batches only.

    Attributes:
        shards: the id of the shard of each cell.
        is_first: its cell 0 gets the bad rows of the input. Exactly one destination is the first.
        counted: the axes along which frequent keys are counted.
    """

    layout: Layout
    shards: Sequence[int]
    is_first: bool = True
    counted: frozenset[int] = frozenset()


class TaskPacking(NamedTuple):
    """How tasks pack the rows of an input; see :func:`packed_batches`."""

    destinations: Sequence[Destination]
    definition: StreamDef | TableDef
    keep: float | None

    def packer(self, checkpoint: str, part: int) -> Packer:
        """In a task: what packs its rows. ``part``: its number."""
        definition, keep = self.definition, self.keep
        if isinstance(definition, StreamDef) and definition.lateness_by == "row":
            keep = 1.0  # lateness depends on all rows before, also dropped ones
        to = [*self.destinations, *_added(definition.name)]
        readers = [s for d in to if definition.name in d.layout.inputs for s in d.shards]
        share = keep_rate(readers, definition.name) if keep is None else keep
        files = WrittenFiles(checkpoint, batch_number())
        return Packer(to, definition, share, part, split_keys(), files)


def packed_batches(
    df: DataFrame,
    read: Reader | None,
    destinations: Sequence[Destination],
    definition: StreamDef | TableDef,
    keep: float | None = 1.0,
    checkpoint: str = "",
    seam: int | None = None,
) -> DataFrame:
    """The streaming DataFrame of a stream, or of a table's changes, as packed batches.

    Args:
        df: the columns, in the types of the source; or the input of ``read``.
        read: converts the DataFrame's columns to those declared, in the worker; None: not needed.
        destinations: those since the job's start, at least one.
        definition: a stream with the limit AHEAD AT MOST that its shards apply.
        keep: keep rate: the fraction of rows to pack; the others are counted. None: the rate that
            the shards have decided.
        checkpoint: its path, for files of rows.
        seam: rows before it, in us, are counted and left out: they are those of a history.
    """
    pack = task_packer(read, destinations, definition, keep, checkpoint, seam=seam)
    return df.mapInArrow(pack, INPUT_SCHEMA)


def task_packer(
    read: Reader | None,
    destinations: Sequence[Destination],
    definition: StreamDef | TableDef,
    keep: float | None,
    checkpoint: str = "",
    clock: Callable[[], int] = batch_time,
    seam: int | None = None,
) -> Reader:
    """What a task of ingest does: rows of the source to packed batches; see ``packed_batches``.

    Args:
        clock: called in the task, returns the wall clock of the batch.
    """
    packing = TaskPacking(destinations, definition, keep)

    def pack_partition(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        freeze_live_objects()
        context = TaskContext.get()
        part = context.partitionId() if context is not None else 0
        packer = packing.packer(checkpoint, part)
        now_us = clock()
        for table in _coalesced(batches if read is None else read(batches)):
            yield from packer.rows(packer.from_seam(table, seam, now_us), now_us)
        yield from packer.clocks()
        yield from packer.frequent_keys()

    return pack_partition


def history_packing(streams: Mapping[str, TaskPacking], checkpoint: str) -> Packing:
    """What a task of ingest does with the rows of histories, a stream after the other.

    Args:
        checkpoint: its path, for files of rows.
    """

    def pack(
        name: str, part: int, batches: Iterator[pa.RecordBatch], reached: int | None
    ) -> Iterator[pa.RecordBatch]:
        freeze_live_objects()
        packer = streams[name].packer(checkpoint, part)
        now_us = batch_time()
        for table in _coalesced(batches):
            yield from packer.rows(table, now_us)
        if reached is not None:
            packer.reach(reached)
        yield from packer.clocks()
        yield from packer.frequent_keys()

    return pack


def _added(name: str) -> list[Destination]:
    """In a task: the layouts that were added to the running job in the group of an input."""
    of = [added.of for added in added_layouts()]
    return [
        Destination(o.layout, o.ids, is_first=False)
        for o in of
        if name in o.group.streams or name in o.group.live
    ]


class Packer:
    """Packs the rows of one task.

    Args:
        keep: keep rate. part: number of the task.
        split: the split keys of each layout, by its first shard. files: for large packed batches.
    """

    def __init__(
        self,
        destinations: Sequence[Destination],
        definition: StreamDef | TableDef,
        keep: float,
        part: int,
        split: Mapping[int, Sequence[SplitKey]],
        files: WrittenFiles,
    ) -> None:
        self._files = files
        self._name = definition.name
        self._reader = reader_of(definition)
        self._box = DropBox(definition.name, keep) if keep < 1 else None
        self._part = part
        self._seq = 0
        self._lateness = None
        if isinstance(definition, StreamDef) and definition.lateness_by == "row":
            self._lateness = definition.lateness_us
        self._arrivals = {
            shard: Arrivals(lateness=self._lateness) for d in destinations for shard in d.shards
        }
        (self._home,) = (d.shards[0] for d in destinations if d.is_first)
        self._dealers = [
            (
                d.shards,
                Dealer(d.layout, definition.name, split.get(d.shards[0], ()), d.counted),
                definition.name in d.layout.counted,
            )
            for d in destinations
            if definition.name in d.layout.inputs
        ]
        dealt_to = {shard for shards, _, _ in self._dealers for shard in shards}
        self._others = [shard for shard in self._arrivals if shard not in dealt_to]

    def rows(self, table: pa.Table, now_us: int) -> Iterator[pa.RecordBatch]:
        """Rows of the source as packed batches. ``now_us``: the wall clock of the batch."""
        ages: dict[str, int] = {}
        if ARRIVED in table.column_names:
            ages = age_buckets(table.column(ARRIVED), now_us)
            table = table.drop_columns([ARRIVED])
        for arrivals in self._arrivals.values():
            arrivals.rows += table.num_rows
            arrivals.add_ages(ages)
        if len(self._arrivals) == 1 and self._box is None:
            yield from self._pieces([self._home], table)
            return
        table = table.combine_chunks()  # once for all that follows
        typed = self._reader.read(table)
        bad = self._reader.surely_bad(typed, now_us)
        in_doubt = self._reader.in_doubt(typed)
        self._note(self._reader.times(typed)[~bad & ~in_doubt])
        kept = np.ones(bad.size, np.bool_)
        if self._box is not None:
            kept = self._box.keeps(typed.columns) | in_doubt
        columns = self._reader.content(typed)
        marked = typed.doubtful is not None and len(self._arrivals) > 1
        if bad.any():
            refused, usable = table.filter(pa.array(bad)), pa.array(~bad)
            if marked:
                refused = refused.append_column(ROLE, _own(refused.num_rows))
            yield from self._pieces([self._home], refused)
            table, columns = table.filter(usable), [c.filter(usable) for c in columns]
            kept = kept[~bad]
        turn = now_us // 1_000 + self._part + self._seq
        for shards, dealer, is_counted in self._dealers:
            dealt = dealer.deal(columns, turn)
            left = dealt.only(kept)
            if marked or is_counted:
                roles = np.where(kept, ELSEWHERE, DROPPED).astype(np.int8)
                parts = [
                    self._marked(table, _roles_in(left, n, roles)) for n in range(left.sizes.size)
                ]
            else:
                parts = left.parts(table)
                if dealer.makes_copies:
                    parts = [p.append_column(ROLE, _roles(left, n)) for n, p in enumerate(parts)]
            for part, (rows, lost) in enumerate(zip(parts, dealt.sizes - left.sizes, strict=True)):
                to = [shard for shard, p in zip(shards, dealt.part_of, strict=True) if p == part]
                yield from self._pieces(to, rows)
                for shard in to:
                    self._arrivals[shard].dropped += int(lost)
        if marked:
            others = np.full(table.num_rows, ELSEWHERE, np.int8)
            yield from self._pieces(self._others, self._marked(table, others))

    def from_seam(self, table: pa.Table, seam: int | None, now_us: int) -> pa.Table:
        """The rows of a live source without those before its seam, which are counted; bad rows
        stay.
        """
        if seam is None:
            return table
        own = table.drop_columns([n for n in table.column_names if n == ARRIVED])
        typed = self._reader.read(own)
        usable = ~self._reader.surely_bad(typed, now_us) & ~self._reader.in_doubt(typed)
        covered = usable & (self._reader.times(typed) < seam)
        if not covered.any():
            return table
        n = int(np.count_nonzero(covered))
        for arrivals in self._arrivals.values():
            arrivals.rows += n
            arrivals.covered += n
        return table.filter(pa.array(~covered))

    def reach(self, us: int) -> None:
        """Note that no row before this instant follows: the stream is as far as if a row was just
        before it.
        """
        for arrivals in self._arrivals.values():
            arrivals.add_times(us - 1, us - 1)

    def _marked(self, table: pa.Table, roles: Array) -> pa.Table:
        """All rows with their roles, int8[n]; of those of other shards only what determines the
        event time.
        """
        numbers = pa.array(np.arange(table.num_rows), mask=~_are_sent(roles))
        kept = {name.lower() for name in self._reader.definition.event_time_columns}
        columns = {
            name: table.column(name) if name.lower() in kept else table.column(name).take(numbers)
            for name in table.column_names
        }
        return pa.table({**columns, ROLE: roles})

    def clocks(self) -> Iterator[pa.RecordBatch]:
        """After all rows: the clock batches."""
        for shard, arrivals in self._arrivals.items():
            if arrivals.rows or arrivals.newest is not None:
                yield self._packed(shard, "clock", 0, arrivals.packed())

    def frequent_keys(self) -> Iterator[pa.RecordBatch]:
        """After all rows: the frequent keys along the axes that are counted."""
        for shards, dealer, _ in self._dealers:
            for counted in dealer.frequent():
                if counted.rows:
                    yield self._packed(shards[0], "keys", counted.rows, counted.packed())

    def _note(self, times: Array) -> None:
        """Record good rows, int64[n] us, in order of arrival."""
        if times.size:
            begin = times
            if self._lateness is not None:  # late rows count at the limit
                begin = np.maximum(times, np.maximum.accumulate(times) - self._lateness)
            for arrivals in self._arrivals.values():
                arrivals.add_times(int(times.max()), int(begin.min()))

    def _pieces(self, shards: Sequence[int], rows: pa.Table) -> Iterator[pa.RecordBatch]:
        """The same rows for some shards; without shards nothing."""
        if self._files.takes(rows):
            own = _own_rows(rows)
            for shard in shards:
                reference = self._files.write(shard, rows, _compression(rows, own))
                yield self._packed(shard, "file", own, reference.encode())
            return
        for piece in pieces(rows, INPUT_BLOB_BYTES) if shards else ():
            own = _own_rows(piece)
            blob = packed(piece, _compression(piece, own))
            for shard in shards:
                yield self._packed(shard, "rows", own, blob)

    def _packed(self, shard: int, kind: str, n: int, blob: bytes | pa.Buffer) -> pa.RecordBatch:
        row = (shard, kind, self._name, self._part, self._seq, n)
        self._seq += 1
        offsets = pa.py_buffer(np.array([0, len(blob)], np.int32))
        of_blob = pa.Array.from_buffers(pa.binary(), 1, [None, offsets, pa.py_buffer(blob)])
        return pa.record_batch([*([value] for value in row), of_blob], schema=INPUT_ARROW)


def _own_rows(piece: pa.Table) -> int:
    """Number of rows that are sent whole."""
    if ROLE not in piece.column_names:
        return int(piece.num_rows)
    return int(np.count_nonzero(_are_sent(piece.column(ROLE).to_numpy())))


def _compression(rows: pa.Table, own: int) -> Compression:
    """Of rows of which ``own`` are sent whole: otherwise most values are NULL."""
    return None if own == rows.num_rows else "lz4"


def _own(count: int) -> pa.Array:
    return pa.array(np.full(count, OWN, np.int8))


def _roles(dealt: Dealt, part: int) -> pa.Array:
    """The roles of the rows of a part."""
    return pa.array(np.where(dealt.copied(part), COPY, OWN).astype(np.int8))


def _roles_in(dealt: Dealt, part: int, elsewhere: Array) -> Array:
    """int8[n]: the roles of all rows in a part; ``elsewhere``: of those that it does not have."""
    roles: Array = elsewhere.copy()
    roles[dealt.rows(part)] = np.where(dealt.copied(part), COPY, OWN)
    return roles


def _are_sent(roles: Array) -> Array:
    """bool[n]: rows that are sent whole."""
    found: Array = (roles == OWN) | (roles == COPY)
    return found


def _coalesced(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Tables of about ``BLOB_BYTES``, from Spark's batches of some thousand rows."""
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
