"""Requests that no batch reads again are folded into one file, and are still known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import StateError
from eddyline.spark import Session
from eddyline.spark.storage import control_compaction
from eddyline.spark.storage.control import ControlStream, foreign_files
from eddyline.spark.storage.control_compaction import fold_read_files, is_folded
from eddyline.spark.storage.directory import LocalDirectory
from spark_cases import Feed, bag, definitions, stream_tables

pytestmark = pytest.mark.fault


class Checkpoint:
    """A control directory, and logs as Spark writes them; the control stream is source 1."""

    def __init__(self, root: Path) -> None:
        self.control = LocalDirectory(root / "control")
        self.spark = LocalDirectory(root / "spark")
        self.stream = ControlStream(self.control)

    def send(self, count: int) -> list[str]:
        """Send requests; returns their files."""
        before = set(self.control.names())
        for _ in range(count):
            self.stream.send(0, self.stream.statement(0, {0: "DROP QUERY ü", 1: "DROP QUERY ü"}))
        return sorted(set(self.control.names()) - before, key=lambda name: int(name.split("-")[2]))

    def log(self, file: str, *lines: str) -> None:
        path = Path(self.spark.path, file)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(("v1", *lines)))

    def read(self, files: Mapping[str, int], log: str = "0") -> None:
        """Log that Spark has read files, with the batch of the source's log."""
        place = f"file://{self.control.path}"
        entries = [{"path": f"{place}/{f}", "timestamp": 1, "batchId": n} for f, n in files.items()]
        self.log(f"sources/1/{log}", *map(json.dumps, entries))

    def batch(self, number: int, end: str, *, committed: bool = True) -> None:
        self.log(f"offsets/{number}", "{}", '{"logOffset":99}', end)
        if committed:
            self.log(f"commits/{number}", "{}")

    def numbers(self) -> list[int]:
        return [request.number for request in ControlStream(self.control).statements()]


@pytest.fixture
def checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Checkpoint:
    monkeypatch.setattr(control_compaction, "LEAST_FILES", 1)
    return Checkpoint(tmp_path)


def end(offset: int) -> str:
    return json.dumps({"logOffset": offset})


def test_files_before_the_last_committed_batch_are_folded(checkpoint: Checkpoint) -> None:
    sent = checkpoint.send(5)
    checkpoint.read({sent[0]: 0, sent[1]: 1, sent[2]: 2, sent[3]: 3})
    checkpoint.batch(6, end(1))
    checkpoint.batch(7, end(2))
    checkpoint.batch(8, end(3), committed=False)
    assert sorted(fold_read_files(checkpoint.control, checkpoint.spark)) == sorted(sent[:2])
    left = [name for name in checkpoint.control.names() if not is_folded(name)]
    assert sorted(left) == sorted(sent[2:]), "the last batch's, and those not committed, not read"
    assert checkpoint.numbers() == [1, 2, 3, 4, 5]
    assert {r.text for r in checkpoint.stream.statements()} == {"DROP QUERY ü"}
    assert foreign_files(checkpoint.control) == []
    assert fold_read_files(checkpoint.control, checkpoint.spark) == []

    checkpoint.batch(8, end(3))
    assert fold_read_files(checkpoint.control, checkpoint.spark) == [sent[2]]
    assert len(checkpoint.control.names()) == 3, "one file holds all that is folded"
    assert checkpoint.numbers() == [1, 2, 3, 4, 5]
    checkpoint.stream = ControlStream(checkpoint.control)
    assert [name.split("-")[2] for name in checkpoint.send(1)] == ["6"]


def test_questions_before_the_last_committed_batch_are_deleted(checkpoint: Checkpoint) -> None:
    questions = [f"ask-{n * 32}.json" for n in "abc"]
    for name, id in zip(questions, "abc", strict=True):
        checkpoint.stream.ask(id * 32, {0: ""})
        assert name in checkpoint.control.names()
    checkpoint.read({questions[0]: 1, questions[1]: 2})
    checkpoint.batch(7, end(1))
    checkpoint.batch(8, end(2))
    assert fold_read_files(checkpoint.control, checkpoint.spark) == []
    assert checkpoint.control.names() == questions[1:], "of the last batch, and not read"
    assert fold_read_files(checkpoint.control, checkpoint.spark) == []


