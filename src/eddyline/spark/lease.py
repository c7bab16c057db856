"""The lease of a checkpoint: one job at a time goes on from it.

``lease.json`` says which process has it, ``renewed.json`` beside it that it still lives. A lease is
free when its process is gone, which is known at once on the same host, or when it has not been
renewed for a minute, which counts for processes on other hosts.
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
from eddyline.spark.directory import Directory

NAME: Final = "lease.json"
_RENEWED: Final = "renewed.json"
#: A lease is renewed so often, and free when it was not for so long.
RENEWED_EVERY_S: Final = 10.0
EXPIRES_AFTER_S: Final = 60.0
_LOOK_S: Final = 1.0
#: Where processes cannot keep each other out, they look who has it so long after taking it over.
_SETTLED_S: Final = 2.0

_log = logging.getLogger(__name__)
#: The leases of this process, by path of the checkpoint.
_held: dict[str, Lease] = {}
_lock = threading.Lock()


@dataclass(frozen=True)
class Holder:
    """A process that has a lease.

    Attributes:
        boot: of the host. space: in which ids of processes count; containers have their own. Both
            are "" if not known.
        process: its id.
        started: when it was, in ticks since the boot: ids are given again; 0 if that is not known.
        token: drawn anew for each lease. at: since when it has it, in ISO 8601.
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
        """The process that calls it, with a new token."""
        process = os.getpid()
        _, started = _process(process)
        token = uuid.uuid4().hex
        return cls(socket.gethostname(), _boot(), _space(), process, started, token, _now())

    @property
    def is_near(self) -> bool:
        """Whether it is seen from here if it is there."""
        return (self.host, self.space) == (socket.gethostname(), _space())

    @property
    def is_gone(self) -> bool:
        """Whether the process is known to be gone; only on its own host that can be told."""
        if self.host == socket.gethostname() and self.boot != _boot():
            return True
        if not self.is_near:
            return False
        try:
            os.kill(self.process, 0)
        except ProcessLookupError:
            return True
        except PermissionError:  # it is there, and another user's
            return False
        state, started = _process(self.process)
        return state in ("Z", "X") or started != self.started

    def __str__(self) -> str:
        return f"process {self.process} on host {self.host}"


class Lease:
    """A lease that this process has."""

    def __init__(self, directory: Directory, holder: Holder) -> None:
        self.holder = holder
        self._directory = directory
        self._in_use: Callable[[], bool] = lambda: True
        self._released = threading.Event()

    @classmethod
    def take(cls, directory: Directory) -> Lease:
        """The lease of a checkpoint, until it is released.

        Raises:
            StateError: another process has it, or another session of this one; the message says
                which.
        """
        with _lock:
            other = _held.get(directory.path)
            if other is not None:
                if other._in_use():
                    raise _refused(directory, "another session of this process", other.holder.at)
                other.release()
            lease = cls(directory, Holder.here())
            lease._write()
            _held[directory.path] = lease
            return lease

    def keep(self, in_use: Callable[[], bool], lost: Callable[[StateError], None]) -> None:
        """Renew the lease in a thread for as long as it is in use, then release it.

        Args:
            in_use: whether the job runs. lost: called if another process has taken the lease.
        """
        self._in_use = in_use
        threading.Thread(
            target=self._renew, args=(lost,), name="eddyline-lease", daemon=True
        ).start()

    def release(self) -> None:
        """Let others have it."""
        if self._released.is_set():
            return
        self._released.set()
        if _held.get(self._directory.path) is self:
            del _held[self._directory.path]
        with suppress(StateError):  # then it is free when this process ends
            held = read_holder(self._directory)
            if held is not None and held.token == self.holder.token:
                self._directory.delete(NAME)
                self._directory.delete(_RENEWED)

    def _write(self) -> None:
        text = json.dumps(asdict(self.holder)).encode()
        with self._directory.exclusive() as alone:
            if self._directory.create(NAME, text):
                return
            require_free(self._directory)
            self._directory.replace(NAME, text)
        if not alone:
            time.sleep(_SETTLED_S)
            held = read_holder(self._directory)
            if held is None or held.token != self.holder.token:
                raise _refused(self._directory, str(held), "this moment")

    def _renew(self, lost: Callable[[StateError], None]) -> None:
        due = 0.0
        while not self._released.wait(_LOOK_S):
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
    """Who has the lease of a checkpoint, or had it and did not release it; None if it is free.

    Raises:
        StateError: the file cannot be read.
    """
    content = directory.read(NAME)
    if content is None:
        return None
    try:
        return Holder(**json.loads(content))
    except (ValueError, TypeError) as e:
        raise StateError(f"{directory.path}/{NAME} is not what a job writes: {e}") from None


def require_free(directory: Directory) -> None:
    """Check that the process that took a lease is gone, or silent for too long.

    Raises:
        StateError: it may be there.
    """
    try:
        holder = read_holder(directory)
    except StateError as e:
        if _silent_s(directory, None) < EXPIRES_AFTER_S:
            raise StateError(f"{e}; if no job runs, it is free after a minute") from None
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
            f"; if that is gone, the checkpoint is free in {EXPIRES_AFTER_S - silent_s:.0f} s",
        )


def _silent_s(directory: Directory, holder: Holder | None) -> float:
    """How long ago a lease was taken or renewed."""
    known = [directory.modified(NAME) if holder is None else datetime.fromisoformat(holder.at)]
    with suppress(ValueError, KeyError, TypeError):
        renewed = json.loads(directory.read(_RENEWED) or b"{}")
        if holder is not None and renewed["token"] == holder.token:
            known.append(datetime.fromisoformat(renewed["at"]))
    latest = max(filter(None, known), default=datetime.now(UTC) - timedelta(days=1))
    return (datetime.now(UTC) - latest).total_seconds()


def _refused(directory: Directory, holder: str, since: str, more: str = "") -> StateError:
    return StateError(
        f"the checkpoint {directory.path} is in use: {holder} has had it since {since}{more}. Stop "
        "that job first, or use another checkpoint"
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


def _process(process: int) -> tuple[str, int]:
    """The state of a process, and when it was started in ticks since the boot, if that is known."""
    with suppress(OSError, ValueError, IndexError):
        # PID (NAME) STATE PARENT ..., where the name may hold anything
        stat = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()
        return stat[0].decode(), int(stat[19])
    return "", 0
