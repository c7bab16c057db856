"""Files that the driver writes, without a Spark job."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from eddyline.spark.formats.file_encoders import Encoder
from eddyline.spark.storage.directory import Directory, LocalDirectory

#: Rows of more bytes than this are not sent through Py4J, which encodes them as text.
_MAX_REMOTE_BYTES: Final = 4 << 20


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
        return isinstance(self.root, LocalDirectory) or rows.nbytes <= _MAX_REMOTE_BYTES

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
