"""Views over queries in a job: in several layouts, added to, stopped, rescaled and restarted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from eddyline import CatalogError, Engine
from eddyline.spark import Session, rescale
from eddyline.spark.storage.directory import LocalDirectory
from eddyline.spark.verify import verify
from spark_cases import SECOND, Feed, Twin, bag, definitions, stream_tables
from worker_processes import end_engine_workers

pytestmark = [pytest.mark.long, pytest.mark.spark]

STEPS = 5
#: ``large`` needs the rows of a value of v together, ``q`` and ``counts`` those of a value of k.
SCRIPT = """
CREATE QUERY q AS SELECT k, v FROM a [RANGE 4 SECONDS] WHERE v > 10 {q};
CREATE VIEW w AS SELECT v, k FROM q WHERE v < 90;
CREATE QUERY counts AS SELECT k, COUNT(DISTINCT v) AS n FROM w GROUP BY k EMIT CHANGES {counts};
CREATE VIEW many AS SELECT k, n FROM counts WHERE n > 1;
CREATE QUERY large AS SELECT v, COUNT(DISTINCT k) AS n FROM w GROUP BY v EMIT CHANGES {large};
"""
QUERIES = ("q", "counts", "large")
#: In the layouts of q and of large, over a view that no query reads, and in a layout of its own.
ADDED = {
    "few": "SELECT v, k FROM w WHERE v < 50",
    "large_too": "SELECT v, MAX(k) AS k FROM w GROUP BY v EMIT CHANGES",
    "of_many": "SELECT k, n FROM many WHERE n > 2",
    "pairs": "SELECT w.v, b.k FROM w, b [RANGE 2 SECONDS] WHERE w.v = b.v",
    "near": "SELECT w.v, b.v AS bv FROM w, b [NOW] WHERE w.v < b.v - 70",
}
#: Two of the start, and two that are added.
LAYOUTS = {
    "a.k = b.k in 4 parts",
    "a.v in 4 parts",
    "a.v = b.v in 4 parts",
    "rows of a in 2 parts, rows of b in 2 parts",
}


def session_over(spark: SparkSession, feeds: tuple[Feed, Feed], to: Path, **more: Any) -> Session:
    session = Session(spark, checkpoint=to / "checkpoint", **more)
    session.sql(definitions({"a": feeds[0].source, "b": feeds[1].source}))
    session.sql(
        SCRIPT.format(**{n: f"WITH (sink = 'parquet', path = '{to}/{n}')" for n in QUERIES})
    )
    session.query("ab", "SELECT a.k FROM a [NOW], b [NOW] WHERE a.k = b.k", sink="noop")
    return session


def twin() -> Twin:
    engine = Engine()
    engine.sql(definitions(dict.fromkeys("ab", "source = 'none'")))
    engine.sql(SCRIPT.format(**dict.fromkeys(QUERIES, "")))
    return Twin(engine, dict.fromkeys("ab", 5 * SECOND))


def test_a_job_with_views_over_queries(
    spark: SparkSession, feeds: tuple[Feed, Feed], tmp_path: Path
) -> None:
    a, b = stream_tables(1, STEPS), stream_tables(2, STEPS)
    expected = twin()

    def write(number: int) -> None:
        for feed, tables in zip(feeds, (a, b), strict=True):
            feed.write(tables[number])
        run.processAllAvailable()
        expected.process({"a": [a[number]], "b": [b[number]]})

    session = session_over(spark, feeds, tmp_path, shards=2, max_shards=4)
    run = session.start()
    write(0)
    write(1)
    for name, sql in ADDED.items():
        run.add(name, sql, sink="parquet", path=str(tmp_path / name))
        expected.engine.query(sql, name=name)
    run.processAllAvailable()
    assert {shard["layout"] for shard in run.shards()} == LAYOUTS
    write(2)
    with pytest.raises(CatalogError, match="view 'w' reads it, and a running job keeps its views"):
        run.drop("q")
    run.stop(after_batch=True)

    rescale(tmp_path / "checkpoint", 3, spark)
    findings = list(verify(LocalDirectory(tmp_path / "checkpoint")))
    assert not [f.text for f in findings if f.level == "error"]
    session = session_over(spark, feeds, tmp_path)
    run = session.start()
    write(3)
    end_engine_workers()
    run.drop("few")
    expected.engine.drop("few")
    write(4)
    run.finish()
    expected.end()
    newest = max(row for table in (*a[:2], *b[:2]) for row in table["ts"].cast("int64").to_pylist())
    for name, changes in expected.changes().items():
        # an added query has all rows of its windows some time after it was added
        since = newest + 5 * SECOND if name in ADDED else 0
        found = [row for row in bag(session.results(name)) if row[1] >= since]
        assert found == [row for row in changes if row[1] >= since], name
        assert found, name
