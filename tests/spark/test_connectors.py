"""Connectors that PySpark does not contain: how they are fetched, and what is said without them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from eddyline.errors import SetupError
from eddyline.spark.connectors import (
    AVRO,
    KAFKA,
    connector_jars,
    directory_of,
    fetch_connectors,
)
from eddyline.user_cache import CONNECTORS

#: Writes two jars where Ivy would, or fails.
JAVA = """#!/bin/sh
echo called >> {log}
test -e {slow} && exec sleep 5
for last; do :; done
test -e {broken} && {{ echo unresolved dependency; exit 1; }}
mkdir -p "$(dirname "$last")" && cd "$(dirname "$last")" && touch other-2.jar
grep -q {kafka} "$5" && touch {kafka}-1.jar || touch {avro}-1.jar
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(CONNECTORS, str(tmp_path / "connectors"))
    java = tmp_path / "java"
    names = {
        "log": tmp_path / "log",
        "broken": tmp_path / "broken",
        "slow": tmp_path / "slow",
        "kafka": KAFKA.name,
        "avro": AVRO.name,
    }
    java.write_text(JAVA.format(**names))
    java.chmod(0o755)
    return tmp_path


def test_they_are_fetched_once(place: Path) -> None:
    assert connector_jars() == []
    directories = fetch_connectors(place / "java")
    assert fetch_connectors(place / "java") == directories == [*map(directory_of, (KAFKA, AVRO))]
    names = [jar.name for jar in connector_jars()]
    assert names == ["other-2.jar", f"{KAFKA.name}-1.jar", "other-2.jar", f"{AVRO.name}-1.jar"]
    assert (place / "log").read_text().count("called") == 2
    assert sorted(os.listdir(place / "connectors")) == sorted(d.name for d in directories)


def test_a_failure_leaves_nothing(place: Path) -> None:
    (place / "broken").touch()
    with pytest.raises(SetupError, match=r"cannot fetch org.apache.spark:.*unresolved dependency"):
        fetch_connectors(place / "java")
    assert os.listdir(place / "connectors") == []
    (place / "broken").unlink()
    fetch_connectors(place / "java")
    assert connector_jars()


def test_no_answer(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "slow").touch()
    monkeypatch.setattr("eddyline.spark.connectors._TIMEOUT_S", 0.2)
    with pytest.raises(SetupError, match=r"cannot fetch .*: not complete after 0\.2 s"):
        fetch_connectors(place / "java")
    assert os.listdir(place / "connectors") == []


@pytest.mark.spark
def test_what_is_said_without_them(tmp_path: Path) -> None:
    script = tmp_path / "kafka.sql"
    script.write_text(
        "CREATE STREAM s (ts TIMESTAMP) TIMESTAMP BY ts WITH (source = 'kafka', format = 'json', "
        "kafka.bootstrap.servers = '127.0.0.1:1', subscribe = 't');"
        "CREATE QUERY q AS SELECT ts FROM s [NOW]"
    )
    done = subprocess.run(
        [sys.executable, "-m", "eddyline", "run", str(script), "--shards", "1"],
        env={**os.environ, CONNECTORS: str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    said = " ".join((done.stdout + done.stderr).split())
    assert done.returncode == 2
    assert "stream 's': Spark knows no source 'kafka'" in said
    assert "`eddyline connectors` fetches it" in said
