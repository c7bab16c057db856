"""The Session: standing queries over Spark's streams, as one job."""

from __future__ import annotations

import hashlib
import logging
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.streaming.query import StreamingQuery

from eddyline.algebra.catalog import Known, StreamDef, TimeUnit
from eddyline.algebra.functions import FunctionKind
from eddyline.algebra.plan import Updates
from eddyline.engine.changes import QUERY_COLUMN
from eddyline.engine.ingest.intake import bad_schema, late_schema
from eddyline.engine.ingest.sampled import as_options
from eddyline.engine.ingest.table_changes import INSTANT, OPERATION
from eddyline.engine.options import (
    DEFAULT_STRATEGY,
    DEFAULTS,
    EngineOptions,
    StrategyOptions,
)
from eddyline.engine.query import Query
from eddyline.errors import CatalogError, DataError, did_you_mean
from eddyline.spark import files
from eddyline.spark.batch_time import heartbeat, timed
from eddyline.spark.control import DIRECTORY as CONTROL
from eddyline.spark.control import ControlStream
from eddyline.spark.delivery import Delivery
from eddyline.spark.directory import path_segment
from eddyline.spark.environment import (
    JOB_CONF,
    LOCAL_CHECKPOINT_CONF,
    local_session,
    settings,
    worker_pool,
)
from eddyline.spark.feeds import Feeds
from eddyline.spark.formats import side_options
from eddyline.spark.garbage import put_off
from eddyline.spark.ingest import fat_rows
from eddyline.spark.keep_rates import announce, forget
from eddyline.spark.lease import Lease
from eddyline.spark.ledger import Ledger
from eddyline.spark.mailbox import DIRECTORY as DESK
from eddyline.spark.mailbox import Desk
from eddyline.spark.packed_batches import OUTPUT_SCHEMA, pack
from eddyline.spark.partitioning import cores_by_group, shard_ids
from eddyline.spark.printing import print_rows
from eddyline.spark.program import Program, SentProgram, ShardSpec
from eddyline.spark.program_file import NAME as PROGRAM
from eddyline.spark.program_file import (
    SPARK_DIRECTORY,
    SavedProgram,
    read_program,
    write_program,
)
from eddyline.spark.run import Run
from eddyline.spark.running_queries import StandingQueries
from eddyline.spark.same_program import require_same
from eddyline.spark.script import Group, Script, assigned
from eddyline.spark.shard import EngineProcessor
from eddyline.spark.sink_factory import OpenSinks
from eddyline.spark.sinks import FileSink, MemorySink, Printer, Target
from eddyline.spark.sources import arrow_fields, resolve_path
from eddyline.spark.supervisor import NEVER, Restart, Supervisor
from eddyline.sql.durations import parse_duration
from eddyline.sql.naming import quoted, require_name
from eddyline.types import TIMESTAMP, sql_type

_MARKS: Final = (INSTANT.name, OPERATION.name)
#: How far timestamps may be ahead of the wall clock if neither stream nor options have a limit.
_AHEAD_AT_MOST: Final = "1 day"
#: What nobody knows of the columns of a stream.
NOTHING: Final[Mapping[str, float]] = MappingProxyType({})
_log = logging.getLogger(__name__)