@pytest.mark.parametrize(
    "batches", [[], ["-"], [end(5)], ["-", "-"], ["-", end(5)]], ids=lambda b: " ".join(b) or "none"
)
def test_nothing_is_folded_before_a_batch_that_follows(
    checkpoint: Checkpoint, batches: list[str]
) -> None:
    checkpoint.read(dict.fromkeys(checkpoint.send(2), 0))
    for number, offset in enumerate(batches):
        checkpoint.batch(number, offset)
    assert fold_read_files(checkpoint.control, checkpoint.spark) == []
    assert len(checkpoint.control.names()) == 2


def test_compact_logs_of_a_source(checkpoint: Checkpoint) -> None:
    sent = checkpoint.send(3)
    checkpoint.read({sent[0]: 0, sent[1]: 9}, "9.compact")
    checkpoint.read({sent[2]: 10}, "10")
    checkpoint.batch(20, end(10))
    checkpoint.batch(21, end(10))
    assert len(fold_read_files(checkpoint.control, checkpoint.spark)) == 3
    assert checkpoint.numbers() == [1, 2, 3]


def test_few_files_stay(checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint.read(dict.fromkeys(checkpoint.send(3), 0))
    checkpoint.batch(0, end(0))
    checkpoint.batch(1, end(0))
    monkeypatch.setattr(control_compaction, "LEAST_FILES", 4)
    assert fold_read_files(checkpoint.control, checkpoint.spark) == []
    checkpoint.send(1)
    assert len(fold_read_files(checkpoint.control, checkpoint.spark)) == 3


@pytest.mark.parametrize("deletions", range(4))
def test_an_interrupted_fold_loses_nothing(
    checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch, deletions: int
) -> None:
    sent = checkpoint.send(4)
    checkpoint.read(dict(zip(sent, (0, 1, 1, 1), strict=True)))
    checkpoint.batch(0, end(0))
    checkpoint.batch(1, end(1))
    fold_read_files(checkpoint.control, checkpoint.spark)
    checkpoint.batch(2, end(1))
    left = deletions
    delete = LocalDirectory.delete

    def failing(self: LocalDirectory, name: str) -> bool:
        nonlocal left
        if left == 0:
            raise StateError("the disk is gone")
        left -= 1
        return delete(self, name)

    with monkeypatch.context() as patch:
        patch.setattr(LocalDirectory, "delete", failing)
        with pytest.raises(StateError, match="gone"):
            fold_read_files(checkpoint.control, checkpoint.spark)
    assert checkpoint.numbers() == [1, 2, 3, 4]
    fold_read_files(checkpoint.control, checkpoint.spark)
    assert checkpoint.numbers() == [1, 2, 3, 4]


def test_requests_can_be_read_while_they_are_folded(
    checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As by ``checkpoint verify`` while a job starts."""
    for _ in range(2):  # in the second round a file of folded ones is replaced, too
        checkpoint.read(dict.fromkeys(checkpoint.send(3), 0))
        checkpoint.batch(0, end(0))
        checkpoint.batch(1, end(0))
        sent = checkpoint.numbers()
        with monkeypatch.context() as patch:

            def folded_before(self: LocalDirectory, name: str) -> bytes | None:
                patch.undo()
                assert fold_read_files(checkpoint.control, checkpoint.spark)
                return self.read(name)

            patch.setattr(LocalDirectory, "read", folded_before)
            assert checkpoint.numbers() == sent


def test_a_running_job_folds_after_many_requests(
    checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_compaction, "EVERY", 4)
    checkpoint.stream = ControlStream(checkpoint.control, checkpoint.spark)
    checkpoint.read(dict.fromkeys(checkpoint.send(3), 0))
    for number in range(2):
        checkpoint.batch(number, end(0))
    assert len(checkpoint.control.names()) == 3
    checkpoint.stream.send(0, checkpoint.stream.statement(0, {0: "DROP QUERY ü"}))
    assert sum(map(is_folded, checkpoint.control.names())) == 1
    assert len(checkpoint.control.names()) == 2, "the last one has not been read"
    assert checkpoint.numbers() == [1, 2, 3, 4]


def test_a_running_job_goes_on_if_it_cannot_fold(
    checkpoint: Checkpoint, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(control_compaction, "EVERY", 1)
    checkpoint.stream = ControlStream(checkpoint.control, checkpoint.spark)
    checkpoint.log("commits/0", "{}")
    checkpoint.log("commits/1", "{}")
    checkpoint.log("offsets/0", "not a batch")
    checkpoint.send(2)
    assert checkpoint.numbers() == [1, 2]
    assert not any(map(is_folded, checkpoint.control.names()))


def test_a_job_with_many_requests_keeps_few_files(
    spark: SparkSession, feeds: tuple[Feed, Feed], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_compaction, "EVERY", 2)
    monkeypatch.setattr(control_compaction, "LEAST_FILES", 1)
    rows = stream_tables(1, 9)

    def session() -> Session:
        made = Session(spark, checkpoint=tmp_path / "c", shards=1)
        made.sql(definitions({"a": feeds[0].source}))
        made.query("kept", "SELECT k, v FROM a [NOW]", sink="parquet", path=str(tmp_path / "kept"))
        return made

    run = session().start()
    for number in range(4):
        feeds[0].write(rows[2 * number])
        run.add(f"guest_{number}", "SELECT v FROM a [NOW]", sink="noop")
        run.processAllAvailable()
        feeds[0].write(rows[2 * number + 1])
        run.drop(f"guest_{number}")
        run.processAllAvailable()
    names = LocalDirectory(tmp_path / "c/control").names()
    assert len(names) <= 5 and sum(map(is_folded, names)) == 1
    run.add("last", "SELECT v FROM a [NOW]", sink="noop")
    run.stop()
    feeds[0].write(rows[8])
    restarted = session()
    restarted.start(available_now=True).finish()
    assert set(restarted.queries) == {"kept", "last"}
    assert restarted.results("kept").count() == sum(table.num_rows for table in rows)


def test_a_damaged_file_is_named(checkpoint: Checkpoint) -> None:
    checkpoint.read(dict.fromkeys(checkpoint.send(2), 0))
    checkpoint.batch(0, end(0))
    checkpoint.batch(1, end(0))
    fold_read_files(checkpoint.control, checkpoint.spark)
    (name,) = checkpoint.control.names()
    content = checkpoint.control.read(name) or b""
    for damaged in (content[:-9], content.replace(b"DROP", b"DRIP"), b"[]", b""):
        checkpoint.control.replace(name, damaged)
        with pytest.raises(StateError, match=f"cannot be read: .*{name}; restore the file"):
            checkpoint.stream.statements()


def test_a_job_continues_without_the_files(
    spark: SparkSession, feeds: tuple[Feed, Feed], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(control_compaction, "LEAST_FILES", 1)
    ts = pa.array(range(25)).cast(pa.timestamp("s", "UTC"))
    rows = pa.table({"ts": ts, "k": [0] * 25, "v": range(25)})
    tables = [rows.slice(5 * i, 5) for i in range(5)]
    control = LocalDirectory(tmp_path / "checkpoint/control")

    def session_over() -> Session:
        session = Session(spark, checkpoint=tmp_path / "checkpoint")
        session.sql(definitions({"a": feeds[0].source}, ""))
        session.query("first", "SELECT k, v FROM a [NOW]", sink="parquet", path=str(tmp_path / "1"))
        return session

    run = session_over().start()
    for number, name in enumerate("pqr"):
        feeds[0].write(tables[number])
        run.processAllAvailable()
        run.add(name, "SELECT v FROM a [NOW]", sink="parquet", path=str(tmp_path / name))
        run.processAllAvailable()
    run.drop("p")
    run.stop(after_batch=True)
    sent = {name for name in control.names() if name.startswith("sql")}
    assert len(sent) == 4

    for number in (3, 4):
        feeds[0].write(tables[number])
        session = session_over()
        run = session.start(available_now=True)
        assert list(session.queries) == ["first", "q", "r"]
        run.finish()
        assert run.exception() is None
    left = sent.intersection(control.names())
    assert len(left) < 2, "of the last batch at most"
    assert any(map(is_folded, control.names()))
    of_first = sorted(row[-1] for row in bag(session.results("first")))
    assert of_first == list(range(25))
    of_q = sorted(row[-1] for row in bag(session.results("q")))
    assert of_q == list(range(of_q[0], 25)), "each row since it was added, once"
