"""The Python workers of a job: their pools, and their start while the driver plans.

Spark keeps idle Python workers in one pool, with one daemon that forks them, per set of environment
variables, and hands out the one that has been idle for the longest time. So the workers of shards
have a pool of their own: with other tasks in between, a shard would meet its engine less often.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from pyspark.sql import DataFrame, SparkSession

if TYPE_CHECKING:
    import pyarrow as pa

#: With the default, workers of functions on DataFrames have a variable that others have not.
WORKER_CONF: Final[Mapping[str, str]] = {
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
}


@contextmanager
def worker_pool(spark: SparkSession, name: str) -> Iterator[None]:
    """Python functions created in the block run in a worker pool of this name."""
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
    session = spark
    if any(spark.conf.get(option) != value for option, value in WORKER_CONF.items()):
        session = spark.newSession()
        for option, value in WORKER_CONF.items():
            session.conf.set(option, value)
    with worker_pool(spark, name):
        of_shards = _rows(session)
    for rows in (of_shards, _rows(session)):
        threading.Thread(target=_run, args=(rows,), name="start of Python workers").start()


def _rows(session: SparkSession) -> DataFrame:
    """Rows that go through a function that imports what workers need, a partition per core."""
    cores = session.sparkContext.defaultParallelism
    return session.range(0, cores, 1, cores).mapInArrow(_imported, "id long")


def _imported(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import eddyline.spark.ingest
    import eddyline.spark.shard  # noqa: F401

    yield from rows


def _run(rows: DataFrame) -> None:
    with suppress(Exception):  # whatever it is: the job needs the same workers
        rows.toArrow()
