"""Queries over tables that change, which get a layout of their own in a running job."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from command_line_jobs import CommandLineJob
from eddyline import CatalogError, Engine
from eddyline.spark import Run, Session
from spark_cases import SECOND, Feed, Twin, bag, definitions, stream_tables
from worker_processes import end_engine_workers

pytestmark = pytest.mark.spark

OWNERS = "CREATE TABLE owners (k BIGINT, owner STRING) WITH (updates = '{kind}', {source});"
#: Divided by k; its cells have copies of the table.
FIRST = "SELECT a.v, b.v AS bv, o.owner FROM a [RANGE 4 SECONDS], b [RANGE 2 SECONDS], owners AS o "
FIRST += "WHERE a.k = b.k AND b.k = o.k"
BY_V = "SELECT a.v, a.k, o.owner FROM a [RANGE 4 SECONDS], b [RANGE 9 SECONDS], owners AS o "
BY_V += "WHERE a.v = b.v AND a.k = o.k EMIT CHANGES"
BY_TIME = "SELECT a.ts, o.owner, COUNT(*) AS n FROM a [RANGE 3 SECONDS], owners AS o "
BY_TIME += "WHERE a.k = o.k GROUP BY a.ts, o.owner "
BY_TIME += "UNION ALL SELECT ts, 'all', MAX(v) FROM a [RANGE 3 SECONDS] GROUP BY ts"
QUERIES = {"by_v": BY_V, "by_time": BY_TIME}
FILES = 8


def owner_changes() -> list[pa.Table]:
    """Changes with each file of the streams: some wait for several of these, and of some of one
    instant the second takes back what the first has brought.
    """
    found = []
    for file in range(FILES):
        start = file * 8
        rows = [(start + 1.1, "+", file % 6), (start + 9.3, "+", (file + 1) % 6)]
        rows += [(start + 9.3, "-", (file + 1) % 6), (start + 17.7, "+", (file + 2) % 6)]
        rows += [(start + 2.2, "-", (file + 4) % 6)] if file > 4 else []
        found.append(
            pa.table(
                {
                    "_ts": pa.array([int(t * SECOND) + 7 for t, *_ in rows]).cast(
                        pa.timestamp("us", "UTC")
                    ),
                    "_op": [operation for _, operation, _ in rows],
                    "k": pa.array([k for *_, k in rows], pa.int64()),
                    "owner": [f"owner {k % 2}" for *_, k in rows],
                }
            )
        )
    return found


class Inputs:
    """Writes the files of the streams and the table, and gives them to the twins.

    Attributes:
        twins: each runs the queries of an added layout.
    """

    def __init__(self, directory: Path, kind: str) -> None:
        self._kind = kind
        self._feeds = {name: Feed(directory / name) for name in ("a", "b", "owners")}
        self._files = {
            "a": stream_tables(1, FILES),
            "b": stream_tables(2, FILES),
            "owners": owner_changes(),
        }
        self._written = 0
        self.twins: list[Twin] = []

    @property
    def script(self) -> str:
        sources = {name: feed.source for name, feed in self._feeds.items()}
        return self._definitions(sources)

    def _definitions(self, sources: Mapping[str, str]) -> str:
        owners = OWNERS.format(kind=self._kind, source=sources["owners"])
        return definitions({name: sources[name] for name in "ab"}) + owners

    def write(self) -> None:
        """The next file of each."""
        for name, feed in self._feeds.items():
            feed.write(self._files[name][self._written])
        self._written += 1
        for twin in self.twins:
            twin.process(self._part(self._written - 1))

    def begin(self, queries: Sequence[str]) -> Twin:
        """A layout is added when all files have been processed: an engine that has had all changes
        of the table runs its queries.
        """
        engine = Engine()
        engine.sql(self._definitions(dict.fromkeys(self._feeds, "source = 'none'")))
        engine.table("owners", self._files["owners"][0].select(["k", "owner"]).slice(0, 0))
        engine.parts.progress.share_clock(("a", "b", "owners"), ("a", "b"))
        twin = Twin(engine, dict.fromkeys("ab", 5 * SECOND))
        for number in range(self._written):
            twin.process(self._part(number), only_their_times=True)
        for name in queries:
            engine.query(QUERIES[name], name=name)
        self.twins.append(twin)
        return twin

    def _part(self, number: int) -> dict[str, list[pa.Table]]:
        return {name: [files[number]] for name, files in self._files.items()}


def session_over(spark: SparkSession, inputs: Inputs, directory: Path) -> Session:
    session = Session(spark, checkpoint=directory / "checkpoint", shards=2)
    session.sql(inputs.script)
    session.query("first", FIRST, sink="parquet", path=str(directory / "first"))
    return session


def add(run: Run, directory: Path, name: str) -> None:
    run.add(name, QUERIES[name], sink="parquet", path=str(directory / name))


@pytest.mark.parametrize(
    "kind", ["retroactive", pytest.param("non-retroactive", marks=pytest.mark.long)]
)
def test_results_are_those_of_an_engine_with_the_table(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    inputs = Inputs(tmp_path, kind)
    session = session_over(spark, inputs, tmp_path)
    for _ in range(3):
        inputs.write()
    run = session.start()
    run.processAllAvailable()
    inputs.begin(["by_v"])
    add(run, tmp_path, "by_v")
    assert {r["layout"] for r in run.shards()} == {"a.k = b.k in 2 parts"}
    inputs.write()
    run.processAllAvailable()
    assert {r["layout"] for r in run.shards()} == {"a.k = b.k in 2 parts", "a.v = b.v in 2 parts"}
    end_engine_workers()
    inputs.write()
    run.processAllAvailable()
    assert not list((tmp_path / "checkpoint" / "tables").iterdir()), "the shards have begun"
    inputs.begin(["by_time"])
    add(run, tmp_path, "by_time")
    run.stop()  # before the first batch of the layout, or after it

    session = session_over(spark, inputs, tmp_path)
    run = session.start()
    inputs.write()
    run.processAllAvailable()
    inputs.write()
    run.finish()
    for twin in inputs.twins:
        twin.end()
        for name, expected in twin.changes().items():
            assert len(expected) > 20
            assert bag(session.results(name)) == expected, name


@pytest.mark.long
def test_added_while_batches_run(spark: SparkSession, tmp_path: Path) -> None:
    """By several threads; what is wrong with a query is raised where it was added."""
    inputs = Inputs(tmp_path, "retroactive")
    session = session_over(spark, inputs, tmp_path)
    run = session.start()
    raised: list[Exception] = []

    def add_one(name: str) -> None:
        try:
            run.add(name, BY_V if name.startswith("v") else BY_TIME, sink="memory")
        except CatalogError as e:
            raised.append(e)

    threads = [threading.Thread(target=add_one, args=(n,)) for n in ("v", "v", "time", "v1")]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        assert run.isActive, run.exception()
        time.sleep(0.05)
    assert [str(e).startswith("line") or "v" in str(e) for e in raised] == [True]
    for _ in range(FILES):
        inputs.write()
    run.finish()
    assert session.results("v").count() == session.results("v1").count() > 20
    assert session.results("time").count() > 20


@pytest.mark.long
@pytest.mark.fault
def test_a_job_is_killed_after_a_layout_was_added(spark: SparkSession, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"

    def create(name: str, sql: str) -> str:
        return f"CREATE QUERY {name} AS {sql} WITH (sink = 'parquet', path = '{tmp_path}/{name}');"

    inputs = Inputs(tmp_path, "retroactive")
    script = tmp_path / "script.sql"
    script.write_text(inputs.script + create("first", FIRST))
    inputs.write()
    inputs.write()
    job = CommandLineJob(script, checkpoint)
    job.kill_after_adding(create("by_v", BY_V))  # its first batch has run, or not, or in part
    begun = inputs.begin(["by_v"])
    inputs.write()
    inputs.write()
    job.finish(spark)
    begun.end()
    files = f"SELECT * EXCLUDE eddyline_batch FROM '{tmp_path}/by_v/*/*.parquet'"
    relation: Any = duckdb.sql(files)
    assert bag(relation.arrow().read_all()) == begun.changes()["by_v"]
