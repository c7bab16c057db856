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
from eddyline.spark.disk import state_access

#: A log below this size is not replaced by a snapshot.
MIN_LOG_BYTES: Final = 4 << 20
_CHUNK_BYTES: Final = 4 << 20

COMMIT_SCHEMA: Final = "record STRING"
LOG_KEY_SCHEMA: Final = "version BIGINT, piece BIGINT"
LOG_VALUE_SCHEMA: Final = "stream STRING, blob BINARY"
SNAPSHOT_KEY_SCHEMA: Final = "chunk BIGINT"
SNAPSHOT_VALUE_SCHEMA: Final = "blob BINARY"


class ValueState(Protocol):
    """The used part of Spark's ValueState."""

    def get(self) -> tuple[Any, ...] | None:
        """The value; None if there is none."""

    def update(self, newValue: tuple[Any, ...]) -> None:
        """Replace the value."""


class MapState(Protocol):
    """The used part of Spark's MapState."""

    def getValue(self, key: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The value of a key; None if there is none."""

    def updateValue(self, key: tuple[Any, ...], value: tuple[Any, ...]) -> None:
        """Set the value of a key."""

    def removeKey(self, key: tuple[Any, ...]) -> None:
        """Remove a key."""


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
        dropped: by stream, number of rows that ingest has dropped. newest, oldest: by stream,
            largest and smallest timestamp of the rows that ingest examined.
        hold: whether a statement waits until no rows are dropped.
    """

    pieces: tuple[tuple[str, bytes], ...]
    now_us: int = 0
    drain_us: int | None = None
    statements: tuple[str, ...] = ()
    dropped: Mapping[str, int] = field(default_factory=dict)
    newest: Mapping[str, int] = field(default_factory=dict)
    oldest: Mapping[str, int] = field(default_factory=dict)
    hold: bool = False

    @property
    def nbytes(self) -> int:
        """Size of the batch in the log."""
        return sum(len(blob) for _, blob in self.pieces) + sum(map(len, self.statements))


@dataclass
class LogEntry:
    """A logged batch without its pieces, which are in the map ``log`` under (version, piece)."""

    version: int
    pieces: int
    now_us: int
    drain_us: int | None
    statements: tuple[str, ...]
    dropped: Mapping[str, int]
    newest: Mapping[str, int]
    oldest: Mapping[str, int]
    hold: bool


@dataclass
class CommitRecord:
    """The record that commits a batch of a shard.

    Attributes:
        version: number of batches that this shard has processed.
        token: random, new for each batch; a cached engine is current if its token is equal.
        chunks, snapshot_bytes: size of the snapshot. log_bytes: size of the log.
        notes: further values of the shard (JSON): counters and waiting statements.
    """

    version: int = 0
    token: str = ""
    chunks: int = 0
    snapshot_bytes: int = 0
    log_bytes: int = 0
    log: list[LogEntry] = field(default_factory=list)
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
        self._log = log
        self._snapshot = snapshot

    def commit_record(self) -> CommitRecord | None:
        """The record of the last committed batch; None before the first."""
        with state_access(self._place, 0):
            row = self._record.get()
        if row is None:
            return None
        fields = json.loads(row[0])
        fields["log"] = [LogEntry(**entry) for entry in fields["log"]]
        return CommitRecord(**fields)

    def snapshot(self, record: CommitRecord) -> BinaryIO:
        """The engine's snapshot, which does not include the logged batches."""
        buffer = io.BytesIO()
        for chunk in range(record.chunks):
            buffer.write(_present(self._snapshot.getValue((chunk,)))[0])
        buffer.seek(0)
        return buffer

    def logged(self, record: CommitRecord) -> Iterator[EngineBatch]:
        """The batches since the snapshot, in order."""
        for entry in record.log:
            rows = [
                _present(self._log.getValue((entry.version, piece)))
                for piece in range(entry.pieces)
            ]
            yield EngineBatch(
                tuple((stream, bytes(blob)) for stream, blob in rows),
                entry.now_us,
                entry.drain_us,
                tuple(entry.statements),
                entry.dropped,
                entry.newest,
                entry.oldest,
                entry.hold,
            )

    def commit(self, record: CommitRecord, batch: EngineBatch, engine: Savable) -> None:
        """Log ``batch``, which the engine has processed, or write a snapshot; write the record.

        Spark makes both durable together with the batch, or neither.
        """
        with state_access(self._place, max(batch.nbytes, record.snapshot_bytes)):
            self._commit(record, batch, engine)

    def _commit(self, record: CommitRecord, batch: EngineBatch, engine: Savable) -> None:
        outgrown = record.log_bytes + batch.nbytes > max(MIN_LOG_BYTES, record.snapshot_bytes)
        if record.chunks == 0 or outgrown:
            self._write_snapshot(record, engine)
        else:
            self._append(record, batch)
        fields = {**vars(record), "log": [vars(entry) for entry in record.log]}
        self._record.update((json.dumps(fields),))

    def _append(self, record: CommitRecord, batch: EngineBatch) -> None:
        for piece, value in enumerate(batch.pieces):
            self._log.updateValue((record.version, piece), value)
        entry = LogEntry(
            record.version,
            len(batch.pieces),
            batch.now_us,
            batch.drain_us,
            batch.statements,
            batch.dropped,
            batch.newest,
            batch.oldest,
            batch.hold,
        )
        record.log.append(entry)
        record.log_bytes += batch.nbytes

    def _write_snapshot(self, record: CommitRecord, engine: Savable) -> None:
        buffer = io.BytesIO()
        engine.save(buffer)
        content = buffer.getbuffer()
        chunks = -(-len(content) // _CHUNK_BYTES)
        for chunk in range(chunks):
            start = chunk * _CHUNK_BYTES
            self._snapshot.updateValue((chunk,), (bytes(content[start : start + _CHUNK_BYTES]),))
        for chunk in range(chunks, record.chunks):
            self._snapshot.removeKey((chunk,))
        for entry in record.log:
            for piece in range(entry.pieces):
                self._log.removeKey((entry.version, piece))
        record.chunks, record.snapshot_bytes = chunks, len(content)
        record.log, record.log_bytes = [], 0


def _present(row: tuple[Any, ...] | None) -> tuple[Any, ...]:
    if row is None:
        raise StateError("the checkpoint lacks a part of a shard's state: was it copied halfway?")
    return row
