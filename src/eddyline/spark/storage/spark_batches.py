"""The batches in Spark's part of a checkpoint: which have begun, and in how many partitions.

``offsets`` has an entry for each batch that has begun, with the settings of the query, and
``commits`` one for each that is complete. The number of partitions of the last committed batch is
the number of shards of a job that run side by side: nothing else says it, so that a rescaling takes
effect with one write of Spark. A batch that has begun with another number is a rescaling that was
interrupted.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from eddyline.errors import StateError
from eddyline.spark.storage.directory import Directory

_PARTITIONS: Final = "spark.sql.shuffle.partitions"


@dataclass(frozen=True)
class SparkBatches:
    """The last batches of a checkpoint.

    Attributes:
        begun, committed: the last batch that has begun, and the last that is complete; -1: none.
        partitions: of the last committed batch, or of the first if none is; None: none has begun.
        rescaled_to: number of partitions of an interrupted rescaling; None: there is none.
    """

    begun: int = -1
    committed: int = -1
    partitions: int | None = None
    rescaled_to: int | None = None


def spark_batches(spark: Directory) -> SparkBatches:
    """The last batches of Spark's part of a checkpoint.

    Raises:
        StateError: an entry of the log is missing or cannot be read.
    """
    begun, committed = (max(batch_ids(spark, log), default=-1) for log in ("offsets", "commits"))
    if max(begun, committed) < 0:
        return SparkBatches()
    partitions = _partitions(spark, max(committed, 0))
    last = partitions if begun <= committed else _partitions(spark, begun)
    return SparkBatches(begun, committed, partitions, None if last == partitions else last)


def batch_ids(spark: Directory, log: str) -> set[int]:
    """The batches with an entry in a log (``offsets`` or ``commits``)."""
    return {int(name) for name in spark.names(log) if name.isdigit()}


def planned_us(spark: Directory, batch: int) -> int:
    """The time at which a batch was planned first, in microseconds since 1970: the same when the
    batch is repeated.

    Raises:
        StateError: the entry of the log is missing or cannot be read.
    """
    return _logged(spark, batch, lambda entry: int(entry["batchTimestampMs"]) * 1_000)


def _partitions(spark: Directory, batch: int) -> int:
    """The number of partitions of a batch."""
    return _logged(spark, batch, lambda entry: int(entry["conf"][_PARTITIONS]))


def _logged(spark: Directory, batch: int, value: Callable[[dict[str, Any]], int]) -> int:
    """A value of the settings that Spark logs with a batch before it begins."""
    name = f"offsets/{batch}"
    try:
        lines = (spark.read(name) or b"").split(b"\n")
        return value(json.loads(lines[1]))
    except (ValueError, TypeError, KeyError, IndexError):
        raise StateError(
            f"{spark.path}/{name} is missing or cannot be read; restore the file from a copy of "
            "the checkpoint, or use another checkpoint"
        ) from None


def interruption(checkpoint: Directory, batches: SparkBatches) -> str | None:
    """What to do after a rescaling that was interrupted; None: there is none."""
    if batches.rescaled_to is None:
        return None
    return (
        f"rescaling {checkpoint.path} to {batches.rescaled_to} shards was interrupted: repeat "
        f"eddyline rescale {checkpoint.path} --shards {batches.rescaled_to}"
    )
