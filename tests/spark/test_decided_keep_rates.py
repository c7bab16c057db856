"""Keep rates decided by shards and broadcast to ingest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import EngineOptions
from eddyline.optimizer.prices import TYPICAL
from eddyline.spark import Session
from eddyline.spark.operation.progress_tracker import ProgressTracker
from eddyline.spark.run import Run
from eddyline.testing import engine_with
from spark_cases import QUERIES, SECOND, Feed, Twin, bag, definitions, stream_tables

JobInputs = tuple[Feed, Feed]
TEXTS = {name: QUERIES[name] for name in ("pairs", "sums", "last")}
TEXTS["shares"] = "SELECT k, v, _kept FROM a [RANGE 2 SECONDS]"
TEXTS["estimates"] = (
    "SELECT k, scaled_count(*) AS n, scaled_sum_error(v) AS e FROM a [RANGE 2 SECONDS] GROUP BY k"
)
NAMES = tuple(TEXTS)
EVERY = "4 seconds"
ROWS = 60


def capacity() -> float:
    """Half of what all rows would take."""
    engine = engine_with(prices=TYPICAL)
    engine.sql(definitions(dict.fromkeys("ab", "rate = 5")))
    for name in NAMES:
        engine.query(TEXTS[name], name=name)
    verdict = engine.verdict
    assert verdict is not None
    return verdict.needed / 2


def memory() -> str:
    """Half of what all rows would need."""
    engine = engine_with(prices=TYPICAL, decide_every=EVERY, decide="after")
    engine.sql(definitions(dict.fromkeys("ab", "source = 'none'")))
    for name in NAMES:
        engine.query(TEXTS[name], name=name)
    files = [stream_tables(seed, 12, rows=ROWS) for seed in (1, 2)]
    for of_a, of_b in list(zip(*files, strict=True))[:6]:
        engine.process({"a": of_a, "b": of_b})
    return f"{engine.stats()['memory']['needed'] / 2:.0f} B"


def limits(*, cpu: bool) -> dict[str, Any]:
    return {"capacity": capacity()} if cpu else {"memory": memory()}


def session_over(
    spark: SparkSession, feeds: JobInputs, directory: Path, *, cpu: bool = True
) -> Session:
    options = EngineOptions(decide_every=EVERY, costs="modelled", **limits(cpu=cpu))
    session = Session(spark, checkpoint=directory / "checkpoint", options=options)
    session.sql(definitions({"a": feeds[0].source, "b": feeds[1].source}))
    for name in NAMES:
        sink = {"sink": "parquet", "path": str(directory / name)}
        session.query(name, TEXTS[name] + " ON OVERLOAD SHED", **sink)
    return session


def new_twin(*, cpu: bool) -> Twin:
    deciding = {"decide_every": EVERY, "decide": "after", "costs": "modelled"}
    engine = engine_with(prices=TYPICAL, **deciding, **limits(cpu=cpu))
    engine.sql(definitions(dict.fromkeys("ab", "source = 'none'")))
    for name in NAMES:
        engine.query(TEXTS[name] + " ON OVERLOAD SHED", name=name)
    return Twin(engine, dict.fromkeys("ab", 5 * SECOND))


@pytest.fixture
def reports(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The reports of the shard after each batch."""
    found: list[dict[str, Any]] = []
    record = ProgressTracker.record

    def noted(self: ProgressTracker, batch: int, reports: list[dict[str, Any]], *more: Any) -> None:
        found.extend(dict(report) for report in reports)
        record(self, batch, reports, *more)

    monkeypatch.setattr(ProgressTracker, "record", noted)
    return found


class Played:
    """The same files for a job and an embedded engine, batch by batch."""

    def __init__(self, feeds: JobInputs, *, cpu: bool = True) -> None:
        self.twin = new_twin(cpu=cpu)
        self._feeds = feeds
        self._files = [stream_tables(seed, 12, rows=ROWS) for seed in (1, 2)]
        self._next = 0

    def write(self, batches: int) -> None:
        for _ in range(batches):
            tables = [files[self._next] for files in self._files]
            for feed, table in zip(self._feeds, tables, strict=True):
                feed.write(table)
            self.twin.process({name: [t] for name, t in zip("ab", tables, strict=True)})
            self._next += 1


