"""The Python workers of a job: their pools, and their start while the driver plans.

Spark keeps idle Python workers in one pool, with one daemon that forks them, per set of environment
variables. A job has two: the workers of its shards have a variable with the name of the job, and
none of those that Spark sets for functions on DataFrames.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

_SIMPLIFIED: Final = "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled"


@contextmanager
def worker_pool(spark: SparkSession, name: str) -> Iterator[None]:
    """Python functions created in the block run in a worker pool of this name.

    With a separate pool a shard is more likely to run in the worker that has its engine.
    """
    environment = spark.sparkContext.environment
    environment["EDDYLINE_WORKER_POOL"] = name
    try:
        yield
    finally:
        del environment["EDDYLINE_WORKER_POOL"]


def start_workers(spark: SparkSession, name: str) -> None:
    """Start the Python workers of ingest and of the shards, and let them import what they need.

    This is done by two Spark jobs in threads, a task per core, for which nothing waits. If they
    fail, the job will fail with the same error.

    Args:
        name: of the worker pool of the shards.
    """
    with worker_pool(spark, name):
        of_shards = _rows(spark, simplified=False)
    for rows in (of_shards, _rows(spark, simplified=True)):
        threading.Thread(target=_run, args=(rows,), daemon=True).start()


def _rows(spark: SparkSession, *, simplified: bool) -> DataFrame:
    """Rows that go through a function that imports what workers need, a partition per core."""
    session = spark.newSession()
    session.conf.set(_SIMPLIFIED, str(simplified).lower())
    cores = spark.sparkContext.defaultParallelism
    return session.range(0, cores, 1, cores).mapInArrow(_imported, "id long")


def _imported(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import eddyline.spark.ingest
    import eddyline.spark.shard  # noqa: F401

    yield from rows


def _run(rows: DataFrame) -> None:
    with suppress(Exception):  # whatever it is: the job needs the same workers
        rows.write.format("noop").mode("overwrite").save()
