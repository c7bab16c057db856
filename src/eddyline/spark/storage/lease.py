"""The lease of a checkpoint: only one job at a time continues from it.

``lease.json`` names the process that holds it, ``renewed.json`` has the time of the last renewal. A
lease is free when its process has ended, which can be checked on the same host, or, for processes
on other hosts, when it has not been renewed for a minute.
"""

from __future__ import annotations

import json
import logging
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from eddyline.errors import StateError
from eddyline.spark.storage.directory import Directory

NAME: Final = "lease.json"
_RENEWED: Final = "renewed.json"
#: Time between renewals, and without renewal until a lease is free.
RENEWED_EVERY_S: Final = 10.0
EXPIRES_AFTER_S: Final = 60.0
_POLL_S: Final = 1.0
#: Where the file system has no locks, the holder is read again after this time.
_SETTLE_S: Final = 2.0

_log = logging.getLogger(__name__)
#: The leases of this process, by path of the checkpoint.
of_this_process: dict[str, Lease] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class Holder:
    """A process that holds a lease.

    Attributes:
        boot: boot id of the host. space: PID namespace, of a container for instance. Both are "" if
            unknown.
        process: its PID.
        started: its start in ticks since boot, because PIDs are reused; 0 if unknown.
        token: random, new for each lease. at: when the lease was taken, in ISO 8601.
    """

    host: str
    boot: str
    space: str
    process: int
    started: int
    token: str
    at: str

    @classmethod
    def here(cls) -> Holder:
        """The current process, with a new token."""
        process = os.getpid()
        _, started = process_state(process)
        token = uuid.uuid4().hex
        return cls(socket.gethostname(), _boot(), _space(), process, started, token, _now())

    @property
    def is_near(self) -> bool:
        """Whether it is in the same host and PID namespace as the current process."""
        return (self.host, self.space) == (socket.gethostname(), _space())

    @property
    def is_gone(self) -> bool:
        """Whether the process is known to have ended; always False for other hosts."""
        if self.host == socket.gethostname() and self.boot != _boot():
            return True
        if not self.is_near:
            return False
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return True
        except PermissionError:  # it exists and belongs to another user
            return False
        state, started = process_state(self.process)
        return state in ("Z", "X") or started != self.started

    def __str__(self) -> str:
        return f"process {self.process} on host {self.host}"


class Lease:
    """A lease held by this process."""

    def __init__(self, directory: Directory, holder: Holder) -> None:
        self.holder = holder
        self._directory = directory
        self._in_use: Callable[[], bool] = lambda: True
        self._released = threading.Event()

    @classmethod
    def take(cls, directory: Directory) -> Lease:
        """Take the lease of a checkpoint.

        Raises:
            StateError: another process, or another session of this process, holds it.
        """
        with _lock:
            other = of_this_process.get(directory.path)
            if other is not None:
                if other._in_use():
                    raise _refused(directory, "another session of this process", other.holder.at)
                other.release()
            lease = cls(directory, Holder.here())
            lease._write()
            of_this_process[directory.path] = lease
            return lease

    def keep(self, in_use: Callable[[], bool], lost: Callable[[StateError], None]) -> None:
        """Renew the lease in a thread while it is in use, then release it.

        Args:
            in_use: whether the job runs. lost: called when another process has taken the lease.
        """
        self._in_use = in_use
        threading.Thread(
            target=self._renew, args=(lost,), name="eddyline-lease", daemon=True
        ).start()

    def release(self) -> None:
        """Release the lease."""
        if self._released.is_set():
            return
        self._released.set()
        if of_this_process.get(self._directory.path) is self:
            del of_this_process[self._directory.path]
        with suppress(StateError):  # after an error it is free when this process ends
            held = read_holder(self._directory)
            if held is not None and held.token == self.holder.token:
                self._directory.delete(NAME)
                self._directory.delete(_RENEWED)

    def _write(self) -> None:
        text = json.dumps(asdict(self.holder)).encode()
        with self._directory.exclusive() as is_locked:
            if self._directory.create(NAME, text):
                return
            require_free(self._directory)
            self._directory.replace(NAME, text)
        if not is_locked:
            time.sleep(_SETTLE_S)
            held = read_holder(self._directory)
            if held is None or held.token != self.holder.token:
                raise _refused(self._directory, str(held), "this moment")

    def _renew(self, lost: Callable[[StateError], None]) -> None:
        due = 0.0
        while not self._released.wait(_POLL_S):
            if not self._in_use():
                self.release()
            elif time.monotonic() >= due:
                due = time.monotonic() + RENEWED_EVERY_S
                try:
                    held = read_holder(self._directory)
                    if held is None or held.token == self.holder.token:
                        renewed = {"token": self.holder.token, "at": _now()}
                        self._directory.replace(_RENEWED, json.dumps(renewed).encode())
                        continue
                except StateError as e:
                    _log.warning("the lease is not renewed: %s", e)
                    continue
                self._released.set()
                lost(_refused(self._directory, str(held), held.at))


def read_holder(directory: Directory) -> Holder | None:
    """The holder of a checkpoint's lease, or a former one that has not released it; None if free.

    Raises:
        StateError: the file cannot be read.
    """
    content = directory.read(NAME)
    if content is None:
        return None
    try:
        return Holder(**json.loads(content))
    except (ValueError, TypeError) as e:
        raise StateError(f"{directory.path}/{NAME} was not written by a job: {e}") from None


def require_free(directory: Directory) -> None:
    """Check that the holder of the lease has ended, or has not renewed it for too long.

    Raises:
        StateError: it may still run.
    """
    try:
        holder = read_holder(directory)
    except StateError as e:
        if _silent_s(directory, None) < EXPIRES_AFTER_S:
            raise StateError(f"{e}; if no job runs, the lease is free after a minute") from None
        return
    if holder is None or holder.is_gone:
        return
    if holder.is_near:
        raise _refused(directory, str(holder), holder.at)
    silent_s = _silent_s(directory, holder)
    if silent_s < EXPIRES_AFTER_S:
        raise _refused(
            directory,
            str(holder),
            holder.at,
            f"; if it has ended, the checkpoint is free in {EXPIRES_AFTER_S - silent_s:.0f} s",
        )


def _silent_s(directory: Directory, holder: Holder | None) -> float:
    """Seconds since a lease was taken or renewed."""
    known = [directory.modified(NAME) if holder is None else datetime.fromisoformat(holder.at)]
    with suppress(ValueError, KeyError, TypeError):
        renewed = json.loads(directory.read(_RENEWED) or b"{}")
        if holder is not None and renewed["token"] == holder.token:
            known.append(datetime.fromisoformat(renewed["at"]))
    latest = max(filter(None, known), default=datetime.now(UTC) - timedelta(days=1))
    return (datetime.now(UTC) - latest).total_seconds()


def _refused(directory: Directory, holder: str, since: str, more: str = "") -> StateError:
    return StateError(
        f"the checkpoint {directory.path} is in use by {holder} since {since}{more}. Stop that job "
        "first, or use another checkpoint"
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _boot() -> str:
    with suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return ""


def _space() -> str:
    with suppress(OSError):
        return str(Path("/proc/self/ns/pid").readlink())
    return ""


def process_state(process: int) -> tuple[str, int]:
    """The state of a process, and its start in ticks since boot; "" and 0 if unknown."""
    with suppress(OSError, ValueError, IndexError):
        # PID (NAME) STATE PARENT ..., where the name may contain any character
        stat = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()
        return stat[0].decode(), int(stat[19])
    return "", 0
