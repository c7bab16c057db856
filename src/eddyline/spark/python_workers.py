"""The Python workers of a job: a pool of their own, started while the driver plans.

Spark keeps idle Python workers in one pool, with one daemon that forks them, per set of environment
variables. The workers of a job have a variable with its name.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Final

from pyspark.sql import SparkSession

if TYPE_CHECKING:
    import pyarrow as pa

#: With the default the workers of DataFrames would have a variable that those of shards have not.
WORKER_CONF: Final[Mapping[str, str]] = {
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
}


@contextmanager
def worker_pool(spark: SparkSession, name: str) -> Iterator[None]:
    """Python functions created in the block run in a worker pool of this name.

    In a separate pool there are as many workers as tasks that run at the same time, so a shard is
    likely to run in a worker that has its engine.
    """
    environment = spark.sparkContext.environment
    environment["EDDYLINE_WORKER_POOL"] = name
    try:
        yield
    finally:
        del environment["EDDYLINE_WORKER_POOL"]


def start_workers(spark: SparkSession, name: str) -> None:
    """Start the workers of a pool, and let them import what a job needs.

    This is done by a Spark job in a thread, with a task per core, for which nothing waits. If it
    fails, the job will fail with the same error.
    """
    session = spark
    if any(spark.conf.get(option) != value for option, value in WORKER_CONF.items()):
        session = spark.newSession()
        for option, value in WORKER_CONF.items():
            session.conf.set(option, value)
    cores = spark.sparkContext.defaultParallelism
    with worker_pool(spark, name):
        rows = session.range(0, cores, 1, cores).mapInArrow(_imported, "id long")

    def run() -> None:
        with suppress(Exception):  # whatever it is: the job needs the same workers
            rows.toArrow()

    threading.Thread(target=run, name="start of Python workers").start()


def _imported(rows: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import eddyline.spark.ingest
    import eddyline.spark.shard  # noqa: F401

    yield from rows
