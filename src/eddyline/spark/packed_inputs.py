"""The inputs of a job's shards: live sources, the histories before them, and the heartbeat."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from pyspark.sql import DataFrame, SparkSession

from eddyline.algebra.catalog import StreamDef, TableDef
from eddyline.spark.exchange.batch_time import heartbeat
from eddyline.spark.history.job_history import StreamHistory, history_plan
from eddyline.spark.history.tickets import is_through, nothing, ticket_rows
from eddyline.spark.job_inputs import JobInputs
from eddyline.spark.layouts.added_layouts import added_shards
from eddyline.spark.layouts.key_splits import KeySplits
from eddyline.spark.layouts.layout_shards import LayoutShards, by_group
from eddyline.spark.script import QueryGroup, Script
from eddyline.spark.storage.job_checkpoint import Checkpoint
from eddyline.spark.storage.program_file import SPARK_DIRECTORY
from eddyline.spark.workers.ingest import Destination, TaskPacking, history_packing, packed_batches


class PackedInputs:
    """The packed batches of all inputs of a job.

    While histories are read, the live sources of their streams are empty ones, which Spark logs as
    not begun; those of other streams and of tables are read.

    Args:
        groups: of the job. rates: fixed keep rates by stream; {} if the shards decide.

    Raises:
        DataError, StateError: a history, or the checkpoint's plan of it, cannot be read.
    """

    def __init__(
        self,
        spark: SparkSession,
        checkpoint: Checkpoint,
        script: Script,
        inputs: JobInputs,
        groups: Sequence[QueryGroup],
        rates: Mapping[str, float],
    ) -> None:
        self._spark = spark
        self._checkpoint = checkpoint
        self._script = script
        self._inputs = inputs
        self._rates = rates
        self._log = checkpoint.directory.below(SPARK_DIRECTORY)
        self._plan = history_plan(
            spark,
            checkpoint.directory,
            list(self._histories(groups)),
            has_begun=bool(self._log.names("offsets")),
            cores=spark.sparkContext.defaultParallelism,
        )

    @property
    def reads_history(self) -> bool:
        """Whether a part of the histories has not been read and committed yet."""
        return self._plan is not None and not is_through(self._log, self._plan)

    def of(
        self, layouts: Sequence[LayoutShards], splits: KeySplits, control: DataFrame
    ) -> Callable[[], list[DataFrame]]:
        """The inputs of the layouts, and the control stream, in the same order at each start.

        Returns:
            A function that returns those of histories until all is read, and then the live ones.
        """
        live = [*self._live(layouts, splits, self._seams), *self._heartbeat(layouts), control]
        if self._plan is None:
            return lambda: live
        before = [
            *self._live(layouts, splits, self._seams, held=frozenset(self._plan.seams)),
            *self._heartbeat(layouts),
            control,
        ]
        packing = history_packing(self._packings(layouts, splits), self._checkpoint.path)
        read = ticket_rows(self._spark, self._checkpoint.directory, self._plan, packing)
        return lambda: [*(before if self.reads_history else live), read]

    @property
    def _seams(self) -> Mapping[str, int]:
        return {} if self._plan is None else self._plan.seams

    def _histories(self, groups: Sequence[QueryGroup]) -> Iterator[StreamHistory]:
        for group in groups:
            for name in group.streams:
                history = self._inputs.history(name)
                if history is not None:
                    stream = self._definition(name)
                    assert isinstance(stream, StreamDef), "not a table"
                    rows = partial(self._inputs.history_rows, name)
                    yield StreamHistory(stream, history, frozenset(group.streams), rows)

    def _live(
        self,
        layouts: Sequence[LayoutShards],
        splits: KeySplits,
        seams: Mapping[str, int],
        held: frozenset[str] = frozenset(),
    ) -> list[DataFrame]:
        """The live sources; those of ``held``, and all with a period, are empty."""
        packed = []
        for name, packing in self._packings(layouts, splits).items():
            if name in held or (self._inputs.period is not None and name in seams):
                packed.append(nothing(self._spark, self._checkpoint.directory))
                continue
            rows, read = self._inputs.source(name)
            to, definition, keep = packing
            place, seam = self._checkpoint.path, seams.get(name)
            packed.append(packed_batches(rows, read, to, definition, keep, place, seam))
        return packed

    def _packings(
        self, layouts: Sequence[LayoutShards], splits: KeySplits
    ) -> dict[str, TaskPacking]:
        """By input, how tasks of ingest pack its rows."""
        found = {}
        for group, own in by_group(layouts):
            for name in self._inputs.names(group):
                # None: the rate that the shard decides. Changes of tables are never dropped.
                is_fixed = self._script.options.keep or name not in group.streams
                keep = self._rates.get(name, 1.0) if is_fixed else None
                to = [
                    Destination(of.layout, of.ids, name in of.first_of, splits.counted(of))
                    for of in own
                ]
                found[name] = TaskPacking(to, self._definition(name), keep)
        return found

    def _heartbeat(self, layouts: Sequence[LayoutShards]) -> list[DataFrame]:
        """A heartbeat for the groups that need one."""
        timed = [of for of in layouts if self._needs_heartbeat(of.group)]
        if not timed:
            return []
        streams = frozenset(name for of in timed for name in of.group.streams)
        shards = [shard for of in timed for shard in of.ids]
        return [heartbeat(self._spark, shards, partial(added_shards, streams))]

    def _definition(self, name: str) -> StreamDef | TableDef:
        """The table; or the stream, with the session's limit if it declares no AHEAD AT MOST."""
        stream = self._script.streams.get(name)
        if stream is None:
            return self._script.tables[name]
        if stream.ahead_us is not None:
            return stream
        return replace(stream, ahead_us=self._script.options.ahead_us)

    def _needs_heartbeat(self, group: QueryGroup) -> bool:
        """Whether the watermark of a group can advance by time alone (IDLE AFTER), or rows may wait
        in joins for the next batch.
        """
        if self._script.options.latency is not None:
            return True
        return any(self._script.streams[name].idle_us is not None for name in group.streams)
