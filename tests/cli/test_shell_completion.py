"""Completion in shells: what is offered, and that bash gets it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import eddyline
from eddyline.cli.main import app

COMPLETE = """
source <(eddyline --show-completion)
complete -p eddyline
for words in "eddyline de" "eddyline checkpoint " "eddyline run --checkp"; do
  IFS=' ' read -ra COMP_WORDS <<< "$words"
  [[ $words == *" " ]] && COMP_WORDS+=("")
  COMP_CWORD=$(( ${#COMP_WORDS[@]} - 1 ))
  _eddyline_completion eddyline
  echo "${COMPREPLY[@]}"
done
"""


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
@pytest.mark.parametrize(
    ("typed", "offered"), [("eddyline ne", "new"), ("eddyline run x.sql --mast", "--master")]
)
def test_commands_and_options_are_offered(shell: str, typed: str, offered: str) -> None:
    environment = {
        "_EDDYLINE_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": typed,
        "COMP_CWORD": str(len(typed.split()) - 1),
        "_TYPER_COMPLETE_ARGS": typed,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    done = CliRunner().invoke(app, [], prog_name="eddyline", env=environment)
    assert done.exit_code == 0 and offered in done.output, done.output


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes(tmp_path: Path) -> None:
    command = tmp_path / "eddyline"
    command.write_text(f"#!{sys.executable}\nfrom eddyline.__main__ import main\nmain()\n")
    command.chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "PYTHONPATH": str(Path(eddyline.__file__).parents[1]),
    }
    done = subprocess.run(
        ["bash", "--norc", "-c", COMPLETE], capture_output=True, text=True, env=environment
    )
    registered, first, second, third = done.stdout.splitlines()
    assert "_eddyline_completion eddyline" in registered, done.stderr
    assert (first, third) == ("demo", "--checkpoint")
    assert "verify" in second.split()
