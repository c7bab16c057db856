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
import sys
from pathlib import Path

from eddyline.bulk import without_collections


def without_archive(path: list[str]) -> list[str]:
    """The module path without Spark's archive of PySpark, where the package is installed as well.

    Spark puts ``pyspark.zip`` first. Python compiles modules of an archive anew in each process,
    1 s of CPU time at the start of a job. A Spark that is installed as a package has both, with
    equal modules; another one keeps its archive.
    """
    return [entry for entry in path if not _is_installed_beside(Path(entry), path)]


def _is_installed_beside(entry: Path, path: list[str]) -> bool:
    if entry.name != "pyspark.zip" or len(entry.parents) < 4:
        return False
    package = entry.parents[2]  # PACKAGE/python/lib/pyspark.zip
    return (package / "__init__.py").is_file() and str(package.parent) in path


sys.path[:] = without_archive(sys.path)

with without_collections():  # what is imported stays
    import pyspark.worker  # noqa: F401 - for the workers
    from pyspark import daemon

    import eddyline.kernels.compiler
    import eddyline.spark.workers.ingest
    import eddyline.spark.workers.shard  # noqa: F401 - for the workers

if __name__ == "__main__":
    gc.freeze()  # no worker's garbage collection touches, and so copies, what all share
    daemon.manager()
