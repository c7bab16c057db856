"""Queries that fit no layout of a running job get one, which follows the clock of the others."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from command_line_jobs import CommandLineJob
from eddyline import CatalogError, Engine
from eddyline.spark import Run, Session
from eddyline.spark.storage.directory import LocalDirectory
from eddyline.spark.verify import verify
from spark_cases import QUERIES, SECOND, Feed, Twin, bag, definitions, stream_tables
from worker_processes import end_engine_workers

pytestmark = [pytest.mark.long, pytest.mark.spark]

JobInputs = tuple[Feed, Feed]

#: Those of the start are divided by k.
FIRST = ("pairs", "last")
BY_V = (
    "SELECT a.v, a.k AS ak, b.k AS bk FROM a [RANGE 4 SECONDS], b [RANGE 9 SECONDS] WHERE a.v = b.v"
)
OF_V = "SELECT v, COUNT(DISTINCT k) AS n FROM a [RANGE 3 SECONDS] GROUP BY v EMIT CHANGES"
#: Without an equality the rows of one stream are dealt evenly, and those of the other copied.
NEAR = "SELECT a.v, b.v AS bv FROM a [RANGE 3 SECONDS], b [RANGE 1 SECOND] WHERE a.v < b.v - 90"


def session_over(spark: SparkSession, feeds: JobInputs, directory: Path) -> Session:
    session = Session(spark, checkpoint=directory / "checkpoint", shards=2)
    session.sql(definitions({"a": feeds[0].source, "b": feeds[1].source}))
    for name in FIRST:
        session.query(name, QUERIES[name], sink="parquet", path=str(directory / name))
    return session


def twin(queries: Sequence[str] = ()) -> Twin:
    engine = Engine()
    engine.sql(definitions(dict.fromkeys("ab", "source = 'none'")))
    for name in queries:
        engine.query(QUERIES[name], name=name)
    return Twin(engine, dict.fromkeys("ab", 5 * SECOND))


class Rows:
    """Writes the files of both streams, and hands them to the twins.

    Attributes:
        whole: has the queries of the start. added: each has those of an added layout.
    """

    def __init__(self, feeds: JobInputs) -> None:
        self._feeds = feeds
        self._a, self._b = stream_tables(1, 8), stream_tables(2, 8)
        self._written = 0
        self.whole = twin(FIRST)
        self.added: list[Twin] = []

    def write(self) -> None:
        """The next file of each stream."""
        number = self._written
        self._feeds[0].write(self._a[number])
        self._feeds[1].write(self._b[number])
        for to in (self.whole, *self.added):
            to.process(self._tables(number, number + 1))
        self._written += 1

    def begin(self) -> Twin:
        """A layout is added, when all files have been processed."""
        made = twin()
        made.process(self._tables(0, self._written), only_their_times=True)
        self.added.append(made)
        return made

    def _tables(self, first: int, end: int) -> dict[str, list[pa.Table]]:
        return {"a": self._a[first:end], "b": self._b[first:end]}


def test_layouts_are_added_while_a_job_runs_and_at_its_restart(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path
) -> None:
    def add(run: Run, to: Twin, name: str, sql: str) -> None:
        run.add(name, sql, sink="parquet", path=str(tmp_path / name))
        to.engine.query(sql, name=name)

    rows = Rows(feeds)
    session = session_over(spark, feeds, tmp_path)
    rows.write()
    rows.write()
    run = session.start()
    run.processAllAvailable()
    assert {r["layout"] for r in run.shards()} == {"a.k = b.k in 2 parts"}
    by_v = rows.begin()
    add(run, by_v, "by_v", BY_V)
    add(run, by_v, "of_v", OF_V)
    run.processAllAvailable()
    assert {r["layout"] for r in run.shards()} == {"a.k = b.k in 2 parts", "a.v = b.v in 2 parts"}
    assert len({r["clock_us"] for r in run.shards()}) == 1
    rows.write()
    run.processAllAvailable()

    end_engine_workers()
    rows.write()
    run.processAllAvailable()
    run.drop("by_v")
    by_v.engine.drop("by_v")
    run.processAllAvailable()
    rows.write()
    run.processAllAvailable()
    near = rows.begin()
    add(run, near, "near", NEAR)
    run.stop()  # before the first batch of the layout

    session = session_over(spark, feeds, tmp_path)
    run = session.start()
    assert list(session.queries) == ["pairs", "last", "of_v", "near"]
    rows.write()
    run.processAllAvailable()
    assert len({r["layout"] for r in run.shards()}) == 3
    run.stop()
    findings = {f.what: f for f in verify(LocalDirectory(tmp_path / "checkpoint"))}
    text = "4 requests to add and drop queries, for which 2 layouts were added"
    assert findings["control"].text == text
    assert findings["state"].level == "ok"

    session = session_over(spark, feeds, tmp_path)
    run = session.start()
    again = "SELECT v, SUM(k) AS s FROM a [RANGE 2 SECONDS] GROUP BY v EMIT CHANGES"
    add(run, by_v, "again", again)  # no batch has run, and the layout has its shards
    run.processAllAvailable()
    rows.write()
    run.finish()
    for of in (rows.whole, by_v, near):
        of.end()
        for name, expected in of.changes().items():
            assert expected, name
            assert bag(session.results(name)) == expected, name
    assert run.progress().rows_in == {"a": 280, "b": 280}
    assert sum(run.progress().late.values()) == 0


def test_a_layout_is_added_before_the_first_batch(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path
) -> None:
    session = session_over(spark, feeds, tmp_path)
    run = session.start()
    run.add("by_v", BY_V, sink="memory")  # waits for a batch, which the job makes for it
    rows = Rows(feeds)
    begun = rows.begin()
    begun.engine.query(BY_V, name="by_v")
    rows.write()
    rows.write()
    with pytest.raises(CatalogError, match="a query of this name exists"):
        run.add("by_v", BY_V, sink="memory")
    run.finish()
    begun.end()
    assert bag(session.results("by_v")) == begun.changes()["by_v"]


def test_layouts_follow_a_clock_that_goes_on_without_rows(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path
) -> None:
    session = Session(spark, checkpoint=tmp_path / "checkpoint", shards=2)
    sources = {"a": feeds[0].source, "b": feeds[1].source}
    session.sql(definitions(sources, "LATENESS 1 SECOND IDLE AFTER 2 SECONDS"))
    session.query("pairs", QUERIES["pairs"], sink="memory")
    feeds[0].write(stream_tables(1, 1)[0])
    feeds[1].write(stream_tables(2, 1)[0])
    run = session.start()
    run.processAllAvailable()
    run.add("by_v", BY_V, sink="memory")
    clocks: set[int] = set()
    until = time.monotonic() + 120
    while len(clocks) < 4 or len(run.shards()) < 4:
        assert time.monotonic() < until and run.isActive, run.exception()
        reached = {r["clock_us"] for r in run.shards()}
        assert len(reached) == 1, run.shards()
        clocks |= reached
        time.sleep(0.2)
    run.stop()


@pytest.mark.fault
def test_a_job_is_killed_after_a_layout_was_added(
    spark: SparkSession, feeds: JobInputs, tmp_path: Path
) -> None:
    checkpoint = tmp_path / "checkpoint"

    def create(name: str, sql: str) -> str:
        return f"CREATE QUERY {name} AS {sql} WITH (sink = 'parquet', path = '{tmp_path}/{name}');"

    script = tmp_path / "script.sql"
    sources = {"a": feeds[0].source, "b": feeds[1].source}
    script.write_text(definitions(sources) + "".join(create(n, QUERIES[n]) for n in FIRST))
    rows = Rows(feeds)
    rows.write()
    rows.write()
    job = CommandLineJob(script, checkpoint)
    job.kill_after_adding(create("by_v", BY_V))  # its first batch has run, or not, or in part
    begun = rows.begin()
    begun.engine.query(BY_V, name="by_v")
    rows.write()
    rows.write()
    job.finish(spark)
    for of in (rows.whole, begun):
        of.end()
        for name, expected in of.changes().items():
            files = f"SELECT * EXCLUDE eddyline_batch FROM '{tmp_path}/{name}/*/*.parquet'"
            relation: Any = duckdb.sql(files)
            assert bag(relation.arrow().read_all()) == expected, name
