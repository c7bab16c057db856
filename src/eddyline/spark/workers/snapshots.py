"""Snapshots of a shard's engine that are written over several batches.

``begin`` copies the state that may change and the rows that have come since the last snapshot into
memory; ``advance`` writes a part with each batch after that. Until all is written the last snapshot
and its log stay in force, so a worker that is lost in between loses nothing but this work::

    batches      | 1 | 2 | 3 | 4 | 5 | 6 | 7 |
    snapshot             begin       complete      of the state after batch 2
    log in force  0 ............ 6 | 3 ... 7

Everything is a *blob* with a name, in chunks: the state that may change, and segments of rows (see
``eddyline.engine.checkpoint.segments``), which later snapshots refer to. Large chunks are files of
which Spark's state has the names.
"""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Final, Protocol

import pyarrow as pa

from eddyline.engine.checkpoint.segments import Segments
from eddyline.errors import StateError
from eddyline.spark.exchange.row_files import LEAST_BYTES, ShardFiles
from eddyline.spark.workers.batch_log import CHUNK_BYTES, MapState

_LENGTH_BYTES: Final = 8
#: Chunks that a batch removes, or twice those that it writes.
_REMOVED_PER_BATCH: Final = 16


class BlobState(MapState, Protocol):
    """The used part of Spark's MapState; keys are (name, chunk), values (blob,)."""

    def keys(self) -> Iterable[tuple[Any, ...]]:
        """All keys."""


#: What the content of a chunk consists of.
Parts = tuple[bytes | memoryview, ...]

#: The first byte of a value: what follows is the chunk, or the name of its file.
_INLINE: Final = b"\0"
_FILE: Final = b"\1"
#: Maximum size of a chunk that is a file.
_FILE_BYTES: Final = 4 << 20


class Blobs:
    """Chunks of blobs in Spark's state, or in files.

    Args:
        files: of the shard.

    Attributes:
        chunk_bytes: maximum size of a chunk.
    """

    def __init__(self, state: BlobState, files: ShardFiles) -> None:
        self._state = state
        self._files = files
        self.chunk_bytes = _FILE_BYTES if files.exist else CHUNK_BYTES
        self._removed: list[str] = []

    def keys(self) -> list[tuple[int, int]]:
        """Name and chunk of all chunks."""
        return [(name, chunk) for name, chunk in self._state.keys()]  # noqa: SIM118 - of Spark

    def read(self, name: int, chunk: int) -> bytes | None:
        """A chunk; None if there is none."""
        value = self._value(name, chunk)
        if value is None or value[:1] == _INLINE:
            return value and value[1:]
        return self._files.read_state(value[1:].decode())

    def write(self, name: int, chunk: int, content: bytes) -> None:
        """Write a new chunk."""
        in_file = self._files.exist and len(content) >= LEAST_BYTES
        value = _FILE + self._files.write_state(content).encode() if in_file else _INLINE + content
        self._state.updateValue((name, chunk), (value,))

    def remove(self, name: int, chunk: int) -> None:
        """Remove a chunk."""
        self._removed += self._file(name, chunk)
        self._state.removeKey((name, chunk))

    def take_removed(self) -> list[str]:
        """The names of the files of chunks that were removed since the last call: to be deleted
        when the batch is committed.
        """
        removed, self._removed = self._removed, []
        return removed

    def remove_orphans(self) -> None:
        """Delete the files of batches that were not committed."""
        self._files.keep_state([file for key in self.keys() for file in self._file(*key)])

    def _file(self, name: int, chunk: int) -> list[str]:
        """The name of the file of a chunk, if it has one."""
        if not self._files.exist:
            return []
        value = self._value(name, chunk)
        return [] if value is None or value[:1] == _INLINE else [value[1:].decode()]

    def _value(self, name: int, chunk: int) -> bytes | None:
        row = self._state.getValue((name, chunk))
        return None if row is None else bytes(row[0])


class Savable(Protocol):
    """State that can be written to a snapshot.

    Attributes:
        snapshots: those that are being written; None until there is one.
    """

    snapshots: Snapshots | None

    def save(self, target: BinaryIO, segments: Segments) -> None:
        """Write the state to a file, but rows that never change to segments."""


@dataclass(frozen=True)
class LogPlace:
    """Where a snapshot is in the log.

    Attributes:
        end: number of the chunk after the log that the snapshot replaces. nbytes, batches: size of
            that log. batch: number of its last batch in Spark's log.
    """

    end: int
    nbytes: int
    batches: int
    batch: int


@dataclass(frozen=True)
class Begun:
    """A snapshot of which parts have been written.

    Attributes:
        name: of its blob. names: all blobs that belong to it. nbytes: of its own blob.
        total: number of bytes to write. log: of the batch after which it began.
    """

    name: int
    names: frozenset[int]
    nbytes: int
    total: int
    log: LogPlace


