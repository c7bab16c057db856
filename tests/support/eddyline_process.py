"""The command ``eddyline`` in a process of its own, which starts and stops a Spark session."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import eddyline

_TIMEOUT_S = 400.0


def eddyline_command(
    *arguments: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run it to its end, in the working directory."""
    source = str(Path(eddyline.__file__).parent.parent)
    settings = {**os.environ, "PYTHONPATH": source, **(environment or {})}
    command = [sys.executable, "-m", "eddyline", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, env=settings, timeout=_TIMEOUT_S, check=False
    )
