"""The files of a checkpoint belong to its owner, and its records name no other files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from eddyline import StateError
from eddyline.cli.mailbox_client import RunningJob
from eddyline.spark import Session
from eddyline.spark.exchange.row_files import ShardFiles
from spark_cases import Feed, definitions, stream_tables


@pytest.fixture
def open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.spark
@pytest.mark.usefixtures("open_umask")
def test_only_the_owner_reads_a_checkpoint(
    spark: SparkSession, feeds: tuple[Feed, Feed], tmp_path: Path
) -> None:
    checkpoint = tmp_path / "job"
    checkpoint.mkdir(0o755)  # by its user
    session = Session(spark, checkpoint=checkpoint, shards=2)
    session.sql(definitions({"a": feeds[0].source}))
    session.query("q", "SELECT k, v % (v - 7) AS r FROM a [RANGE 9 SECONDS]", sink="noop")
    run = session.start()
    try:
        (early, *_) = stream_tables(1, 4)
        feeds[0].write(*stream_tables(1, 4), early)  # the last rows are late
        run.processAllAvailable()
        outside = RunningJob(str(checkpoint))
        outside.execute("CREATE QUERY more AS SELECT k FROM a [NOW] WITH (sink = 'noop')", 60)
        assert outside.answer("q", 60).num_rows
        assert sum(run.progress().late.values()) and sum(run.progress().bad.values())
    finally:
        run.stop()
    inside = {p: stat.S_IMODE(p.lstat().st_mode) for p in checkpoint.iterdir()}
    assert {p.name for p in inside} > {"spark", "control", "mailbox", "late", "bad_rows_of_queries"}
    assert {p: oct(mode) for p, mode in inside.items() if mode & 0o077} == {}
    for place in ("control", "mailbox"):
        for path in (checkpoint / place).rglob("*"):
            assert not stat.S_IMODE(path.lstat().st_mode) & 0o077, path


@pytest.mark.parametrize("name", ["../../../secret", "/etc/passwd", "7-../x", "", "7-ab/../x"])
def test_records_of_a_shard_name_only_its_files(name: str, tmp_path: Path) -> None:
    files = ShardFiles(f"file:{tmp_path}/a/b", 0)
    (tmp_path / "secret").write_text("kept")
    for use in (
        files.read_state,
        lambda n: files.find(f"{n} 9"),
        lambda n: files.delete_state([n]),
    ):
        with pytest.raises(StateError, match="which is none of it"):
            use(name)
    assert (tmp_path / "secret").read_text() == "kept"
