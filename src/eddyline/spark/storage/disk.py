"""Errors of full or broken disks, which Spark hides in stack traces or loses."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from eddyline.errors import StateError
from eddyline.spark.storage.directory import local_path

_DISK_ERROR: Final = re.compile(
    r"No space left on device|Disk quota exceeded|Read-only file system|Input/output error"
    r"|Too many open files|Structure needs cleaning|Stale file handle"
)
#: A path at the beginning of the message of Java's or Python's error.
_PATH: Final = re.compile(r"(?:Exception|Error): (?:\[Errno \d+\] )?(?:file:)?(/[^\s:]+)")
#: The message of :func:`state_access`, as it appears in Spark's exception.
_NOT_WRITTEN: Final = re.compile(r"StateError: (the state of a shard .*)")


@contextmanager
def state_access(place: str, nbytes: int) -> Iterator[None]:
    """In a worker: Spark closes the connection without a reason if it cannot access its state.

    Args:
        place: the checkpoint. nbytes: number of bytes read or written in the block.

    Raises:
        StateError: the connection was closed; with the place and its free space.
    """
    try:
        yield
    except (EOFError, ConnectionError) as e:
        free = _free_bytes(place)
        reason = "see Spark's log"
        if free is not None:
            full = free < 2 * nbytes + (1 << 20)
            reason = f"{free:,} bytes are free there"
            reason = f"the disk is full or nearly full: {reason}" if full else reason
        raise StateError(
            f"the state of a shard ({nbytes:,} bytes) was not read or written in {place}: {reason}"
        ) from e


def disk_error(checkpoint: str, error: Exception) -> StateError | None:
    """The disk error that caused a job's failure; None if there was another cause.

    Args:
        checkpoint: its path. error: of Spark, with the text of its causes.
    """
    text = str(error)
    written = _NOT_WRITTEN.search(text)
    if written is not None:
        return StateError(written[1].strip())
    found = _DISK_ERROR.search(text)
    if found is None:
        return None
    line = next(line for line in text.splitlines() if found[0] in line)
    path = _PATH.search(line)
    if path is not None:
        return StateError(f"{path[1]}: {found[0]}")
    return StateError(f"{found[0]}: the checkpoint {checkpoint}, a sink or a temporary directory")


def _free_bytes(place: str) -> int | None:
    """Free space of a local directory; None on other file systems."""
    if not place.startswith("file:"):
        return None
    try:
        return shutil.disk_usage(local_path(place)).free
    except OSError:
        return None
