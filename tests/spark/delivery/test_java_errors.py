"""A long error of Java while a batch is delivered ends or restarts the job, and is named."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from eddyline.spark import NEVER, Restart, Session
from spark_cases import Feed, definitions, stream_tables, wait

JobInputs = tuple[Feed, Feed]


class JavaFails:
    """A printer that calls Java, which answers with a long text and a stack trace."""

    def __init__(self, spark: SparkSession, failures: int) -> None:
        self._spark, self.left = spark, failures

    def __call__(self, name: str, rows: pa.Table, n: int) -> None:
        if self.left:
            self.left -= 1
            jvm: Any = self._spark._jvm
            jvm.java.lang.Integer.parseInt("x" * 50_000)


def job(spark: SparkSession, feed: Feed, failures: int, restart: Restart) -> Session:
    session = Session(spark, printer=JavaFails(spark, failures), restart=restart)
    session.sql(definitions({"a": feed.source}))
    session.query("shown", "SELECT k FROM a [NOW]")
    session.query("kept", "SELECT k FROM a [NOW]", sink="memory")
    feed.write(*stream_tables(1, 2))
    return session


def test_it_ends_the_job(spark: SparkSession, feeds: JobInputs) -> None:
    session = job(spark, feeds[0], 1, NEVER)
    run = session.start()
    with pytest.raises(StreamingQueryException, match="NumberFormatException: For input string"):
        run.awaitTermination(300)
        raise AssertionError("the job seems to run")
    assert "NumberFormatException: For input string" in (run.problem() or "")


def test_it_restarts_the_job(spark: SparkSession, feeds: JobInputs) -> None:
    session = job(spark, feeds[0], 2, Restart(limit=3, first_s=0.01))
    run = session.start()
    wait(run, lambda: run.progress().batch_id is not None)
    run.finish()
    assert run.restarts == 2 and session.results("kept").count() > 0
