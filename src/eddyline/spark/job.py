"""Starting a job: checkpoint, sinks, inputs and the streaming query of a session's script."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, Final, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from eddyline.engine.query import Query
from eddyline.spark.delivery.delivery import Delivery, Reporter
from eddyline.spark.delivery.final_stage import FinalStage
from eddyline.spark.delivery.java_errors import with_short_errors
from eddyline.spark.delivery.sink_factory import SinkFactory
from eddyline.spark.delivery.sink_queues import SinkQueues
from eddyline.spark.environment import LOCAL_CHECKPOINT_CONF, job_conf, settings
from eddyline.spark.exchange.batch_time import publish_batch
from eddyline.spark.exchange.keep_rates import clear_keep_rates, publish_keep_rates
from eddyline.spark.exchange.packed_batches import OUTPUT_SCHEMA
from eddyline.spark.exchange.watched import publish_watched
from eddyline.spark.job_inputs import JobInputs
from eddyline.spark.job_shards import shard_specs
from eddyline.spark.job_sinks import alter_to, former_queries, open_sinks
from eddyline.spark.layouts.added_layouts import publish_layouts
from eddyline.spark.layouts.job_layouts import JobLayouts
from eddyline.spark.layouts.job_program import JobProgram
from eddyline.spark.layouts.key_splits import KeySplits
from eddyline.spark.layouts.layout_shards import LayoutShards, runs_of
from eddyline.spark.layouts.layout_tables import DIRECTORY as TABLES
from eddyline.spark.operation.answers import Answers
from eddyline.spark.operation.held_rows import HeldRowsWarning
from eddyline.spark.operation.mailbox import DIRECTORY as MAILBOX
from eddyline.spark.operation.mailbox import Mailbox
from eddyline.spark.operation.progress_tracker import ProgressTracker
from eddyline.spark.operation.run_parts import RunParts
from eddyline.spark.operation.running_queries import RunningQueries
from eddyline.spark.operation.script_delta import FirstStart
from eddyline.spark.operation.supervisor import NEVER, Restart, Supervisor
from eddyline.spark.packed_inputs import PackedInputs
from eddyline.spark.python_workers import WORKER_CONF, start_workers
from eddyline.spark.run import Run
from eddyline.spark.script import QueryGroup, Script
from eddyline.spark.sinks.printing import print_rows
from eddyline.spark.sinks.python_sink import SinkFunction
from eddyline.spark.sinks.rolling_files import DIRECTORY as PENDING
from eddyline.spark.sinks.sinks import MemorySink, Printer
from eddyline.spark.storage.control import DIRECTORY as CONTROL
from eddyline.spark.storage.control import ControlStream
from eddyline.spark.storage.control_compaction import fold_read_files
from eddyline.spark.storage.job_checkpoint import Checkpoint
from eddyline.spark.storage.lease import Lease
from eddyline.spark.storage.program_file import NAME as PROGRAM
from eddyline.spark.storage.program_file import SPARK_DIRECTORY
from eddyline.spark.storage.spark_batches import planned_us
from eddyline.spark.workers.processor import ShardProcessor
from eddyline.spark.workers.shard import ShardTasks

#: How far timestamps may be ahead of the wall clock if neither stream nor options have a limit.
AHEAD_AT_MOST: Final = "1 day"


@dataclass(frozen=True)
class JobOptions:
    """The options of a :class:`eddyline.spark.Session` that its job depends on."""

    shards: int | None = None
    max_shards: int | None = None
    trigger: str = "0 seconds"
    base: Path | None = None
    printer: Printer = print_rows
    restart: Restart = NEVER


class StartedJob(NamedTuple):
    """A started job with its sinks and queries."""

    run: Run
    sinks: SinkFactory
    queries: RunningQueries


class JobStarter:
    """Starts the job of a script.

    Args:
        inputs: sources of the script's streams and tables.
        memory: holds the rows of the sink ``memory``. functions: for sinks ``python``, by name.
    """

    def __init__(
        self,
        spark: SparkSession,
        checkpoint: Checkpoint,
        options: JobOptions,
        script: Script,
        inputs: JobInputs,
        memory: MemorySink,
        functions: Mapping[str, SinkFunction],
    ) -> None:
        self._spark = spark
        self._checkpoint = checkpoint
        self._options = options
        self._script = script
        self._inputs = inputs
        self._memory = memory
        self._functions = functions

    def start(
        self,
        groups: Sequence[QueryGroup],
        lease: Lease | None,
        *,
        available_now: bool,
        drop: Sequence[str],
    ) -> StartedJob:
        """Start the streaming query of all groups; see :meth:`eddyline.spark.Session.start`."""
        directory = self._checkpoint.directory
        program = self._program(groups)
        splits = self._key_splits(program.layouts)
        layouts = self._layouts(program, splits)
        former = former_queries(self._script, program)
        sinks = self._opened(groups, former)
        control = self._control()
        running = RunningQueries(
            self._script,
            layouts,
            control,
            sinks.open,
            FirstStart(self._began(), former),
            self._fixed_keep_rates,
            lambda: supervisor.is_active,
        )
        alter_to(self._script, running, directory, former)
        sinks.prepare(again=bool(directory.names(f"{SPARK_DIRECTORY}/offsets")))
        queues = SinkQueues(self._spark, sinks, self._checkpoint.path)
        final = FinalStage(running.divided, self._script.options.set_aside_after)
        tracker = ProgressTracker(
            layouts.groups, lambda: final.counts, queues.undelivered, queues.latencies.shown
        )
        running.allot_cores(program.shards, program.first_shards)
        for name in drop:
            running.drop(name)
        report = self._reporter(layouts, splits, tracker)
        answers = Answers(running, control, final)
        delivery = Delivery(sinks, queues, report, final, self._checkpoint.path, answers.step)
        mailbox = None
        if self._checkpoint.named:
            mailbox = Mailbox(directory.below(MAILBOX), running, tracker, delivery, answers)
        specs = shard_specs(self._spark, self._checkpoint, self._script, self._inputs, program)
        shards = ShardTasks(specs, self._checkpoint.path, control.by_shard() if drop else {})
        deliver = self._deliverer(layouts, delivery, running, tracker, final)
        packed = self._packed(groups)
        start = self._launcher(program, control, shards, deliver, splits, packed)
        supervisor = self._supervisor(start, shards, final, tracker, packed)
        parts = RunParts(running, tracker, answers, delivery, queues, mailbox)
        run = Run(self._checkpoint.path, supervisor, parts, lease, bounded=available_now)
        return StartedJob(run, sinks, running)

    # -- what the job consists of --------------------------------------

    def _program(self, groups: Sequence[QueryGroup]) -> JobProgram:
        program = JobProgram(
            self._checkpoint.directory,
            self._script,
            groups,
            self._options.shards,
            self._options.max_shards,
            self._spark.sparkContext.defaultParallelism,
        )
        program.warn()
        return program

    def _key_splits(self, layouts: Sequence[LayoutShards]) -> KeySplits:
        """The split keys; none where fixed keep rates drop rows, which are counted by shard."""
        of = [(of, runs_of(self._script, of)) for of in layouts]
        return KeySplits(self._checkpoint.directory, [] if self._fixed_keep_rates else of)

    def _layouts(self, program: JobProgram, splits: KeySplits) -> JobLayouts:
        return JobLayouts(
            self._script,
            program.layouts,
            program.max_shards,
            program.shards,
            self._spark.sparkContext.defaultParallelism,
            self._checkpoint.directory.below(TABLES),
            splits,
        )

    def _control(self) -> ControlStream:
        """The stream of requests to the shards, without files that are not needed any more."""
        requests = self._checkpoint.directory.below(CONTROL)
        spark = self._checkpoint.directory.below(SPARK_DIRECTORY)
        control = ControlStream(requests, spark)
        fold_read_files(requests, spark)
        return control

    def _began(self) -> str:
        """When the checkpoint was made."""
        began = self._checkpoint.directory.modified(PROGRAM)
        assert began is not None, "the checkpoint has been claimed"
        return began.isoformat(timespec="seconds")

    def _packed(self, groups: Sequence[QueryGroup]) -> PackedInputs:
        return PackedInputs(
            self._spark,
            self._checkpoint,
            self._script,
            self._inputs,
            groups,
            self._fixed_keep_rates,
        )

    def _supervisor(
        self,
        start: Callable[[bool], StreamingQuery],
        shards: ShardTasks,
        final: FinalStage,
        tracker: ProgressTracker,
        packed: PackedInputs,
    ) -> Supervisor:
        """The supervisor, which starts the streaming query with new shards each time."""

        def launch(bounded: bool) -> StreamingQuery:
            shards.launch()
            final.launch()
            return start(bounded)

        return Supervisor(
            launch,
            self._options.restart,
            lambda: tracker.progress().batch_id,
            lambda: packed.reads_history,
        )

    # -- what happens in each batch ------------------------------------

    def _deliverer(
        self,
        layouts: JobLayouts,
        delivery: Delivery,
        running: RunningQueries,
        tracker: ProgressTracker,
        final: FinalStage,
    ) -> Callable[[DataFrame, int], None]:
        """A function that delivers the results of a batch, and publishes what its shards need."""
        context = self._spark.sparkContext
        log = self._checkpoint.directory.below(SPARK_DIRECTORY)

        def deliver(packed: DataFrame, batch: int) -> None:
            publish_batch(context, batch, planned_us(log, batch))
            with layouts.batch(batch) as added:
                publish_layouts(context, added)
                layouts.tables.share(context, (a.tables for a in added if a.tables is not None))
                delivery(packed, batch)
            running.follow_batch([*tracker.aside(), *final.aside.items()])

        return deliver

    def _reporter(
        self, layouts: JobLayouts, splits: KeySplits, tracker: ProgressTracker
    ) -> Reporter:
        held = HeldRowsWarning()

        def report(batch: int, reports: list[dict[str, Any]], stats: Mapping[str, bytes]) -> None:
            held.check(reports)
            publish_keep_rates(self._spark.sparkContext, reports)
            layouts.note(batch, reports)
            splits.step(reports)
            splits.publish(self._spark.sparkContext)
            tracker.record(batch, reports, stats, splits.shown())
            publish_watched(self._spark.sparkContext, tracker.is_watched)

        return report

    @property
    def _fixed_keep_rates(self) -> Mapping[str, float]:
        """Keep rates of the session's option ``keep``; empty if the engines decide."""
        return self._script.keep_rates if self._script.options.keep else {}

    def _launcher(
        self,
        program: JobProgram,
        control: ControlStream,
        shards: ShardTasks,
        deliver: Callable[[DataFrame, int], None],
        splits: KeySplits,
        packed: PackedInputs,
    ) -> Callable[[bool], StreamingQuery]:
        """A function that starts the streaming query: over histories until they are read, and then
        over the live sources; True: over the input that they have now.
        """
        inputs = packed.of(program.layouts, splits, control.packed_batches(self._spark))

        def launch(bounded: bool) -> StreamingQuery:
            start_workers(self._spark)
            clear_keep_rates(self._spark.sparkContext)
            splits.begin()
            splits.publish(self._spark.sparkContext)
            more = {**WORKER_CONF, "spark.sql.shuffle.partitions": str(program.shards)}
            conf = job_conf(self._spark, more)
            if self._checkpoint.path.startswith("file:"):
                conf |= LOCAL_CHECKPOINT_CONF
            with settings(self._spark, conf):
                results = (
                    reduce(DataFrame.unionAll, inputs())
                    .groupBy("shard")
                    .transformWithStateInPandas(
                        ShardProcessor(shards), OUTPUT_SCHEMA, "Append", "None"
                    )
                )
                writer = results.writeStream.foreachBatch(with_short_errors(deliver)).option(
                    "checkpointLocation", f"{self._checkpoint.path}/{SPARK_DIRECTORY}"
                )
                if packed.reads_history:  # as fast as possible; its end is the supervisor's
                    return writer.trigger(processingTime="0 seconds").start()
                if bounded:
                    return writer.trigger(availableNow=True).start()
                return writer.trigger(processingTime=self._options.trigger).start()

        return launch

    def _opened(self, groups: Sequence[QueryGroup], former: Mapping[str, Query]) -> SinkFactory:
        sinks = SinkFactory(
            self._spark,
            self._options.base,
            self._options.printer,
            self._checkpoint.job_id(),
            self._memory,
            self._checkpoint.directory.below(PENDING),
            self._functions,
        )
        open_sinks(
            sinks, {**self._script.queries, **former}, groups, self._inputs, self._checkpoint
        )
        return sinks
