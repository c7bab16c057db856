"""Jobs of ``eddyline run``, in processes of their own."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path


class CommandLineJob:
    """The job of a script, with two shards.

    Args:
        checkpoint: its directory.
    """

    def __init__(self, script: Path, checkpoint: Path) -> None:
        self._checkpoint = checkpoint
        self._run = self._command("run", str(script), "--shards", "2")

    def kill_after_adding(self, statement: str) -> None:
        """Start it, execute the statement after two batches, and kill it at once."""
        with subprocess.Popen([*self._run, "--continuous"], stdout=subprocess.DEVNULL) as process:
            try:
                until = time.monotonic() + 240
                while len(list(self._checkpoint.glob("spark/commits/[0-9]*"))) < 2:
                    assert time.monotonic() < until and process.poll() is None
                    time.sleep(0.05)
                subprocess.run(self._command("add", statement), check=True, timeout=240)
            finally:
                process.kill()

    def finish(self) -> None:
        """Run it until the end of its input."""
        subprocess.run([*self._run, "--once", "--finish"], check=True, timeout=300)

    def _command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "eddyline", *words, "--checkpoint", str(self._checkpoint)]
