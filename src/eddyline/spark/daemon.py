"""Spark's daemon of Python workers, with what every worker imports.

Spark forks each worker from a daemon. PySpark's own daemon imports next to nothing, so every worker
would import Arrow, Numba and Eddyline itself, before its first batch. Used by sessions that
Eddyline creates, and by others with ``spark.python.daemon.module=eddyline.spark.daemon``.

A process is forked safely while it has no thread that may hold a lock: Spark sets
``OMP_NUM_THREADS`` to 1, so NumPy starts none, and the thread of Arrow's allocator is stopped and
continued by the allocator itself.
"""

from __future__ import annotations

import gc

from eddyline.spark.gc_control import gc_paused

with gc_paused():  # what is imported stays
    import pyspark.worker  # noqa: F401 - for the workers
    from pyspark import daemon

    import eddyline.spark.workers.ingest
    import eddyline.spark.workers.shard  # noqa: F401 - for the workers

if __name__ == "__main__":
    gc.freeze()  # no worker's garbage collection touches, and so copies, what all share
    daemon.manager()
