"""A job splits a frequent key, also when it repeats a batch and when it is started again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import CatalogError, Engine
from eddyline.spark import Restart, Session
from eddyline.spark.operation.progress_tracker import ProgressTracker
from eddyline.spark.run import Run
from spark_cases import SECOND, Feed, Twin, bag, definitions

pytestmark = pytest.mark.fault

JobInputs = tuple[Feed, Feed]
SHARDS = 4
FREQUENT = 7
PAIRS = (
    "SELECT a.k, a.v, b.v AS w FROM a [RANGE 2 SECONDS], b [RANGE 3 SECONDS] WHERE a.k = b.k "
    "AND a.v < b.v"
)
GROUPS = "SELECT k, count(*) AS n FROM a [RANGE 1 SECOND] GROUP BY k"


def rows(batch: int, seed: int, count: int, share: float) -> pa.Table:
    """Four seconds of rows; ``share`` of them have the frequent key."""
    random = np.random.default_rng((batch, seed))
    ts = np.sort(random.integers(0, 4 * SECOND, count)) + (1_000 + 4 * batch) * SECOND
    keys = random.integers(100, 1_100, count)
    keys[random.random(count) < share] = FREQUENT
    late = random.random(count) < 0.01
    columns = {
        "ts": pa.array(ts - late * 20 * SECOND).cast(pa.timestamp("us", "UTC")),
        "k": keys,
        "v": random.integers(0, 1_000, count),
    }
    return pa.table(columns)


class Job:
    """A job and an embedded engine with the same rows."""

    def __init__(self, spark: SparkSession, feeds: JobInputs, directory: Path) -> None:
        self._spark = spark
        self._feeds = feeds
        self._directory = directory
        self._batch = 0
        engine = Engine()
        engine.sql(definitions(dict.fromkeys("ab", "source = 'none'")))
        engine.query(PAIRS, name="pairs")
        self.twin = Twin(engine, dict.fromkeys("ab", 5 * SECOND))

    def start(self) -> Run:
        self.session = Session(
            self._spark,
            checkpoint=self._directory / "checkpoint",
            shards=SHARDS,
            restart=Restart(limit=2, first_s=0.01),
        )
        sources = {"a": self._feeds[0].source, "b": self._feeds[1].source}
        self.session.sql(definitions(sources))
        out = str(self._directory / "pairs")
        self.session.query("pairs", PAIRS, sink="parquet", path=out)
        return self.session.start()

    def run(self, run: Run, batches: int) -> None:
        for _ in range(batches):
            both = [rows(self._batch, 0, 3_000, 0.3), rows(self._batch, 1, 500, 0.01)]
            for feed, table in zip(self._feeds, both, strict=True):
                feed.write(table)
            run.processAllAvailable()
            self.twin.process(dict(zip("ab", [[t] for t in both], strict=True)))
            self._batch += 1

    def results(self) -> list[tuple[Any, ...]]:
        return bag(self._spark.read.parquet(str(self._directory / "pairs")))


def steps(run: Run) -> list[tuple[str, str, str]]:
    return [(s["key"], s["spread"], s["step"]) for s in run.progress().split_keys]


def test_a_frequent_key_is_split(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    job = Job(spark, feeds, tmp_path)
    run = job.start()
    job.run(run, 1)
    assert steps(run) == [(str(FREQUENT), "a", "copies")]
    job.run(run, 3)
    assert steps(run) == [(str(FREQUENT), "a", "spreads")]
    assert run.progress().split_keys[0]["share"] == pytest.approx(0.3, abs=0.03)
    with pytest.raises(CatalogError, match=r"cannot be added while rows with .* = 7 are split"):
        run.add("groups", GROUPS, sink="memory")

    failures = [RuntimeError("after the decision"), None]
    record = ProgressTracker.record

    def failing(self: ProgressTracker, *reports: Any) -> None:
        if failures and (failure := failures.pop(0)) is not None:
            raise failure
        record(self, *reports)

    monkeypatch.setattr(ProgressTracker, "record", failing)
    job.run(run, 1)
    assert run.restarts == 1
    before = received(run)
    job.run(run, 2)
    new = [after - b for after, b in zip(received(run), before, strict=True)]
    assert max(new) < 1.15 * sum(new) / SHARDS, "evenly spread"
    run.stop()

    run = job.start()
    job.run(run, 1)
    assert steps(run) == [(str(FREQUENT), "a", "spreads")]
    run.finish()
    job.twin.end()
    assert job.results() == job.twin.changes()["pairs"]
    late = bag(spark.read.parquet(str(tmp_path / "checkpoint" / "late" / "a")))
    assert len(late) == run.progress().late["a"] == len(set(late))


def received(run: Run) -> list[int]:
    (cells,) = run.progress().received.values()
    assert len(cells) == SHARDS
    return list(cells)
