"""The checkpoint of a job, and its lease."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from eddyline.spark.directory import Directory
from eddyline.spark.lease import Lease


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

    @property
    def run_key(self) -> str:
        """Identifies the checkpoint in worker processes."""
        return hashlib.sha256(self.path.encode()).hexdigest()[:16]
