"""The log of ``eddyline run``, and its output as JSON."""

from __future__ import annotations

import json
import logging
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from eddyline.cli.job_log import log_file, logging_to
from eddyline.errors import EddylineError

LINE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z ([A-Z]+) ([\w.]+): (.+)")


def test_lines_have_time_level_component_and_message(tmp_path: Path) -> None:
    file = log_file(str(tmp_path / "job"))
    assert file == tmp_path / "job" / "eddyline.log" == log_file(f"file://{tmp_path}/job")
    assert file.stat().st_mode & 0o777 == 0o600 and file.parent.stat().st_mode & 0o777 == 0o700
    log = logging.getLogger("eddyline.part")
    for n in range(2):
        with logging_to(file):
            log.info("run %d", n)
        log.error("not in the block")
    found = [LINE.fullmatch(line) for line in file.read_text().splitlines()]
    assert [m and m.groups() for m in found] == [
        ("INFO", "eddyline.part", "run 0"),
        ("INFO", "eddyline.part", "run 1"),
    ]


def test_checkpoints_elsewhere_have_a_temporary_log() -> None:
    for checkpoint in (None, "s3a://bucket/job"):
        file = log_file(checkpoint)
        assert file.suffix == ".log" and file.stat().st_mode & 0o777 == 0o600
        file.unlink()


def test_a_log_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "eddyline.log").mkdir()
    with pytest.raises(EddylineError, match=r"eddyline\.log cannot be written: Is a directory"):
        log_file(str(tmp_path))


@pytest.mark.long
@pytest.mark.spark
def test_the_log_of_a_job_is_printed_first_and_kept(tmp_path: Path) -> None:
    ts = pa.array([0, 1_000_000, 9_000_000], pa.timestamp("us", "UTC"))
    (tmp_path / "in").mkdir()
    pq.write_table(pa.table({"ts": ts, "v": [2, 0, 1]}), tmp_path / "in/0.parquet")
    script = tmp_path / "s.sql"
    script.write_text(
        "CREATE STREAM s (ts TIMESTAMP, v BIGINT) TIMESTAMP BY ts LATENESS 2 SECONDS "
        "WITH (source = 'parquet', path = 'in'); CREATE QUERY q AS SELECT v FROM s [NOW]"
    )
    words = ("run", str(script), "--checkpoint", str(tmp_path / "job"), "--shards", "1", "--json")
    command = [sys.executable, "-m", "eddyline", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    first, *_, last = map(json.loads, done.stdout.splitlines())
    log = tmp_path / "job" / "eddyline.log"
    assert first == {"event": "log", "at": str(log)}
    assert (last["event"], last["rows_in"]) == ("end", {"s": 3})
    assert last["rows_out"]["q"] == 2, "with a checkpoint, rows are held for the next run"
    found = [m.groups() for m in map(LINE.fullmatch, log.read_text().splitlines()) if m]
    texts = [text for level, component, text in found if component == "eddyline.cli.job"]
    assert [text.split()[0] for text in texts] == ["eddyline", "the", "the"]
    assert texts[1].startswith("the job runs: 1 queries, checkpoint ")
    assert texts[2] == "the job has ended: last batch 0, 3 rows in, 2 out"

    # an error of the next start is added
    before = log.read_text()
    (tmp_path / "in").rename(tmp_path / "elsewhere")
    other = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert other.returncode == 2, "bad input"
    missing = "stream 's': there is no file or directory"
    again = log.read_text()
    assert again.startswith(before)
    errors = [m.groups() for m in map(LINE.fullmatch, again.splitlines()) if m and m[1] == "ERROR"]
    assert len(errors) == 1 and missing in errors[0][2], again
    assert "Z ERROR" not in other.stderr and other.stderr.count(missing) == 1
