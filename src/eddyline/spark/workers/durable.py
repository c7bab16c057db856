"""The durable state of a shard: a snapshot of its engine and a log of the batches since then.

Each batch is appended to the log. When the log has grown to the size of what a snapshot has to
write, a new snapshot is begun, and written in parts over the following batches (``snapshots.py``);
then it replaces the old one and the log before it. Base rows are in segments that are written once.
So bytes written per batch are proportional to the batch, not to the windows, and no batch waits for
a snapshot; a restart reads the rows alive and replays a log of bounded length.

The engine is deterministic: snapshot and replay give exactly the lost state.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, BinaryIO, Final, Protocol, TypeVar

import pyarrow as pa

from eddyline.engine.checkpoint.segments import Segments
from eddyline.errors import StateError
from eddyline.spark.exchange.packed_batches import unpack
from eddyline.spark.exchange.row_files import RowFile, ShardFiles
from eddyline.spark.storage.disk import state_access
from eddyline.spark.workers.batch_log import BatchLog, Blob
from eddyline.spark.workers.snapshots import (
    Blobs,
    BlobState,
    LogPlace,
    Savable,
    Snapshots,
    read_blob,
)

#: No snapshot is begun for a log below this size,
MIN_LOG_BYTES: Final = 4 << 20
#: unless it has this number of batches, and a snapshot costs at most this size for each of them.
MIN_LOG_BATCHES: Final = 1_000
_SNAPSHOT_BYTES_PER_BATCH: Final = 64 << 10
#: Least number of bytes of a snapshot that a batch writes.
_LEAST_PART: Final = 256 << 10
#: A log this many times as large as one that begins a snapshot ends at once: workers were lost.
_MOST_LOGS: Final = 4
#: Chunks of the old log that a batch removes, or twice those that it adds: there may be thousands.
_REMOVED_PER_BATCH: Final = 16
#: An engine that is this number of batches behind is not caught up, but rebuilt.
_RECENT: Final = 32
_NO_FILES: Final = ShardFiles("", 0)
#: Of the commit record; other formats are refused.
_FORMAT: Final = 10


class ValueState(Protocol):
    """The used part of Spark's ValueState."""

    def get(self) -> tuple[Any, ...] | None:
        """The value; None if there is none."""

    def update(self, newValue: tuple[Any, ...]) -> None:
        """Replace the value."""


T_co = TypeVar("T_co", bound=Savable, covariant=True)


class Load(Protocol[T_co]):
    """Loads an engine from a snapshot: see ``Engine.load``."""

    def __call__(
        self, source: BinaryIO, *, read: Callable[[int], bytes], segments: Segments
    ) -> T_co:
        """The engine."""


