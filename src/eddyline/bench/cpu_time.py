"""CPU seconds of this process and all processes below it: the driver, the JVM, Python workers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

_PROCESSES: Final = Path("/proc")


def cpu_seconds() -> float:
    """CPU seconds, user and system, that this process and its descendants have used so far.

    Descendants that have ended count if their parent still runs. Without ``/proc`` (not Linux)
    only this process counts.
    """
    if not _PROCESSES.is_dir():
        return sum(os.times()[:4])
    ticks, found = 0, [os.getpid()]
    for pid in found:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            for task in Path(f"/proc/{pid}/task").iterdir():
                found += map(int, (task / "children").read_text().split())
        except OSError:  # it has just ended
            continue
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")