class Session:
    """Streams, tables and queries, to be started as one Spark job.

    Args:
        spark: a Spark session; by default one on all cores of this machine.
        shards: how many partitions the engines spread over; by default 1.
        checkpoint: where the job keeps its progress and state, on any file system that Spark
            reaches. A session started with the same program and checkpoint continues exactly where
            the last one stopped. By default a directory that goes when this process ends.
        trigger: shortest time between two batches (Spark's ``processingTime``).
        base: directory from which relative paths in statements count; by default the working one.
        printer: what the sink ``print`` calls; by default it writes to standard output.
        options: see :class:`eddyline.EngineOptions`. With ``keep`` rows are dropped where they are
            read. ``capacity`` is spread evenly over the groups of streams that no query joins; an
            engine runs on one core, so a group never gets more. SET statements of the script can
            change them before the first query; a checkpoint keeps them.
        strategy: see :class:`eddyline.StrategyOptions`; a checkpoint keeps it.
        restart: whether the streaming query is started again in this process when it has failed:
            ``ON_FAILURE``, or a ``Restart`` with other limits.

    Example:
        >>> s = Session(checkpoint="/data/checkpoints/alerts")        # doctest: +SKIP
        >>> s.sql("CREATE STREAM trades (...) TIMESTAMP BY ts ...")   # doctest: +SKIP
        >>> s.query("spikes", "SELECT ...")                           # doctest: +SKIP
        >>> run = s.start()                                           # doctest: +SKIP
    """

    def __init__(
        self,
        spark: SparkSession | None = None,
        *,
        shards: int = 1,
        checkpoint: str | Path | None = None,
        trigger: str = "0 seconds",
        base: Path | None = None,
        printer: Printer = print_rows,
        options: EngineOptions = DEFAULTS,
        strategy: StrategyOptions = DEFAULT_STRATEGY,
        restart: Restart = NEVER,
    ) -> None:
        if shards < 1:
            raise ValueError(f"shards must be at least 1, not {shards}")
        self.spark = spark if spark is not None else local_session(shards)
        self._shards = shards
        self._scratch = tempfile.TemporaryDirectory(prefix="eddyline-")
        self._checkpoint = files.qualified(self.spark, str(checkpoint or self._scratch.name))
        self._directory = files.directory(self.spark, self._checkpoint)
        self._is_named = checkpoint is not None
        self._trigger = trigger
        self._base = base
        self._printer = printer
        self._restart = restart
        ahead = options.ahead_at_most or _AHEAD_AT_MOST
        self._script = Script(replace(options, ahead_at_most=ahead), strategy)
        self._feeds = Feeds(self.spark, self._script, base)
        self._memory = MemorySink()  # it stays when the job is started again
        self._sinks: OpenSinks | None = None  # of the job that was started last
        self._standing: StandingQueries | None = None  # of the job that was started last

    def sql(self, script: str) -> list[Query | str | None]:
        """Take in the statements of a script: what each makes (a query), explains (text), or None.

        Raises:
            SqlError, CatalogError: a statement is wrong; those before it have taken effect.
        """
        with put_off():
            return [made for _, made in self._script.run(script)]

    def stream(
        self,
        name: str,
        df: DataFrame,
        timestamp: str,
        lateness: str = "0 seconds",
        *,
        idle_after: str | None = None,
        ahead_at_most: str | None = None,
        ts_unit: TimeUnit | None = None,
        lateness_by: Literal["batch", "row"] = "batch",
        rate: float | None = None,
        distinct: Mapping[str, float] = NOTHING,
    ) -> None:
        """Add a stream from a streaming DataFrame.

        Args:
            name: how queries call it.
            df: its columns are the stream's.
            timestamp: the column that is the event time.
            lateness: how far a row may be behind the latest one; "5 seconds". lateness_by: whether
                that is judged by the batches before, or by the rows before, one by one.
            idle_after: after so long without rows the streams beside it do not wait for it; by
                default they always do.
            ahead_at_most: how far timestamps may be ahead of the wall clock; by default as far as
                the session says.
            ts_unit: what numbers in the timestamp column count since 1970: s, ms, us or ns.
            rate: rows per second, if known. distinct: how many values columns take, by column.

        Raises:
            DataError: the DataFrame is not streaming, or has a column that streams cannot have.
        """
        require_name(name)
        what = f"stream '{name}'"
        if not df.isStreaming:
            raise DataError(f"{what}: the DataFrame is static; make it with spark.readStream")
        fields = arrow_fields(what, df)
        if ts_unit is not None:
            fields = tuple(
                replace(f, type=TIMESTAMP) if f.name.lower() == timestamp.lower() else f
                for f in fields
            )
        columns = ", ".join(f"{quoted(f.name)} {sql_type(f.type)}" for f in fields)
        options = [f"lateness_by = '{lateness_by}'"] if lateness_by != "batch" else []
        options += [] if ts_unit is None else [f"ts_unit = '{ts_unit}'"]
        clauses = {"LATENESS": lateness, "IDLE AFTER": idle_after, "AHEAD AT MOST": ahead_at_most}
        self.sql(
            f"CREATE STREAM {quoted(name)} ({columns}) TIMESTAMP BY {quoted(timestamp)}"
            + "".join(
                f" {words} {parse_duration(length)} MICROSECONDS"
                for words, length in clauses.items()
                if length is not None
            )
            + _with(Known(rate, None, distinct), *options)
        )
        self._feeds.give_frame(name, df)

    def table(
        self,
        name: str,
        df: DataFrame,
        *,
        updates: Updates = "static",
        changes: DataFrame | None = None,
        rows: float | None = None,
        rate: float | None = None,
        distinct: Mapping[str, float] = NOTHING,
    ) -> None:
        """Add a table with the content that the DataFrame has now; or one that changes.

        Args:
            name: how queries call it.
            df: its content before everything; or, if streaming, its changes: the columns ``_ts``
                (when), perhaps ``_op`` (``+``, the default, or ``-``), and the table's.
            updates: what a change means for earlier results: ``retroactive`` changes them,
                ``non-retroactive`` does not. A ``static`` table does not change.
            changes: the changes of a table whose content before everything is ``df``.
            rows: that the table holds, if known. rate: rows that are added per second.
            distinct: how many values columns take, by column.

        Raises:
            DataError: a DataFrame is streaming where it must not be, or the other way round, or has
                a column that tables cannot have.
        """
        require_name(name)
        what = f"table '{name}'"
        if updates == "static" and (df.isStreaming or changes is not None):
            raise DataError(
                f"{what}: the DataFrame is a stream; declare it with stream(), or say what its "
                "changes mean by updates='retroactive' or 'non-retroactive'"
            )
        if changes is not None and (df.isStreaming or not changes.isStreaming):
            raise DataError(f"{what}: df is its content, static, and changes are a stream")
        fields = [f for f in arrow_fields(what, df) if not (df.isStreaming and f.name in _MARKS)]
        columns = ", ".join(f"{quoted(f.name)} {sql_type(f.type)}" for f in fields)
        with_ = _with(Known(rate, rows, distinct), f"updates = '{updates}'")
        self.sql(f"CREATE TABLE {quoted(name)} ({columns}){with_}")
        if not df.isStreaming:
            self._feeds.give_content(name, df.toArrow())
        changes = df if df.isStreaming else changes
        if changes is not None:
            self._feeds.give_frame(name, changes)

    def function(
        self,
        name: str,
        evaluate: Callable[..., Any],
        *,
        args: Sequence[str],
        returns: str,
        kind: FunctionKind = "arrow",
    ) -> None:
        """Define a scalar function of SQL in Python, for the statements to come.

        The code goes to Spark's workers as that of Spark's own Python functions does: modules that
        it imports must be there. A restart calls the code that it is given then; it must be the
        same, or results that are taken back may not be those that were delivered.

        Args:
            name, evaluate, args, returns, kind: as of :meth:`eddyline.Engine.function`.

        Raises:
            CatalogError: the name is taken. SqlError: a type is unknown.
        """
        self._script.function(name, evaluate, args, returns, kind)

    def query(self, name: str, select: str, **sink: str) -> Query:
        """Add a standing query.

        Args:
            name: of the query.
            select: a SELECT, with EMIT if wanted.
            sink: options as in WITH: ``sink="parquet", path="..."``; by default rows are printed.

        Raises:
            SqlError, CatalogError: the SELECT is wrong, or the name taken. DataError: the sink is
                unknown, or one of its options is wrong.
        """
        return self._script.query(name, select, sink)

    @property
    def queries(self) -> Mapping[str, Query]:
        """The queries by name, once started those of the job: see :meth:`Run.add`."""
        return self._script.queries if self._standing is None else self._standing.queries

    def start(self, *, available_now: bool = False, drop: Sequence[str] = ()) -> Run:
        """Check sources and sinks, and start one streaming query for all standing queries.

        Queries that were added to the job while it ran before are there again, dropped ones gone.

        Args:
            available_now: process what the sources hold now, in batches as they are configured, and
                stop; ``run.finish()`` then also processes what is held for the watermark.
            drop: queries to drop before anything is processed, a batch that is repeated included:
                for those that the job cannot run with.

        Raises:
            CatalogError: there is no query, or no such stream to be thinned.
            DataError: a source or sink is missing or does not fit.
            StateError: the checkpoint belongs to another program, cannot be read or written, or is
                in use by another session or process.
        """
        self._require_streams(self._script.options.keep)
        groups = self._script.groups()
        if not groups:
            raise CatalogError("there is no query to run: add one with query() or CREATE QUERY")
        lease = self._lease()
        try:
            return self._started(groups, lease, available_now, drop)
        except BaseException:
            if lease is not None:
                lease.release()
            raise

    def _started(
        self, groups: list[Group], lease: Lease | None, available_now: bool, drop: Sequence[str]
    ) -> Run:
        program = self._claim_checkpoint(groups)
        self._warn(program)
        ids = assigned(groups, program.queries)
        run_key = hashlib.sha256(self._checkpoint.encode()).hexdigest()[:16]
        ledger = Ledger({shard: ", ".join(group.streams) for shard, group in ids.items()})
        self._sinks = sinks = self._open_sinks(groups, run_key)

        def report(
            batch: int, reports: list[dict[str, Any]], accounts: Mapping[str, bytes]
        ) -> None:
            announce(self.spark.sparkContext, reports)
            ledger.record(batch, reports, accounts)

        delivery = Delivery(sinks, report)
        specs = {shard: self._spec(shard, group, run_key, program) for shard, group in ids.items()}
        control = ControlStream(self._directory.below(CONTROL))
        began = self._directory.modified(PROGRAM)
        assert began is not None, "the checkpoint has been claimed"
        keep = self._script.options.keep
        thinned = self._script.thinned if keep else {}
        since = began.isoformat(timespec="seconds")
        standing = StandingQueries(self._script, ids, control, sinks.open, since, thinned)
        for name in drop:
            standing.drop(name)
        requests = control.by_shard() if drop else {}
        desk = None  # who else knows a directory that has no name?
        if self._is_named:
            desk = Desk(self._directory.below(DESK), standing, ledger, delivery)
        inputs = [
            fat_rows(
                *self._feeds.source(name),
                shard,
                self._judged(self._feeds.definition(name)),
                thinned.get(name, 1.0) if keep or name not in group.streams else None,
            )
            for shard, group in ids.items()
            for name in self._feeds.inputs(group)
        ]
        inputs += [self._heartbeat(s) for s, group in ids.items() if self._waits(group)]

        def launch(bounded: bool) -> StreamingQuery:
            forget(self.spark.sparkContext)
            conf = {**JOB_CONF, "spark.sql.shuffle.partitions": str(self._shards)}
            if self._checkpoint.startswith("file:"):
                conf |= LOCAL_CHECKPOINT_CONF
            with settings(self.spark, conf), worker_pool(self.spark, run_key):
                results = (
                    reduce(DataFrame.unionAll, [*inputs, control.fat_rows(self.spark)])
                    .groupBy("shard")
                    .transformWithStateInPandas(
                        EngineProcessor(specs, uuid4().hex, self._checkpoint, requests),
                        OUTPUT_SCHEMA,
                        "Append",
                        "None",
                    )
                )
                writer = results.writeStream.foreachBatch(delivery).option(
                    "checkpointLocation", f"{self._checkpoint}/{SPARK_DIRECTORY}"
                )
                if bounded:
                    return writer.trigger(availableNow=True).start()
                return writer.trigger(processingTime=self._trigger).start()

        supervisor = Supervisor(launch, self._restart, lambda: ledger.progress().batch_id)
        place = self._checkpoint
        run = Run(place, supervisor, standing, control, ledger, desk, lease, bounded=available_now)
        self._standing = standing
        return run

    def results(self, name: str, *, streaming: bool = False) -> DataFrame:
        """The changes of a query so far; ``late:stream``, ``bad:stream``, ``bad:query`` likewise.

        Args:
            name: a query whose sink is ``memory`` or files, or a side output.
            streaming: as a stream of changes; for file sinks only.

        Raises:
            CatalogError: there is no such output, or its sink cannot be read back.
        """
        known = [] if self._sinks is None else self._sinks.labels()
        opened = None if self._sinks is None else self._sinks.find(name)
        if opened is None:
            hint = did_you_mean(name, known) if known else "start() comes first"
            raise CatalogError(f"there are no results of '{name}'; {hint}")
        target, _, sink = opened
        if isinstance(sink, MemorySink) and not streaming:
            return self.spark.createDataFrame(sink.table(target))
        if isinstance(sink, FileSink):
            rows = self._read_back(sink, streaming)
            if not sink.shared:
                return rows
            return rows.where(F.col(QUERY_COLUMN) == target.name).drop(QUERY_COLUMN)
        raise CatalogError(
            f"'{name}' goes to a sink that is not read back here; declare it "
            "WITH (sink = 'memory'), or a file format with a path"
        )

    def _read_back(self, sink: FileSink, streaming: bool) -> DataFrame:
        schema = from_arrow_schema(sink.schema)
        if streaming:
            files.directory(self.spark, sink.path).make()
            return self.spark.readStream.schema(schema).format(sink.format).load(sink.path)
        if not files.exists(self.spark, sink.path):
            return self.spark.createDataFrame([], schema)
        return self.spark.read.schema(schema).format(sink.format).load(sink.path)

    def _judged(self, stream: StreamDef) -> StreamDef:
        """A stream with the limit of the session, if it has none of its own."""
        if stream.ahead_us is not None or stream.name not in self._script.streams:
            return stream
        return replace(stream, ahead_us=self._script.options.ahead_us)

    def _waits(self, group: Group) -> bool:
        """Whether the streams of a group stop waiting for one of them when time passes."""
        streams = [self._script.streams[name] for name in group.streams]
        return len(streams) > 1 and any(s.idle_us is not None for s in streams)

    def _heartbeat(self, shard: int) -> DataFrame:
        """The time for a shard, once a second, also while no rows come."""
        ticks = self.spark.readStream.format("rate").option("rowsPerSecond", 1).load()
        return timed(heartbeat(ticks, shard))

    def _spec(self, shard: int, group: Group, run_key: str, saved: SavedProgram) -> ShardSpec:
        program = Program(
            self._script.definitions,
            tuple(self._script.statement(name) for name in group.queries),
            {name: pack(self._feeds.content(name)) for name in group.tables},
            self._script.functions,
            replace(saved.options, capacity=saved.cores[shard]),
            saved.strategy,
        )
        return ShardSpec(
            shard,
            run_key,
            group.streams,
            group.live,
            SentProgram(self.spark.sparkContext, program),
        )

    def _open_sinks(self, groups: Sequence[Group], job: str) -> OpenSinks:
        sinks = OpenSinks(self.spark, self._base, self._printer, job, self._memory)
        sinks.open_bad_rows(f"{self._checkpoint}/bad_rows_of_queries")
        for group in groups:
            sinks.open_first(self._script.queries[name] for name in group.queries)
            for name in self._feeds.inputs(group):
                for target, options in self._side_outputs(name):
                    sinks.open_side(target, options)
        return sinks

    def _side_outputs(self, name: str) -> Iterator[tuple[Target, Mapping[str, str]]]:
        """Where late and bad rows go: ``late_sink``, ``late_path`` ... or the checkpoint."""
        definition = self._feeds.definition(name)
        options = resolve_path(definition.options, self._base)
        for target in (
            Target("late", name, late_schema(definition.schema)),
            Target("bad", name, bad_schema(definition.schema)),
        ):
            own = side_options(options, f"{target.kind}_")
            path = f"{self._checkpoint}/{target.kind}/{path_segment(name)}"
            yield target, own or {"sink": "parquet", "path": path}

    def _require_streams(self, names: Iterable[str]) -> None:
        streams = self._script.streams
        for name in names:
            if name not in streams:
                raise CatalogError(f"there is no stream {name!r}; {did_you_mean(name, streams)}")

    def _warn(self, program: SavedProgram) -> None:
        """Say so if the capacity is more than engines can use, or the queries need more than it."""
        usable = sum(program.cores.values())
        capacity = program.options.capacity
        if capacity is not None and capacity > usable * 1.001:
            _log.warning(
                "of capacity %g no more than %g cores can be used: each group of streams that "
                "queries bring together runs on one core at most",
                capacity,
                usable,
            )
        cores = [program.cores[s] for s in assigned(self._script.groups(), program.queries)]
        if not program.options.keep:
            for _, _, advice in self._script.verdicts(cores):
                if advice is not None:
                    _log.warning("the queries are too much: %s", advice)

    def _lease(self) -> Lease | None:
        """The lease of the checkpoint; None where no other session can know it.

        Raises:
            StateError: another session has it.
        """
        self._directory.make()
        return Lease.take(self._directory) if self._is_named else None

    def _claim_checkpoint(self, groups: Sequence[Group]) -> SavedProgram:
        """The program that the checkpoint belongs to, which a new checkpoint is given. Its prices
        and cores are those of the first start: the state fits plans that were chosen by them.

        Raises:
            StateError: the checkpoint belongs to a program that differs from this one, or cannot be
                read or written.
        """
        ids = shard_ids(len(groups), self._shards)
        there = self.spark.sparkContext.defaultParallelism
        cores = cores_by_group(len(groups), self._shards, there, self._script.options.capacity)
        program = SavedProgram(
            self._shards,
            self._script.definitions,
            {
                shard: {name: self._script.statement(name) for name in group.queries}
                for shard, group in zip(ids, groups, strict=True)
            },
            tuple(map(str, self._script.functions)),
            dict(zip(ids, cores, strict=True)),
            self._script.options,
            self._script.strategy,
        )
        saved = read_program(self._directory)
        if saved is not None:
            require_same(self._checkpoint, saved, program, self._script.functions)
            return saved
        write_program(self._directory, program)
        for place in (SPARK_DIRECTORY, "late", "bad"):
            self._directory.make(place)  # for the owner only, before others write there
        return program


def _with(known: Known, *options: str) -> str:
    """A WITH clause that declares what is known, with further options; "" if there is nothing."""
    declared = [*options, *filter(None, [as_options(known, digits=15)])]
    return f" WITH ({', '.join(declared)})" if declared else ""
