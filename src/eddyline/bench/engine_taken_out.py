"""A job without an engine: its shards unpack their rows and drop them.

Sources, ingest, shuffle, the stateful stage with its log, and delivery are those of the job. So its
time bounds that of the job from below.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from eddyline.spark import job
from eddyline.spark.workers.durable import EngineBatch
from eddyline.spark.workers.shard import ShardTasks
from eddyline.spark.workers.shard_engine import ShardEngine, StepOutput


class NoEngine(ShardEngine):
    """Unpacks rows, and drops them. The engine of the queries exists, but gets no rows."""

    def apply(self, batch: EngineBatch) -> list[StepOutput]:
        batch.rows()
        return []


class TasksWithoutEngine(ShardTasks):
    """The stateful stage without an engine."""

    engine_type = NoEngine


@contextmanager
def engine_taken_out() -> Iterator[None]:
    """Jobs that are started in the block have no engine."""
    with patch.object(job, "ShardTasks", TasksWithoutEngine):
        yield
