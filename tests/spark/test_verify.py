"""``eddyline checkpoint verify`` finds damaged files."""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from typer.testing import CliRunner

from eddyline.cli.main import app
from eddyline.spark.exchange.packed_batches import pack
from eddyline.spark.storage.control import ControlStream
from eddyline.spark.storage.directory import LocalDirectory
from eddyline.spark.storage.program_file import (
    SavedLayout,
    SavedProgram,
    SavedStatement,
    write_program,
)
from eddyline.spark.verify import verify

pytestmark = pytest.mark.fault

QUERY = "CREATE QUERY q AS SELECT x FROM s [NOW]"
PROGRAM = SavedProgram(
    1,
    4,
    (
        SavedStatement("stream", "s", "CREATE STREAM s (ts TIMESTAMP, x BIGINT) TIMESTAMP BY ts"),
        SavedStatement("query", "q", QUERY),
    ),
    (SavedLayout((0,), ("q",)),),
)
STATE = bytes(range(256)) * 5


def put(path: Path, content: bytes) -> None:
    """Write a file as Hadoop's local file system does, with the sums of its parts beside it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    sums = [zlib.crc32(content[at : at + 512]) for at in range(0, len(content), 512)]
    packed = b"".join(struct.pack(">I", crc) for crc in sums)
    path.with_name(f".{path.name}.crc").write_bytes(b"crc\0" + struct.pack(">i", 512) + packed)


def entry(partitions: int) -> bytes:
    """Of Spark's log of batches that have begun."""
    settings = {"batchWatermarkMs": 0, "conf": {"spark.sql.shuffle.partitions": str(partitions)}}
    return b"v1\n" + json.dumps(settings).encode() + b'\n{"logOffset":0}\n-\n7'


@pytest.fixture
def checkpoint(tmp_path: Path) -> Path:
    """Two committed batches and a third begun; one request; a lease of an ended process."""
    write_program(LocalDirectory(tmp_path), PROGRAM)
    control = ControlStream(LocalDirectory(tmp_path / "control"))
    control.send(0, control.statement(0, {0: "DROP QUERY q"}))
    spark = tmp_path / "spark"
    put(spark / "metadata", b'{"id":"abc"}')
    for batch in range(3):
        put(spark / f"offsets/{batch}", entry(partitions=2))
    for batch in range(2):
        put(spark / f"commits/{batch}", b'v1\n{"nextBatchWatermarkMs":0}')
    for partition in range(2):
        put(spark / f"state/0/{partition}/1.zip", STATE)
        put(spark / f"state/0/{partition}/2.changelog", STATE)
        put(spark / f"state/0/{partition}/SSTs/1-a.sst", STATE)
    return tmp_path


def errors(checkpoint: Path) -> list[tuple[str, str]]:
    return [(f.what, f.text) for f in verify(LocalDirectory(checkpoint)) if f.level == "error"]


def test_a_valid_checkpoint(checkpoint: Path) -> None:
    assert errors(checkpoint) == []
    result = CliRunner().invoke(app, ["checkpoint", "verify", str(checkpoint)])
    assert result.exit_code == 0
    assert "1 queries in 1 layouts, 4 shards at most for each" in result.output
    assert "1 requests to add and drop queries" in result.output
    assert "committed up to batch 1; batch 2 has begun and will be repeated" in result.output
    assert "version 2 in all 2 partitions" in result.output


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-3])


DAMAGE: dict[str, tuple[Callable[[Path], object], str, str]] = {
    "program": (lambda p: cut(p / "program.json"), "program.json", "cannot be read"),
    "no program": (lambda p: (p / "program.json").unlink(), "program.json", "is missing"),
    "metadata": (lambda p: (p / "spark/metadata").unlink(), "metadata", "is missing or cannot"),
    "offsets": (lambda p: cut(p / "spark/offsets/1"), "offsets", "offsets/1 is truncated"),
    "empty": (
        lambda p: (p / "spark/offsets/2").write_bytes(b""),
        "offsets",
        "offsets/2 is truncated",
    ),
    "gap": (lambda p: (p / "spark/offsets/1").unlink(), "offsets", "batch 1 is missing"),
    "commits": (lambda p: cut(p / "spark/commits/0"), "commits", "commits/0 is truncated"),
    "no commit": (lambda p: (p / "spark/commits/1").unlink(), "commits", "batch 1 is missing"),
    "state": (
        lambda p: cut(p / "spark/state/0/1/2.changelog"),
        "state",
        "2.changelog is truncated",
    ),
    "sst": (lambda p: cut(p / "spark/state/0/1/SSTs/1-a.sst"), "state", "1-a.sst is truncated"),
    "no state": (
        lambda p: (p / "spark/state/0/0/2.changelog").unlink(),
        "state",
        "state/0/0 has no state of version 2",
    ),
    "request": (lambda p: cut(next((p / "control").glob("sql-*"))), "control", "cannot be read"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_is_found(checkpoint: Path, damage: str) -> None:
    do, what, text = DAMAGE[damage]
    do(checkpoint)
    found = errors(checkpoint)
    assert any(w == what and text in t for w, t in found), found


def test_the_exit_code_is_2_after_errors(checkpoint: Path) -> None:
    cut(checkpoint / "program.json")
    result = CliRunner().invoke(app, ["checkpoint", "verify", str(checkpoint), "--json"])
    assert result.exit_code == 2
    found = [json.loads(line) for line in result.output.splitlines()]
    assert [f["what"] for f in found if f["level"] == "error"] == ["program.json"]
    assert {f["event"] for f in found} == {"finding"}


def test_a_missing_checkpoint(tmp_path: Path) -> None:
    assert errors(tmp_path / "nowhere")[0][0] == "checkpoint"
    (tmp_path / "x").mkdir()
    (tmp_path / "x/notes").touch()
    assert errors(tmp_path / "x")[0][1].endswith("contains no program of a job")


def test_a_job_that_has_not_begun(checkpoint: Path) -> None:
    for log in ("offsets", "commits"):
        for file in (checkpoint / "spark" / log).iterdir():
            file.unlink()
    notes = [f.text for f in verify(LocalDirectory(checkpoint)) if f.level == "note"]
    assert notes == ["no batch has begun"] and errors(checkpoint) == []


def test_rows_that_wait_for_their_file_are_checked(checkpoint: Path) -> None:
    place = checkpoint / "pending/here"
    place.mkdir(parents=True)
    for batch in (3, 4, 7):
        (place / f"{batch:012}.arrow").write_bytes(pack(pa.table({"k": [batch]})))
    (place / "rolled.json").write_text('{"batches": [1, 3]}')
    notes = [f.text for f in verify(LocalDirectory(checkpoint)) if f.level == "note"]
    assert notes == ["the rows of 2 batches wait for their file: here"]
    cut(place / "000000000007.arrow")
    ((what, text),) = errors(checkpoint)
    assert what == "pending" and "000000000007.arrow" in text


def test_foreign_files_are_reported(checkpoint: Path) -> None:
    (checkpoint / "control/notes.txt").touch()
    notes = [f.text for f in verify(LocalDirectory(checkpoint)) if f.level == "note"]
    assert notes == ["notes.txt was not written by a job; it has no effect"]
