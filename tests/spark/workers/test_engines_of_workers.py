"""Which of two Python workers has a shard's engine, when tasks come to both."""

from __future__ import annotations

import multiprocessing
import sys
import time
from collections import OrderedDict
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any, cast

import pandas as pd
import pytest

from eddyline import Engine
from eddyline.spark.exchange.packed_batches import INPUT_SCHEMA, Arrivals, pack, unpack
from eddyline.spark.layouts.shard_program import ShardProgram, ShardSpec
from eddyline.spark.workers import shard as shard_module
from eddyline.spark.workers.durable import EngineBatch
from eddyline.spark.workers.shard import ShardTasks
from eddyline.spark.workers.shard_engine import ShardEngine, StepOutput
from eddyline.testing.bags import Row, rows_of
from memory_state import ManyValues, OneValue
from sharded_programs import Program
from spark_cases import stream_tables

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="batches are passed on Linux only")

STREAM = "CREATE STREAM a (ts TIMESTAMP, k BIGINT, v BIGINT) TIMESTAMP BY ts LATENESS 5 SECONDS"
QUERY = "SELECT k, SUM(v) AS total FROM a [RANGE 20 SECONDS] GROUP BY k"
COLUMNS = [column.split()[0] for column in INPUT_SCHEMA.split(", ")]
States = tuple[OneValue, ManyValues, ManyValues]


class CountingEngine(ShardEngine):
    """Counts the batches that engines of this process process."""

    applied = 0

    def apply(self, batch: EngineBatch) -> list[StepOutput]:
        CountingEngine.applied += 1
        return super().apply(batch)


class Tasks(ShardTasks):
    engine_type = CountingEngine


def work(to_test: Connection) -> None:
    """A Python worker: a task for each message."""
    statements = (STREAM, f"CREATE QUERY q AS {QUERY} WITH (sink = 'parquet', path = 'q')")
    program = Program(ShardProgram(statements, inputs=("a",)))
    while True:
        n, rows, states = to_test.recv()
        specs = {i: ShardSpec(i, "run", "", 0, (), (), program) for i in range(4)}
        tasks = Tasks(specs, "")
        tasks.open(*states)
        frames = list(tasks.process(n, iter([rows])))
        engines = sorted(number for _, number in shard_module._engines)
        to_test.send((frames, states, CountingEngine.applied, engines))


class Workers:
    """Two Python workers, and the states of all shards."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.processes, self.pipes = [], []
        for _ in range(2):
            here, there = context.Pipe()
            process = context.Process(target=work, args=(there,), daemon=True)
            process.start()
            self.processes.append(process)
            self.pipes.append(here)
        self.states: dict[int, States] = {}
        self.rows: dict[int, list[Row]] = {}
        self.applied = [0, 0]
        self.engines: list[list[int]] = [[], []]  # both as of the worker's last task

    def task(self, worker: int, shard: int, step: int) -> None:
        """A batch of a shard, in a task of a worker."""
        table = stream_tables(1, 10)[step]
        times = table["ts"].cast("int64").to_numpy()
        arrivals = Arrivals(len(times), 0, int(times.max()), int(times.min()))
        blobs = {"rows": pack(table), "clock": arrivals.packed()}
        packed = [(shard, kind, "a", 0, 0, 1, blob) for kind, blob in blobs.items()]
        rows = pd.DataFrame(packed, columns=COLUMNS)
        states = self.states.get(shard, (OneValue(), ManyValues(), ManyValues()))
        self.pipes[worker].send((shard, rows, states))
        frames, *rest = self.pipes[worker].recv()
        self.states[shard], self.applied[worker], self.engines[worker] = rest
        for kind, blob in ((k, b) for f in frames for k, b in zip(f.kind, f.blob, strict=True)):
            if kind == "changes":
                self.rows.setdefault(shard, []).extend(row[1:] for row in rows_of(unpack(blob)))

    def kill(self, worker: int) -> None:
        self.processes[worker].kill()
        self.processes[worker].join()


@pytest.fixture
def workers() -> Iterator[Workers]:
    found = Workers()
    yield found
    for worker in range(2):
        found.kill(worker)


def expected(steps: int) -> list[Row]:
    engine = Engine()
    engine.sql(STREAM)
    engine.query(QUERY, name="q")
    found = []
    for table in stream_tables(1, 10)[:steps]:
        found += rows_of(engine.process({"a": table})["q"])
    return found


def test_each_batch_is_processed_once_where_the_engine_is(workers: Workers) -> None:
    for step in range(6):
        workers.task(step % 2, 0, step)
    assert workers.engines == [[0], []]
    assert workers.rows[0] == expected(6)
    workers.task(0, 0, 6)
    assert workers.applied == [7, 0]


def test_a_lost_engine_is_rebuilt(workers: Workers) -> None:
    for step in range(4):
        workers.task(step % 2, 0, step)
    workers.kill(0)
    for step in range(4, 6):
        workers.task(1, 0, step)
    assert workers.engines[1] == [0]
    assert workers.rows[0] == expected(6)


def test_engines_are_divided_evenly(workers: Workers) -> None:
    for shard in range(4):
        workers.task(0, shard, 0)
    for step in range(1, 4):
        for shard in range(4):
            workers.task(1, shard, step)
    workers.task(0, 0, 4)
    assert [len(engines) for engines in workers.engines] == [2, 2]
    assert all(workers.rows[shard][: len(expected(4))] == expected(4) for shard in range(4))


def test_engines_of_ended_jobs_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """All jobs of an application share the workers, so these do not end with a job."""
    engines: OrderedDict[tuple[str, int], Any] = OrderedDict()
    monkeypatch.setattr(shard_module, "_engines", engines)
    monkeypatch.setattr(shard_module, "_last_used", {})
    clock = 0.0
    monkeypatch.setattr(time, "monotonic", lambda: clock)

    def cache(run: str, shard: int) -> None:
        program = Program(ShardProgram((), inputs=()))
        shard_module._cache(ShardSpec(shard, run, "", 0, (), (), program), "", cast(Any, None))

    cache("ended", 0)
    cache("ended", 1)
    cache("slow", 0)
    clock = 59.0
    cache("slow", 0)
    cache("fast", 0)
    assert len(engines) == 4
    clock = 61.0
    cache("fast", 0)
    assert engines.keys() == {("slow", 0), ("fast", 0)}
