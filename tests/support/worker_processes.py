"""The Python workers of a Spark session that run engines, so that tests can end them."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path


def end_engine_workers() -> None:
    """Kill the workers: engines are built again from the state."""
    for pid in engine_workers():
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def engine_workers() -> list[int]:
    """Python workers of this test, with their daemon.

    Other jobs may run on the machine, so those count that descend from this process.
    """
    found = []
    for pid in descendants(os.getpid()):
        with suppress(OSError):  # gone
            if b"-m\0eddyline.spark.daemon\0" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found


def descendants(ancestor: int) -> list[int]:
    """The processes that a process started, those that they started, and so on."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            # PID (NAME) STATE PARENT ..., where the name may hold anything
            parent = stat.read_bytes().rpartition(b")")[2].split()[1]
            children.setdefault(int(parent), []).append(int(stat.parent.name))
    found: list[int] = []
    reached = [ancestor]
    while reached:
        below = children.get(reached.pop(), [])
        found += below
        reached += below
    return found
