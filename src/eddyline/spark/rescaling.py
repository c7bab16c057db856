"""Rescaling: another number of shards runs side by side, from the checkpoint of a stopped job.

The cells of the layouts, and so the engines with their states, are those of the first start; Spark
moves the states to another number of partitions. It does so as a batch of its own, without rows,
that takes effect when it is committed. One that was interrupted can be repeated.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Final

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from eddyline.errors import StateError
from eddyline.spark.environment import (
    JOB_CONF,
    LOCAL_CHECKPOINT_CONF,
    local_session,
    settings,
)
from eddyline.spark.partitioning.shard_ids import partition_of
from eddyline.spark.storage import files
from eddyline.spark.storage.directory import Directory
from eddyline.spark.storage.lease import Lease
from eddyline.spark.storage.program_file import SPARK_DIRECTORY, SavedProgram, read_program
from eddyline.spark.storage.spark_batches import SparkBatches, interruption, spark_batches

_PARTITIONS: Final = "spark.sql.shuffle.partitions"
_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class PlacedShard:
    """Where a shard runs.

    Attributes:
        layout, cell: how rows are dealt, in words, and its cell.
        partition: of Spark; shards in one partition run one after the other.
    """

    shard: int
    layout: str
    cell: int
    partition: int


@dataclass(frozen=True)
class Rescaled:
    """What :func:`rescale` has done.

    Attributes:
        before, shards: how many shards ran side by side, and how many do now.
        batch: Spark's id of the batch that moved the states; None: there was nothing to do.
        seconds: how long that took.
        placement: of the shards that the job had at its first start.
    """

    before: int
    shards: int
    batch: int | None
    seconds: float
    placement: tuple[PlacedShard, ...]


def rescale(checkpoint: str | Path, shards: int, spark: SparkSession | None = None) -> Rescaled:
    """Change how many shards of a stopped job run side by side.

    Its next start continues with this number, exactly where it stopped. To repeat a rescaling that
    was interrupted, or that is complete, does no harm.

    Args:
        checkpoint: of the job. shards: at most its ``max_shards``.
        spark: a Spark session that reaches the checkpoint; by default one on all cores of this
            machine.

    Raises:
        StateError: the job runs, or its last batch is not complete; another rescaling was
            interrupted; ``shards`` is too large; or the checkpoint cannot be read or written.
    """
    session = spark if spark is not None else local_session()
    path = files.qualified(session, str(checkpoint))
    repartition = partial(_repartition, session, path, shards)
    return rescale_directory(files.directory(session, path), shards, repartition)


def rescale_directory(
    checkpoint: Directory, shards: int, repartition: Callable[[], None]
) -> Rescaled:
    """As :func:`rescale`, with what moves the states.

    Args:
        repartition: moves them to ``shards`` partitions, as one batch in Spark's log.

    Raises:
        StateError: as of ``rescale``.
    """
    require_rescalable(checkpoint, shards)
    lease = Lease.take(checkpoint)
    lease.keep(lambda: True, lambda error: _log.error("%s", error))
    try:
        program, found = require_rescalable(checkpoint, shards)
        before = found.partitions or shards
        since = time.perf_counter()
        batch = None
        if before != shards:
            repartition()
            batch = spark_batches(checkpoint.below(SPARK_DIRECTORY)).committed
        seconds = time.perf_counter() - since
    finally:
        lease.release()
    return Rescaled(before, shards, batch, seconds, tuple(_placement(program, shards)))


def require_rescalable(checkpoint: Directory, shards: int) -> tuple[SavedProgram, SparkBatches]:
    """Check that a job can be rescaled now, but for its lease; returns its program and batches.

    Raises:
        StateError: it cannot, with what to do.
    """
    program = read_program(checkpoint)
    if program is None:
        raise StateError(f"{checkpoint.path} contains no program of a job")
    if not 1 <= shards <= program.max_shards:
        raise StateError(
            f"the job of {checkpoint.path} can have 1 to {program.max_shards} shards side by side, "
            f"not {shards}: into how many parts its rows are divided is fixed at the first start. "
            f"For more, start it from a new checkpoint with eddyline run --max-shards N"
        )
    found = spark_batches(checkpoint.below(SPARK_DIRECTORY))
    if found.partitions is None:
        raise StateError(
            f"no batch of the job of {checkpoint.path} has begun, so there is nothing to rescale: "
            f"start it with --shards {shards}"
        )
    if found.rescaled_to not in (None, shards):
        raise StateError(interruption(checkpoint, found))
    if found.begun > found.committed and found.rescaled_to is None:
        raise StateError(
            f"batch {found.begun} of the job of {checkpoint.path} is not complete, and has to be "
            f"repeated with {found.partitions} shards, so that its results are delivered once: "
            "start the job again, stop it after a batch (SIGTERM, or run.stop(after_batch=True)), "
            "and then rescale it"
        )
    return program, found


def _repartition(spark: SparkSession, path: str, partitions: int) -> None:
    """Let Spark move the states, as one batch.

    Raises:
        StateError: it failed; it can be repeated.
    """
    conf = {**JOB_CONF, _PARTITIONS: str(partitions)}
    if path.startswith("file:"):
        conf |= LOCAL_CHECKPOINT_CONF
    place = f"{path}/{SPARK_DIRECTORY}"
    try:
        with settings(spark, conf):
            spark._streamingCheckpointManager.repartition(place, partitions)
    except (PySparkException, Py4JJavaError) as e:
        raise StateError(
            f"rescaling {path} to {partitions} shards failed; repeat it: {files.message(e)}"
        ) from e


def _placement(program: SavedProgram, partitions: int) -> list[PlacedShard]:
    placed = [
        PlacedShard(shard, layout.text.partition(":")[0], cell, partition_of(shard, partitions))
        for layout in program.layouts
        for cell, shard in enumerate(layout.shards)
    ]
    return sorted(placed, key=lambda p: p.partition)
