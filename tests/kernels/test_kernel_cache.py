"""Where compiled kernels are stored, if the package and the user's directory cannot be written; and
that a program is told when they are compiled.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import eddyline

_COMPILE = """
import numpy as np
import eddyline
from eddyline.kernels.bloom import add
words = np.zeros(4, np.int64)
add(words, np.arange(3))
print(eddyline.__file__, 3 if words.any() else 0)
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package in which no kernel can be stored."""
    copy = tmp_path / "packages" / "eddyline"
    source = Path(eddyline.__file__).parent
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__", "bench", "testing"))
    (copy / "kernels" / "__pycache__").write_text("not a directory")
    return copy


def test_compiled_kernels_are_kept_in_a_temporary_directory(package: Path, tmp_path: Path) -> None:
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    environment = {
        "PATH": os.environ["PATH"],
        "PYTHONPATH": str(package.parent),
        "HOME": "/dev/null",  # no directory: the user has none
        "TMPDIR": str(temporary),
    }
    for said in (1, 0):
        done = subprocess.run(
            [sys.executable, "-c", _COMPILE],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout.split() == [str(package / "__init__.py"), "3"]
        assert done.stderr.count("compiling kernels, which are stored") == said, done.stderr
    (kept,) = temporary.iterdir()
    assert kept.stat().st_mode & 0o077 == 0, "code that is run: its owner alone may write it"
    assert list(kept.rglob("*.nbc"))
