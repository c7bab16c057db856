"""The demo in one process, without Spark."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from typing import Any

import pytest
from typer.testing import CliRunner

from eddyline.cli.main import app


@pytest.fixture(scope="module")
def events() -> list[dict[str, Any]]:
    """What it prints as JSON."""
    done = CliRunner().invoke(app, ["demo", "--embedded", "--json"])
    assert done.exit_code == 0, done.output
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_results_are_those_that_the_readme_shows(events: list[dict[str, Any]]) -> None:
    end = events[-1]
    assert end["event"] == "end"
    assert end["rows_out"]["same_place_same_time"] == 214
    rows = [r for e in events if e.get("query") == "same_place_same_time" for r in e["rows"]]
    assert (rows[0]["from_newark"], rows[0]["from_kennedy"]) == (527, 9)


def test_no_row_is_lost(events: list[dict[str, Any]]) -> None:
    end, bad = events[-1], [e for e in events if e["event"] == "bad_rows"]
    assert {e["label"]: e["rows"] for e in bad} == {
        f"bad:{stream}": n for stream, n in end["bad"].items() if n
    }
    assert sum(e["rows"] for e in bad) == 8_255
    assert all(e["reasons"] == [["dep_ts is null", e["rows"]]] for e in bad)
    assert sum(end["rows_in"].values()) == 339_724


def test_all_windows_have_ended(events: list[dict[str, Any]]) -> None:
    pairs = [r["_op"] for e in events if e.get("query") == "web_readers" for r in e["rows"]]
    assert pairs and events[-1]["rows_out"]["web_readers"] % 2 == 0


def test_the_console_shows_it_until_it_is_interrupted() -> None:
    command = [sys.executable, "-m", "eddyline", "demo", "--embedded", "--console"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, bufsize=1) as process:
        try:
            assert process.stdout is not None
            lines = iter(process.stdout)
            url = next(line for line in lines if "console:" in line).split()[-1]
            assert any("host 57 got no answer from host 58" in line for line in lines)
            with urllib.request.urlopen(url.partition("#")[0], timeout=10) as page:
                assert b"Eddyline" in page.read()
            process.send_signal(signal.SIGTERM)
            assert process.wait(30) == 0
        finally:
            process.kill()