@dataclass(frozen=True)
class EngineBatch:
    """The input of an engine for one batch; the same batches give the same engine.

    Attributes:
        pieces: (stream, Arrow IPC stream, or a file of it) in processing order.
        number: of the batch in Spark's log.
        now_us: wall clock of the batch, from Spark's log.
        drain_us: set at the end of the input: event time by which to advance after the last row.
        statements: statements to execute before the rows, in order.
        dropped: by stream, number of rows that ingest has dropped. newest, oldest: by stream,
            largest and smallest timestamp of the rows that ingest examined.
        hold: whether a statement waits until no rows are dropped.
        ages: number of rows of all streams by bucket of their age; see ``result_ages.py``.
        keep: the keep rates that the engine decided after the batch; None: it has not processed it.
        saved: whether a snapshot was begun after the batch. To save an engine serves the rows that
            wait by ``latency``, so an engine that repeats the batch has to serve them then, too.
    """

    pieces: tuple[tuple[str, Blob | RowFile], ...]
    now_us: int = 0
    drain_us: int | None = None
    statements: tuple[str, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    newest: Mapping[str, int] = field(default_factory=dict)
    oldest: Mapping[str, int] = field(default_factory=dict)
    hold: bool = False
    saved: bool = False
    number: int = 0
    ages: Mapping[str, int] = field(default_factory=dict)
    keep: Mapping[str, float] | None = None

    def rows(self) -> dict[str, list[pa.Table]]:
        """The rows of each stream, in processing order.

        Raises:
            StateError: a file cannot be read.
        """
        found: dict[str, list[pa.Table]] = {}
        for stream, piece in self.pieces:
            blob = piece.read() if isinstance(piece, RowFile) else piece
            found.setdefault(stream, []).append(unpack(blob))
        return found

    @property
    def nbytes(self) -> int:
        """Size of the batch in the log, with its files."""
        return sum(len(piece) for _, piece in self.pieces) + sum(map(len, self.statements))


def inline_blobs(pieces: Iterable[tuple[str, Blob | RowFile]]) -> list[Blob]:
    """The pieces of a batch that are not in files."""
    return [piece for _, piece in pieces if not isinstance(piece, RowFile)]


@dataclass
class CommitRecord:
    """The record that commits a batch of a shard.

    Attributes:
        version: number of batches that this shard has processed.
        token: random, new for each batch; a cached engine is current if its token is equal.
        worker: address of the Python worker that has the engine, see ``worker_sockets.py``.
        snapshot: name of the snapshot's blob; 0: there is none. snapshot_bytes: its size, without
            segments of rows. log_bytes, log_batches: size of the log since then.
        log_start, log_end: numbers of the log's chunks since the snapshot; older ones, from
            ``log_rest``, are still to be removed.
        recent: token and log_end of the last batches since the snapshot.
        first_batch: number in Spark's log from which on the log may have files; those of batches
            before are to be deleted. deleted: up to which this has been done.
        removed: names of files of former snapshots that are to be deleted.
        notes: further values of the shard (JSON): counters by input and waiting statements.
    """

    version: int = 0
    token: str = ""
    worker: str = ""
    snapshot: int = 0
    snapshot_bytes: int = 0
    log_bytes: int = 0
    log_batches: int = 0
    log_rest: int = 0
    log_start: int = 0
    log_end: int = 0
    recent: list[tuple[str, int]] = field(default_factory=list)
    first_batch: int = 0
    deleted: int = 0
    removed: list[str] = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)


