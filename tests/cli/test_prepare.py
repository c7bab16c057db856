"""``eddyline prepare``: what it makes is what later starts use."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import eddyline
from eddyline.cli.prepare import SCRIPT
from eddyline.shipped import examples

SOURCE = str(Path(eddyline.__file__).parent.parent)


def run(*arguments: str, **variables: str) -> str:
    done = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": SOURCE, **variables},
        timeout=1_500,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def compiled(script: Path, cache: Path) -> list[str]:
    """The kernels that a new process compiles for a script."""
    code = (
        "from pathlib import Path\n"
        "from eddyline.cli.scripts import checked, warm_up\n"
        f"warm_up(checked(Path('{script}')), print)"
    )
    return run("-c", code, NUMBA_CACHE_DIR=str(cache)).split()


@pytest.mark.long
def test_the_demo_compiles_no_kernel_afterwards(tmp_path: Path) -> None:
    assert len(compiled(SCRIPT, tmp_path)) > 20
    assert compiled(SCRIPT, tmp_path) == []
    assert compiled(examples() / "demo.sql", tmp_path) == []


@pytest.mark.long
@pytest.mark.spark
def test_java_uses_the_archive(tmp_path: Path) -> None:
    output = run("-m", "eddyline", "prepare", XDG_CACHE_HOME=str(tmp_path))
    assert "classes of Spark archived" in output
    (archive,) = (tmp_path / "eddyline").iterdir()
    assert archive.suffix == ".jsa"
    code = (
        "from pathlib import Path\n"
        "from eddyline.spark import environment\n"
        "from eddyline.spark.class_archive import use_options\n"
        "options = use_options(environment.require_java())\n"
        "log = Path(r'{place}', 'classes')\n"
        "options = (*options, f'-Xlog:class+load:file={{log}}')\n"
        "spark = environment.local_session(1, Path(r'{place}', 'log'), java_options=options)\n"
        "lines = log.read_text().splitlines()\n"
        "shared = [line for line in lines if 'shared objects file (top)' in line]\n"
        "print(len(shared) > 0.5 * len(lines), len(shared), len(lines))\n"
        "spark.stop()"
    )
    used = run("-c", code.format(place=tmp_path), XDG_CACHE_HOME=str(tmp_path))
    assert used.startswith("True"), used
