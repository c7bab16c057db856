"""The control directory: only unmodified requests are read."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from eddyline import SqlError, StateError
from eddyline.spark.storage.control import ControlStream, Question, Request, foreign_files
from eddyline.spark.storage.directory import LocalDirectory

pytestmark = pytest.mark.fault

#: What may lie in the directory and is no request: name and content.
GARBAGE = {
    "notes.txt": b"hello",
    "x.json": b"{",
    "sql-1.json": b'{"shard": "x"}',
    "sql-old-one-x.json": b"\xff\xfe\x00",
    f"end-{'0' * 32}.json": b"[]\n{}\nnull\n" + Request(7, "end", "1").line().encode()[:-4],
}


@pytest.fixture
def control(tmp_path: Path) -> ControlStream:
    return ControlStream(LocalDirectory(tmp_path / "control"))


def send(control: ControlStream, *texts: str) -> None:
    for text in texts:
        control.send(0, control.statement(0, {0: text}))


def litter(directory: Path) -> None:
    for name, content in GARBAGE.items():
        (directory / name).write_bytes(content)
    (directory / "x=1").mkdir()


def test_foreign_files_are_ignored(
    control: ControlStream, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    send(control, "DROP QUERY a", "DROP QUERY ü")
    control.end_of_input({0: 5})
    litter(tmp_path / "control")
    with caplog.at_level(logging.WARNING, "eddyline"):
        again = ControlStream(LocalDirectory(tmp_path / "control"))
    assert [r.text for r in again.statements()] == ["DROP QUERY a", "DROP QUERY ü"]
    assert again.statement(0, {0: "DROP QUERY c"})[0].number == 3
    assert "notes.txt is ignored" in caplog.text


@pytest.mark.parametrize(
    ("content", "cause"),
    [
        (b'{"shard": 0, "na', "Unterminated string"),
        (b"\xff", "can't decode byte"),
        (b"[]", "not a JSON object"),
        (b'{"shard": 0}', "it has the fields shard"),
        (Request(0, "sql", "QUERY x", 1).line().replace("Y x", "Y y").encode(), "digest is wrong"),
    ],
)
def test_a_request_that_cannot_be_read_is_named(
    control: ControlStream, tmp_path: Path, content: bytes, cause: str
) -> None:
    send(control, "DROP QUERY a", "DROP QUERY b")
    (file,) = (tmp_path / "control").glob("sql-0-1-*")
    file.write_bytes(content)
    with pytest.raises(StateError, match=rf"{file.name}: .*{cause}.*restore the file"):
        control.statements()


def test_a_request_that_is_missing_is_named(control: ControlStream, tmp_path: Path) -> None:
    send(control, "DROP QUERY a", "DROP QUERY b", "DROP QUERY c")
    next((tmp_path / "control").glob("sql-0-2-*")).unlink()
    with pytest.raises(StateError, match="lacks request 2 to shard 0"):
        ControlStream(LocalDirectory(tmp_path / "control"))


def test_statements_that_cannot_be_encoded(control: ControlStream) -> None:
    with pytest.raises(SqlError, match="not text: surrogates not allowed at character 12"):
        control.statement(0, {0: "DROP QUERY `\ud800`"})


def test_requests_are_read_as_they_are_written() -> None:
    request = Request(3, "sql", "SELECT '\u2028\n\r\t\"ü'", 4, "2026-01-01T00:00:00+00:00")
    assert "\n" not in request.line()
    assert Request.read(request.line()) == request
    with pytest.raises(ValueError, match="digest"):
        Request.read(json.dumps(json.loads(request.line()) | {"shard": 4}))


def test_questions_are_not_part_of_the_history(control: ControlStream, tmp_path: Path) -> None:
    send(control, "DROP QUERY a")
    question = Question("0" * 32, "q")
    control.ask(question.id, {0: question.text(), 1: Question(question.id, None).text()})
    again = ControlStream(LocalDirectory(tmp_path / "control"))
    assert [r.text for r in again.statements()] == ["DROP QUERY a"]
    assert foreign_files(LocalDirectory(tmp_path / "control")) == []
    assert again.statement(0, {0: "DROP QUERY c"})[0].number == 2
    control.forget(question.id)
    assert [file.name[:3] for file in (tmp_path / "control").iterdir()] == ["sql"]


def test_spark_reads_requests_and_no_foreign_files(
    spark: SparkSession, control: ControlStream, tmp_path: Path
) -> None:
    send(control, "DROP QUERY a", "SELECT '\u2028\n\r\t\"ü'")
    control.end_of_input({0: 5, 1: 7})
    litter(tmp_path / "control")
    seen: list[tuple[int, str, int, str]] = []
    query = (
        control.packed_batches(spark)
        .writeStream.foreachBatch(
            lambda rows, _: seen.extend(
                (r["shard"], r["name"], r["seq"], bytes(r["blob"]).decode()) for r in rows.collect()
            )
        )
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    assert sorted(seen) == [
        (0, "end", 0, "5"),
        (0, "sql", 1, "DROP QUERY a"),
        (0, "sql", 2, "SELECT '\u2028\n\r\t\"ü'"),
        (1, "end", 0, "7"),
    ]
