"""A peer as a process of its own: pinned, limited, and told to run once for each line."""

from __future__ import annotations

import os
import resource
import select
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from eddyline.bench.peers.bags import Bag
from eddyline.errors import EddylineError

_PROCESSES: Final = Path("/proc")
#: Reading the rows, and starting a JVM.
_START_S: Final = 180.0
#: Until a peer that has started others has ended them.
_END_S: Final = 10.0
#: The variable of a peer that starts a JVM itself: the MB of its heap.
HEAP: Final = "EDDYLINE_PEER_HEAP_MB"


class PeerFailed(EddylineError):
    """A peer has ended, or has answered something else than a run."""


class TooSlow(EddylineError):
    """A peer has not answered within the time that a run may take."""


class Run(NamedTuple):
    """A run over all rows, from an empty state.

    Attributes:
        seconds: from the first row to the last result. cpu: of all its threads, meanwhile.
    """

    bag: Bag
    seconds: float
    cpu: float


class Limits(NamedTuple):
    """What every peer gets.

    Attributes:
        cores: numbers of the cores. memory_mb: of the heap of a JVM, of the data of other
            processes. run_s: seconds after which a run is given up.
    """

    cores: tuple[int, ...]
    memory_mb: int
    run_s: float = 90.0


class PeerProcess:
    """A running peer."""

    def __init__(self, name: str, process: subprocess.Popen[bytes], log: Path, run_s: float):
        self._name = name
        self._process = process
        self._log = log
        self._run_s = run_s
        self._read = b""
        self._line(_START_S)  # ready

    def run(self, form: str) -> Run:
        """Run over all rows.

        Raises:
            PeerFailed: it has failed; the end of its log is in the message.
            TooSlow: it takes too long; it cannot be used any more.
        """
        assert self._process.stdin is not None, "a pipe"
        try:
            self._process.stdin.write(f"run {form}\n".encode())
            self._process.stdin.flush()
        except BrokenPipeError:
            raise self._failure() from None
        line = self._line(self._run_s)
        try:
            rows, hashes, wall, cpu = map(int, line.split())
        except ValueError:
            raise PeerFailed(f"{self._name} has answered: {line}") from None
        return Run(Bag(rows, hashes), wall / 1e9, cpu / 1e9)

    def peak_mb(self) -> float | None:
        """The largest resident size so far, input included; None where the system cannot tell."""
        peaks = [_peak_kb(pid) for pid in _family(self._process.pid)]
        return sum(peaks) / 1024 if any(peaks) else None

    def _line(self, seconds: float) -> str:
        assert self._process.stdout is not None, "a pipe"
        end = time.monotonic() + seconds
        descriptor = self._process.stdout.fileno()
        while b"\n" not in self._read:
            if not select.select([descriptor], [], [], max(0.0, end - time.monotonic()))[0]:
                raise TooSlow(f"{self._name}: more than {seconds:g} s")
            part = os.read(descriptor, 65536)
            if not part:
                raise self._failure()
            self._read += part
        line, _, self._read = self._read.partition(b"\n")
        return line.decode()

    def _failure(self) -> PeerFailed:
        lines = self._log.read_text(encoding="utf-8", errors="replace").strip().splitlines()
        causes = [line for line in lines if "rror" in line or "xception" in line or "panic" in line]
        return PeerFailed(f"{self._name} has failed: {' / '.join((causes or lines)[-3:])}")


@contextmanager
def started(
    name: str,
    command: Sequence[str],
    limits: Limits,
    log: Path,
    environment: Mapping[str, str] | None = None,
) -> Iterator[PeerProcess]:
    """A peer for the length of the block.

    Args:
        command: ends with the folder of the case. log: for what it prints to standard error.
        environment: variables to be added.

    Raises:
        PeerFailed, TooSlow: it does not start.
    """
    with (
        log.open("wb") as errors,
        subprocess.Popen(
            list(command),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            env={**os.environ, **(environment or {})},
            preexec_fn=_confined(
                limits, is_java=command[0] == "java" or HEAP in (environment or {})
            ),
        ) as process,
    ):
        try:
            yield PeerProcess(name, process, log, limits.run_s)
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close its input, upon which it ends with all that it has started; or kill it."""
    assert process.stdin is not None, "a pipe"
    with suppress(BrokenPipeError):
        process.stdin.close()
    family = _family(process.pid)
    try:
        process.wait(_END_S if len(family) > 1 else 0.0)
    except subprocess.TimeoutExpired:
        for pid in family:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def _confined(limits: Limits, *, is_java: bool) -> Callable[[], None]:
    def confine() -> None:
        if hasattr(os, "sched_setaffinity"):
            os.sched_setaffinity(0, limits.cores)
        if not is_java:  # a JVM has -Xmx, and reserves more than it uses
            size = limits.memory_mb * 2**20
            resource.setrlimit(resource.RLIMIT_DATA, (size, size))

    return confine


def all_cores() -> tuple[int, ...]:
    """The numbers of the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


def _family(pid: int) -> list[int]:
    found = [pid]
    for one in found:
        try:
            for task in (_PROCESSES / str(one) / "task").iterdir():
                found += map(int, (task / "children").read_text().split())
        except OSError:  # it has just ended, or there is no /proc
            continue
    return found


def _peak_kb(pid: int) -> int:
    try:
        lines = (_PROCESSES / str(pid) / "status").read_text().splitlines()
    except OSError:
        return 0
    return next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)
