"""Jobs with the sink ``postgres``: failures after its commit, added queries, resets."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import urlopen

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from eddyline import DataError, StateError
from eddyline.spark import Session
from eddyline.spark.run import Run
from postgres_jobs import PostgresJob as Job
from spark_cases import Feed, bag, definitions, wait
from table_jobs import ANSWERS, QUERIES

if TYPE_CHECKING:
    from postgres_server import PostgresServer


@pytest.fixture
def job(
    spark: SparkSession, postgres: PostgresServer, tmp_path: Path, feeds: tuple[Feed, Feed]
) -> Job:
    return Job(spark, postgres, tmp_path, feeds)


def test_tables_are_right_after_failures(job: Job, monkeypatch: pytest.MonkeyPatch) -> None:
    from eddyline.spark.sinks.postgres.postgres_table import PostgresTable

    job.run_through_failures(monkeypatch, PostgresTable, (1, 3))
    secrets = [f for f in job.checkpoint.rglob("*") if f.is_file() and b"s3cret" in f.read_bytes()]
    assert not secrets, "the password is not in the checkpoint"
    job.run_to_the_next_files(slice(4, 6))
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


def test_a_stopped_database_stops_its_queries_only(job: Job, tmp_path: Path) -> None:
    """While the database is down, other queries go on, and the job is started again."""
    for name, (select, _) in QUERIES.items():
        job.twin.engine.query(select, name=name)
    select = QUERIES["log"][0]
    other = {"sink": "parquet", "path": str(tmp_path / "other")}
    job.twin.engine.query(select, name="other")

    def started() -> tuple[Session, Run]:
        session = job.session()
        session.query("other", select, **other)
        return session, session.start()

    def check_other(session: Session) -> None:
        assert bag(session.results("other")) == job.twin.changes()["other"]

    job.write(slice(0, 2))
    session, run = started()
    run.processAllAvailable()
    job.check()
    job.server.halt()
    try:
        job.write(slice(2, 4))
        run.processAllAvailable()
        check_other(session)
        server = run.serve_http()
        waiting = run.progress().undelivered
        assert {"groups", "log"} <= set(waiting) <= set(QUERIES)
        state = waiting["groups"]
        assert state.sink == "postgres" and "connection" in state.cause and state.batches >= 1
        with urlopen(f"{server.url}/healthz") as health:
            text = health.read().decode()
        assert health.status == 200 and "'groups': " in text and state.cause in text
        with urlopen(f"{server.url}/metrics") as answer:
            metrics = answer.read().decode()
        assert 'eddyline_query_undelivered_batches{query="groups"}' in metrics
        assert 'eddyline_query_undelivered_info{cause="table ' in metrics
        run.stop()

        session, run = started()
        job.write(slice(4, 6))
        run.processAllAvailable()
        check_other(session)
        assert {"groups", "log"} <= set(run.progress().undelivered) <= set(QUERIES)
        run.stop()
        with pytest.raises(StateError, match=r"'groups': .*They are delivered when the job is"):
            session.start(available_now=True).awaitTermination()
        session, run = started()
    finally:
        job.server.start()
    wait(run, lambda: not run.progress().undelivered)
    run.processAllAvailable()
    job.check()
    run.finish()
    job.twin.end()
    job.check()
    check_other(session)


def test_rows_with_nul_are_bad_rows_of_their_query(
    spark: SparkSession, postgres: PostgresServer, tmp_path: Path
) -> None:
    feed = Feed(tmp_path / "s")
    schema = "nul_jobs"
    postgres.execute(f"CREATE SCHEMA {schema}")
    session = Session(spark, checkpoint=tmp_path / "c", shards=2)
    session.sql(
        "CREATE STREAM s (ts TIMESTAMP, k BIGINT, w STRING) TIMESTAMP BY ts "
        f"WITH ({feed.source}, late_sink = 'postgres', late_table = '{schema}.late', "
        f"late_url = '{postgres.url}')"
    )
    sink = {"sink": "postgres", "url": postgres.url}
    session.query("plain", "SELECT k, w FROM s [NOW]", **sink, table=f"{schema}.plain")
    last = "SELECT k, MAX(w) AS w FROM s [RANGE 2 SECONDS] GROUP BY k"
    session.query("groups", last, **sink, table=f"{schema}.groups", mode="upsert")
    words = "SELECT DISTINCT w FROM s [RANGE 3 SECONDS] EMIT CHANGES"
    session.query("words", words, **sink, table=f"{schema}.words", mode="upsert", key="w")
    for texts in (["a", "b", None], ["c\0", "\0", "d"], ["e", "f", "g"]):
        ts = pa.array([len(list(feed.path.iterdir()))] * 3).cast(pa.timestamp("s", "UTC"))
        feed.write(pa.table({"ts": ts, "k": [1, 2, 3], "w": texts}))
    ts = pa.array([0]).cast(pa.timestamp("s", "UTC"))
    feed.write(pa.table({"ts": ts, "k": [4], "w": ["late\0"]}))
    run = session.start()
    run.processAllAvailable()
    assert run.progress().bad["plain"] == 2
    groups = sorted(postgres.rows(f"SELECT k, w FROM {schema}.groups"))
    assert groups == [(1, "e"), (2, "f"), (3, "g")]
    found = sorted(postgres.rows(f"SELECT w FROM {schema}.plain WHERE w IS NOT NULL"))
    assert found == [(w,) for w in "abdefg"]
    run.finish()
    assert not postgres.rows(f"SELECT * FROM {schema}.words")
    bad = session.results("bad:plain").toArrow().to_pylist()
    assert sorted(row["_row"] for row in bad) == [
        '{"k": 1, "w": "c\\u0000"}',
        '{"k": 2, "w": "\\u0000"}',
    ]
    assert {row["_reason"].partition(":")[0] for row in bad} == {"column 'w'"}
    assert session.results("bad:words").count() == 4
    late = spark.read.parquet(f"{tmp_path}/c/bad_rows_of_queries").where("_query = 'late:s'")
    assert late.count() == 1 and not postgres.rows(f"SELECT * FROM {schema}.late")
