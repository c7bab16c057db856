"""Killed processes: no result is lost or duplicated, no process hangs."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import pytest
from pyspark.sql import SparkSession
from test_job import delivered, session_over, wait_for_batches

from spark_cases import QUERIES, Feed, bag, definitions, embedded, stream_tables
from worker_processes import engine_workers

JobInputs = tuple[Feed, Feed]
pytestmark = [pytest.mark.long, pytest.mark.fault, pytest.mark.spark]


def test_a_batch_survives_killed_workers(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path
) -> None:
    a, b = stream_tables(5, 10), stream_tables(6, 10)
    feeds[0].write(*a[:2])
    feeds[1].write(*b[:2])
    session = session_over(spark, feeds, tmp_path)
    run = session.start()
    wait_for_batches(run, 2)
    for number in range(2, 9):
        feeds[0].write(a[number])
        feeds[1].write(b[number])
        workers = engine_workers(daemons=False)
        assert workers
        for pid in workers:
            os.kill(pid, signal.SIGKILL)
        run.processAllAvailable()
        assert run.exception() is None
        assert run.progress().restore_seconds.keys() == {"a, b"}
    feeds[0].write(a[9])
    feeds[1].write(b[9])
    run.finish()
    assert run.restarts == 0 and delivered(session) == embedded({"a": a, "b": b})


class Command:
    """``eddyline`` in other processes, with a script over two feeds."""

    def __init__(self, feeds: JobInputs, directory: Path) -> None:
        self.script = directory / "script.sql"
        self.checkpoint = directory / "checkpoint"
        self._directory = directory
        sinks = "".join(
            f"CREATE QUERY {name} AS {sql} WITH (sink = 'parquet', path = '{directory}/{name}');"
            for name, sql in QUERIES.items()
            if name != "named"
        )
        sources = {"a": feeds[0].source, "b": feeds[1].source}
        self.script.write_text(definitions(sources) + sinks)

    def __call__(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "eddyline", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self("run", str(self.script), "--checkpoint", str(self.checkpoint), *arguments)

    @contextmanager
    def running(self, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
        """A job that runs until it is killed."""
        command = [sys.executable, "-m", "eddyline", "run", str(self.script), "--continuous",
                   "--checkpoint", str(self.checkpoint), *arguments]  # fmt: skip
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.kill()

    def wait_for_commits(self, count: int) -> None:
        deadline = time.monotonic() + 240
        while len(list(self.checkpoint.glob("spark/commits/[0-9]*"))) < count:
            assert time.monotonic() < deadline, "the job makes no progress"
            time.sleep(0.05)

    def changes(self) -> dict[str, list[tuple[object, ...]]]:
        """What the queries have delivered."""
        found = {}
        for name in QUERIES.keys() - {"named"}:
            files = f"{self._directory}/{name}/*/*.parquet"
            query = f"SELECT * EXCLUDE eddyline_batch FROM read_parquet('{files}')"
            relation: Any = duckdb.sql(query)
            found[name] = bag(relation.arrow().read_all())
        return found


def test_killed_terminated_and_doubled_drivers(feeds: JobInputs, tmp_path: Path) -> None:
    a, b = stream_tables(5, 9), stream_tables(6, 9)
    command = Command(feeds, tmp_path)

    def write(files: slice) -> None:
        feeds[0].write(*a[files])
        feeds[1].write(*b[files])

    write(slice(0, 3))
    with command.running() as first:
        command.wait_for_commits(1)
        doubled = command.run()
        assert doubled.returncode == 2
        assert f"in use by process {first.pid} on host" in doubled.stderr
        first.send_signal(signal.SIGKILL)
        first.wait()

    write(slice(3, 6))
    with command.running("--restart", "3") as second:  # the lease of the first is free at once
        command.wait_for_commits(6)
        second.send_signal(signal.SIGTERM)
        assert second.wait(120) == 0
    verified = command("checkpoint", "verify", str(command.checkpoint), "--json")
    assert verified.returncode == 0, verified.stdout
    findings = {f["what"]: f["text"] for f in map(json.loads, verified.stdout.splitlines())}
    assert findings["lease"] == "free"

    write(slice(6, 9))
    last = command.run("--once", "--finish")
    assert last.returncode == 0, last.stderr
    expected = embedded({"a": a, "b": b})
    expected.pop("named")
    assert command.changes() == expected


def test_a_truncated_program_is_named(feeds: JobInputs, tmp_path: Path) -> None:
    command = Command(feeds, tmp_path)
    feeds[0].write(*stream_tables(5, 1))
    feeds[1].write(*stream_tables(6, 1))
    assert command.run("--once").returncode == 0
    program = command.checkpoint / "program.json"
    program.write_text(program.read_text()[:100])
    failed = command.run("--once")
    assert failed.returncode == 2 and "program.json cannot be read" in failed.stderr
    program.unlink()
    failed = command.run("--once")
    assert failed.returncode == 2 and "program.json is missing" in failed.stderr
    assert "Traceback" not in failed.stderr
