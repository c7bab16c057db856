"""The checkpoint of a job, and its lease."""

from __future__ import annotations

import hashlib
import re
import uuid
from dataclasses import dataclass
from typing import Final

from eddyline.errors import StateError
from eddyline.spark.storage.directory import Directory
from eddyline.spark.storage.lease import Lease

#: File of a checkpoint with the identity of its job.
JOB_ID: Final = "job_id"


@dataclass(frozen=True)
class Checkpoint:
    """The checkpoint directory of a job.

    Attributes:
        path: qualified. directory: the same. named: False for a temporary one, which no other
            process can know.
    """

    path: str
    directory: Directory
    named: bool

    def lease(self) -> Lease | None:
        """Take the lease; None if the checkpoint is temporary.

        Raises:
            StateError: another session has it.
        """
        self.directory.make()
        return Lease.take(self.directory) if self.named else None

    def job_id(self) -> str:
        """Identifies the job to databases: random, so that a job with a new checkpoint in the same
        place is another job.

        Raises:
            StateError: the file system fails.
        """
        self.directory.make()
        self.directory.create(JOB_ID, uuid.uuid4().hex.encode())
        content = (self.directory.read(JOB_ID) or b"").decode(errors="replace")
        if not re.fullmatch("[0-9a-f]{32}", content):
            raise StateError(f"{self.directory.path}/{JOB_ID} cannot be read")
        return content

    @property
    def run_key(self) -> str:
        """Identifies the checkpoint in worker processes."""
        return hashlib.sha256(self.path.encode()).hexdigest()[:16]
