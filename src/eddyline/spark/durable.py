"""The durable state of a shard: a snapshot of its engine and a log of the batches since then.

Why not just save the engine after every batch? Because its size is that of the windows, and a
batch may be small. Why not just a log? Because it would have to reach back as far as the longest
window, and replaying that takes long. So: a batch is appended to the log; when the log would
outgrow the snapshot, a new snapshot replaces both. Bytes written per batch follow the batch, not
the window (at most about twice the input over time), and a restart replays at most as much as a
snapshot holds.

The engine is deterministic: snapshot + replay give exactly the state that was lost.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, Protocol

from eddyline.errors import StateError
from eddyline.spark.disk import state_access

#: Below this a snapshot is not worth its fixed cost: small batches go to the log.
MIN_LOG_BYTES: Final = 4 << 20
_CHUNK_BYTES: Final = 4 << 20

COMMIT_SCHEMA: Final = "head STRING"
LOG_KEY_SCHEMA: Final = "version BIGINT, piece BIGINT"
LOG_VALUE_SCHEMA: Final = "stream STRING, blob BINARY"
SNAPSHOT_KEY_SCHEMA: Final = "chunk BIGINT"
SNAPSHOT_VALUE_SCHEMA: Final = "blob BINARY"


class ValueState(Protocol):
    """The part of Spark's ValueState that is used here."""

    def get(self) -> tuple[Any, ...] | None:
        """The value; None if there is none."""

    def update(self, newValue: tuple[Any, ...]) -> None:
        """Replace the value."""


class MapState(Protocol):
    """The part of Spark's MapState that is used here."""

    def getValue(self, key: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """The value of a key; None if there is none."""

    def updateValue(self, key: tuple[Any, ...], value: tuple[Any, ...]) -> None:
        """Set the value of a key."""

    def removeKey(self, key: tuple[Any, ...]) -> None:
        """Forget a key."""


class Savable(Protocol):
    """What a snapshot is made of."""

    def save(self, target: BinaryIO) -> None:
        """Write everything to a file."""


@dataclass(frozen=True)
class EngineBatch:
    """What one batch does to an engine; applying the same steps gives the same engine.

    Attributes:
        pieces: (stream, Arrow IPC stream) in the order in which rows are handed over.
        now_us: the wall clock of the batch, as Spark has logged it.
        drain_us: no row will come any more, and rows have effects for so long; None: that is not
            known.
        statements: queries that come and go before the rows do, in order.
        dropped: by stream, how many more rows there were, which ingest has dropped. newest: the
            largest timestamp of the rows that it looked at.
        hold: whether a statement waits until all rows are kept.
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
        """Bytes that the step takes in the log."""
        return sum(len(blob) for _, blob in self.pieces) + sum(map(len, self.statements))


@dataclass
class LogEntry:
    """Where a step lies in the log."""

    version: int
    pieces: int
    now_us: int
    drain_us: int | None
    statements: tuple[str, ...]
    dropped: Mapping[str, int]
    newest: Mapping[str, int]
    hold: bool


@dataclass
class CommitRecord:
    """The one small record that makes a batch committed.

    Attributes:
        version: counts the batches that this shard has processed.
        token: drawn anew for each; a cached engine is current only if it holds the same one.
        notes: what else must survive, as the shard likes it (JSON).
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
        place: the checkpoint, for messages.
    """

    def __init__(
        self, head: ValueState, log: MapState, snapshot: MapState, place: str = ""
    ) -> None:
        self._place = place
        self._head = head
        self._log = log
        self._snapshot = snapshot

    def head(self) -> CommitRecord | None:
        """The committed head; None before the first batch."""
        with state_access(self._place, 0):
            row = self._head.get()
        if row is None:
            return None
        fields = json.loads(row[0])
        fields["log"] = [LogEntry(**entry) for entry in fields["log"]]
        return CommitRecord(**fields)

    def snapshot(self, head: CommitRecord) -> BinaryIO:
        """The engine as it was when the head was written, without the logged batches."""
        buffer = io.BytesIO()
        for chunk in range(head.chunks):
            buffer.write(_present(self._snapshot.getValue((chunk,)))[0])
        buffer.seek(0)
        return buffer

    def steps(self, head: CommitRecord) -> Iterator[EngineBatch]:
        """The batches since the snapshot, in order."""
        for entry in head.log:
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
                entry.hold,
            )

    def commit(self, head: CommitRecord, step: EngineBatch, engine: Savable) -> None:
        """Record that ``step`` was applied to the engine, and write the head.

        Spark makes it durable together with the batch, or not at all.
        """
        with state_access(self._place, max(step.nbytes, head.snapshot_bytes)):
            self._commit(head, step, engine)

    def _commit(self, head: CommitRecord, step: EngineBatch, engine: Savable) -> None:
        outgrown = head.log_bytes + step.nbytes > max(MIN_LOG_BYTES, head.snapshot_bytes)
        if head.chunks == 0 or outgrown:
            self._write_snapshot(head, engine)
        else:
            self._append(head, step)
        fields = {**vars(head), "log": [vars(entry) for entry in head.log]}
        self._head.update((json.dumps(fields),))

    def _append(self, head: CommitRecord, step: EngineBatch) -> None:
        for piece, value in enumerate(step.pieces):
            self._log.updateValue((head.version, piece), value)
        entry = LogEntry(
            head.version,
            len(step.pieces),
            step.now_us,
            step.drain_us,
            step.statements,
            step.dropped,
            step.newest,
            step.hold,
        )
        head.log.append(entry)
        head.log_bytes += step.nbytes

    def _write_snapshot(self, head: CommitRecord, engine: Savable) -> None:
        buffer = io.BytesIO()
        engine.save(buffer)
        content = buffer.getbuffer()
        chunks = -(-len(content) // _CHUNK_BYTES)
        for chunk in range(chunks):
            start = chunk * _CHUNK_BYTES
            self._snapshot.updateValue((chunk,), (bytes(content[start : start + _CHUNK_BYTES]),))
        for chunk in range(chunks, head.chunks):
            self._snapshot.removeKey((chunk,))
        for entry in head.log:
            for piece in range(entry.pieces):
                self._log.removeKey((entry.version, piece))
        head.chunks, head.snapshot_bytes = chunks, len(content)
        head.log, head.log_bytes = [], 0


def _present(row: tuple[Any, ...] | None) -> tuple[Any, ...]:
    if row is None:
        raise StateError("the checkpoint lacks a part of a shard's state: was it copied halfway?")
    return row
