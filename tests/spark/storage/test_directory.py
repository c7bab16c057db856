"""Files of a job: complete, for the owner only; errors have path and cause."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from eddyline import StateError
from eddyline.cli.arrow_directory import ArrowDirectory
from eddyline.spark.storage.directory import Directory, LocalDirectory, path_segment

pytestmark = pytest.mark.fault


@pytest.fixture(params=["local", "arrow"])
def directory(request: pytest.FixtureRequest, tmp_path: Path) -> Directory:
    if request.param == "local":
        return LocalDirectory(f"file:{tmp_path}/c")
    from pyarrow import fs

    return ArrowDirectory(fs.LocalFileSystem(), f"{tmp_path}/c")


def test_files(directory: Directory, tmp_path: Path) -> None:
    assert directory.names() == [] and directory.read("x") is None
    assert directory.modified("x") is None and not directory.delete("x")
    directory.make("a/b")
    directory.write("a/b/2.json", b"two")
    directory.replace("a/b/1.json", b"once")
    directory.replace("a/b/1.json", b"one")
    (tmp_path / "c/a/b/.hidden.json").touch()
    assert directory.names("a/b", ".json") == ["1.json", "2.json"]
    assert directory.below("a").read("b/1.json") == b"one"
    assert directory.modified("a/b/1.json") is not None
    assert directory.create("a/x", b"1") and not directory.create("a/x", b"2")
    assert directory.read("a/x") == b"1"
    assert directory.delete("a/x") and directory.delete("a") and directory.names() == []


def test_for_the_owner_only(tmp_path: Path) -> None:
    directory = LocalDirectory(tmp_path / "new/checkpoint")
    directory.make("control")
    directory.write("control/1.json", b"")
    directory.create("lease.json", b"")
    modes = {
        str(path.relative_to(tmp_path)): stat.S_IMODE(path.stat().st_mode)
        for path in tmp_path.rglob("*")
    }
    assert modes == {
        "new": 0o700,
        "new/checkpoint": 0o700,
        "new/checkpoint/control": 0o700,
        "new/checkpoint/control/1.json": 0o600,
        "new/checkpoint/lease.json": 0o600,
    }


def test_an_existing_directory_keeps_its_mode(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    LocalDirectory(tmp_path).make("control")
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o750


def test_a_full_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    directory = LocalDirectory(tmp_path)

    def full(*_: Any) -> Any:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patched:
        patched.setattr("eddyline.spark.storage.directory.os.fdopen", full)
        for write in (directory.write, directory.replace, directory.create):
            with pytest.raises(StateError, match=rf"{tmp_path}/x\.json: No space left on device"):
                write("x.json", b"content")
    (tmp_path / "x.json").unlink(missing_ok=True)
    assert list(tmp_path.iterdir()) == [], "nothing half written stays"


def test_a_path_that_is_not_a_directory(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StateError, match=f"{tmp_path}/file: Not a directory"):
        LocalDirectory(tmp_path / "file").names()
    with pytest.raises(StateError, match=f"{tmp_path}: Is a directory"):
        LocalDirectory(tmp_path).read("")


NAMES = st.text(min_size=1) | st.sampled_from([".", "..", "../..", "/etc", "a/b", "_x", "A" * 300])


@given(NAMES, NAMES)
def test_names_stay_in_their_directory(a: str, b: str) -> None:
    one, other = path_segment(a), path_segment(b)
    assert (one == other) == (a == b)
    assert one.isascii() and len(one) <= 200
    assert not set(one) & set("/\\*?[]{}\0") and one[0] not in "._"
    assert Path("/root", one).resolve().parent == Path("/root")


def test_plain_names_stay_as_they_are() -> None:
    assert [path_segment(n) for n in ("trades", "Big_2", "a-b.c")] == ["trades", "Big_2", "a-b.c"]