class DurableState:
    """Reads and writes the state of one shard through Spark's state variables.

    Args:
        place: path of the checkpoint, for messages. files: of the shard.
    """

    def __init__(
        self,
        record: ValueState,
        log: BatchLog,
        blobs: BlobState,
        place: str = "",
        files: ShardFiles = _NO_FILES,
    ) -> None:
        self._place = place
        self._files = files
        self._record = record
        self._log = log
        self._blobs = Blobs(blobs, files)

    def commit_record(self) -> CommitRecord | None:
        """The record of the last committed batch; None before the first.

        Raises:
            StateError: it has another format.
        """
        with state_access(self._place, 0):
            row = self._record.get()
        if row is None:
            return None
        fields = json.loads(row[0])
        written = fields.pop("format", "before 9")
        if written != _FORMAT:
            raise StateError(
                f"the state of a shard in {self._place} has format {written}, this version reads "
                f"{_FORMAT}: continue with the version that wrote it, or use another checkpoint"
            )
        return CommitRecord(**fields)

    def restored(self, record: CommitRecord, load: Load[T_co]) -> T_co:
        """The engine of the snapshot; the logged batches have to be applied.

        Raises:
            StateError: a part is missing or damaged.
        """
        snapshots = Snapshots()
        snapshots.find(self._blobs)
        source = io.BytesIO(read_blob(self._blobs, record.snapshot, "snapshot"))

        def read(name: int) -> bytes:
            return read_blob(self._blobs, name, "segment")

        engine = load(source, read=read, segments=snapshots.segments)
        snapshots.keep(frozenset({*snapshots.segments.names(), record.snapshot}))
        engine.snapshots = snapshots
        self._blobs.remove_orphans()
        return engine

    def missed(
        self, record: CommitRecord, token: str, engine: Savable
    ) -> Iterator[EngineBatch] | None:
        """The batches that an engine has missed while another worker processed them, in order.

        Args:
            token: of the last batch that the engine has processed.

        Returns:
            None if it cannot be caught up: the batch was not committed, a snapshot has been
            completed since then, or it is too far behind.

        Raises:
            StateError: a part is missing.
        """
        ends = [end for of, end in record.recent if of == token]
        if not ends or engine.snapshots is None:
            return None
        engine.snapshots.find(self._blobs)
        engine.snapshots.keep(engine.snapshots.in_force)
        return self.logged(record, ends[-1])

    def logged(self, record: CommitRecord, number: int | None = None) -> Iterator[EngineBatch]:
        """The batches since the snapshot, or from the chunk ``number`` on, in order.

        Raises:
            StateError: a part is missing.
        """
        number = record.log_start if number is None else number
        while number < record.log_end:
            header, blobs, number = self._log.read(number)
            statements, inline = tuple(header.pop("statements")), iter(blobs)
            pieces = tuple(
                (stream, next(inline) if name is None else self._files.find(name))
                for stream, name in header.pop("pieces")
            )
            yield EngineBatch(pieces, statements=statements, **header)

    def commit(self, record: CommitRecord, batch: EngineBatch, engine: Savable) -> None:
        """Log ``batch``, which the engine has processed, and go on with a snapshot; write the
        record. The first batch writes a whole snapshot.

        Spark makes all durable together with the batch, or nothing.
        """
        end, snapshots = record.log_end, _snapshots_of(engine)
        bound = max(1, MIN_LOG_BYTES, record.snapshot_bytes)
        begins = snapshots.begun is None and _is_due(record, batch, bound)
        if not begins:  # to begin a snapshot is enough for a batch
            self._delete_files(record)
        with state_access(self._place, max(batch.nbytes, record.snapshot_bytes)):
            if record.snapshot:
                self._append(record, replace(batch, saved=begins))
            if begins:
                log = LogPlace(record.log_end, record.log_bytes, record.log_batches, batch.number)
                snapshots.begin(engine, log, self._blobs.chunk_bytes)
            if not begins or not record.snapshot:
                self._go_on_with_snapshot(record, batch, snapshots, bound)
            most = max(_REMOVED_PER_BATCH, 2 * (record.log_end - end))
            rest = min(record.log_start, record.log_rest + most)
            self._log.remove(range(record.log_rest, rest))
            record.log_rest = rest
            record.removed += self._blobs.take_removed()
            record.recent = [*record.recent[1 - _RECENT :], (record.token, record.log_end)]
            self._record.update((json.dumps({"format": _FORMAT, **vars(record)}),))

    def _go_on_with_snapshot(
        self, record: CommitRecord, batch: EngineBatch, snapshots: Snapshots, bound: int
    ) -> None:
        """Write a part of a snapshot that is begun.

        A part is so large that the snapshot is complete when the log has grown as much again.
        """
        nbytes = 0
        if (begun := snapshots.begun) is not None:
            nbytes = max(_LEAST_PART, batch.nbytes * begun.total // bound)
            if not record.snapshot or record.log_bytes > _MOST_LOGS * bound:
                nbytes = begun.total + 1
        if (complete := snapshots.advance(self._blobs, nbytes)) is not None:
            record.snapshot, record.snapshot_bytes = complete.name, complete.nbytes
            record.recent = []
            record.log_start = complete.log.end
            record.log_bytes -= complete.log.nbytes
            record.log_batches -= complete.log.batches
            record.first_batch = complete.log.batch + 1

    def _delete_files(self, record: CommitRecord) -> None:
        """Delete the files that the committed record does not need."""
        if record.deleted < record.first_batch:
            self._files.delete_rows(record.first_batch)
            record.deleted = record.first_batch
        self._files.delete_state(record.removed)
        record.removed = []

    def _append(self, record: CommitRecord, batch: EngineBatch) -> None:
        header = {name: value for name, value in vars(batch).items() if name != "pieces"}
        header["pieces"] = [
            (stream, piece.reference if isinstance(piece, RowFile) else None)
            for stream, piece in batch.pieces
        ]
        record.log_end = self._log.append(record.log_end, header, inline_blobs(batch.pieces))
        record.log_bytes += batch.nbytes
        record.log_batches += 1


def _snapshots_of(engine: Savable) -> Snapshots:
    """Those of the engine; at its first batch there are none yet."""
    if engine.snapshots is None:
        engine.snapshots = Snapshots()
    return engine.snapshots


def _is_due(record: CommitRecord, batch: EngineBatch, bound: int) -> bool:
    """Whether to begin a snapshot with this batch, which is about to be logged."""
    if not record.snapshot:
        return True
    batches = record.log_batches + 1
    cheap = record.snapshot_bytes <= _SNAPSHOT_BYTES_PER_BATCH * batches
    return record.log_bytes + batch.nbytes >= bound or (batches >= MIN_LOG_BATCHES and cheap)
