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

#: So long ``await_workers`` waits at most, seconds: they take a few.
_MOST_S: Final = 15.0
#: By application, the thread that starts its workers.
_starting: Final[dict[str, threading.Thread]] = {}


def start_workers(spark: SparkSession) -> None:
    """Start the Python workers, and let them import what they need; once per application.

    This is done by a Spark job in a thread, a task per core, for which nothing waits. If it fails,
    the jobs of the session will fail with the same error. It uses no SQL, which Spark would have to
    load first.
    """
    context = spark.sparkContext
    if context.applicationId in _starting:
        return
    cores = context.defaultParallelism
    rows = context.parallelize(range(cores), cores).mapPartitions(_imported)
    thread = threading.Thread(target=_run, args=(rows,), name="start of Python workers")
    _starting[context.applicationId] = thread
    thread.start()


def await_workers(spark: SparkSession) -> None:
    """Wait until the workers have been started, or some seconds: Spark reports errors if it stops
    before.
    """
    thread = _starting.get(spark.sparkContext.applicationId)
    if thread is not None:
        thread.join(_MOST_S)


def _imported(rows: Iterable[int]) -> Iterator[int]:
    import eddyline.spark.workers.ingest
    import eddyline.spark.workers.shard  # noqa: F401

    yield from rows


def _run(rows: RDD[int]) -> None:
    with suppress(Exception):  # whatever it is: the job needs the same workers
        rows.collect()
