"""Batches of rows that Spark passes to Python are limited by number, and otherwise as set."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from eddyline.spark import Session
from eddyline.spark.environment import ARROW_CONF, job_conf, settings
from eddyline.spark.exchange.packed_batches import INPUT_BLOB_BYTES
from spark_cases import SECOND

pytestmark = pytest.mark.spark

RECORDS = "spark.sql.execution.arrow.maxRecordsPerBatch"


def test_limits_that_are_set_stay(spark: SparkSession) -> None:
    assert job_conf(spark, {}).items() >= ARROW_CONF.items()
    with settings(spark, {RECORDS: "7"}):
        assert RECORDS not in job_conf(spark, {})
    assert job_conf(spark, {"x": "1"}).items() >= {**ARROW_CONF, "x": "1"}.items()


@pytest.mark.parametrize("limit", [{}, {RECORDS: "3"}])
def test_rows_that_are_larger_than_a_packed_batch(
    spark: SparkSession, tmp_path: Path, limit: dict[str, str]
) -> None:
    texts = [chr(ord("a") + n % 26) * (3 * INPUT_BLOB_BYTES + n) for n in range(40)]
    times = pa.array([n * SECOND for n in range(40)], pa.timestamp("us"))
    (tmp_path / "in").mkdir()
    pq.write_table(pa.table({"ts": times, "s": texts}), tmp_path / "in/1.parquet")
    session = Session(spark, shards=2)
    session.sql(
        "CREATE STREAM a (ts TIMESTAMP, s STRING) TIMESTAMP BY ts "
        f"WITH (source = 'parquet', path = '{tmp_path}/in');"
        "CREATE QUERY q AS SELECT s FROM a [NOW] WITH (sink = 'memory')"
    )
    with settings(spark, limit):
        session.start(available_now=True).awaitTermination()
    assert sorted(row.s for row in session.results("q").collect()) == sorted(texts)
