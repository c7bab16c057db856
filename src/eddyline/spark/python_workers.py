"""The Python workers of a job, which are started while the driver plans.

Spark keeps idle Python workers in one pool, with one daemon that forks them, per set of environment
variables. All tasks of a job use the same set, so there is one daemon, and a worker per core.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Final

from pyspark import RDD
from pyspark.sql import SparkSession

#: With the default, workers of functions on DataFrames have a variable that others have not.
WORKER_CONF: Final[Mapping[str, str]] = {
    "spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled": "false",
}

#: Applications whose workers have been started.
_started: set[str] = set()


def start_workers(spark: SparkSession) -> None:
    """Start the Python workers, and let them import what they need; once per application.

    This is done by a Spark job in a thread, a task per core, for which nothing waits. If it fails,
    the jobs of the session will fail with the same error. It uses no SQL, which Spark would have to
    load first.
    """
    context = spark.sparkContext
    if context.applicationId in _started:
        return
    _started.add(context.applicationId)
    cores = context.defaultParallelism
    rows = context.parallelize(range(cores), cores).mapPartitions(_imported)
    threading.Thread(target=_run, args=(rows,), name="start of Python workers").start()


def _imported(rows: Iterable[int]) -> Iterator[int]:
    import eddyline.spark.workers.ingest
    import eddyline.spark.workers.shard  # noqa: F401

    yield from rows


def _run(rows: RDD[int]) -> None:
    with suppress(Exception):  # whatever it is: the job needs the same workers
        rows.collect()
