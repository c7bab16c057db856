"""Files of rows: written once, found by reference, deleted when a snapshot has replaced them."""

from __future__ import annotations

import stat
from copy import deepcopy
from pathlib import Path

import pyarrow as pa
import pytest
from test_durable import changes_of, new_engine, rebuilt

from eddyline.errors import StateError
from eddyline.spark.exchange.packed_batches import unpack
from eddyline.spark.exchange.row_files import RowFile, ShardFiles, WrittenFiles
from eddyline.spark.workers.batch_log import BatchLog
from eddyline.spark.workers.durable import CommitRecord, DurableState, EngineBatch
from memory_state import ManyValues, OneValue
from spark_cases import SECOND, stream_tables

ROWS = pa.table({"k": list(range(100))})


def write(checkpoint: str, batch: int, rows: pa.Table = ROWS) -> RowFile:
    reference = WrittenFiles(checkpoint, batch).write(3, rows, None)
    return ShardFiles(checkpoint, 3).find(reference)


def test_rows_are_read_as_they_were_written(tmp_path: Path) -> None:
    checkpoint = f"file:{tmp_path}/c"
    file = write(checkpoint, 7)
    assert unpack(file.read()).equals(ROWS) and len(file) == file.path.stat().st_size
    other = write(checkpoint, 7, ROWS.slice(50))
    assert other.path != file.path, "another attempt of the task"
    assert unpack(file.read()).equals(ROWS)
    assert {stat.S_IMODE(p.stat().st_mode) for p in tmp_path.glob("c/**/*")} == {0o700, 0o600}


def test_large_tables_are_files_of_a_checkpoint_that_tasks_reach(tmp_path: Path) -> None:
    files = WrittenFiles(f"file:{tmp_path}", 0, least_bytes=ROWS.nbytes)
    assert files.takes(ROWS) and not files.takes(ROWS.slice(1))
    assert not WrittenFiles("hdfs://there/checkpoint", 0, least_bytes=0).takes(ROWS)
    with pytest.raises(StateError, match="in the file 7-ab 9: move the checkpoint back"):
        ShardFiles("hdfs://there/checkpoint", 3).find("7-ab 9")


def test_a_missing_or_truncated_file_is_named(tmp_path: Path) -> None:
    file = write(f"file:{tmp_path}", 0)
    file.path.write_bytes(file.path.read_bytes()[:-1])
    with pytest.raises(StateError, match=rf"lacks {file.path}, or a part of it, .* copied halfway"):
        file.read()
    file.path.unlink()
    with pytest.raises(StateError, match=rf"lacks {file.path}"):
        file.read()


def test_a_directory_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "rows").write_text("a file")
    with pytest.raises(StateError, match=rf"{tmp_path}/rows.*: File exists"):
        write(f"file:{tmp_path}", 0)


def test_files_of_batches_before_are_deleted(tmp_path: Path) -> None:
    checkpoint = f"file:{tmp_path}"
    kept = {write(checkpoint, batch).path for batch in (9, 10, 11)}
    write(checkpoint, 8)
    ShardFiles(checkpoint, 3).delete_rows(9)
    assert set((tmp_path / "rows" / "3").iterdir()) == kept
    ShardFiles(checkpoint, 4).delete_rows(9)  # it had none


def test_rows_and_parts_of_snapshots_are_there_until_a_later_batch_is_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eddyline.spark.workers.durable.MIN_LOG_BYTES", 12_000)
    monkeypatch.setattr("eddyline.spark.workers.durable._LEAST_PART", 500)
    monkeypatch.setattr("eddyline.spark.workers.snapshots.LEAST_BYTES", 1_000)
    monkeypatch.setattr("eddyline.spark.workers.snapshots._FILE_BYTES", 3_000)
    checkpoint = f"file:{tmp_path}"
    states = OneValue(), ManyValues(), ManyValues()
    steady, record = new_engine(), CommitRecord()
    tables = zip(stream_tables(1, 40), stream_tables(2, 40), strict=True)
    for number, (a, b) in enumerate(tables):
        write(checkpoint, number, a)  # of a task that fails
        pieces = (("a", write(checkpoint, number, a)), ("b", write(checkpoint, number, b)))
        batch = EngineBatch(pieces, number * SECOND, number=number)
        before, lost = deepcopy(states), deepcopy(states)
        found = changes_of(steady.apply(batch))
        if number:  # an attempt whose state is not committed
            other = durable(checkpoint, number, lost)
            again = rebuilt(other)
            assert again is not None and changes_of(again.apply(batch)) == found
            (head,) = filter(None, [other.commit_record()])
            other.commit(head, batch, again)
        durable(checkpoint, number, states).commit(record, batch, steady)
        if number:  # the state before is whole, whether Spark commits this one or not
            again = rebuilt(durable(checkpoint, number, before))
            assert again is not None and changes_of(again.apply(batch)) == found
    assert numbers(tmp_path / "rows" / "3") == set(range(record.deleted, 40))
    assert record.deleted > 10
    rebuilt(durable(checkpoint, 40, states))
    needed = [v[0][1:].decode() for v in states[2].values() if v[0][:1] == b"\1"]
    assert {path.name for path in (tmp_path / "state" / "3").iterdir()} == {*needed}
    assert len(needed) > 10, "parts of snapshots are files"


def durable(
    checkpoint: str, batch: int, states: tuple[OneValue, ManyValues, ManyValues]
) -> DurableState:
    value, log, blobs = states
    files = ShardFiles(checkpoint, 3, batch)
    return DurableState(value, BatchLog(log), blobs, checkpoint, files)


def numbers(directory: Path) -> set[int]:
    return {int(path.name.partition("-")[0]) for path in directory.iterdir()}
