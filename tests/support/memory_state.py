"""Spark's state variables as dictionaries, and a shard that loses its worker."""

from __future__ import annotations

from typing import Any

from eddyline.spark.exchange.row_files import ShardFiles
from eddyline.spark.workers.batch_log import BatchLog
from eddyline.spark.workers.durable import CommitRecord, DurableState, EngineBatch
from eddyline.spark.workers.shard_engine import ShardEngine


class OneValue:
    """Spark's ValueState."""

    def __init__(self) -> None:
        self.value: tuple[Any, ...] | None = None

    def get(self) -> tuple[Any, ...] | None:
        return self.value

    def update(self, newValue: tuple[Any, ...]) -> None:
        self.value = newValue


class ManyValues(dict[tuple[Any, ...], tuple[Any, ...]]):
    """Spark's MapState."""

    def getValue(self, key: tuple[Any, ...]) -> tuple[Any, ...] | None:
        return self.get(key)

    written = 0

    def updateValue(self, key: tuple[Any, ...], value: tuple[Any, ...]) -> None:
        self[key] = value
        self.written += len(value[0])

    def take_written(self) -> int:
        """Number of bytes written since the last call."""
        written, self.written = self.written, 0
        return written

    def removeKey(self, key: tuple[Any, ...]) -> None:
        del self[key]


class MemoryState:
    """The durable state of one shard.

    Args:
        files: of the shard.
    """

    def __init__(self, files: ShardFiles) -> None:
        state = OneValue(), BatchLog(ManyValues()), ManyValues()
        self._durable = DurableState(*state, "the model", files)

    def commit(self, record: CommitRecord, batch: EngineBatch, engine: ShardEngine) -> None:
        """Commit a batch that the engine has processed."""
        record.version += 1
        record.token = str(record.version)
        self._durable.commit(record, batch, engine)

    def rebuilt(self) -> tuple[CommitRecord, ShardEngine] | None:
        """Record and engine, as another worker rebuilds them; None before the first batch."""
        record = self._durable.commit_record()
        if record is None:
            return None
        engine = self._durable.restored(record, ShardEngine.load)
        for batch in self._durable.logged(record):
            engine.apply(batch)
        return record, engine
