"""Disk errors in Spark's exceptions are reported with the path."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from eddyline import StateError
from eddyline.spark.root_cause import root_cause
from eddyline.spark.storage.disk import disk_error, state_access

pytestmark = pytest.mark.fault

#: As Spark's exceptions read, shortened.
JAVA = """[STREAM_FAILED] Query [id = 1] terminated with exception: Job aborted
Caused by: java.nio.file.FileSystemException: /data/c/spark/offsets/.7.tmp: No space left on device
"""
JAVA_WITHOUT_PATH = """[STREAM_FAILED] Query terminated
Caused by: java.io.IOException: No space left on device
"""
PYTHON = """PythonException: Traceback
  File "run.py"
OSError: [Errno 28] No space left on device: '/data/x'
"""
WORKER = """PythonException: An exception was thrown from the Python worker:
Traceback (most recent call last):
eddyline.errors.StateError: the state of a shard (5 bytes) was not read or written in /c: why
 SQLSTATE: 39000
"""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (JAVA, "/data/c/spark/offsets/.7.tmp: No space left on device"),
        (JAVA_WITHOUT_PATH, "No space left on device: the checkpoint /c, a sink or a temporary"),
        (PYTHON, "No space left on device"),
        (WORKER, "the state of a shard (5 bytes) was not read or written in /c: why"),
        (WORKER.replace("39000", "39000\nOSError: Read-only file system"), "the state of a shard"),
    ],
)
def test_the_disk_is_named(text: str, message: str) -> None:
    trouble = disk_error("/c", RuntimeError(text))
    assert trouble is not None and str(trouble).startswith(message)


def test_other_failures_are_not_disk_errors() -> None:
    assert disk_error("/c", RuntimeError("ZeroDivisionError: division by zero")) is None


@pytest.mark.parametrize("error", [EOFError(), ConnectionResetError(), BrokenPipeError()])
def test_a_lost_state_connection_has_the_path(
    error: Exception, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def free(room: int) -> Any:
        return lambda path: SimpleNamespace(free=room)

    for room, message in (
        (100, rf"\(1,000,000 bytes\) .*{tmp_path}: the disk is full or nearly full: 100 bytes"),
        (10**10, rf"{tmp_path}: 10,000,000,000 bytes are free there"),
    ):
        monkeypatch.setattr(shutil, "disk_usage", free(room))
        with (
            pytest.raises(StateError, match=message),
            state_access(f"file:{tmp_path}", 10**6),
        ):
            raise error
    with pytest.raises(StateError, match="s3a://b/c: see Spark's log"), \
            state_access("s3a://b/c", 1):  # fmt: skip
        raise error


def test_the_cause_of_a_failure_is_never_a_heading() -> None:
    assert root_cause(
        RuntimeError("PythonException: Traceback:\n  raise EOFError\nEOFError\n")
    ) == ("EOFError")
    assert root_cause(RuntimeError(WORKER)).startswith("StateError: the state of a shard")
    assert root_cause(RuntimeError("\n")) == "RuntimeError"
