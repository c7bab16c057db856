"""Windows of rows on several shards of a job, which is stopped, rescaled and started again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from eddyline import Engine
from eddyline.spark import Session, rescale
from spark_cases import SECOND, Feed, Twin, bag, definitions, stream_tables

pytestmark = pytest.mark.spark

STEPS = 4
QUERIES = {
    "last": "SELECT k, v FROM a [ROWS 7] WHERE v > 20",
    "met": "SELECT a.k, a.v, b.v AS w FROM a [ROWS 30], b [RANGE 3 SECONDS] WHERE a.k = b.k",
    "sums": "SELECT k, COUNT(*) AS n, SUM(v) AS s FROM a [ROWS 12] GROUP BY k EMIT CHANGES",
}
#: ``b`` is counted in no layout, so it gets one of its own.
ADDED = "SELECT a.k, a.v, b.v AS w FROM a [ROWS 9], b [ROWS 5] WHERE a.k = b.k AND a.v < b.v"


def twin(queries: dict[str, str]) -> Twin:
    engine = Engine()
    engine.sql(definitions(dict.fromkeys("ab", "source = 'none'")))
    for name, sql in queries.items():
        engine.query(sql, name=name)
    return Twin(engine, dict.fromkeys("ab", 5 * SECOND))


def started(spark: SparkSession, feeds: tuple[Feed, Feed], directory: Path, **more: Any) -> Session:
    session = Session(spark, checkpoint=directory / "checkpoint", **more)
    session.sql(definitions({"a": feeds[0].source, "b": feeds[1].source}))
    for name, sql in QUERIES.items():
        session.query(name, sql, sink="parquet", path=str(directory / name))
    return session


def test_windows_of_rows_are_those_of_one_engine(
    spark: SparkSession, feeds: tuple[Feed, Feed], tmp_path: Path
) -> None:
    streams = [stream_tables(seed, STEPS) for seed in (1, 2)]
    whole, added = twin(QUERIES), twin({})
    session = started(spark, feeds, tmp_path, shards=2, max_shards=3)
    for number, step in enumerate(zip(*streams, strict=True)):
        run = session.start()
        if number == 1:
            run.add("added", ADDED, sink="parquet", path=str(tmp_path / "added"))
            added.engine.query(ADDED, name="added")
        for feed, table in zip(feeds, step, strict=True):
            feed.write(table)
        run.processAllAvailable()
        rows = {name: [table] for name, table in zip("ab", step, strict=True)}
        whole.process(rows)
        added.process(rows, only_their_times=number == 0)
        (received,) = run.progress().received.values()
        assert len(received) == (6 if number else 3), "a layout was added"
        assert sorted(received[:3])[1] > 0, "the six keys are in two cells at least"
        if number < STEPS - 1:
            run.stop(after_batch=True)
            rescale(tmp_path / "checkpoint", 1 + number, spark)
            session = started(spark, feeds, tmp_path)
    run.finish()
    known: dict[str, list[tuple[Any, ...]]] = {}
    for to in (whole, added):
        to.end()
        known |= to.changes()
    for name in (*QUERIES, "added"):
        found = bag(spark.read.parquet(str(tmp_path / name)))
        assert len(found) > 20
        assert found == known[name], name
    assert run.progress().rows_in == {
        n: sum(map(len, of)) for n, of in zip("ab", streams, strict=True)
    }
