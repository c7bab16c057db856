"""Patterns beside Flink: our part, and the report. Flink itself is not on each machine."""

from __future__ import annotations

import shutil
from io import StringIO
from pathlib import Path

import pyarrow as pa
import pytest
from rich.console import Console

from eddyline.bench.flink import jvm, run
from eddyline.bench.flink.jvm import Ran
from eddyline.errors import SetupError


@pytest.mark.parametrize("name", run.PATTERNS)
def test_each_pattern_has_matches(name: str) -> None:
    found = run.matched(run.PATTERNS[name], run.columns(200_000))
    assert found.rows == 200_000 and found.results > 1_000
    assert found[:3] == run.matched(run.PATTERNS[name], run.columns(200_000))[:3]


def test_hashes_are_those_of_java() -> None:
    """What Flink's side printed for these rows."""
    row = {"k": [1, 2], "a": [5, -6], "b": [7, 8], "c": [9, 10]}
    one = {name: values[:1] for name, values in row.items()}
    two = {name: values[1:] for name, values in row.items()}
    total = run.hashes(pa.table(one)) + run.hashes(pa.table(two))
    assert (run.hashes(pa.table(row)) - total) % 2**64 == 0
    hashed = 0
    for value in (1, 5, 7, 9):
        hashed = (hashed * 0x9E3779B97F4A7C15 + value) % 2**64
        hashed ^= hashed >> 32
    assert run.hashes(pa.table(one)) % 2**64 == hashed


def test_different_matches_fail() -> None:
    with pytest.raises(AssertionError, match="A B C: matches differ"):
        run.check_agreement("A B C", [Ran(10, 2, 7, 1.0), Ran(10, 2, 8, 1.0)])


def test_the_report() -> None:
    ours, theirs = [Ran(100, 2, 7, s) for s in (1.0, 2.0, 9.0)], [Ran(100, 2, 7, 24.0)] * 3
    assert run.ratio(ours, theirs) == 12.0
    found = {"A B C": (ours, theirs), "A B+ C": (theirs, ours)}
    assert run.report(found)["patterns"]["A B C"]["rows_per_s"] == 50
    console = Console(file=StringIO(), width=100)
    run.show(found, console)
    assert isinstance(console.file, StringIO)
    assert console.file.getvalue().count("< 10") == 1


def test_without_maven(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "mvn" else name)
    with (
        pytest.raises(SetupError, match="this needs the command mvn"),
        jvm.flink(tmp_path / "rows", tmp_path),
    ):
        pass
