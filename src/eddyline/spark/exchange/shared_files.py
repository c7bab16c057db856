"""Files that the driver gives to the tasks of a running job.

A broadcast reaches the tasks of a streaming query only if it was made before the query was started.
A file that is added to Spark's context reaches all tasks from then on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from tempfile import mkdtemp

from pyspark import SparkContext, SparkFiles

from eddyline.errors import StateError


@dataclass(frozen=True)
class SharedFile:
    """A file for tasks. ``name``: no other file of the context has it."""

    name: str

    def share(self, context: SparkContext, content: Callable[[], bytes]) -> None:
        """Give it to the tasks to come, once; it is deleted with the context.

        Args:
            content: called if the context does not have the file yet.
        """
        if any(path.rpartition("/")[2] == self.name for path in context.listFiles):
            return
        place = Path(mkdtemp(dir=SparkFiles.getRootDirectory())) / self.name
        place.write_bytes(content())
        context.addFile(str(place))

    def read(self) -> bytes:
        """The content, in a task.

        Raises:
            StateError: the task does not have the file.
        """
        try:
            return Path(SparkFiles.get(self.name)).read_bytes()
        except OSError as e:
            raise StateError(f"a task does not have the file {self.name} of the job: {e}") from e
