"""Jobs of ``eddyline run``, in processes of their own, that are killed."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pyspark.sql import SparkSession

from eddyline.spark import Session
from short_lived_java import SHORT_LIVED_RUN


class CommandLineJob:
    """The job of a script, with two shards.

    Args:
        checkpoint: its directory.
    """

    def __init__(self, script: Path, checkpoint: Path) -> None:
        self._script = script
        self._checkpoint = checkpoint
        self._run = self._command("run", str(script), "--shards", "2", *SHORT_LIVED_RUN)

    def kill_after_adding(self, statement: str) -> None:
        """Start it, execute the statement after two batches, and kill it at once."""
        with self._running(lambda: self.commits >= 2):
            subprocess.run(self._command("add", statement), check=True, timeout=240)

    def kill_when(self, condition: Callable[[], bool]) -> None:
        """Start it, and kill it as soon as something holds."""
        with self._running(condition):
            pass

    @property
    def commits(self) -> int:
        """Number of batches that have been committed."""
        return len(list(self._checkpoint.glob("spark/commits/[0-9]*")))

    @contextmanager
    def _running(self, condition: Callable[[], bool]) -> Iterator[None]:
        """It runs, and something holds; it is killed after the block."""
        with subprocess.Popen([*self._run, "--continuous"], stdout=subprocess.DEVNULL) as process:
            try:
                until = time.monotonic() + 240
                while not condition():
                    assert time.monotonic() < until and process.poll() is None
                    time.sleep(0.05)
                yield
            finally:
                process.kill()

    def finish(self, spark: SparkSession) -> None:
        """Run it in this process until the end of its input."""
        session = Session(spark, checkpoint=self._checkpoint, shards=2)
        session.sql(self._script.read_text())
        session.start(available_now=True).finish()

    def _command(self, *words: str) -> list[str]:
        return [sys.executable, "-m", "eddyline", *words, "--checkpoint", str(self._checkpoint)]
