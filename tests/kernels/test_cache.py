"""The store of compiled kernels, shared by processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from eddyline.kernels import cache

_PROGRAM = """
import sys
import numpy as np
from eddyline.kernels.lineage import by_bit, expand
from eddyline.kernels.deferred import report_compilations

rows, bits = np.arange(2), np.array([1, 0], np.int32)
print("ready", flush=True)
for line in sys.stdin:
    with report_compilations(lambda name: print(name, flush=True)):
        try:
            exec(line)
        except Exception as error:
            print(type(error).__name__, flush=True)
    print("done", flush=True)
"""
_CALLS = "by_bit(rows, bits, 2); expand(np.ones((2, 1), np.uint64), rows)"


class Process:
    """A Python process whose kernels are stored in a directory."""

    def __init__(self, directory: Path) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "NUMBA_CACHE_DIR": str(directory)},
            text=True,
        )
        assert self._printed_until("ready") == []

    def begin(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()

    def end(self) -> list[str]:
        """The kernels that the line has compiled, and its error."""
        return self._printed_until("done")

    def close(self) -> None:
        self._process.communicate()

    def _printed_until(self, last: str) -> list[str]:
        assert self._process.stdout is not None
        printed = []
        while (line := self._process.stdout.readline()) != f"{last}\n":
            assert line, "the process has ended"
            printed.append(line.rstrip())
        return printed


def test_a_kernel_that_two_processes_need_is_compiled_once(tmp_path: Path) -> None:
    both = [Process(tmp_path) for _ in range(2)]
    for process in both:
        process.begin(_CALLS)
    compiled = [name for process in both for name in process.end()]
    assert sorted(compiled) == ["by_bit", "expand"]
    for process in both:
        process.close()


def test_a_kernel_that_cannot_be_compiled_is_not_locked(tmp_path: Path) -> None:
    one, other = Process(tmp_path), Process(tmp_path)
    one.begin("by_bit('rows', 'bits', 2)")
    assert one.end() == ["by_bit", "TypingError"]
    other.begin(_CALLS)
    assert other.end() == ["by_bit", "expand"]
    one.close()
    other.close()


def test_kernels_are_compiled_again_when_a_module_changes_that_theirs_imports(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also one that is imported by others only; and not when another module changes."""
    text_of = cache._source

    def stamp(changed: str) -> str:
        monkeypatch.setattr(cache, "_source", lambda name: text_of(name) + (name == changed) * "#")
        cache.stamp_of.cache_clear()
        return cache.stamp_of("eddyline.kernels.moments")

    before = stamp("")
    assert stamp("eddyline.kernels.json_text") == before
    for module in ("moments", "limbs", "group_limbs", "options"):
        assert stamp(f"eddyline.kernels.{module}") != before
    monkeypatch.undo()
    cache.stamp_of.cache_clear()
    assert cache.stamp_of("eddyline.kernels.moments") == before
