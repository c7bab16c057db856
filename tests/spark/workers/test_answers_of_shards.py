"""What a shard answers, and what it does with questions that it cannot answer."""

from __future__ import annotations

import logging
from pathlib import Path

import pyarrow as pa
import pytest

from eddyline import Engine, StateError
from eddyline.spark.delivery.collected import CollectedBatch
from eddyline.spark.exchange.row_files import WrittenFiles, delete_results
from eddyline.spark.layouts.shard_program import ShardProgram, ShardSpec
from eddyline.spark.storage.control import Question
from eddyline.spark.workers import shard_engine
from eddyline.spark.workers.durable import CommitRecord
from eddyline.spark.workers.output import ShardOutput
from eddyline.spark.workers.shard_engine import ShardEngine
from eddyline.testing.bags import rows_of
from sharded_programs import Program
from spark_cases import stream_tables

STREAM = "CREATE STREAM a (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts LATENESS 5 SECONDS"


@pytest.fixture
def shard() -> ShardEngine:
    engine = Engine()
    engine.sql(STREAM)
    engine.query("SELECT k, v FROM a [RANGE 20 SECONDS]", name="q")
    engine.query("SELECT k FROM a [NOW]", name="wrong")
    engine.sql("CREATE PARTIAL QUERY parts AS SELECT COUNT(*) AS n FROM a [RANGE 9 SECONDS]")
    return ShardEngine(engine)


def answered(shard: ShardEngine, *questions: Question, place: str = "") -> CollectedBatch:
    """What the driver gets."""
    spec = ShardSpec(7, "run", "", 0, (), (), Program(ShardProgram(())))
    files = WrittenFiles(place, 3, least_bytes=100)
    output = ShardOutput(spec, [], shard.routes, {}, {}, files)
    output.add_answers(questions, shard.answer)
    frame = output.last_frame(CommitRecord(), {}, {"aside": {}})
    return CollectedBatch(pa.Table.from_pandas(frame, preserve_index=False))


def test_a_shard_answers_with_its_rows(shard: ShardEngine, tmp_path: Path) -> None:
    empty = answered(shard, Question("1", "q"), Question("2", None))
    assert empty.answers == {} and empty.answered["1"] == {7: None}, "before its first row"
    shard.engine.process({"a": pa.concat_tables(stream_tables(1, 2))})
    for place in ("", f"file:{tmp_path}"):
        batch = answered(shard, Question("1", "q"), Question("3", None), place=place)
        assert batch.answered == {"1": {7: None}, "3": {7: None}}
        found = pa.concat_tables(batch.answers["1"])
        assert rows_of(found) == rows_of(shard.engine.queries["q"].snapshot()) != []
        assert "answered" not in batch.reports[0]
    assert len(list((tmp_path / "results").iterdir())) == 1, "a large part is a file"
    delete_results(f"file:{tmp_path}", 4)
    assert list((tmp_path / "results").iterdir()) == []


def test_errors_are_answers(
    shard: ShardEngine, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    shard.engine.process({"a": pa.concat_tables(stream_tables(1, 2))})
    shard.engine.parts.queries.set_aside("wrong", "too many bad rows")
    batch = answered(shard, *(Question(name, name) for name in ("wrong", "parts", "none")))
    changing = "is being added, dropped or set aside: ask again"
    assert batch.answered["parts"] == {7: f"query 'parts' {changing}"}
    assert batch.answered["none"] == {7: f"query 'none' {changing}"}
    assert "'wrong' is set aside (too many bad rows)" in str(batch.answered["wrong"][7])
    assert batch.answers == {}

    monkeypatch.setattr(shard_engine, "_MOST_ANSWER_BYTES", 100)
    with pytest.raises(StateError, match=r"the answer of query 'q' is too large: .* use a sink"):
        shard.answer("q")

    def fail(name: str) -> pa.Table:
        raise KeyError(name)

    monkeypatch.setattr(shard, "answer", fail)
    with caplog.at_level(logging.ERROR, "eddyline"):
        batch = answered(shard, Question("1", "q"))
    assert batch.answered == {"1": {7: "KeyError: 'q'"}}
    assert "the answer of query 'q' failed" in caplog.text
