"""Flink in a process of its own: resolved by Maven, compiled from ``FlinkPatterns.java``."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

from eddyline.errors import SetupError

_HERE: Final = Path(__file__).parent
_MAIN: Final = "FlinkPatterns"
_OPENED: Final = ("java.util", "java.lang")
_HEAP: Final = "4g"


class Ran(NamedTuple):
    """What a query has found.

    Attributes:
        hashes: the sum of the hashes of its rows. seconds: from the first row to the last result.
    """

    rows: int
    results: int
    hashes: int
    seconds: float


class Flink:
    """A JVM that runs queries, one after the other."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process = process
        self._folder = folder

    def run(self, sql: str) -> Ran:
        """Run a query over all rows.

        Raises:
            SetupError: Flink has failed; its log is in the message.
        """
        text = self._folder / "query.sql"
        text.write_text(sql, encoding="utf-8")
        assert self._process.stdin is not None, "a pipe"
        self._process.stdin.write(f"{text}\n")
        self._process.stdin.flush()
        rows, results, hashes, nanoseconds = map(int, self.line().split())
        return Ran(rows, results, hashes, nanoseconds / 1e9)

    def line(self) -> str:
        """The next line of its output."""
        assert self._process.stdout is not None, "a pipe"
        line = self._process.stdout.readline()
        if not line:
            log = (self._folder / "flink.log").read_text(encoding="utf-8", errors="replace")
            causes = [part for part in log.splitlines() if "Exception" in part or "rror" in part]
            raise SetupError(
                "Flink has failed: " + " / ".join(causes[-3:] or log.splitlines()[-3:])
            )
        return line.strip()


@contextmanager
def flink(rows: Path, folder: Path) -> Iterator[Flink]:
    """Flink over a file of rows, as ``FlinkPatterns.java`` reads it.

    Args:
        folder: for what is compiled.

    Raises:
        SetupError: Java, its compiler or Maven is missing, or Maven does not find Flink.
    """
    for needed in ("java", "javac", "mvn"):
        if shutil.which(needed) is None:
            raise SetupError(f"this needs the command {needed}: install a JDK 17 and Maven")
    found = folder / "classpath"
    output = f"-Dmdep.outputFile={found}"
    resolve = [
        "mvn",
        "-q",
        "-B",
        "-f",
        str(_HERE / "pom.xml"),
        "dependency:build-classpath",
        output,
    ]
    _checked(resolve, "Maven has not found Flink")
    classpath = f"{found.read_text(encoding='utf-8').strip()}:{folder}"
    source = str(_HERE / f"{_MAIN}.java")
    _checked(["javac", "-nowarn", "-d", str(folder), "-cp", classpath, source], "javac has failed")
    opened = [f"--add-opens=java.base/{package}=ALL-UNNAMED" for package in _OPENED]
    started = ["java", f"-Xmx{_HEAP}", *opened, "-cp", classpath, _MAIN, str(rows)]
    with (
        open(folder / "flink.log", "w", encoding="utf-8") as log,
        subprocess.Popen(
            started, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True
        ) as process,
    ):
        try:
            running = Flink(process, folder)
            assert running.line() == "ready", "its first line"
            yield running
        finally:
            process.terminate()


def _checked(command: list[str], failure: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stdout + done.stderr).strip().splitlines()
        raise SetupError(f"{failure}: {' / '.join(lines[-3:])}")
