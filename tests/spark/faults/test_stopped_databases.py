"""PostgreSQL is stopped and started: nothing is missing in its tables, and other queries go on."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql import SparkSession

from eddyline.spark.run import Run
from fault_record import note_figure, survived
from spark_cases import Feed, bag, stream_tables, wait
from table_jobs import QUERIES

if TYPE_CHECKING:
    from postgres_jobs import PostgresJob
    from postgres_server import PostgresServer

pytestmark = [pytest.mark.spark, pytest.mark.fault]
#: Of the long outage.
OUTAGE_S = float(os.environ.get("EDDYLINE_OUTAGE_S", "5"))
FILES = 200
OTHER = "SELECT k, v FROM b [RANGE 5 SECONDS] WHERE v > 50 EMIT CHANGES"


@pytest.fixture
def job(
    spark: SparkSession, postgres: PostgresServer, tmp_path: Path, feeds: tuple[Feed, Feed]
) -> PostgresJob:
    from postgres_jobs import PostgresJob

    found = PostgresJob(spark, postgres, tmp_path, feeds)
    found.rows = {name: stream_tables(i, FILES) for i, name in enumerate("ab", 1)}
    for name, (select, _) in QUERIES.items():
        found.twin.engine.query(select, name=name)
    return found


def check_after(job: PostgresJob, run: Run) -> None:
    run.processAllAvailable()
    wait(run, lambda: not run.progress().undelivered)
    job.check()


@pytest.mark.parametrize("count", [1, pytest.param(8, marks=pytest.mark.long)])
def test_at_random_instants(job: PostgresJob, count: int) -> None:
    rng = random.Random(count)
    job.write(slice(0, 2))
    run = job.session().start()
    check_after(job, run)
    for i in range(1, count + 1):
        job.write(slice(2 * i, 2 * i + 1))
        time.sleep(rng.random())
        job.server.halt()
        try:
            job.write(slice(2 * i + 1, 2 * i + 2))
            time.sleep(2 * rng.random())
        finally:
            job.server.start()
        check_after(job, run)
        survived("PostgreSQL stopped and started", "results wait, and are delivered")
    run.stop()


def test_other_queries_go_on(job: PostgresJob, tmp_path: Path) -> None:
    session = job.session()
    session.query("other", OTHER, sink="parquet", path=str(tmp_path / "other"))
    job.twin.engine.query(OTHER, name="other")
    job.write(slice(0, 2))
    run = session.start()
    check_after(job, run)
    job.server.halt()
    number, begin, first = 2, time.monotonic(), run.progress().batch_id or 0
    try:
        while number == 2 or (time.monotonic() - begin < OUTAGE_S and number < FILES):
            job.write(slice(number, number + 1))
            number += 1
            run.processAllAvailable()
            assert bag(session.results("other")) == job.twin.changes()["other"]
        batches = (run.progress().batch_id or 0) - first
        waiting = run.progress().undelivered["log"].batches
        seconds = time.monotonic() - begin
    finally:
        job.server.start()
    begin = time.monotonic()
    check_after(job, run)
    survived("PostgreSQL stopped for a while", "results wait, and are delivered")
    note_figure(
        f"PostgreSQL stopped for {seconds:.0f} s: {batches} batches of the other queries delivered "
        f"meanwhile, {waiting} of a query with a table waited; all was delivered "
        f"{time.monotonic() - begin:.1f} s after the start"
    )
    run.stop()
