"""The tutorial: its files, Python and commands, one after the other, print what it shows."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import eddyline

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
TEXT = PAGE.read_text(encoding="utf-8")
#: (name of the file at the end of the line before, language, content)
BLOCKS = re.findall(r"(?:`([^`\n]+)`:\n\n)?^```(\w+)\n(.*?)^```", TEXT, flags=re.DOTALL | re.M)


def same(shown: str, printed: str) -> bool:
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return doctest.OutputChecker().check_output(shown, printed, flags)


def write_files(directory: Path) -> None:
    for name, _, content in BLOCKS:
        if name:
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(content, encoding="utf-8")


def test_python_prints_what_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    printed = ""
    shown = 0
    for _, language, content in BLOCKS:
        if language == "python":
            assert not printed, f"not shown: {printed}"
            with redirect_stdout(StringIO()) as output:
                exec(compile(content, PAGE.name, "exec"), names)
            printed = output.getvalue()
        elif language == "text":
            assert printed == content
            printed = ""
            shown += 1
    assert shown >= 6


def commands() -> list[tuple[str, str]]:
    """The commands of the console blocks, each with what it prints."""
    found = []
    for _, language, content in BLOCKS:
        if language == "console":
            parts = re.split(r"^\$ (.+)\n", content, flags=re.M)[1:]
            found += list(zip(parts[::2], parts[1::2], strict=True))
    return found


@pytest.mark.spark
def test_commands_print_what_is_shown(tmp_path: Path) -> None:
    write_files(tmp_path)
    source = str(Path(eddyline.__file__).parents[1])
    assert len(commands()) == 3
    for command, shown in commands():
        program, *arguments = shlex.split(command)
        start = [sys.executable, "-m", "eddyline"] if program == "eddyline" else [program]
        done = subprocess.run(
            [*start, *arguments],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": source},
            capture_output=True,
            text=True,
            timeout=400,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert same(shown, done.stdout), done.stdout
