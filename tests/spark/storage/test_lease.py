"""One job at a time uses a checkpoint; a process that has ended does not block others."""

from __future__ import annotations

import dataclasses
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from eddyline import StateError
from eddyline.spark.storage import lease as lease_module
from eddyline.spark.storage.directory import LocalDirectory
from eddyline.spark.storage.lease import EXPIRES_AFTER_S, NAME, Holder, Lease, read_holder

pytestmark = pytest.mark.fault


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[LocalDirectory]:
    yield LocalDirectory(tmp_path)
    lease_module.of_this_process.pop(str(tmp_path), None)


def held_by(directory: LocalDirectory, holder: Holder) -> None:
    directory.replace(NAME, json.dumps(dataclasses.asdict(holder)).encode())


def ago(seconds: float) -> str:
    return (datetime.now(UTC) - timedelta(seconds=seconds)).isoformat(timespec="seconds")


def eventually(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def alive() -> Iterator[Holder]:
    """Another process of this host."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        _, started = lease_module.process_state(process.pid)
        yield dataclasses.replace(Holder.here(), process=process.pid, started=started)
        process.communicate(b"\n")


def test_a_second_session_of_this_process_is_refused(directory: LocalDirectory) -> None:
    first = Lease.take(directory)
    with pytest.raises(StateError, match="in use by another session of this process since"):
        Lease.take(directory)
    first.release()
    assert directory.names() == []
    second = Lease.take(directory)
    first.release()  # which is no more its own
    assert read_holder(directory) == second.holder


def test_a_lease_not_in_use_is_taken_over(directory: LocalDirectory) -> None:
    first = Lease.take(directory)
    first.keep(lambda: False, lambda error: None)
    assert Lease.take(directory).holder.token != first.holder.token


def test_a_lease_is_released_when_the_job_has_ended(
    directory: LocalDirectory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_module, "_POLL_S", 0.01)
    active = True
    Lease.take(directory).keep(lambda: active, lambda error: None)
    eventually(lambda: "renewed.json" in directory.names())
    active = False
    eventually(lambda: directory.names() == [])


def test_a_running_process_of_this_host_keeps_the_lease(
    directory: LocalDirectory, alive: Holder
) -> None:
    held_by(directory, dataclasses.replace(alive, at=ago(10 * EXPIRES_AFTER_S)))
    message = rf"process {alive.process} on host {socket.gethostname()} since"
    with pytest.raises(StateError, match=message):
        Lease.take(directory)


def test_an_ended_process_of_this_host_loses_the_lease_immediately(
    directory: LocalDirectory, alive: Holder
) -> None:
    other_start = dataclasses.replace(alive, started=alive.started - 1)  # its PID was reused
    other_boot = dataclasses.replace(alive, boot="another")
    with subprocess.Popen([sys.executable, "-c", ""]) as ended:
        ended.wait()
    dead = dataclasses.replace(alive, process=ended.pid)
    for gone in (other_start, other_boot, dead):
        held_by(directory, gone)
        Lease.take(directory).release()


def test_a_zombie_has_ended(directory: LocalDirectory) -> None:
    process = subprocess.Popen([sys.executable, "-c", ""])
    _, started = lease_module.process_state(process.pid)
    eventually(lambda: lease_module.process_state(process.pid)[0] == "Z")
    held_by(directory, dataclasses.replace(Holder.here(), process=process.pid, started=started))
    Lease.take(directory)
    process.wait()


@pytest.mark.parametrize("where", [{"host": "elsewhere"}, {"space": "pid:[1]"}])
def test_a_process_on_another_host_loses_the_lease_without_renewal(
    directory: LocalDirectory, where: dict[str, Any]
) -> None:
    far = dataclasses.replace(Holder.here(), **where)
    held_by(directory, dataclasses.replace(far, at=ago(20)))
    with pytest.raises(StateError, match=r"if it has ended, the checkpoint is free in (39|40) s"):
        Lease.take(directory)
    held_by(directory, dataclasses.replace(far, at=ago(1000)))
    renewed = {"token": far.token, "at": ago(30)}
    directory.replace("renewed.json", json.dumps(renewed).encode())
    with pytest.raises(StateError, match=r"is free in (29|30) s"):
        Lease.take(directory)
    directory.replace("renewed.json", json.dumps(renewed | {"at": ago(61)}).encode())
    Lease.take(directory)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"host": 1}'])
def test_a_lease_that_cannot_be_read(
    directory: LocalDirectory, tmp_path: Path, content: bytes
) -> None:
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(StateError, match=r"lease\.json was not written by a job.* after a minute"):
        Lease.take(directory)
    old = time.time() - 2 * EXPIRES_AFTER_S
    os.utime(tmp_path / NAME, (old, old))
    Lease.take(directory)


def test_a_lost_lease_is_reported(
    directory: LocalDirectory, alive: Holder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease_module, "_POLL_S", 0.01)
    monkeypatch.setattr(lease_module, "RENEWED_EVERY_S", 0.0)
    reported: list[StateError] = []
    lease = Lease.take(directory)
    held_by(directory, dataclasses.replace(alive, token="another"))
    lease.keep(lambda: True, reported.append)
    eventually(lambda: bool(reported))
    assert f"process {alive.process}" in str(reported[0])
    lease.release()
    holder = read_holder(directory)
    assert holder is not None and holder.token == "another", "it is not its own to delete"


def test_of_concurrent_processes_one_takes_the_lease(tmp_path: Path) -> None:
    """Processes that find the lease of a process that has ended."""
    directory = LocalDirectory(tmp_path)
    held_by(directory, dataclasses.replace(Holder.here(), boot="another"))
    code = (
        "import sys; from eddyline.spark.storage.directory import LocalDirectory\n"
        "from eddyline.spark.storage.lease import Lease\n"
        "print('ready', flush=True); input()\n"
        "try:\n  Lease.take(LocalDirectory(sys.argv[1])); print('taken', flush=True); input()\n"
        "except Exception as e:\n  print(e, flush=True); input()\n"
    )
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for _ in range(3)
    ]  # fmt: skip
    said = []
    for process in processes:
        assert process.stdout is not None and process.stdin is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        assert process.stdout is not None
        said.append(process.stdout.readline())
    for process in processes:
        process.communicate("\n")
    assert said.count("taken\n") == 1
    assert sum("is in use by process" in line for line in said) == 2
