"""Which of two Python workers has a shard's engine, when tasks come to both."""

from __future__ import annotations

import math
import multiprocessing
import sys
import time
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import cast

import pandas as pd
import pytest

from eddyline import Engine
from eddyline.spark.exchange.packed_batches import INPUT_SCHEMA, Arrivals, pack, unpack
from eddyline.spark.layouts.shard_program import ShardProgram, ShardSpec
from eddyline.spark.workers import shard as shard_module
from eddyline.spark.workers.durable import EngineBatch
from eddyline.spark.workers.shard import ShardTasks, Stopwatch
from eddyline.spark.workers.shard_engine import ShardEngine, StepOutput
from eddyline.spark.workers.worker_engines import WorkerEngines, evens_out
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


class EvenWatch(Stopwatch):
    """Every batch takes a second, so the load of a worker is the number of its engines."""

    def lap(self, phase: str) -> None:
        self.seconds[phase] = float(phase == "process")


def work(to_test: Connection) -> None:
    """A Python worker: a task for each message."""
    shard_module.Stopwatch = EvenWatch  # type: ignore[misc]
    statements = (STREAM, f"CREATE QUERY q AS {QUERY} WITH (sink = 'parquet', path = 'q')")
    program = Program(ShardProgram(statements, inputs=("a",)))
    while True:
        n, rows, states = to_test.recv()
        specs = {i: ShardSpec(i, "run", "", 0, (), (), program) for i in range(4)}
        tasks = Tasks(specs, "")
        tasks.open(*states)
        frames = list(tasks.process(n, iter([rows])))
        engines = shard_module.engines.load("run", 0)
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
        self.engines = [0.0, 0.0]  # both as of the worker's last task

    def task(self, worker: int, shard: int, step: int) -> None:
        """A batch of a shard, in a task of a worker."""
        table = stream_tables(1, 10)[step]
        times = table["ts"].cast("int64").to_numpy()
        arrivals = Arrivals(len(times), newest=int(times.max()), oldest=int(times.min()))
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
    assert workers.engines == [1, 0]
    assert workers.rows[0] == expected(6)
    workers.task(0, 0, 6)
    assert workers.applied == [7, 0]


def test_a_lost_engine_is_rebuilt(workers: Workers) -> None:
    for step in range(4):
        workers.task(step % 2, 0, step)
    workers.kill(0)
    for step in range(4, 6):
        workers.task(1, 0, step)
    assert workers.engines[1] == 1
    assert workers.rows[0] == expected(6)


def test_engines_are_divided_evenly(workers: Workers) -> None:
    for shard in range(4):
        workers.task(0, shard, 0)
    for step in range(1, 4):
        for shard in range(4):
            workers.task(1, shard, step)
    workers.task(0, 0, 4)
    assert workers.engines == [2, 2]
    assert all(workers.rows[shard][: len(expected(4))] == expected(4) for shard in range(4))


@pytest.mark.parametrize(
    ("own", "here", "there", "moves"),
    [
        (1, 2, 0, True),
        (1, 3, 1, True),
        (1, 2, 1, False),  # the other worker would have two
        (1, 1, 0, False),
        (0.1, 3, 1, False),  # too little to matter
        (1, 3, math.inf, False),
    ],
)
def test_an_engine_moves_if_that_evens_out_the_load(
    own: float, here: float, there: float, moves: bool
) -> None:
    assert evens_out(own, here, there) == moves
    if moves:
        assert not evens_out(own, there + own, here - own)


class Clock:
    """A monotonic clock that the test moves."""

    now = 0.0

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(time, "monotonic", lambda: self.now)


ENGINE = cast(ShardEngine, object())


def test_load_is_that_of_engines_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, engines = Clock(monkeypatch), WorkerEngines()
    engines.put("run", 0, "", ENGINE, batch=1, seconds=1.0)
    engines.put("run", 1, "", ENGINE, batch=2, seconds=4.0)
    engines.put("run", 1, "", ENGINE, batch=3, seconds=2.0)
    engines.put("other", 0, "", ENGINE, batch=3, seconds=9.0)
    assert engines.load("run", 2) == 4.0
    assert engines.load("run", 3) == 3.0  # no batch for shard 0
    _, engine = engines.take("run", 1)
    assert engine is ENGINE
    assert engines.load("run", 3) == 3.0  # while a batch is processed
    assert engines.take("run", 1) == ("", None)
    engines.drop("run", 1)
    assert engines.load("run", 3) == 0.0
    engines.note_rebuilt("run", 2.0)
    assert engines.load("run", 3) == math.inf
    clock.now = 40.0
    assert engines.load("run", 3) == 0.0


def test_engines_of_ended_jobs_are_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    """All jobs of an application share the workers, so these do not end with a job."""
    clock, engines = Clock(monkeypatch), WorkerEngines()
    shards = [("ended", 0), ("ended", 1), ("slow", 0), ("fast", 0)]

    def put(run: str, shard: int) -> None:
        engines.put(run, shard, "", ENGINE, batch=1, seconds=1.0)

    put("ended", 0)
    put("ended", 1)
    clock.now = 59.0
    put("slow", 0)
    put("fast", 0)
    clock.now = 61.0
    put("fast", 0)
    assert [engines.take(*shard)[1] for shard in shards] == [None, None, ENGINE, ENGINE]
