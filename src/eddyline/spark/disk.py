"""Disks that are full or broken, told by name: Spark buries them in stack traces, or loses them."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from eddyline.errors import StateError
from eddyline.spark.directory import local_path

_TROUBLE: Final = re.compile(
    r"No space left on device|Disk quota exceeded|Read-only file system|Input/output error"
    r"|Too many open files|Structure needs cleaning|Stale file handle"
)
#: A path at the beginning of the message of Java's or Python's error.
_PATH: Final = re.compile(r"(?:Exception|Error): (?:\[Errno \d+\] )?(?:file:)?(/[^\s:]+)")
#: The state of a shard could not be written; the worker says it in these words.
_NOT_WRITTEN: Final = re.compile(r"StateError: (the state of a shard .*)")


@contextmanager
def state_access(place: str, nbytes: int) -> Iterator[None]:
    """In a worker: where Spark cannot read or write its state it hangs up, without a reason.

    Args:
        place: the checkpoint. nbytes: what is read or written in the block.

    Raises:
        StateError: it has hung up; the message names the place, and how much room is there.
    """
    try:
        yield
    except (EOFError, ConnectionError) as e:
        free = _free_bytes(place)
        reason = "Spark's log says why"
        if free is not None:
            full = free < 2 * nbytes + (1 << 20)
            reason = f"{free:,} bytes are free there"
            reason = f"the disk is full, or nearly so: {reason}" if full else reason
        raise StateError(
            f"the state of a shard ({nbytes:,} bytes) was not read or written in {place}: {reason}"
        ) from e


def disk_error(checkpoint: str, error: Exception) -> StateError | None:
    """What a failed job says of a disk, if that is why it failed.

    Args:
        checkpoint: its path. error: of Spark, with the text of all that led to it.
    """
    text = str(error)
    written = _NOT_WRITTEN.search(text)
    if written is not None:
        return StateError(written[1].strip())
    trouble = _TROUBLE.search(text)
    if trouble is None:
        return None
    line = next(line for line in text.splitlines() if trouble[0] in line)
    path = _PATH.search(line)
    if path is not None:
        return StateError(f"{path[1]}: {trouble[0]}")
    return StateError(f"{trouble[0]}: the checkpoint {checkpoint}, a sink or a temporary directory")


def _free_bytes(place: str) -> int | None:
    """How much room a local directory has; None if it is not on this machine."""
    if not place.startswith("file:"):
        return None
    try:
        return shutil.disk_usage(local_path(place)).free
    except OSError:
        return None
