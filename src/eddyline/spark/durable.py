"""The durable state of a shard: a snapshot of its engine and a log of the batches since then.

A snapshot after every batch would write all windows for a small batch; a log alone would have to
reach back as far as the longest window. So a batch is appended to the log, and when the log would
outgrow the snapshot, a new snapshot replaces both. Bytes written per batch are proportional to the
batch, not to the windows (at most about twice the input over time), and a restart replays at most
as many bytes as a snapshot holds.

The engine is deterministic: snapshot and replay give exactly the lost state.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, Protocol

from eddyline.errors import StateError
from eddyline.spark.batch_log import CHUNK_BYTES, BatchLog, MapState
from eddyline.spark.disk import state_access

#: A log below this size is not replaced by a snapshot.
MIN_LOG_BYTES: Final = 4 << 20
#: Chunks of the old log that a batch removes, or twice those that it adds: there may be thousands.
_REMOVED_PER_BATCH: Final = 16
#: Of the commit record; other formats are refused.
_FORMAT: Final = 8

COMMIT_SCHEMA: Final = "record STRING"


class ValueState(Protocol):
    """The used part of Spark's ValueState."""

    def get(self) -> tuple[Any, ...] | None:
        """The value; None if there is none."""

    def update(self, newValue: tuple[Any, ...]) -> None:
        """Replace the value."""


class Savable(Protocol):
    """State that can be written to a snapshot."""

    def save(self, target: BinaryIO) -> None:
        """Write the state to a file."""


@dataclass(frozen=True)
class EngineBatch:
    """The input of an engine for one batch; the same batches give the same engine.

    Attributes:
        pieces: (stream, Arrow IPC stream) in processing order.
        now_us: wall clock of the batch, from Spark's log.
        drain_us: set at the end of the input: event time by which to advance after the last row.
        statements: statements to execute before the rows, in order.
        dropped: by stream, number of rows that ingest has dropped. newest: by stream, largest
            timestamp of the rows that ingest examined.
        hold: whether a statement waits until no rows are dropped.
    """

    pieces: tuple[tuple[str, bytes], ...]
    now_us: int = 0
    drain_us: int | None = None
    statements: tuple[str, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    newest: Mapping[str, int] = field(default_factory=dict)
    hold: bool = False

    @property
    def nbytes(self) -> int:
        """Size of the batch in the log."""
        return sum(len(blob) for _, blob in self.pieces) + sum(map(len, self.statements))


@dataclass
class CommitRecord:
    """The record that commits a batch of a shard.

    Attributes:
        version: number of batches that this shard has processed.
        token: random, new for each batch; a cached engine is current if its token is equal.
        chunks, snapshot_bytes: size of the snapshot. log_bytes: size of the log since then.
        log_start, log_end: numbers of the log's chunks since the snapshot; older ones, from
            ``log_rest``, are still to be removed.
        notes: further values of the shard (JSON): counters by input and waiting statements.
    """

    version: int = 0
    token: str = ""
    chunks: int = 0
    snapshot_bytes: int = 0
    log_bytes: int = 0
    log_rest: int = 0
    log_start: int = 0
    log_end: int = 0
    notes: dict[str, Any] = field(default_factory=dict)


class DurableState:
    """Reads and writes the state of one shard through Spark's state variables.

    Args:
        place: path of the checkpoint, for messages.
    """

    def __init__(
        self, record: ValueState, log: MapState, snapshot: MapState, place: str = ""
    ) -> None:
        self._place = place
        self._record = record
        self._log = BatchLog(log)
        self._snapshot = snapshot

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
        written = fields.pop("format", "before 8")
        if written != _FORMAT:
            raise StateError(
                f"the state of a shard in {self._place} has format {written}, this version reads "
                f"{_FORMAT}: continue with the version that wrote it, or use another checkpoint"
            )
        return CommitRecord(**fields)

    def snapshot(self, record: CommitRecord) -> BinaryIO:
        """The engine's snapshot, which does not include the logged batches."""
        buffer = io.BytesIO()
        for chunk in range(record.chunks):
            buffer.write(_present(self._snapshot.getValue((chunk,)))[0])
        buffer.seek(0)
        return buffer

    def logged(self, record: CommitRecord) -> Iterator[EngineBatch]:
        """The batches since the snapshot, in order.

        Raises:
            StateError: a part is missing.
        """
        number = record.log_start
        while number < record.log_end:
            header, blobs, number = self._log.read(number)
            streams, statements = header.pop("streams"), tuple(header.pop("statements"))
            pieces = tuple(zip(streams, blobs, strict=True))
            yield EngineBatch(pieces, statements=statements, **header)

    def commit(self, record: CommitRecord, batch: EngineBatch, engine: Savable) -> None:
        """Log ``batch``, which the engine has processed, or write a snapshot; write the record.

        Spark makes both durable together with the batch, or neither.
        """
        with state_access(self._place, max(batch.nbytes, record.snapshot_bytes)):
            self._commit(record, batch, engine)

    def _commit(self, record: CommitRecord, batch: EngineBatch, engine: Savable) -> None:
        end = record.log_end
        outgrown = record.log_bytes + batch.nbytes > max(MIN_LOG_BYTES, record.snapshot_bytes)
        if record.chunks == 0 or outgrown:
            self._write_snapshot(record, engine)
        else:
            self._append(record, batch)
        most = max(_REMOVED_PER_BATCH, 2 * (record.log_end - end))
        rest = min(record.log_start, record.log_rest + most)
        self._log.remove(range(record.log_rest, rest))
        record.log_rest = rest
        self._record.update((json.dumps({"format": _FORMAT, **vars(record)}),))

    def _append(self, record: CommitRecord, batch: EngineBatch) -> None:
        header = {name: value for name, value in vars(batch).items() if name != "pieces"}
        header["streams"] = [stream for stream, _ in batch.pieces]
        blobs = [blob for _, blob in batch.pieces]
        record.log_end = self._log.append(record.log_end, header, blobs)
        record.log_bytes += batch.nbytes

    def _write_snapshot(self, record: CommitRecord, engine: Savable) -> None:
        buffer = io.BytesIO()
        engine.save(buffer)
        content = buffer.getbuffer()
        chunks = -(-len(content) // CHUNK_BYTES)
        for chunk in range(chunks):
            start = chunk * CHUNK_BYTES
            self._snapshot.updateValue((chunk,), (bytes(content[start : start + CHUNK_BYTES]),))
        for chunk in range(chunks, record.chunks):
            self._snapshot.removeKey((chunk,))
        record.chunks, record.snapshot_bytes = chunks, len(content)
        record.log_start, record.log_bytes = record.log_end, 0


def _present(row: tuple[Any, ...] | None) -> tuple[Any, ...]:
    if row is None:
        raise StateError("the checkpoint lacks a part of a shard's state: was it copied halfway?")
    return row
