"""A directory of small files of a job, on a local disk or on another file system."""

from __future__ import annotations

import fcntl
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, Protocol
from urllib.parse import quote

from eddyline.errors import StateError

#: Files of a job are accessible by its owner only; those of sinks as the process's umask says.
_PRIVATE_DIRECTORY: Final = 0o700
_PRIVATE_FILE: Final = 0o600
_DIRECTORY: Final = 0o777
_FILE: Final = 0o666
#: File systems allow 255 bytes for a name; the rest is for prefixes and endings.
_MAX_SEGMENT: Final = 200


class Directory(Protocol):
    """Small files by their names relative to the directory (``a/b.json``).

    All methods raise StateError if the file system fails; the message has path and cause.

    Attributes:
        path: for messages and for Spark.
    """

    path: str

    def below(self, name: str) -> Directory:
        """A directory in this one."""

    def make(self, name: str = "") -> None:
        """Create the directory, or one in it, with its parents; accessible by the owner only."""

    def names(self, directory: str = "", ending: str = "") -> list[str]:
        """The names in a directory, sorted, without hidden files."""

    def read(self, name: str) -> bytes | None:
        """The content of a file; None if there is none."""

    def write(self, name: str, content: bytes) -> None:
        """Write a new file atomically."""

    def replace(self, name: str, content: bytes) -> None:
        """Write or replace a file; a reader sees a complete file, or none for a moment."""

    def create(self, name: str, content: bytes) -> bool:
        """Write a file if there is none; whether it was written. Of concurrent calls one succeeds,
        where the file system can guarantee that.
        """

    def delete(self, name: str) -> bool:
        """Delete a file or a directory with its content; whether it existed."""

    def modified(self, name: str) -> datetime | None:
        """Time of the last write of a file; None if there is none."""

    def exclusive(self) -> AbstractContextManager[bool]:
        """Lock the directory against other processes; yields False if there are no locks."""


class LocalDirectory:
    """A directory on this machine's disk. See :class:`Directory`.

    Args:
        private: whether what is created is accessible by the owner only.
    """

    def __init__(self, path: str | Path, *, private: bool = True) -> None:
        self._root = local_path(path) if isinstance(path, str) else path
        self.path = str(path)
        self._private = private

    def below(self, name: str) -> LocalDirectory:
        return LocalDirectory(f"{self.path}/{name}", private=self._private)

    def make(self, name: str = "") -> None:
        with _named(self._root / name):
            _make(self._root / name, _PRIVATE_DIRECTORY if self._private else _DIRECTORY)

    def names(self, directory: str = "", ending: str = "") -> list[str]:
        with _named(self._root / directory):
            try:
                found = os.listdir(self._root / directory)
            except FileNotFoundError:
                return []
        return sorted(n for n in found if n.endswith(ending) and not n.startswith("."))

    def read(self, name: str) -> bytes | None:
        with _named(self._root / name):
            try:
                return (self._root / name).read_bytes()
            except FileNotFoundError:
                return None

    def write(self, name: str, content: bytes) -> None:
        if (self._root / name).exists():
            raise StateError(f"{self._root / name}: there is such a file already")
        self.replace(name, content)

    def replace(self, name: str, content: bytes) -> None:
        target = self._root / name
        hidden = target.with_name(f".{target.name}.{uuid.uuid4().hex[:8]}.tmp")
        with _named(target):
            try:
                _write_new(hidden, content, self._file_mode)
                hidden.replace(target)
            finally:
                hidden.unlink(missing_ok=True)

    def create(self, name: str, content: bytes) -> bool:
        with _named(self._root / name):
            try:
                _write_new(self._root / name, content, self._file_mode)
            except FileExistsError:
                return False
            return True

    def delete(self, name: str) -> bool:
        path = self._root / name
        with _named(path):
            try:
                if path.is_dir() and not path.is_symlink():
                    shutil.rmtree(path)
                else:
                    path.unlink()
            except FileNotFoundError:
                return False
            return True

    def modified(self, name: str) -> datetime | None:
        with _named(self._root / name):
            try:
                return datetime.fromtimestamp((self._root / name).stat().st_mtime, UTC)
            except FileNotFoundError:
                return None

    @property
    def _file_mode(self) -> int:
        return _PRIVATE_FILE if self._private else _FILE

    @contextmanager
    def exclusive(self) -> Iterator[bool]:
        with _named(self._root):
            descriptor = os.open(self._root, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield True
        finally:
            os.close(descriptor)


def path_segment(name: str) -> str:
    """A name as one segment of a path: it cannot lead elsewhere, no reader skips it, and different
    names give different segments.

    >>> path_segment("trades"), path_segment("../a b"), path_segment("_x")
    ('trades', '%2E.%2Fa%20b', '%5Fx')
    """
    encoded = quote(name, safe="", errors="surrogatepass").replace("~", "%7E")
    if encoded[:1] in ("", ".", "_"):  # readers pass over hidden directories
        encoded = f"%{ord(encoded[0]):02X}{encoded[1:]}" if encoded else "%"
    if len(encoded) > _MAX_SEGMENT:
        digest = uuid.uuid5(uuid.NAMESPACE_OID, encoded).hex
        encoded = f"{encoded[: _MAX_SEGMENT - len(digest) - 1].rstrip('%')}~{digest}"
    return encoded


def local_path(path: str) -> Path:
    """The path of this machine that ``path`` names, with or without the scheme ``file:``."""
    if not path.startswith("file:"):
        return Path(path)
    return Path("/" + path.removeprefix("file:").lstrip("/"))


def _make(path: Path, mode: int) -> None:
    if path.is_dir():
        return
    _make(path.parent, mode)
    path.mkdir(mode, exist_ok=True)


def _write_new(path: Path, content: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Turn errors of the operating system into StateError with the path."""
    try:
        yield
    except FileExistsError:
        raise
    except OSError as e:
        raise StateError(f"{path}: {e.strerror or e}") from e