def dropped(twin: Twin) -> dict[str, int]:
    shedding = twin.engine.shedding
    return {name: shedding[name]["seen"] - shedding[name]["kept"] for name in shedding}


def ended(run: Run) -> None:
    run.processAllAvailable()
    run.stop()


@pytest.mark.parametrize("cpu", [True, False], ids=["capacity", "memory"])
def test_the_job_decides_as_the_embedded_engine_does_and_drops_the_same_rows(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path, reports: list[dict[str, Any]], cpu: bool
) -> None:
    played = Played(feeds, cpu=cpu)
    played.write(6)
    ended(session_over(spark, feeds, tmp_path, cpu=cpu).start())
    assert len(reports) == 6
    assert not reports[0]["keep"], "the rates are not known yet"
    assert reports[-1]["keep"], "they are now"
    decided = [i for i, report in enumerate(reports) if report["keep"]]
    ingest = [i for i, report in enumerate(reports) if sum(report["dropped_at_ingest"].values())]
    assert ingest == [i + 1 for i in decided[:-1]], "it is dropped before it is shuffled"

    played.write(4)
    session = session_over(spark, feeds, tmp_path, cpu=cpu)
    run = session.start()
    run.processAllAvailable()
    assert not sum(reports[6]["dropped_at_ingest"].values()), "ingest does not know yet"
    assert reports[6]["dropped"] != reports[5]["dropped"], "but the shard does"
    assert sum(reports[7]["dropped_at_ingest"].values())
    run.finish()
    played.twin.end()
    said = played.twin.changes()
    assert {name: bag(session.results(name)) for name in said} == said
    assert run.progress().dropped == dropped(played.twin)
    progress = run.progress()
    assert progress.rows_in == {"a": 10 * ROWS, "b": 10 * ROWS}
    needs = progress.cores if cpu else progress.memory
    assert needs["needed"] > needs["had"]
    assert needs["largest"]


def test_queries_without_shedding_wait_until_all_rows_are_kept(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path, reports: list[dict[str, Any]]
) -> None:
    played = Played(feeds)
    played.write(6)
    session = session_over(spark, feeds, tmp_path)
    run = session.start()
    run.processAllAvailable()
    assert "a" in reports[-1]["keep"]

    every_row = "SELECT k, v FROM a [RANGE 3 SECONDS]"
    run.add("all", every_row, sink="parquet", path=str(tmp_path / "all"))
    run.processAllAvailable()
    assert len(reports) == 7
    assert not reports[-1]["keep"], "no row of the next batch is dropped"
    assert "all" not in run.stats()
    played.twin.engine.hold()
    played.twin.process({})
    run.stop()

    played.twin.engine.query(every_row, name="all")
    before = dropped(played.twin)
    played.write(5)
    session = session_over(spark, feeds, tmp_path)
    run = session.start()
    run.processAllAvailable()
    run.finish()
    played.twin.end()
    said = played.twin.changes()
    assert {name: bag(session.results(name)) for name in said} == said
    assert dropped(played.twin)["a"] == before["a"], "none of a, since somebody wants them all"
    assert dropped(played.twin)["b"] > before["b"]
    assert run.progress().dropped == dropped(played.twin)
    assert run.stats()["all"]["rows_seen"] >= 5 * ROWS


def test_a_shard_drops_rows_that_ingest_kept() -> None:
    """The kept rows do not depend on the keep rates known to ingest."""
    tables = stream_tables(3, 1, rows=500)
    keep = {"a": 0.3}
    kept = []
    for first in ({}, {"a": 0.3}, {"a": 0.6}):
        ingest = engine_with(keep=first)
        shard = engine_with(keep=keep)
        for engine in (ingest, shard):
            engine.sql(definitions({"a": "source = 'none'"}, lateness=""))
            engine.query("SELECT ts, k, v FROM a ON OVERLOAD SHED", name="q")
        through = ingest.process({"a": pa.concat_tables(tables)})["q"].select(["ts", "k", "v"])
        kept.append(shard.process({"a": through})["q"].select(["ts", "k", "v"]))
    assert kept[0] == kept[1] == kept[2]
    assert 80 < kept[0].num_rows < 230
