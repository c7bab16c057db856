"""Jobs with the sink ``postgres``: failures after its commit, added queries, resets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import DataError, Engine, StateError
from eddyline.spark import Session
from spark_cases import SECOND, Feed, Twin, definitions, stream_tables

if TYPE_CHECKING:
    from postgres_server import PostgresServer

#: SELECT and options by query.
QUERIES = {
    "groups": (
        "SELECT k, COUNT(*) AS n, MAX(v) AS m FROM a [RANGE 6 SECONDS] GROUP BY k",
        {"mode": "upsert"},
    ),
    "total": ("SELECT COUNT(*) AS n FROM a [RANGE 6 SECONDS]", {"mode": "upsert"}),
    "joined": (
        "SELECT DISTINCT a.v, b.v AS w FROM a [RANGE 4 SECONDS], b [RANGE 9 SECONDS] "
        "WHERE a.k = b.k EMIT CHANGES",
        {"mode": "upsert", "key": "v, w"},
    ),
    "log": (
        "SELECT k, v FROM b [RANGE 5 SECONDS] WHERE v > 50 EMIT CHANGES",
        {"mode": "changelog"},
    ),
    "plain": ("SELECT k, v FROM b [RANGE 5 SECONDS] WHERE v > 50", {}),
}
ANSWERS = ("groups", "total", "joined")


class Job:
    """A job and an embedded engine with the same input; its tables are in a schema of their own."""

    def __init__(
        self, spark: SparkSession, server: PostgresServer, place: Path, feeds: tuple[Feed, Feed]
    ) -> None:
        self.server = server
        self.schema = f"j{place.name.replace('-', '_')}".lower()
        self.checkpoint = place / "checkpoint"
        server.execute(f"CREATE SCHEMA {self.schema}")
        self.rows = {"a": stream_tables(1, 6), "b": stream_tables(2, 6)}
        engine = Engine()
        engine.sql(definitions(dict.fromkeys("ab", "source = 'none'")))
        self.twin = Twin(engine, dict.fromkeys("ab", 5 * SECOND))
        self.spark = spark
        self.feeds = feeds

    def session(self) -> Session:
        session = Session(self.spark, checkpoint=self.checkpoint, shards=2)
        session.sql(definitions(dict(zip("ab", (f.source for f in self.feeds), strict=True))))
        for name, (select, options) in QUERIES.items():
            session.query(name, select, **self.sink(name), **options)
        return session

    def sink(self, name: str) -> dict[str, str]:
        url = self.server.url.replace("postgres@", "postgres:s3cret@")  # not asked for
        return {"sink": "postgres", "url": url, "table": f"{self.schema}.{name}"}

    def write(self, files: slice) -> None:
        for feed, name in zip(self.feeds, "ab", strict=True):
            feed.write(*self.rows[name][files])
        self.twin.process({name: tables[files] for name, tables in self.rows.items()})

    def table(self, name: str, columns: str = "*") -> list[tuple[Any, ...]]:
        return sorted(self.server.rows(f"SELECT {columns} FROM {self.schema}.{name}"), key=repr)

    def check(self) -> None:
        """The tables have the answers, and all changes once."""
        for name in ANSWERS:
            expected = _sorted(self.twin.engine.queries[name].snapshot())
            assert self.table(name) == expected, name
        for name in ("log", "plain"):
            changes = self.twin.rows(name)
            found = self.table(name, "_op, (extract(epoch FROM _ts) * 1000000)::bigint, k, v")
            assert found == sorted(((c[0], c[1], *c[3:]) for c in changes), key=repr), name


def _sorted(table: pa.Table) -> list[tuple[Any, ...]]:
    return sorted(zip(*(c.to_pylist() for c in table.columns), strict=True), key=repr)


@pytest.fixture
def job(
    spark: SparkSession, postgres: PostgresServer, tmp_path: Path, feeds: tuple[Feed, Feed]
) -> Job:
    return Job(spark, postgres, tmp_path, feeds)


def test_tables_are_right_after_failures(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    from eddyline.spark.sinks.postgres.postgres_table import PostgresTable

    for name, (select, _) in QUERIES.items():
        job.twin.engine.query(select, name=name)
    failures = iter([1, 3])
    due = [next(failures)]
    write = PostgresTable.write

    def write_and_fail(table: PostgresTable, batch: int, *rows: Any) -> None:
        write(table, batch, *rows)
        if due and batch >= due[0]:
            due[:] = [n for n in [next(failures, None)] if n is not None]
            raise RuntimeError("killed after the commit of the table")

    monkeypatch.setattr(PostgresTable, "write", write_and_fail)
    job.write(slice(0, 4))
    for _ in range(2):
        with pytest.raises(Exception, match="killed after the commit"):
            job.session().start(available_now=True).awaitTermination()
    job.session().start(available_now=True).awaitTermination()
    job.check()
    assert all(map(job.table, QUERIES)) and not due
    secrets = [f for f in job.checkpoint.rglob("*") if f.is_file() and b"s3cret" in f.read_bytes()]
    assert not secrets, "the password is not in the checkpoint"

    job.write(slice(4, 6))
    run = job.session().start(available_now=True)
    run.awaitTermination()
    job.check()
    job.server.execute(f"UPDATE {job.schema}.eddyline_batches SET job = 'another'")
    with pytest.raises(StateError, match="has rows that this job has not written"):
        job.session().start(available_now=True)


def test_queries_are_added_and_watermarks_reset(job: Job) -> None:
    for name, (select, _) in QUERIES.items():
        job.twin.engine.query(select, name=name)
    job.write(slice(0, 3))
    run = job.session().start()
    run.processAllAvailable()
    job.check()
    select = "SELECT k, COUNT(*) AS n FROM a [RANGE 6 SECONDS] GROUP BY k"
    with pytest.raises(DataError, match="would be written to the checkpoint"):
        run.add("more", select, **job.sink("more"), mode="upsert")
    public = {**job.sink("more"), "url": job.server.url}
    run.add("more", select, **public, mode="upsert")
    job.write(slice(3, 4))
    run.processAllAvailable()
    job.check()
    assert job.table("more", "k, n") == job.table("groups", "k, n")

    run.reset_watermark("a")
    run.processAllAvailable()
    assert not any(map(job.table, (*ANSWERS, "more")))
    job.write(slice(4, 6))
    run.processAllAvailable()
    assert job.table("groups") and job.table("more", "k, n") == job.table("groups", "k, n")
    run.finish()
    assert not any(map(job.table, ("groups", "joined", "more")))
    assert job.table("total") == [(0,)]


def test_errors_at_the_start_name_query_and_sink(job: Job) -> None:
    session = Session(job.spark)
    session.sql(definitions({"a": job.feeds[0].source}))
    sink = {"sink": "postgres", "host": str(job.checkpoint), "table": "nowhere"}
    session.query("q", "SELECT k FROM a [NOW]", **sink)
    with pytest.raises(DataError, match=r"^'q': sink 'postgres', table 'nowhere': .*connection"):
        session.start()
