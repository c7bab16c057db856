"""Files that the driver writes, without a Spark job."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from eddyline.spark.formats.file_encoders import Encoder
from eddyline.spark.storage.directory import Directory, LocalDirectory

#: Rows of more bytes than this are not sent through Py4J, which encodes them as text.
_MAX_REMOTE_BYTES: Final = 4 << 20

#: The column that the names of directories are for readers.
BATCH_COLUMN: Final = "eddyline_batch"


def batch_directory(batch_id: int) -> str:
    """The directory of a batch. Its name has no leading underscore, with which readers other than
    Spark's would skip it.
    """
    return f"{BATCH_COLUMN}={batch_id}"


@dataclass(frozen=True)
class DriverFiles:
    """Directories with one file each, below a directory of Spark's file systems.

    Attributes:
        ending: of the names of files, without a dot.
    """

    root: Directory
    encode: Encoder
    ending: str

    def accepts(self, rows: pa.Table) -> bool:
        """Whether the driver should write these rows itself."""
        return bool(rows.nbytes <= self.most_bytes)

    @property
    def most_bytes(self) -> int:
        """Maximum size of the rows that the driver should write."""
        return sys.maxsize if isinstance(self.root, LocalDirectory) else _MAX_REMOTE_BYTES

    def exists(self, name: str) -> bool:
        """Whether the directory ``name`` has files."""
        return bool(self.root.names(name))

    def write(self, name: str, rows: pa.Table) -> None:
        """Write the directory ``name`` with one file, which readers see when it is complete.

        A directory that exists is of an earlier attempt at the same batch: the file replaces its
        file, and files of Spark are deleted.

        Raises:
            StateError: the file system fails.
        """
        content = self.encode(rows)
        directory = self.root.below(name)
        directory.make()
        file = f"part-00000.{self.ending}"
        for other in directory.names():
            if other != file:
                directory.delete(other)
        directory.replace(file, content)
