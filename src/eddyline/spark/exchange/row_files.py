"""Large packed batches in files of the checkpoint; Spark's rows have their names.

Rows for a shard are written by a task of ingest, and are the log of the shard::

    ingest --- rows/SHARD/BATCH-... ---> shard --- results/BATCH-... ---> delivery
                                           |
                              state/SHARD/BATCH-...  (parts of snapshots)

So they pass neither Spark's shuffle nor its state, which take tens of milliseconds per megabyte. In
each attempt of a task a file has another name. All names begin with the number of the batch: a
shard deletes the rows before its snapshot, and the driver the results that are delivered, without a
list of them, also those of failed attempts.

The checkpoint must be a local or mounted directory. On other file systems there are no such files.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from io import BufferedWriter
from pathlib import Path
from typing import Final

import pyarrow as pa

from eddyline.errors import StateError
from eddyline.spark.exchange.packed_batches import Compression, packed_file, write_packed
from eddyline.spark.storage.directory import LocalDirectory, local_path

#: Packed batches of at least this size are files.
LEAST_BYTES: Final = 256 << 10
#: Maximum size of a write. For larger ones the kernel caches the file in pages so large that fresh
#: ones can take as long as the batch.
_WRITTEN_BYTES: Final = 256 << 10
#: BATCH-ATTEMPT.
_NAME: Final = re.compile(r"\d+-[0-9a-f]+")


@dataclass(frozen=True)
class RowFile:
    """A packed batch in a file.

    Attributes:
        path: of the file. nbytes: its size.
    """

    path: Path
    nbytes: int

    def __len__(self) -> int:
        return self.nbytes

    @property
    def reference(self) -> str:
        """For :meth:`ShardFiles.find`."""
        return f"{self.path.name} {self.nbytes}"

    def read(self) -> pa.Buffer:
        """The Arrow IPC stream.

        Raises:
            StateError: the file is missing, has another size, or cannot be read.
        """
        try:
            with pa.OSFile(str(self.path)) as file:
                content = file.read_buffer()
        except FileNotFoundError:
            content = pa.py_buffer(b"")
        except OSError as e:
            raise StateError(f"{self.path}: {e.strerror or e}") from e
        if content.size != self.nbytes:
            raise StateError(
                f"the checkpoint lacks {self.path}, or a part of it, of a shard's log: "
                "was it copied halfway?"
            )
        return content


class WrittenFiles:
    """The files that the tasks of a batch write.

    Args:
        checkpoint: its path. batch: its number. least_bytes: size from which on rows are a file.
    """

    def __init__(self, checkpoint: str, batch: int, least_bytes: int = LEAST_BYTES) -> None:
        self._checkpoint = checkpoint
        self._batch = batch
        self._least_bytes = least_bytes if _is_local(checkpoint) else None

    def takes(self, rows: pa.Table) -> bool:
        """Whether these rows are to be a file."""
        return self._least_bytes is not None and rows.nbytes >= self._least_bytes

    def write(self, shard: int, rows: pa.Table, compression: Compression) -> str:
        """Write rows for a shard; returns the reference for :meth:`ShardFiles.find`.

        Raises:
            StateError: the file cannot be written.
        """
        return self._written(ShardFiles(self._checkpoint, shard).rows, rows, compression).reference

    def write_results(self, rows: pa.Table) -> bytes:
        """Write results; returns what ``unpack`` reads them from.

        Raises:
            StateError: the file cannot be written.
        """
        return packed_file(self._written(_results(self._checkpoint), rows).path)

    def _written(self, directory: Path, rows: pa.Table, compression: Compression = None) -> RowFile:
        with _new_file(directory, self._batch) as (path, file):
            write_packed(file, rows, compression)
            return RowFile(path, file.tell())


class ShardFiles:
    """The files of one shard.

    Args:
        checkpoint: its path. batch: number of the current batch.

    Attributes:
        exist: whether tasks reach the checkpoint as a directory; otherwise there are no files.
    """

    def __init__(self, checkpoint: str, shard: int, batch: int = 0) -> None:
        self.exist = _is_local(checkpoint)
        self._place = local_path(checkpoint)
        self._shard = shard
        self._batch = batch

    def find(self, reference: str) -> RowFile:
        """The rows of a reference.

        Raises:
            StateError: tasks cannot read the file system of the checkpoint.
        """
        name, _, nbytes = reference.partition(" ")
        self._require(name, reference)
        return RowFile(self.rows / name, int(nbytes))

    def delete_rows(self, before: int) -> None:
        """Delete the rows of batches with numbers below ``before``.

        Raises:
            StateError: a file cannot be deleted.
        """
        if self.exist:
            _delete(self.rows, lambda name: _batch_of(name) < before)

    def write_state(self, content: bytes) -> str:
        """Write a part of a snapshot; returns the name of the file.

        Raises:
            StateError: the file cannot be written.
        """
        with _new_file(self._state, self._batch) as (path, file):
            view = memoryview(content)
            for start in range(0, len(view), _WRITTEN_BYTES):
                file.write(view[start : start + _WRITTEN_BYTES])
            return path.name

    def read_state(self, name: str) -> bytes:
        """What :meth:`write_state` wrote.

        Raises:
            StateError: the file is missing or cannot be read.
        """
        self._require(name, name)
        try:
            return (self._state / name).read_bytes()
        except OSError as e:
            raise _error(self._state / name, e) from e

    def delete_state(self, names: Collection[str]) -> None:
        """Delete these parts of snapshots."""
        for name in names:
            self._require(name, name)
            (self._state / name).unlink(missing_ok=True)

    def keep_state(self, names: Collection[str]) -> None:
        """Delete all other parts of snapshots, but those of the current batch.

        Raises:
            StateError: a file cannot be deleted.
        """
        if self.exist:
            kept = frozenset(names)
            _delete(self._state, lambda n: n not in kept and _batch_of(n) < self._batch)

    @property
    def rows(self) -> Path:
        """The directory of rows."""
        return self._place / "rows" / str(self._shard)

    @property
    def _state(self) -> Path:
        return self._place / "state" / str(self._shard)

    def _require(self, name: str, reference: str) -> None:
        """Check that this is the name of a file of a shard, which is there."""
        if not _NAME.fullmatch(name):
            raise StateError(f"the state of a shard names the file '{name}', which is none of it")
        if not self.exist:
            raise StateError(
                f"rows or state of a shard are in the file {reference}: move the checkpoint back "
                "to a local or mounted directory"
            )


def delete_results(checkpoint: str, before: int) -> None:
    """Delete the results of batches with numbers below ``before``.

    Raises:
        StateError: a file cannot be deleted.
    """
    if _is_local(checkpoint):
        _delete(_results(checkpoint), lambda name: _batch_of(name) < before)


@contextmanager
def _new_file(directory: Path, batch: int) -> Iterator[tuple[Path, BufferedWriter]]:
    path = directory / f"{batch}-{secrets.token_hex(8)}"
    try:
        if not directory.exists():
            LocalDirectory(directory).make()
        with open(path, "xb", opener=_private) as file:
            yield path, file
    except OSError as e:
        raise _error(path, e) from e


def _delete(directory: Path, is_old: Callable[[str], bool]) -> None:
    if not directory.exists():
        return
    try:
        for name in filter(is_old, os.listdir(directory)):
            (directory / name).unlink(missing_ok=True)
    except OSError as e:
        raise _error(directory, e) from e


def _batch_of(name: str) -> int:
    return int(name.partition("-")[0])


def _error(path: Path, error: OSError) -> StateError:
    return StateError(f"{error.filename or path}: {error.strerror or error}")


def _is_local(checkpoint: str) -> bool:
    return checkpoint.startswith("file:")


def _results(checkpoint: str) -> Path:
    return local_path(checkpoint) / "results"


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
