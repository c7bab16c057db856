"""What Spark sees of the stateful stage.

Before the first batch Spark starts a process that only asks the processor for its state variables,
while the batch waits. So this module imports nothing, and the processor is unpickled in two steps:
what it does is loaded with the first rows.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, Protocol

from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle

if TYPE_CHECKING:
    import pandas as pd
    from pyspark.sql.streaming.stateful_processor import TimerValues

COMMIT_SCHEMA: Final = "record STRING"
LOG_KEY_SCHEMA: Final = "number BIGINT"
SNAPSHOT_KEY_SCHEMA: Final = "name BIGINT, chunk BIGINT"
BLOB_SCHEMA: Final = "blob BINARY"


class Shards(Protocol):
    """The shards of the job, in a task: see ``shard.py``."""

    def open(self, commit: Any, log: Any, snapshots: Any) -> None:
        """Called once per task that has rows, with its state variables."""

    def process(self, shard: int, rows: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        """Called once per batch for each shard with packed batches in it."""


class ShardProcessor(StatefulProcessor):
    """Runs the shards whose keys Spark assigns to a task."""

    def __init__(self, shards: Shards) -> None:
        self._shards: Shards | None = shards

    def __getstate__(self) -> bytes:
        code: bytes = cloudpickle.dumps(self._shards)  # type: ignore[no-untyped-call]  # no types
        return code

    def __setstate__(self, code: bytes) -> None:
        self._code = code
        self._shards = None

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Called by Spark for every task."""
        self._states = (
            handle.getValueState("commit", COMMIT_SCHEMA),
            handle.getMapState("log", LOG_KEY_SCHEMA, BLOB_SCHEMA),
            handle.getMapState("snapshot", SNAPSHOT_KEY_SCHEMA, BLOB_SCHEMA),
        )

    def handleInputRows(
        self, key: Any, rows: Iterator[pd.DataFrame], timerValues: TimerValues
    ) -> Iterator[pd.DataFrame]:
        """Called by Spark once per batch for each shard with packed batches in it."""
        if self._shards is None:
            self._shards = pickle.loads(self._code)
            self._shards.open(*self._states)
        yield from self._shards.process(int(key[0]), rows)

    def close(self) -> None:
        """Does nothing: the engines stay cached in the worker."""
