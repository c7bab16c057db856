"""Snapshot and log restore exactly the lost engine."""

from __future__ import annotations

import random
import secrets
from copy import deepcopy
from dataclasses import replace
from typing import Any, BinaryIO

import pytest

from eddyline import Engine
from eddyline.engine.checkpoint.segments import Segments
from eddyline.engine.options import EngineOptions
from eddyline.errors import StateError
from eddyline.spark.exchange.packed_batches import pack
from eddyline.spark.workers import batch_log, durable, snapshots
from eddyline.spark.workers.batch_log import BatchLog
from eddyline.spark.workers.durable import CommitRecord, DurableState, EngineBatch
from eddyline.spark.workers.shard_engine import ShardEngine, StepOutput
from eddyline.spark.workers.snapshots import Snapshots
from memory_state import ManyValues, OneValue
from spark_cases import QUERIES, SECOND, bag, stream_tables


def new_engine() -> ShardEngine:
    engine = Engine()
    for name in "ab":
        columns = "(ts TIMESTAMP, k BIGINT, v BIGINT)"
        engine.sql(f"CREATE STREAM {name} {columns} TIMESTAMP BY ts LATENESS 5 SECONDS")
    for name in ("pairs", "sums", "last"):
        engine.query(QUERIES[name], name=name)
    return ShardEngine(engine)


def shedding_engine() -> ShardEngine:
    engine = Engine(EngineOptions(decide="after"))
    engine.sql("CREATE STREAM a (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts")
    engine.sql("CREATE STREAM b (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts")
    engine.query("SELECT k, v FROM a [RANGE 5 SECONDS] ON OVERLOAD SHED", name="rows")
    return ShardEngine(engine)


def rebuilt(state: DurableState) -> ShardEngine | None:
    """The engine as of the last commit, if there is one."""
    head = state.commit_record()
    if head is None:
        return None
    live = state.restored(head, ShardEngine.load)
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


def limit_chunks(monkeypatch: pytest.MonkeyPatch, size: int) -> None:
    for module in (batch_log, snapshots):
        monkeypatch.setattr(module, "CHUNK_BYTES", size)


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
    limit_chunks(monkeypatch, 1_000)
    state = DurableState(OneValue(), BatchLog(ManyValues()), ManyValues())
    steady, head = new_engine(), CommitRecord()
    for step in steps():
        again = rebuilt(state)
        here = steady.apply(step)
        if again is not None:
            assert changes_of(again.apply(step)) == changes_of(here)
            assert again.rows_out == steady.rows_out
        head.version += 1
        state.commit(head, step, steady)


