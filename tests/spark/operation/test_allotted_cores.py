"""After a rescaling the engines are told how many cores each has, once."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from eddyline.optimizer.prices import TYPICAL
from eddyline.spark.layouts.job_layouts import JobLayouts
from eddyline.spark.layouts.layout_shards import LayoutShards, layouts_of
from eddyline.spark.operation.running_queries import RunningQueries
from eddyline.spark.operation.script_delta import FirstStart
from eddyline.spark.script import Script
from eddyline.spark.storage.control import ControlStream, cores_note, note_of
from eddyline.spark.storage.directory import LocalDirectory
from eddyline.spark.workers.durable import EngineBatch
from eddyline.spark.workers.shard_engine import ShardEngine
from eddyline.testing import engine_with

CELLS, CORES = 2, 8


def script() -> Script:
    """Two groups of streams, each in one shard."""
    made = Script()
    for stream in "ab":
        ddl = f"CREATE STREAM {stream} (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts WITH (rate = 100)"
        list(made.run(ddl))
        select = f"SELECT k FROM {stream} [RANGE 9 SECONDS] ON OVERLOAD SHED"
        made.query(f"of_{stream}", select, {"sink": "memory"})
    return made


def layouts(of: Script, shards: int) -> list[LayoutShards]:
    return layouts_of(of, of.groups(), CELLS, shards, CORES)


def told(directory: Path, shards: int) -> dict[int, list[float]]:
    """What the shards have been told after a start with this number, having begun with two."""
    control, of = ControlStream(LocalDirectory(directory)), script()
    known = JobLayouts(
        of, layouts(of, shards), CELLS, shards, CORES, LocalDirectory(directory / "tables")
    )
    first = FirstStart("")
    running = RunningQueries(of, known, control, lambda query, again, instead_of=None: None, first)
    running.allot_cores(shards, first=2)
    texts = control.by_shard().items()
    notes = {shard: [note_of(text) for _, text in sorted(sent.items())] for shard, sent in texts}
    return {shard: [note["cores"] for note in of if note] for shard, of in notes.items()}


def test_engines_are_told_once_after_each_rescaling(tmp_path: Path) -> None:
    first, second = (of.ids[0] for of in layouts(script(), 2))
    assert told(tmp_path, 2) == {}, "it is what they were built with"
    assert told(tmp_path, 1) == {first: [0.5], second: [0.5]}, "two take turns in one partition"
    assert told(tmp_path, 1) == {first: [0.5], second: [0.5]}
    assert told(tmp_path, 2) == {first: [0.5, 1.0], second: [0.5, 1.0]}
    assert told(tmp_path, 2) == {first: [0.5, 1.0], second: [0.5, 1.0]}


def test_ids_do_not_depend_on_the_number_of_partitions() -> None:
    ids = {shards: [of.ids for of in layouts(script(), shards)] for shards in (1, 2, 5)}
    assert ids[1] == ids[2] == ids[5]


def test_an_engine_drops_more_rows_with_fewer_cores_also_when_it_is_restored() -> None:
    engine = engine_with(prices=TYPICAL, decide="after", capacity=1.0)
    engine.sql("CREATE STREAM a (ts TIMESTAMP, k BIGINT) TIMESTAMP BY ts WITH (rate = 100)")
    engine.sql(
        "CREATE QUERY q AS SELECT x.k FROM a [RANGE 9 SECONDS] AS x, a [RANGE 9 SECONDS] AS y "
        "WHERE x.k = y.k ON OVERLOAD SHED"
    )
    shard = ShardEngine(engine)
    shard.apply(EngineBatch(()))
    assert shard.keep == {}
    assert engine.verdict is not None
    half = engine.verdict.needed / 2
    shard.apply(EngineBatch((), statements=(cores_note(0, half, 1),)))
    assert 0 < shard.keep["a"] < 1
    saved = io.BytesIO()
    shard.save(saved)
    saved.seek(0)
    restored = ShardEngine.load(saved)
    assert restored.keep == shard.keep
    assert restored.engine.verdict is not None
    assert restored.engine.verdict.capacity == pytest.approx(half)
    restored.apply(EngineBatch((), statements=(cores_note(0, 1.0, 2),)))
    assert restored.keep == {}
