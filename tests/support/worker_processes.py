"""The Python workers of a Spark session that run engines, so that tests can end them."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

_END_WITHIN_S = 60.0


def end_engine_workers(*, daemons: bool = False) -> None:
    """Kill the workers, and their daemon if asked: engines are built again from the state.

    Returns when all have ended: Spark gives a task to an idle worker that is still dying, and the
    attempts of a task are fewer than the workers of a session. Without its daemon each idle worker
    may fail an attempt (``PythonWorkerFactory.stopWorker`` writes to the daemon).
    """
    ended = engine_workers(daemons=daemons)
    for pid in ended:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    deadline = time.monotonic() + _END_WITHIN_S
    while any(Path(f"/proc/{pid}").exists() for pid in ended):
        assert time.monotonic() < deadline, f"killed processes remain: {ended}"
        time.sleep(0.01)


def engine_workers(*, daemons: bool = True) -> list[int]:
    """Python workers of this test, with their daemon or without.

    Other jobs may run on the machine, so those count that descend from this process.
    """
    found = []
    for pid in descendants(os.getpid()):
        with suppress(OSError):  # gone
            if b"-m\0eddyline.spark.daemon\0" in Path(f"/proc/{pid}/cmdline").read_bytes():
                found.append(pid)
    return found if daemons else [pid for pid in found if _parent(pid) in found]


def descendants(ancestor: int) -> list[int]:
    """The processes that a process started, those that they started, and so on."""
    children: dict[int | None, list[int]] = {}
    for directory in Path("/proc").glob("[0-9]*"):
        pid = int(directory.name)
        children.setdefault(_parent(pid), []).append(pid)
    found: list[int] = []
    reached: list[int | None] = [ancestor]
    while reached:
        below = children.get(reached.pop(), [])
        found += below
        reached += below
    return found


def _parent(pid: int) -> int | None:
    """None: the process is gone."""
    with suppress(OSError):
        # PID (NAME) STATE PARENT ..., where the name may hold anything
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[1])
    return None
