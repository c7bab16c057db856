"""Frequent keys are split while a job runs: all is as in one engine.

Keys are split from the first batch in which they have a few rows. Batches are repeated as after a
crash, the job is restarted and rescaled, time passes without rows, queries are added and dropped,
and the watermark is reset.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import Phase, event, given, settings
from hypothesis import strategies as st

from eddyline.engine.ingest.row_reader import OWN
from eddyline.spark.layouts import key_splits
from eddyline.spark.partitioning.frequent_keys import DEFAULT_LIMITS, SplitLimits
from eddyline.spark.workers import ingest
from eddyline.spark.workers.durable import CommitRecord, DurableState, EngineBatch
from eddyline.types import TIMESTAMP
from sharded import EAGER, Sharded
from sharded_moves import Moves, first_partitions, with_times

SECOND = 1_000_000
#: Longer than all windows.
END_US = 60 * SECOND

DDL = """
CREATE STREAM a (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts LATENESS 2 SECONDS;
CREATE STREAM b (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts LATENESS 3 SECONDS;
CREATE STREAM c (ts TIMESTAMP, k BIGINT, x BIGINT) TIMESTAMP BY ts;
"""
#: Sets of queries with one layout, by k; W, V, U are windows.
QUERIES = (
    ("SELECT a.k, a.x, b.x AS y FROM a [RANGE W], b [RANGE V] WHERE a.k = b.k",),
    ("SELECT a.k, a.x, b.x AS y FROM a [UNBOUNDED], b [RANGE V] WHERE a.k = b.k",),
    ("SELECT a.k, a.x, b.x AS y FROM a [ROWS 6], b [RANGE V] WHERE a.k = b.k",),
    (
        "SELECT a.x, b.x AS y FROM a [RANGE W], b [RANGE V] WHERE a.k = b.k AND a.x < b.x",
        "SELECT a.x, b.x AS y, c.x AS z FROM a [RANGE W], b [RANGE V], c [RANGE U] "
        "WHERE a.k = b.k AND b.k = c.k",
    ),
    (
        "SELECT a.k, a.x FROM a [RANGE W] WHERE NOT EXISTS "
        "(SELECT 1 FROM b [RANGE V] WHERE b.k = a.k AND b.x > a.x)",
    ),
    ("SELECT a.k, a.x, b.x AS y FROM a [RANGE W] LEFT JOIN b [RANGE V] ON a.k = b.k",),
    (
        "SELECT a.x, b.x AS y FROM a [RANGE W], b [RANGE V] WHERE a.k = b.k",
        "SELECT a.x FROM a [RANGE U] WHERE a.x > 3",
    ),
)
ADDED = (
    "SELECT a.x, b.x AS y FROM a [RANGE W], b [RANGE V] WHERE a.k = b.k AND a.x > b.x",
    "SELECT a.k, count(*) AS n, sum(b.x) AS y FROM a [RANGE W], b [RANGE V] WHERE a.k = b.k "
    "GROUP BY a.k",
    "SELECT a.x FROM a [RANGE W]",
)
EMITS = ("", " EMIT CHANGES", " EMIT SNAPSHOT EVERY 3 SECONDS")


class Stream:
    """Generated rows: a key with most rows of a stream, which changes now and then."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._start = 1_000 * SECOND
        self._frequent = {"a": 1, "b": random.choice([2, None]), "c": None}
        self._in_doubt = random.random() < 0.2  # the rows before decide which rows are bad

    def batch(self, inputs: tuple[str, ...]) -> dict[str, pa.Table]:
        random = self._random
        self._start += random.choice([0, 1, 3, 8]) * SECOND
        if random.random() < 0.15:
            self._frequent[random.choice(inputs)] = random.choice([None, 1, 2, 3])
        return {name: self._rows(self._frequent[name]) for name in inputs}

    def _rows(self, frequent: int | None) -> pa.Table:
        random = self._random
        rows = []
        for _ in range(random.choice([0, 2, 8, 15])):
            late = 8 if random.random() < 0.05 else 2
            ts = self._start + random.randrange(-late * 4, 8) * SECOND // 4
            rare = random.choice([None, *range(6)])
            key = frequent if frequent is not None and random.random() < 0.6 else rare
            rows.append((ts, key, random.randrange(8)))
        columns = list(zip(*rows, strict=True)) or [(), (), ()]
        ts, keys, values = (pa.array(c, pa.int64()) for c in columns)
        times = ts if self._in_doubt else ts.cast(TIMESTAMP)
        return pa.table({"ts": times, "k": keys, "x": values})


def with_windows(sql: str, random: Random) -> str:
    for place in ("W", "V", "U"):
        sql = sql.replace(f"RANGE {place}", f"RANGE {random.choice([1, 2, 5, 9])} SECONDS")
    return sql


def play(seed: int, shards: int, directory: Path) -> set[str]:
    """A job with split keys; which steps occurred."""
    random = Random(seed)
    emit = random.choice(EMITS)
    chosen = random.choice(QUERIES)
    queries = {f"q{n}": with_windows(sql, random) + emit for n, sql in enumerate(chosen)}
    start = first_partitions(random, shards)
    job = Sharded(
        with_times(DDL, random),
        queries,
        {},
        shards=shards,
        directory=directory / "control",
        limits=EAGER,
        **start,
    )
    moves = Moves(job, shards, random, is_durable=start["is_durable"], repeated=0.2)
    inputs = tuple(n for n in "abc" if any(n in of.layout.inputs for of in job.layouts))
    stream, seen, added = Stream(random), set[str](), 0
    for _ in range(random.choice([8, 15, 25])):
        match random.randrange(12):
            case 0:
                job.restart()
            case 1:
                sql = with_windows(random.choice(ADDED), random)
                seen |= {"added" if job.add(f"added{added}", sql, 10 * SECOND) else "refused"}
                added += 1
            case 2 if random.random() < 0.3:
                job.reset(inputs[0])
            case 3 if "q1" in job.running.queries:
                job.drop("q1")
            case 4 | 5 | 6:
                moves.move()
        moves.process(stream.batch(inputs))
        seen |= {entry["step"] for entry in job.splits.shown()}
        seen |= {"spread" for of in job.splits.next_batch().values() if any(k.spreads for k in of)}
    job.advance(max(job.engine.clock, 0) + END_US)
    job.check()
    return seen | moves.seen


@settings(max_examples=settings().max_examples // 7, phases=[Phase.generate])
@given(st.integers(0, 2**48), st.sampled_from([2, 3, 4]))
def test_frequent_keys_are_split_without_a_trace_in_the_answers(seed: int, shards: int) -> None:
    with tempfile.TemporaryDirectory() as directory:
        for step in play(seed, shards, Path(directory)):
            event(step)


def spreads_at_once(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(key_splits, "longest_window_us", lambda queries, inputs: 0)


def all_report_copies(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ingest, "COPY", OWN)


def moved_engines_lack_a_batch(patch: pytest.MonkeyPatch) -> None:
    logged = DurableState.logged

    def all_but_the_last(self: DurableState, record: CommitRecord) -> list[EngineBatch]:
        return [*logged(self, record)][:-1]

    patch.setattr(DurableState, "logged", all_but_the_last)


@pytest.mark.parametrize("fault", [spreads_at_once, all_report_copies, moved_engines_lack_a_batch])
def test_faults_are_found(
    fault: Callable[[pytest.MonkeyPatch], None],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    fault(monkeypatch)
    with pytest.raises(AssertionError, match="differ from those of one engine"):
        for seed in range(60):
            play(seed, 4, tmp_path / str(seed))


def work(job: Sharded) -> list[int]:
    """By cell: rows received and results made so far."""
    done = []
    for shard in job.shards.values():
        received = sum(shard.record.notes["received"].values())
        done.append(received + sum(shard.engine.rows_out.values()))
    return done


def most_work(share: float, limits: SplitLimits, directory: Path) -> float:
    """The work of the busiest of four shards in the second half of a join's batches."""
    sql = "SELECT a.x, b.x AS y FROM a [RANGE 4 SECONDS], b [RANGE 4 SECONDS] WHERE a.k = b.k"
    job = Sharded(DDL, {"q": sql}, {}, shards=4, directory=directory, limits=limits)
    numbers = np.random.default_rng(5)
    for second in range(24):
        if second == 12:
            before = work(job)
        batch = {}
        for name, part in (("a", share), ("b", 0.0)):
            keys = numbers.integers(0, 400, 800)
            keys[numbers.random(800) < part] = 7
            ts = np.sort(numbers.integers(0, SECOND, 800)) + (1_000 + second) * SECOND
            values = numbers.integers(0, 9, 800)
            batch[name] = pa.table({"ts": pa.array(ts).cast(TIMESTAMP), "k": keys, "x": values})
        job.process(batch)
    job.check()
    return max(after - n for after, n in zip(work(job), before, strict=True))


def test_a_key_with_a_third_of_the_rows_costs_little_with_four_shards(tmp_path: Path) -> None:
    even = most_work(0.0, DEFAULT_LIMITS, tmp_path / "even")
    never = replace(DEFAULT_LIMITS, most=0)
    unsplit = most_work(0.3, never, tmp_path / "unsplit")
    split = most_work(0.3, DEFAULT_LIMITS, tmp_path / "split")
    assert split < 1.25 * even
    assert unsplit > 1.3 * even
