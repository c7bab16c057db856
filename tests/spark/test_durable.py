"""Snapshot and log restore exactly the lost engine."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from eddyline import Engine
from eddyline.spark import durable
from eddyline.spark.durable import CommitRecord, DurableState, EngineBatch
from eddyline.spark.packed_batches import pack
from eddyline.spark.shard_engine import ShardEngine, StepOutput
from spark_cases import QUERIES, SECOND, bag, stream_tables


class OneValue:
    def __init__(self) -> None:
        self.value: tuple[Any, ...] | None = None

    def get(self) -> tuple[Any, ...] | None:
        return self.value

    def update(self, newValue: tuple[Any, ...]) -> None:
        self.value = newValue


class ManyValues(dict[tuple[Any, ...], tuple[Any, ...]]):
    def getValue(self, key: tuple[Any, ...]) -> tuple[Any, ...] | None:
        return self.get(key)

    def updateValue(self, key: tuple[Any, ...], value: tuple[Any, ...]) -> None:
        self[key] = value

    def removeKey(self, key: tuple[Any, ...]) -> None:
        del self[key]


def new_engine() -> ShardEngine:
    engine = Engine()
    for name in "ab":
        columns = "(ts TIMESTAMP, k BIGINT, v BIGINT)"
        engine.sql(f"CREATE STREAM {name} {columns} TIMESTAMP BY ts LATENESS 5 SECONDS")
    for name in ("pairs", "sums", "last"):
        engine.query(QUERIES[name], name=name)
    return ShardEngine(engine)


def rebuilt(state: DurableState) -> ShardEngine | None:
    """The engine as of the last commit, if there is one."""
    head = state.commit_record()
    if head is None:
        return None
    live = ShardEngine.load(state.snapshot(head))
    for step in state.logged(head):
        live.apply(step)
    return live


def changes_of(outputs: list[StepOutput]) -> dict[str, list[tuple[Any, ...]]]:
    return {
        name: bag(rows)
        for output in outputs
        for part in output.changes
        for name, rows in part.each()
    }


def steps() -> list[EngineBatch]:
    batches = zip(stream_tables(1, 6), stream_tables(2, 6), strict=True)
    return [
        EngineBatch((("a", pack(a)), ("b", pack(b))), i * SECOND)
        for i, (a, b) in enumerate(batches)
    ]


@pytest.mark.parametrize("log_bytes", [0, 8_000, 1 << 30])
def test_a_rebuilt_engine_has_the_same_results(
    log_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable, "MIN_LOG_BYTES", log_bytes)
    monkeypatch.setattr(durable, "_CHUNK_BYTES", 1_000)
    state = DurableState(OneValue(), ManyValues(), ManyValues())
    steady, head = new_engine(), CommitRecord()
    for step in steps():
        again = rebuilt(state)
        here = steady.apply(step)
        if again is not None:
            assert changes_of(again.apply(step)) == changes_of(here)
            assert again.rows_out == steady.rows_out
        head.version += 1
        state.commit(head, step, steady)


@pytest.mark.parametrize("log_bytes", [0, 1 << 30])
def test_added_and_dropped_queries_in_a_rebuilt_engine(
    log_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable, "MIN_LOG_BYTES", log_bytes)
    state = DurableState(OneValue(), ManyValues(), ManyValues())
    steady, head = new_engine(), CommitRecord()
    changes = {
        1: ("CREATE QUERY added AS SELECT v FROM b [RANGE 7 SECONDS] EMIT CHANGES",),
        3: ("DROP QUERY sums", "CREATE QUERY more AS SELECT v FROM added", "DROP QUERY last"),
    }
    operators = []
    for i, step in enumerate(steps()):
        step = replace(step, statements=changes.get(i, ()))
        again = rebuilt(state)
        here = steady.apply(step)
        operators.append(len(steady.engine.stats()["operators"]))
        if again is not None:
            assert changes_of(again.apply(step)) == changes_of(here)
            assert list(again.engine.queries) == list(steady.engine.queries)
            assert len(again.engine.stats()["operators"]) == operators[-1]
        head.version += 1
        state.commit(head, step, steady)
    assert list(steady.engine.queries) == ["pairs", "added", "more"]
    assert operators[3] < operators[1], "what dropped queries needed is gone"


def test_log_is_dropped_when_a_snapshot_replaces_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durable, "MIN_LOG_BYTES", 0)
    log = ManyValues()
    state = DurableState(OneValue(), log, ManyValues())
    engine, head = new_engine(), CommitRecord()
    most = 0
    for step in steps() * 3:
        head.version += 1
        state.commit(head, step, engine)
        kept = sum(len(blob) for _, blob in log.values())
        assert kept == head.log_bytes <= head.snapshot_bytes
        most = max(most, len(log))
    assert most > 0, "small batches go to the log"


def test_a_batch_without_rows() -> None:
    (made,) = new_engine().apply(EngineBatch(()))
    assert (made.changes, made.late, made.bad) == ([], {}, {})
