"""Directories of a job's checkpoint, for commands that run without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow import fs

from eddyline.errors import DataError, StateError
from eddyline.spark.storage.directory import Directory, LocalDirectory, local_path


def open_directory(path: str) -> Directory:
    """The directory of a local path, or of a URI that Arrow supports (``s3://...``).

    Raises:
        DataError: there is no such file system, or it cannot be reached.
    """
    if "://" not in path:
        return LocalDirectory(str(local_path(path).absolute()))
    try:
        system, root = fs.FileSystem.from_uri(path.replace("s3a://", "s3://"))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, OSError) as e:
        raise DataError(f"the checkpoint '{path}' cannot be reached: {e}") from None
    if isinstance(system, fs.LocalFileSystem):
        return LocalDirectory(str(Path(root)))
    return ArrowDirectory(system, root)


class ArrowDirectory:
    """A directory on a file system of Arrow. See ``Directory``."""

    def __init__(self, system: Any, path: str) -> None:
        self.path = path
        self._files = system

    def below(self, name: str) -> ArrowDirectory:
        return ArrowDirectory(self._files, f"{self.path}/{name}")

    def make(self, name: str = "") -> None:
        with self._at(name) as path:
            self._files.create_dir(path)

    def names(self, directory: str = "", ending: str = "") -> list[str]:
        with self._at(directory) as path:
            found = self._files.get_file_info(fs.FileSelector(path, allow_not_found=True))
        names = (f.base_name for f in found)
        return sorted(n for n in names if n.endswith(ending) and not n.startswith("."))

    def read(self, name: str) -> bytes | None:
        with self._at(name) as path:
            try:
                with self._files.open_input_stream(path) as stream:
                    content: bytes = stream.read()
                    return content
            except FileNotFoundError:
                return None

    def write(self, name: str, content: bytes) -> None:
        self.replace(name, content)

    def replace(self, name: str, content: bytes) -> None:
        with self._at(name) as path:
            directory, _, last = path.rpartition("/")
            hidden = f"{directory}/.{last}.tmp"
            with self._files.open_output_stream(hidden) as stream:
                stream.write(content)
            self._files.move(hidden, path)

    def create(self, name: str, content: bytes) -> bool:
        """Write a file if there is none; not atomic."""
        if self.read(name) is not None:
            return False
        self.replace(name, content)
        return True

    def delete(self, name: str) -> bool:
        with self._at(name) as path:
            kind = self._files.get_file_info(path).type
            try:
                if kind == fs.FileType.Directory:
                    self._files.delete_dir(path)
                elif kind == fs.FileType.File:
                    self._files.delete_file(path)
            except FileNotFoundError:
                return False
            return bool(kind != fs.FileType.NotFound)

    def modified(self, name: str) -> datetime | None:
        with self._at(name) as path:
            at: datetime | None = self._files.get_file_info(path).mtime
            return None if at is None else at.astimezone(UTC)

    def exclusive(self) -> AbstractContextManager[bool]:
        """There are no locks."""
        return nullcontext(False)

    @contextmanager
    def _at(self, name: str) -> Iterator[str]:
        """The path; errors become StateError with the path."""
        path = f"{self.path}/{name}" if name else self.path
        try:
            yield path
        except OSError as e:
            raise StateError(f"{path}: {e}") from e
