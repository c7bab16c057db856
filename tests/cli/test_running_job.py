"""list, stats, tail, add and drop: access to a job through its checkpoint."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from typer.testing import CliRunner

from eddyline.cli.main import app
from eddyline.cli.reports import amount
from eddyline.rate_limiter import RateLimiter
from eddyline.spark import Run, Session

SCRIPT = """
CREATE STREAM s (ts TIMESTAMP, k BIGINT, v DOUBLE) TIMESTAMP BY ts
  WITH (source = 'parquet', path = 'in');
CREATE QUERY big AS SELECT k, v FROM s [RANGE 5 SECONDS]
  WHERE v > 1;
CREATE QUERY sums AS SELECT k, SUM(v) AS total FROM s [RANGE 5 SECONDS] GROUP BY k
  EMIT CHANGES WITH (sink = 'parquet', path = 'sums');
"""


@pytest.fixture
def job(spark: SparkSession, tmp_path: Path) -> Iterator[Run]:
    (tmp_path / "in").mkdir()
    session = Session(spark, checkpoint=tmp_path / "job", base=tmp_path, printer=lambda *_: None)
    session.sql(SCRIPT)
    write(tmp_path, 0)
    run = session.start()
    run.processAllAvailable()
    yield run
    run.stop()


def write(directory: Path, file: int) -> None:
    seconds = range(3 * file, 3 * file + 3)
    ts = pa.array([s * 1_000_000 for s in seconds]).cast(pa.timestamp("us", "UTC"))
    rows = pa.table({"ts": ts, "k": [0, 1, 2], "v": [1.0, 2.0, 3.0]})
    pq.write_table(rows, directory / f".{file}.parquet")
    (directory / f".{file}.parquet").rename(directory / f"in/{file}.parquet")


@contextmanager
def rows_coming(directory: Path) -> Iterator[list[int]]:
    """During the block a file is written every second; the numbers of all of them."""
    files, ended = [0], threading.Event()

    def write_files() -> None:
        while not ended.wait(1):
            write(directory, len(files))
            files.append(len(files))

    writer = threading.Thread(target=write_files)
    writer.start()
    try:
        yield files
    finally:
        ended.set()
        writer.join()


def command(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, list(arguments))
    return result.exit_code, result.output


def events(*arguments: str) -> list[dict[str, Any]]:
    code, output = command(*arguments, "--json")
    assert code == 0, output
    return [json.loads(line) for line in output.splitlines() if line.startswith("{")]


def wait_for_stats(rows_in: int) -> list[dict[str, Any]]:
    """The statistics, after waiting until they count this number of rows."""
    for _ in range(60):
        said = events("stats")
        if said[0]["rows_in"] == {"s": rows_in}:
            return said
        time.sleep(0.5)
    raise AssertionError(f"the job never told of {rows_in} rows: {said}")


def test_commands_of_another_process(
    job: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    checkpoint = tmp_path / "job"
    monkeypatch.setenv("EDDYLINE_CHECKPOINT", str(checkpoint))

    # list
    assert [q["name"] for q in events("list")] == ["big", "sums"]
    code, output = command("list")
    head, big, sums = output.splitlines()
    assert code == 0 and head.split() == ["query", "since", "sink", "state", "SQL"]
    assert "print" in big and "FROM s [RANGE 5 SECONDS] WHERE v > 1" in big
    assert "parquet" in sums

    # add
    assert command("add", "CREATE QUERY two AS SELECT v FROM s [NOW] WHERE v = 2 EMIT INSERTS "
                   "WITH (sink = 'noop'); CREATE QUERY all AS SELECT v FROM s [NOW]") == (
        0, "added two\nadded all\n"
    )  # fmt: skip
    assert [q["name"] for q in events("list")] == ["big", "sums", "two", "all"]
    for sql, message in {
        "CREATE QUERY two AS SELECT v FROM s [NOW]": "a query of this name exists",
        "CREATE QUERY x AS SELECT w FROM s [NOW]": "there is no column 'w'",
        "CREATE QUERY x AS SELECT": "line 1, column",
        "CREATE QUERY x AS SELECT v FROM s [NOW] WITH (sink = 'parquet')": "needs the option",
        "CREATE QUERY c AS SELECT v FROM s [NOW];\n CREATE QUERY x AS SELECT w FROM s [NOW]": (
            "added c\nerror: line 2, column 27: there is no column 'w'"
        ),
        "DROP QUERY two": "only CREATE QUERY can be added to a running job",
        "": "there is no statement",
    }.items():
        code, output = command("add", sql)
        assert code == 2 and message in output, output

    assert command("drop", "c") == (0, "dropped c\n")

    # tail
    with rows_coming(tmp_path) as files:
        (rows,) = events("tail", "TWO", "--limit", "1")
    assert rows["query"] == "two" and rows["count"] >= 1
    assert {r["v"] for r in rows["rows"]} == {2.0}
    assert not list(checkpoint.glob("mailbox/tails/*"))
    assert command("tail", "too")[0] == 2

    # stats
    job.processAllAvailable()
    of_job, *of_queries = wait_for_stats(3 * len(files))
    assert of_job["state"] == "running"
    counts = {q["name"]: q["rows_out"] for q in of_queries}
    assert counts.pop("sums") > 0
    n = len(files) - 1  # since "two" and "all" came, when the window held one row
    assert counts == {"big": 2 + 2 * n, "two": n, "all": 1 + 3 * n}
    assert all(q.keys() > {"event", "name", "rows_out"} for q in of_queries), "the engine's too"
    assert job.stats().keys() == {"sums", *counts}
    code, output = command("stats", "two")
    assert code == 0 and "rows in" in output and "rows out" in output
    assert [line.split()[0] for line in output.split("\n\n")[1].splitlines()] == ["query", "two"]
    code, output = command("stats", "tow")
    assert code == 2 and "did you mean 'two'" in output

    # answer
    rows = json.loads(command("answer", "ALL", "--format", "json")[1])
    assert rows == job.answer("all").to_pylist() != []
    code, output = command("answer", "all")
    assert code == 0 and output.splitlines()[1:] == ["  v", *(f"  {r['v']:g}" for r in rows)]
    code, output = command("answer", "alll")
    assert code == 2 and "did you mean 'all'" in output
    code, output = command("answer", "all", "--format", "jsn")
    assert code == 2 and "there is no format 'jsn'; did you mean 'json'" in output

    # drop
    assert command("drop", "TWO") == (0, "dropped two\n")
    code, output = command("drop", "two")
    assert code == 2 and "there is no query 'two'" in output
    assert [q["name"] for q in events("list")] == ["big", "sums", "all"]

    # alter
    assert command("alter", "BIG", "WITH (sink = 'noop')") == (0, "altered big\n")
    assert [q["sink"] for q in events("list")] == ["noop", "parquet", "print"]
    for sink, message in {
        "WITH (sink = 'parkett')": "did you mean 'parquet'?",
        "": "expected WITH and the options",
        "WITH (sink = 'noop'); DROP QUERY big": "the options of one sink",
    }.items():
        code, output = command("alter", "big", sink)
        assert code == 2 and message in output, output

    # the end
    job.stop()
    code, output = command("list")
    assert code == 0 and "the job does not run: it ended at" in output
    code, output = command("add", "CREATE QUERY x AS SELECT v FROM s [NOW]")
    assert code == 2 and "the job does not run: it ended at" in output


@pytest.mark.parametrize("what", ["list", "stats", "tail q", "drop q", "answer q"])
def test_a_checkpoint_without_a_job(what: str, tmp_path: Path) -> None:
    code, output = command(*what.split(), "--checkpoint", str(tmp_path))
    assert code == 2 and "there is no job in" in output


def test_a_checkpoint_out_of_reach() -> None:
    code, output = command("list", "--checkpoint", "gopher://there/checkpoint")
    assert code == 2 and "cannot be reached" in output


def test_a_silent_job_does_not_run(tmp_path: Path) -> None:
    (tmp_path / "mailbox").mkdir()
    status = {"state": "running", "at": "2026-01-01T00:00:00+00:00", "progress": {}, "queries": []}
    (tmp_path / "mailbox/status.json").write_text(json.dumps({**status, "stats": {}}))
    code, output = command("drop", "q", "--checkpoint", str(tmp_path))
    assert code == 2 and "last heartbeat at 2026-01-01 00:00:00" in output


def test_a_request_without_a_response_is_withdrawn(tmp_path: Path) -> None:
    (tmp_path / "mailbox").mkdir()
    status = {"state": "running", "at": "2999-01-01T00:00:00+00:00", "progress": {}, "stats": {}}
    query = {"name": "q", "since": "", "sink": "print", "sql": "SELECT 1"}
    (tmp_path / "mailbox/status.json").write_text(json.dumps({**status, "queries": [query]}))
    code, output = command("drop", "q", "--patience", "0.3", "--checkpoint", str(tmp_path))
    assert code == 1 and "the request is withdrawn" in output
    assert not list((tmp_path / "mailbox/requests").iterdir())


def test_amounts_have_units() -> None:
    assert amount("cpu_seconds", 0.01234) == "0.0123 s"
    assert amount("seconds", 12345.6) == "12,346 s"
    assert amount("lag_us", 1_500_000) == "1.5 s"
    assert amount("state_bytes", 999) == "999 B"
    assert amount("state_bytes", 12_345_678_901) == "12.3 GB"
    assert amount("saved_share", 0.987) == "98.7%"
    assert amount("rows_seen", 1_000_000) == "1,000,000"
    assert amount("shared", True) == "True"
    assert amount("anything", None) == "-"


def test_the_rate_limiter_keeps_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("eddyline.rate_limiter.time.monotonic", lambda: now)
    limiter = RateLimiter(share=0.1)
    assert limiter.due
    with limiter.measured():
        now += 2
    now += 17
    assert not limiter.due
    now += 1
    assert limiter.due