@dataclass
class Snapshots:
    """The snapshots of one engine, which is kept with it.

    Attributes:
        begun: the snapshot that is being written, if any.
        in_force: the blobs of the last complete snapshot.
    """

    segments: Segments = field(init=False)
    begun: Begun | None = None
    in_force: frozenset[int] = frozenset()
    _saved: list[Any] = field(default_factory=list)  # see Segments.saved, before ``begun``
    _queue: deque[tuple[int, int, Parts]] = field(default_factory=deque)  # name, chunk, content
    _new: list[tuple[int, pa.Buffer]] = field(default_factory=list)
    _chunks: dict[int, range] = field(default_factory=dict)  # numbers of chunks by name
    _garbage: deque[tuple[int, int]] = field(default_factory=deque)
    _credit: int = 0

    def __post_init__(self) -> None:
        self.segments = Segments(lambda name, rows: self._new.append((name, rows)))

    def find(self, blobs: Blobs) -> None:
        """Take over the blobs that are in the state, which another worker may have written. A
        snapshot that was begun here is given up; ``keep`` has to follow.
        """
        self._queue.clear()
        self._new.clear()
        self._garbage.clear()
        if self.begun is not None:
            self.begun = None
            self.segments.go_back(self._saved)
        self._chunks.clear()
        for name, chunk in blobs.keys():  # noqa: SIM118 - no mapping
            other = self._chunks.get(name, range(chunk, chunk + 1))
            self._chunks[name] = range(min(other.start, chunk), max(other.stop, chunk + 1))
        self.segments.next_name = max([0, *self._chunks]) + 1

    def begin(self, engine: Savable, log: LogPlace, chunk_bytes: int) -> None:
        """Copy what is to be written, as of now, in chunks of this size."""
        target = io.BytesIO()
        self._saved = self.segments.saved()
        engine.save(target, self.segments)
        names, name = self.segments.names(), self.segments.new_name()
        new, self._new = [(n, blob) for n, blob in self._new if n in names], []
        blobs = [*new, (name, pa.py_buffer(target.getbuffer()))]
        for number, blob in blobs:
            for chunk, parts in enumerate(_chunks(blob, chunk_bytes)):
                self._queue.append((number, chunk, parts))
        total = sum(len(part) for *_, parts in self._queue for part in parts)
        size = blobs[-1][1].size
        every = frozenset({*names, name})
        self.begun = Begun(name, every, size, total, log)
        self._credit = 0

    def advance(self, blobs: Blobs, nbytes: int) -> Begun | None:
        """Write about ``nbytes`` more; returns the snapshot if it is complete now."""
        self._credit += nbytes
        written = 0
        while self._queue and self._credit > 0:
            name, chunk, parts = self._queue.popleft()
            content = b"".join(parts)
            blobs.write(name, chunk, content)
            self._chunks[name] = range(chunk + 1)
            self._credit -= len(content)
            written += 1
        complete = None if self._queue else self.begun
        if complete is not None:
            self.begun = None
            self.keep(complete.names)
        for _ in range(min(len(self._garbage), max(_REMOVED_PER_BATCH, 2 * written))):
            blobs.remove(*self._garbage.popleft())
        return complete

    def keep(self, names: frozenset[int]) -> None:
        """The blobs of the snapshot in force: remove all others, with the next batches."""
        self.in_force = names
        for name in self._chunks.keys() - names:
            self._garbage.extend((name, chunk) for chunk in self._chunks.pop(name))


def _chunks(blob: pa.Buffer, size: int) -> Iterator[Parts]:
    """The length of a blob, and the blob, in chunks of ``size`` bytes; nothing is copied."""
    length, view = blob.size.to_bytes(_LENGTH_BYTES, "little"), memoryview(blob)
    yield length, view[: size - _LENGTH_BYTES]
    for start in range(size - _LENGTH_BYTES, len(view), size):
        yield (view[start : start + size],)


def read_blob(blobs: Blobs, name: int, what: str) -> bytes:
    """A blob.

    Raises:
        StateError: it is missing or truncated; ``what`` it is.
    """
    content = b"".join(_chunks_of_blob(blobs, name, what))
    return content[_LENGTH_BYTES:]


def _chunks_of_blob(blobs: Blobs, name: int, what: str) -> Iterator[bytes]:
    missing, chunk = 1, 0
    while missing > 0:
        content = blobs.read(name, chunk)
        if content is None:
            raise StateError(
                f"the checkpoint lacks chunk {chunk} of {what} {name} of a shard's state: "
                "was it copied halfway?"
            )
        if chunk == 0:
            missing = _LENGTH_BYTES + int.from_bytes(content[:_LENGTH_BYTES], "little")
        missing -= len(content)
        chunk += 1
        yield content
