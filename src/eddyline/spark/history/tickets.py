"""Tickets: files of a checkpoint that say what the batches of history read.

A slice has a ticket for each of its tasks. Spark reads the tickets of one slice per batch, and logs
which; so a repeated batch reads the same rows.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from eddyline.errors import StateError
from eddyline.spark.exchange.packed_batches import INPUT_SCHEMA
from eddyline.spark.history.slices import Piece
from eddyline.spark.storage.directory import Directory
from eddyline.spark.storage.spark_batches import batch_ids

DIRECTORY: Final = "history"
PLAN: Final = "plan.json"
TICKETS: Final = "tickets"
_NONE: Final = "none"
_BATCH: Final = 1 << 17


@dataclass(frozen=True)
class Columns:
    """Where the columns of a stream are in the files of its history.

    Attributes:
        names: those to read, by their names in the stream. time: the column of event times, as
            timestamps or microseconds since 1970.
    """

    names: Mapping[str, str]
    time: str


@dataclass(frozen=True)
class HistoryPlan:
    """What a job reads of its histories, fixed at its first start.

    Attributes:
        slices: their number. cells: tickets of a slice.
        seams: by stream, the first instant that belongs to the live source.
        columns: by stream.
    """

    slices: int
    cells: int
    seams: Mapping[str, int]
    columns: Mapping[str, Columns] = field(default_factory=dict)

    def text(self) -> str:
        """For :meth:`read`."""
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def read(cls, content: bytes, path: str) -> HistoryPlan:
        """The plan of a file.

        Raises:
            StateError: it cannot be read.
        """
        try:
            fields = json.loads(content)
            fields["columns"] = {n: Columns(**c) for n, c in fields["columns"].items()}
            return cls(**fields)
        except (ValueError, TypeError, KeyError) as e:
            raise StateError(
                f"{path} cannot be read ({e}); restore the file from a copy of the checkpoint, or "
                "use another checkpoint"
            ) from None


@dataclass(frozen=True)
class Ticket:
    """What one task of a slice does.

    Attributes:
        cell: its number. pieces: what it reads.
        reached: by stream, in us: no row before it follows; of the last cell only.
    """

    cell: int
    pieces: Sequence[Piece]
    reached: Mapping[str, int] = field(default_factory=dict)

    def line(self) -> str:
        """For :meth:`read`."""
        return json.dumps(asdict(self))

    @classmethod
    def read(cls, line: str) -> Ticket:
        """What :meth:`line` wrote."""
        fields = json.loads(line)
        return cls(fields["cell"], [Piece(**p) for p in fields["pieces"]], fields["reached"])


#: Called in a task: what a stream's rows in a ticket become. (stream, cell, tables, reached in us)
Packing = Callable[[str, int, Iterator[pa.RecordBatch], int | None], Iterator[pa.RecordBatch]]


def write_tickets(place: Path, slice_: int, tickets: Sequence[Ticket]) -> None:
    """Write the tickets of a slice. Spark reads files in the order of their times, so they get
    times of their own.
    """
    ms = 1_600_000_000_000 + slice_ * 10
    for ticket in tickets:
        path = place / f"{slice_:08d}-{ticket.cell:04d}.json"
        path.write_text(ticket.line() + "\n")
        path.chmod(0o600)
        os.utime(path, ns=(ms * 1_000_000, ms * 1_000_000))


def ticket_rows(
    spark: SparkSession, checkpoint: Directory, plan: HistoryPlan, packing: Packing
) -> DataFrame:
    """The rows of all histories as packed batches, a slice per batch."""
    tickets = (
        spark.readStream.format("text")
        .option("maxFilesPerTrigger", max(1, plan.cells))
        .load(f"{checkpoint.path}/{DIRECTORY}/{TICKETS}")
    )
    return tickets.mapInArrow(partial(_packed, plan.columns, packing), INPUT_SCHEMA)


def nothing(spark: SparkSession, checkpoint: Directory) -> DataFrame:
    """A stream of packed batches that has none: in the place of a live source while histories are
    read. Spark logs that it has not begun, so the source that follows begins at its beginning.
    """
    place = f"{DIRECTORY}/{_NONE}"
    checkpoint.make(place)
    return spark.readStream.schema(INPUT_SCHEMA).json(f"{checkpoint.path}/{place}")


def is_through(spark_log: Directory, plan: HistoryPlan) -> bool:
    """Whether the last slice has been committed. Tickets are the last source of the job.

    Args:
        spark_log: Spark's part of the checkpoint.
    """
    if not plan.slices:
        return True
    committed = max(batch_ids(spark_log, "commits"), default=-1)
    if committed < 0:
        return False
    lines = (spark_log.read(f"offsets/{committed}") or b"-").strip().split(b"\n")
    if lines[-1] == b"-":
        return False
    return int(json.loads(lines[-1])["logOffset"]) >= plan.slices - 1


def _packed(
    columns: Mapping[str, Columns], packing: Packing, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    """In a task: the rows of tickets as packed batches."""
    for batch in batches:
        for line in batch.column(0).to_pylist():
            ticket = Ticket.read(line)
            pieces: dict[str, list[Piece]] = {name: [] for name in ticket.reached}
            for piece in ticket.pieces:
                pieces.setdefault(piece.stream, []).append(piece)
            for name, of in pieces.items():
                rows = rows_of_pieces(columns[name], of)
                yield from packing(name, ticket.cell, rows, ticket.reached.get(name))


def rows_of_pieces(columns: Columns, pieces: Sequence[Piece]) -> Iterator[pa.RecordBatch]:
    """In a task: the rows of pieces of one stream, under the names of its columns."""
    for piece in pieces:
        try:
            yield from _piece(columns, piece)
        except (OSError, pa.ArrowInvalid) as e:
            raise StateError(
                f"the history of stream '{piece.stream}' cannot be read: {piece.path}: {e}; a file "
                "of a history must stay as it was at the first start until it has been read"
            ) from None


def _piece(columns: Columns, piece: Piece) -> Iterator[pa.RecordBatch]:
    wanted = list(dict.fromkeys([*columns.names.values(), columns.time]))
    at = 0
    with pq.ParquetFile(piece.path, coerce_int96_timestamp_unit="us") as file:
        for batch in file.iter_batches(_BATCH, row_groups=[piece.group], columns=wanted):
            start, stop = max(piece.start - at, 0), min(piece.stop - at, batch.num_rows)
            at += batch.num_rows
            if start < stop:
                part = batch.slice(start, stop - start)
                yield (
                    _in_time(part, columns.time, piece)
                    .select(list(columns.names.values()))
                    .rename_columns(list(columns.names))
                )
            if at >= piece.stop:
                return


def _in_time(rows: pa.RecordBatch, time: str, piece: Piece) -> pa.RecordBatch:
    us = microseconds(rows.column(time))
    inside = pc.and_(pc.greater_equal(us, piece.from_us), pc.less(us, piece.to_us))
    return rows if pc.all(inside).as_py() else rows.filter(inside)


def microseconds(times: Any) -> Any:
    """Timestamps, or integers, as int64: microseconds since 1970."""
    if pa.types.is_timestamp(times.type):
        times = times.cast(pa.timestamp("us", times.type.tz), safe=False)
    return times.cast(pa.int64())
