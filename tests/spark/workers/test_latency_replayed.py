"""Rows that wait by ``latency`` come once, whenever a worker is lost and the log is replayed."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from eddyline import Engine
from eddyline.optimizer.prices import TYPICAL
from eddyline.spark.exchange.packed_batches import pack
from eddyline.spark.exchange.row_files import ShardFiles
from eddyline.spark.workers import durable
from eddyline.spark.workers.durable import CommitRecord, EngineBatch
from eddyline.spark.workers.shard_engine import ShardEngine, StepOutput
from eddyline.testing import engine_with
from eddyline.types import TIMESTAMP
from memory_state import MemoryState
from sharded import Sharded
from window_joins import STREAMS, WINDOWS, join, last_second, random_input, random_query

SECOND = 1_000_000
#: From one step per batch to all.
LATENCIES = ("1 microsecond", "100 microseconds", "200 microseconds", "1 hour")


@pytest.fixture(autouse=True)
def short_logs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snapshots are begun often, and written over several batches."""
    monkeypatch.setattr(durable, "MIN_LOG_BYTES", 6_000)
    monkeypatch.setattr(durable, "_LEAST_PART", 0)


def timed(rows: dict[str, pa.Table]) -> dict[str, pa.Table]:
    """With timestamps, as Spark's rows have them."""
    return {
        name: table.set_column(0, "ts", table["ts"].cast(TIMESTAMP)) for name, table in rows.items()
    }


class Job:
    """A shard with a latency, whose worker may be lost, and its output."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.record = ShardEngine(engine), CommitRecord()
        self.found: dict[str, list[pa.Table]] = {}
        self._state = MemoryState(ShardFiles("", 0))

    def process(self, batch: EngineBatch) -> None:
        self._keep(self.engine.apply(batch))
        self._state.commit(self.record, batch, self.engine)

    def _keep(self, outputs: list[StepOutput]) -> None:
        for part in (part for output in outputs for part in output.changes):
            for name, rows in part.each():
                self.found.setdefault(name, []).append(rows)

    def lose_worker(self) -> None:
        waiting = self.waiting
        rebuilt = self._state.rebuilt()
        assert rebuilt is not None, "a batch has been committed"
        self.record, self.engine = rebuilt
        assert self.waiting == waiting

    @property
    def waiting(self) -> int:
        return sum(group["waiting"] for group in self.engine.engine.groups(0))


def engine(**options: Any) -> Engine:
    made = engine_with(prices=TYPICAL, **options)
    made.wall_clock = lambda: 0
    made.sql(STREAMS)
    return made


def statements(some: random.Random, names: list[str], kind: str) -> tuple[str, ...]:
    """Queries to add and to drop."""
    out = []
    if some.random() < 0.3:
        names.append(f"q{len(names)}")
        out.append(f"CREATE QUERY {names[-1]} AS {random_query(some, kind)}")
    return tuple(out)


#: Seeds of long runs only.
LONG = [pytest.param(n, marks=pytest.mark.long) for n in range(2, 8)]


@pytest.mark.parametrize("kind", WINDOWS)
@pytest.mark.parametrize("seed", [0, 1, *LONG])
def test_a_lost_worker_changes_no_result(seed: int, kind: str) -> None:
    some = random.Random(seed)
    options: dict[str, Any] = {
        "schedule": some.choice(("lwo", "swf", "greedy")),
        "chunk_rows": some.choice((1, 3, 100)),
        "executor": some.choice(("eddy", "eddy", "auto")),
    }
    job, plain = Job(engine(latency=some.choice(LATENCIES), **options)), Job(engine(**options))
    names = [f"q{number}" for number in range(4)]
    for each in (job, plain):
        each.engine.engine.query(join(3600, kind=kind), name="q0")
        for name in names[1:]:
            sql = random_query(random.Random(f"{seed} {name}"), kind)
            each.engine.engine.query(sql, name=name)
        each.engine = ShardEngine(each.engine.engine)
    clock, most = 0, 0
    for number in range(25):
        rows = timed(random_input(some, some.randrange(25), clock))
        clock = last_second(
            {n: t.set_column(0, "ts", t["ts"].cast(pa.int64())) for n, t in rows.items()}, clock
        )
        pieces = tuple((name, pack(table)) for name, table in rows.items())
        added = statements(some, names, kind)
        drain = SECOND if number == 24 else None
        batch = EngineBatch(pieces, now_us=number, drain_us=drain, statements=added)
        for each in (job, plain):
            each.process(batch)
        most = max(most, job.waiting)
        if some.random() < 0.3:
            job.lose_worker()
    assert not job.waiting
    for name in names:
        found, expected = (
            pa.concat_tables(e.found[name]) if name in e.found else None for e in (job, plain)
        )
        assert (found is None) == (expected is None), name
        assert found is None or found.equals(expected), name
    assert job.record.log_batches < 25, "snapshots have been completed"


@pytest.mark.parametrize("shards", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_lost_workers_of_shards(seed: int, shards: int, tmp_path: Path) -> None:
    some = random.Random(seed)
    queries = {f"q{n}": join(some.choice((1, 2, 5, 13, 60))) for n in range(4)}
    options = {
        "schedule": some.choice(("swf", "greedy")),
        "executor": "eddy",
        "chunk_rows": some.choice((1, 4)),
        "latency": some.choice(LATENCIES[:3]),
        "prices": TYPICAL,
    }
    job = Sharded(
        STREAMS, queries, {}, shards=shards, directory=tmp_path, options=options, is_durable=True
    )
    clock, waited = 0, 0
    for _ in range(20):
        rows = random_input(some, some.randrange(25), clock)
        clock = last_second(rows, clock)
        job.process(timed(rows))
        waited += sum(g["waiting"] for s in job.shards.values() for g in s.engine.groups(0))
        job.lose_workers(number for number in job.shards if some.random() < 0.3)
    assert waited, "a batch serves one step only"
    job.advance((clock + 1) * SECOND)
    job.check()
