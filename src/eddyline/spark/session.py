"""The Session: standing queries over Spark's streams, as one job."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from eddyline.algebra.catalog import DeclaredSizes, TimeUnit
from eddyline.algebra.functions import FunctionKind
from eddyline.algebra.plan import Updates
from eddyline.bulk import without_collections
from eddyline.engine.changes import QUERY_COLUMN
from eddyline.engine.instants import instant_us
from eddyline.engine.options import DEFAULT_STRATEGY, DEFAULTS, EngineOptions, StrategyOptions
from eddyline.engine.query import Query
from eddyline.engine.settings import Settings
from eddyline.errors import CatalogError, DataError, did_you_mean
from eddyline.spark.delivery.sink_factory import SinkFactory
from eddyline.spark.environment import local_session
from eddyline.spark.job import AHEAD_AT_MOST, JobOptions, JobStarter
from eddyline.spark.job_inputs import JobInputs
from eddyline.spark.operation.running_queries import RunningQueries
from eddyline.spark.operation.supervisor import NEVER, Restart
from eddyline.spark.run import Run
from eddyline.spark.script import Script
from eddyline.spark.sinks.printing import print_rows
from eddyline.spark.sinks.python_sink import SinkFunction
from eddyline.spark.sinks.sinks import FileSink, MemorySink, Printer
from eddyline.spark.sinks.spark_formats import read_back
from eddyline.spark.sources.frames import create_stream, create_table, history_texts
from eddyline.spark.sources.option_check import NO_QUERY
from eddyline.spark.storage import files
from eddyline.spark.storage.directory import path_segment
from eddyline.spark.storage.job_checkpoint import Checkpoint
from eddyline.sql.naming import require_name
from eddyline.sql.placeholders import with_values

#: No column of a stream or table has a declared number of distinct values.
NOTHING: Final[Mapping[str, float]] = MappingProxyType({})
_log = logging.getLogger(__name__)


class Session:
    """Streams, tables and queries, to be started as one Spark job.

    Args:
        spark: a Spark session; by default one on all cores of this machine.
        shards: how many shards run side by side, each an engine with a part of the rows: the number
            of Spark's partitions. By default that of the checkpoint, and of a new one the number of
            cores that Spark has. ``eddyline.spark.rescale`` changes it.
        max_shards: into how many shards the same queries are divided at most, and so the largest
            number that the job can be rescaled to; fixed at the first start, by default ``shards``.
            With 1, all queries over connected streams run in one engine, and any query can be added
            later.
        checkpoint: directory for the job's progress and state, on any file system that Spark
            reaches. A session started with the same program and checkpoint continues exactly where
            the last one stopped. By default a temporary directory, deleted with the session; the
            start of a job that runs on then logs a warning.
        trigger: shortest time between two batches (Spark's ``processingTime``).
        base: directory of relative paths in statements; by default the working directory.
        printer: called with the rows of the sink ``print``; by default they are written to standard
            output.
        options: see :class:`eddyline.EngineOptions`. With ``keep`` rows are dropped where they are
            read. ``capacity`` is divided evenly over the groups of streams that queries join; an
            engine runs on one core, so a group never uses more. ``memory`` is divided evenly over
            the shards. SET statements change options
            before the first query; a checkpoint keeps them.
        strategy: see :class:`eddyline.StrategyOptions`; a checkpoint keeps it.
        restart: whether the streaming query is restarted in this process after a failure:
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
        shards: int | None = None,
        max_shards: int | None = None,
        checkpoint: str | Path | None = None,
        trigger: str = "0 seconds",
        base: Path | None = None,
        printer: Printer = print_rows,
        options: EngineOptions = DEFAULTS,
        strategy: StrategyOptions = DEFAULT_STRATEGY,
        restart: Restart = NEVER,
    ) -> None:
        if shards is not None and shards < 1:
            raise ValueError(f"shards must be at least 1, not {shards}")
        if max_shards is not None and max_shards < (shards or 1):
            raise ValueError(f"max_shards must be at least {shards or 1}, not {max_shards}")
        self.spark = spark if spark is not None else local_session(shards)
        self._scratch = tempfile.TemporaryDirectory(prefix="eddyline-")
        path = files.qualified(self.spark, str(checkpoint or self._scratch.name))
        self._checkpoint = Checkpoint(
            path, files.directory(self.spark, path), checkpoint is not None
        )
        self._options = JobOptions(shards, max_shards, trigger, base, printer, restart)
        ahead = options.ahead_at_most or AHEAD_AT_MOST
        self._script = Script(Settings(replace(options, ahead_at_most=ahead), strategy))
        self._inputs = JobInputs(self.spark, self._script, base)
        self._memory = MemorySink()  # shared by all jobs of the session
        self._functions: dict[str, SinkFunction] = {}  # of sinks, by query
        self._starter = JobStarter(
            self.spark,
            self._checkpoint,
            self._options,
            self._script,
            self._inputs,
            self._memory,
            self._functions,
        )
        self._sinks: SinkFactory | None = None  # of the last job
        self._running: RunningQueries | None = None  # of the last job

    def sql(self, script: str) -> list[Query | str | pa.Table | None]:
        """Execute the statements of a script. Returns the query, the explanation, the table
        of SHOW or DESCRIBE, or None of each.

        Raises:
            SqlError, CatalogError: a statement is wrong; those before it have taken effect.
        """
        with without_collections():
            return [result for _, result in self._script.run(script, self._options.base)]

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
        history: DataFrame | Mapping[str, str] | None = None,
        history_until: str | datetime | None = None,
        history_batch_rows: int | None = None,
    ) -> None:
        """Add a stream from a streaming DataFrame.

        Args:
            name: of the stream in queries.
            df: its columns are the stream's.
            timestamp: the event time column.
            lateness: how far a row may be behind the latest one; "5 seconds". lateness_by: whether
                the latest row is that of the batches before, or of all rows before this one.
            idle_after: after this time without rows the stream no longer holds back the watermark
                of its group; if all streams are silent, time goes on. By default it waits for rows.
            ahead_at_most: how far timestamps may be ahead of the wall clock; by default the limit
                of the session.
            ts_unit: unit of numbers in the timestamp column, since 1970: s, ms, us or ns.
            rate: rows per second, if known. distinct: number of distinct values, by column.
            history: rows that are read before those of ``df``, in the order of time: a static
                DataFrame with the same columns, or the options of a source
                (``{"source": "parquet", "path": ...}``).
            history_until: the first instant of which the rows are those of ``df``, and not those of
                the history; by default just after the last row of the history.
            history_batch_rows: rows of histories in a batch, about; by default a million.

        Raises:
            DataError: the DataFrame is static or the history is not, or a column has a type that
                streams cannot have.
        """
        require_name(name)
        rows = history if isinstance(history, DataFrame) else None
        options: dict[str, str] = {} if lateness_by == "batch" else {"lateness_by": lateness_by}
        options |= {} if ts_unit is None else {"ts_unit": ts_unit}
        options |= history_texts(name, history, history_until, history_batch_rows)
        clauses = {"LATENESS": lateness, "IDLE AFTER": idle_after, "AHEAD AT MOST": ahead_at_most}
        known = DeclaredSizes(rate, None, distinct)
        self.sql(create_stream(name, df, timestamp, clauses, options, known))
        self._inputs.set_frame(name, df)
        if rows is not None:
            self._inputs.set_history(name, rows)

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
        """Add a table with the current content of a DataFrame, or a table that changes.

        Args:
            name: of the table in queries.
            df: its initial content; or, if streaming, its changes: the column ``_ts`` (when),
                optionally ``_op`` (``+``, the default, or ``-``), and the columns of the table.
            updates: effect of a change on earlier results: ``retroactive`` changes them,
                ``non-retroactive`` does not. A ``static`` table does not change.
            changes: the changes of a table whose initial content is ``df``.
            rows: number of rows of the table, if known. rate: rows added per second.
            distinct: number of distinct values, by column.

        Raises:
            DataError: a DataFrame is streaming where it must be static or vice versa, or a column
                has a type that tables cannot have.
        """
        require_name(name)
        self.sql(create_table(name, df, updates, changes, DeclaredSizes(rate, rows, distinct)))
        if not df.isStreaming:
            self._inputs.set_content(name, df.toArrow())
        changes = df if df.isStreaming else changes
        if changes is not None:
            self._inputs.set_frame(name, changes)

    def function(
        self,
        name: str,
        evaluate: Callable[..., Any],
        *,
        args: Sequence[str],
        returns: str,
        kind: FunctionKind = "arrow",
    ) -> None:
        """Define a scalar function of SQL in Python, for the statements that follow.

        The code is sent to Spark's workers, as that of Spark's own Python functions is: modules
        that it imports must be installed there. After a restart the code supplied then is called;
        it must be the same, or a retracted result may differ from the delivered one.

        Args:
            name, evaluate, args, returns, kind: as of :meth:`eddyline.Engine.function`.

        Raises:
            CatalogError: the name is taken. SqlError: a type is unknown.
        """
        self._script.function(name, evaluate, args, returns, kind)

    def query(
        self,
        name: str,
        select: str,
        **sink: str | SinkFunction | Mapping[str, Any],
    ) -> Query:
        """Add a standing query.

        Args:
            name: of the query.
            select: a SELECT, optionally with EMIT.
            sink: options as in WITH: ``sink="parquet", path="..."``; by default rows are printed.
                With ``sink=function`` it is called in this process with the number of each batch
                and the rows, a table; for a repeated batch again.
                ``parameters={"name": value}``: the values of ``:name`` in the SELECT, see
                :meth:`Engine.query`.

        Raises:
            SqlError, CatalogError: the SELECT is wrong, or the name taken. DataError: the sink is
                unknown, or one of its options is wrong.
        """
        options: dict[str, str] = {}
        for option, value in sink.items():
            if isinstance(value, str):
                options[option] = value
            elif option == "parameters" and isinstance(value, Mapping):
                select = with_values(select, value)
            elif option == "sink" and callable(value):
                options |= {"sink": "python", "function": name}
            else:
                raise TypeError(f"'{name}': {option} is {value!r}, and text is wanted")
        query = self._script.query(name, select, options)
        function = sink.get("sink")
        if function is not None and callable(function):
            self._functions[name] = function
        return query

    @property
    def queries(self) -> Mapping[str, Query]:
        """The queries by name; after the start those of the job, see :meth:`Run.add`."""
        return self._script.queries if self._running is None else self._running.queries

    @property
    def checkpoint(self) -> str | None:
        """The path of the checkpoint; None: a temporary directory, deleted with the session."""
        return self._checkpoint.path if self._checkpoint.named else None

    def start(self, *, available_now: bool = False, drop: Sequence[str] = ()) -> Run:
        """Check sources and sinks, and start one streaming query for all standing queries.

        Queries that were added to or dropped from the job in earlier runs are added or dropped.

        Args:
            available_now: process the rows that the sources hold now, in batches as configured, and
                stop; ``run.finish()`` then also processes rows held for the watermark.
            drop: queries to drop before any batch is processed, including a repeated one.

        Raises:
            CatalogError: there is no query, or ``keep`` names an unknown stream.
            DataError: a source or sink is missing or does not fit.
            StateError: the checkpoint belongs to another program, cannot be read or written, or is
                in use by another session or process.
        """
        streams = self._script.streams
        for name in self._script.options.keep:
            if name not in streams:
                raise CatalogError(f"there is no stream {name!r}; {did_you_mean(name, streams)}")
        groups = self._script.groups()
        if not groups:
            raise CatalogError(NO_QUERY)
        if not self._checkpoint.named and not available_now:
            _log.warning(
                "progress and state of this job are in the temporary directory %s, which is "
                "deleted with the session: another session cannot continue the job. To keep them, "
                "give a directory: Session(checkpoint=DIR), or eddyline run --checkpoint DIR",
                self._checkpoint.path,
            )
        lease = self._checkpoint.lease()
        try:
            job = self._starter.start(groups, lease, available_now=available_now, drop=drop)
        except BaseException:
            if lease is not None:
                lease.release()
            raise
        self._sinks, self._running = job.sinks, job.queries
        return job.run

    def backtest(
        self,
        since: str | int | datetime,
        to: str | int | datetime,
        *,
        output: str | Path | None = None,
    ) -> Run:
        """Start a job over history alone: of each stream the rows of its history in [since, to), or
        those of its files if it has no history; then the rows held for the watermark and all
        expiries, if ``run.finish()`` is called. Live sources are not read.

        Args:
            since, to: instants, as ISO 8601 text (UTC unless it has a zone), datetimes, or
                microseconds since 1970.
            output: a directory in which each query writes Parquet files to the directory of its
                name, instead of to its sink.

        Raises:
            DataError: a stream has neither a history nor files, or the period is empty. Otherwise
                as :meth:`start`.
        """
        period = instant_us(since), instant_us(to)
        if period[0] >= period[1]:
            raise DataError(f"the period from {since} to {to} is empty")
        self._inputs.period = period
        if output is not None:
            for name in list(self._script.queries):
                path = str(Path(output).resolve() / path_segment(name))
                self._script.redirect(name, {"sink": "parquet", "path": path})
        return self.start(available_now=True)

    def results(self, name: str, *, streaming: bool = False) -> DataFrame:
        """The changes of a query so far, or rows of ``late:stream``, ``bad:stream``, ``bad:query``.

        Args:
            name: a query whose sink is ``memory`` or files, or a side output.
            streaming: as a stream of changes; for file sinks only.

        Raises:
            CatalogError: there is no such output, or its sink cannot be read back.
        """
        known = [] if self._sinks is None else self._sinks.labels()
        found = None if self._sinks is None else self._sinks.find(name)
        if found is None:
            hint = did_you_mean(name, known) if known else "call start() first"
            raise CatalogError(f"there are no results of '{name}'; {hint}")
        target, _, sink = found
        if isinstance(sink, MemorySink) and not streaming:
            return self.spark.createDataFrame(sink.table(target))
        if isinstance(sink, FileSink):
            rows = read_back(self.spark, sink, streaming=streaming)
            if not sink.shared:
                return rows
            return rows.where(F.col(QUERY_COLUMN) == target.name).drop(QUERY_COLUMN)
        raise CatalogError(
            f"the sink of '{name}' cannot be read back; declare it WITH (sink = 'memory'), or a "
            "file format with a path"
        )