@pytest.mark.parametrize("chunk_bytes", range(400, 500, 7))
def test_the_first_batch_writes_a_whole_snapshot(
    chunk_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However small the last chunk is."""
    limit_chunks(monkeypatch, chunk_bytes)
    state = DurableState(OneValue(), BatchLog(ManyValues()), ManyValues())
    engine, head = new_engine(), CommitRecord()
    step = steps()[0]
    engine.apply(step)
    state.commit(head, step, engine)
    assert head.snapshot
    again = rebuilt(state)
    assert again is not None
    assert again.rows_out == engine.rows_out


def test_a_replayed_batch_decides_what_it_had_decided() -> None:
    """CPU times, by which rows are dropped, are other ones then."""
    state = DurableState(OneValue(), BatchLog(ManyValues()), ManyValues())
    engine, head = shedding_engine(), CommitRecord()
    first, *others = steps()
    engine.apply(first)
    state.commit(head, first, engine)
    for share, step in zip((0.5, 0.25), others, strict=False):
        engine.apply(step)
        decided = {"a": share}
        with engine.engine.parts.overload.repeating(decided):
            pass
        assert engine.requested == decided
        state.commit(head, replace(step, keep=engine.requested), engine)
    again = rebuilt(state)
    assert again is not None
    assert again.requested == {"a": 0.25}
    last = others[2]
    assert changes_of(again.apply(last)) == changes_of(engine.apply(last))


@pytest.mark.parametrize("log_bytes", [0, 1 << 30])
def test_added_and_dropped_queries_in_a_rebuilt_engine(
    log_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(durable, "MIN_LOG_BYTES", log_bytes)
    state = DurableState(OneValue(), BatchLog(ManyValues()), ManyValues())
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


class Stub:
    """An engine whose state has a constant size."""

    def __init__(self, nbytes: int) -> None:
        self.content = bytes(nbytes)
        self.snapshots: Snapshots | None = None

    def save(self, target: BinaryIO, segments: Segments) -> None:
        target.write(self.content)


def test_log_is_dropped_when_a_snapshot_replaces_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durable, "MIN_LOG_BYTES", 10_000)
    monkeypatch.setattr(durable, "_LEAST_PART", 0)
    limit_chunks(monkeypatch, 500)
    log, blobs = ManyValues(), ManyValues()
    state = DurableState(OneValue(), BatchLog(log), blobs)
    engine, head = Stub(20_000), CommitRecord()
    sizes, written = [], []
    for i in range(2_000):
        head.version += 1
        state.commit(head, EngineBatch((("a", bytes(900)),), i), engine)
        logged = [b.now_us for b in state.logged(head)]
        assert logged == list(range(i - len(logged) + 1, i + 1))
        assert len(logged) == head.log_batches and head.log_bytes == 900 * len(logged) <= 45_000
        sizes.append(len(log) + len(blobs))
        written.append(log.take_written() + blobs.take_written())
    assert max(sizes[:1_000]) >= max(sizes[1_000:]), "old chunks are removed"
    settled = written[100:]
    assert max(settled) < 1.8 * sum(settled) / len(settled), "no batch stops for a snapshot"


def test_the_record_does_not_grow_with_the_log() -> None:
    record, log = OneValue(), ManyValues()
    state = DurableState(record, BatchLog(log), ManyValues())
    engine, head = Stub(10), CommitRecord()
    sizes = []
    for i in range(20_000):
        head.version += 1
        state.commit(head, EngineBatch((("a", bytes(100)),), i), engine)
        assert record.value is not None and head.log_batches <= 1_002
        sizes.append(len(record.value[0]))
    assert sizes[-1] - sizes[99] < 200, "more digits only"
    assert len(log) < 3_000, "one value per batch since the last snapshots"


class Workers:
    """Worker processes that take turns with one shard, each with an engine in its cache."""

    def __init__(self, count: int) -> None:
        self.cached: list[tuple[str, ShardEngine] | None] = [None] * count
        self.value, self.log, self.blobs = OneValue(), ManyValues(), ManyValues()
        self.rebuilt = 0

    @property
    def state(self) -> DurableState:
        return DurableState(self.value, BatchLog(self.log), self.blobs)

    def process(self, worker: int, step: EngineBatch) -> dict[str, list[tuple[Any, ...]]]:
        """The changes of a batch."""
        record, engine = self.state.commit_record(), None
        cached, self.cached[worker] = self.cached[worker], None
        if record is not None and cached is not None:
            missed = () if cached[0] == record.token else self.state.missed(record, *cached)
            if missed is not None:
                engine = cached[1]
                for batch in missed:
                    engine.apply(batch)
        if engine is None:
            self.rebuilt += 1
            engine = rebuilt(self.state) or new_engine()
        record = record or CommitRecord()
        changes = changes_of(engine.apply(step))
        record.token = secrets.token_hex(8)
        self.state.commit(record, step, engine)
        self.cached[worker] = record.token, engine
        return changes

    def fail(self, worker: int, step: EngineBatch) -> None:
        """A batch whose state Spark does not commit, after the worker has done its part."""
        before = deepcopy((self.value, self.log, self.blobs))
        self.process(worker, step)
        self.value, self.log, self.blobs = before


@pytest.mark.parametrize("log_bytes", [20_000, 1 << 30])
def test_workers_that_take_turns_catch_up(log_bytes: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(durable, "MIN_LOG_BYTES", log_bytes)
    monkeypatch.setattr(durable, "_LEAST_PART", 300)
    limit_chunks(monkeypatch, 1_000)
    draw, steady, workers = random.Random(1), new_engine(), Workers(3)
    added = ("CREATE QUERY added AS SELECT v FROM b [RANGE 7 SECONDS] EMIT CHANGES",)
    batches = zip(stream_tables(1, 40), stream_tables(2, 40), strict=True)
    for i, (a, b) in enumerate(batches):
        pieces = (("a", pack(a)), ("b", pack(b)))
        step = EngineBatch(pieces, i * SECOND, statements=added if i == 20 else ())
        if draw.random() < 0.1:
            workers.fail(draw.randrange(3), step)
        expected = changes_of(steady.apply(step))
        assert workers.process(draw.randrange(3), step) == expected
    again = rebuilt(workers.state)
    assert again is not None and again.rows_out == steady.rows_out
    assert 3 <= workers.rebuilt < 40 and (log_bytes < 1 << 30 or workers.rebuilt < 25)


def test_an_engine_is_caught_up_while_the_snapshot_is_the_same() -> None:
    workers = Workers(2)
    *before, last = steps()
    for step in before:
        workers.process(0, step)
    workers.process(1, last)
    assert workers.rebuilt == 2
    workers.process(0, last)
    workers.process(1, last)
    assert workers.rebuilt == 2
    record = workers.state.commit_record()
    assert record is not None
    record.recent = []
    assert workers.state.missed(record, record.token, new_engine()) is None


def test_a_missing_part_of_the_log_is_named() -> None:
    log = ManyValues()
    state, head = DurableState(OneValue(), BatchLog(log), ManyValues()), CommitRecord()
    for i in range(3):
        head.version += 1
        state.commit(head, EngineBatch((("a", b"rows"),), i), Stub(10))
    del log[1,]
    with pytest.raises(StateError, match="lacks chunk 1 of a shard's log"):
        list(state.logged(head))


def test_another_format_is_refused() -> None:
    record = OneValue()
    record.update(('{"version": 3, "token": "", "chunks": 1, "log": []}',))
    state = DurableState(record, BatchLog(ManyValues()), ManyValues(), "file:/tmp/checkpoint")
    with pytest.raises(StateError, match=r"checkpoint has format before 9, .* reads 10: "):
        state.commit_record()


def test_a_batch_without_rows() -> None:
    (made,) = new_engine().apply(EngineBatch(()))
    assert (made.changes, made.late, made.bad) == ([], {}, {})
