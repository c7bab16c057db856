"""A running job: Spark's StreamingQuery, and progress in terms of streams and queries."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import pyarrow as pa
from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from eddyline.engine.query import Query
from eddyline.errors import StateError
from eddyline.extras import extras_named
from eddyline.spark.operation.progress import BatchListener, JobProgress
from eddyline.spark.operation.run_parts import RunParts
from eddyline.spark.operation.supervisor import Supervisor
from eddyline.spark.root_cause import root_cause
from eddyline.spark.storage.disk import disk_error
from eddyline.spark.storage.lease import Lease

if TYPE_CHECKING:
    from eddyline.spark.operation.http_server import HttpServer

_log = logging.getLogger(__name__)


class Run:
    """A running job, from :meth:`Session.start`. Members have the names of Spark's StreamingQuery.

    Args:
        checkpoint: its path, for messages. supervisor: starts the streaming query from there.
        lease: of the checkpoint.
        bounded: process only the rows that the sources hold at the start.

    Attributes:
        running: the queries with their layouts, for tests and measurements.
    """

    def __init__(
        self,
        checkpoint: str,
        supervisor: Supervisor,
        parts: RunParts,
        lease: Lease | None,
        *,
        bounded: bool,
    ) -> None:
        self._checkpoint = checkpoint
        self._supervisor = supervisor
        self.running = parts.queries
        self._tracker = parts.tracker
        self._answers = parts.answers
        self._delivery = parts.delivery
        self._mailbox = parts.mailbox
        self._lease = lease
        self._sinks = parts.queues
        self._bounded = bounded
        self._finishing = False
        self._stopped = False
        self._servers: list[HttpServer] = []
        self._lost: StateError | None = None  # another job has taken the lease
        self._begin(bounded)
        if lease is not None:
            lease.keep(lambda: self._finishing or self.isActive, self._lose)

    @property
    def id(self) -> str:
        """Identity of the checkpoint: the same after a restart."""
        return self._query.id

    @property
    def status(self) -> dict[str, Any]:
        """Spark's status of the streaming query."""
        return self._query.status

    @property
    def isActive(self) -> bool:
        """Whether the job runs."""
        return self._supervisor.is_active

    @property
    def lastProgress(self) -> Any:
        """Spark's progress of the last batch; None before the first. Of Parquet files on a local
        disk its ``numInputRows`` counts files: see :meth:`on_batch` and :meth:`progress`.
        """
        return self._query.lastProgress

    @property
    def recentProgress(self) -> list[Any]:
        """Spark's progress of the last batches."""
        return list(self._query.recentProgress)

    @property
    def queries(self) -> Mapping[str, Query]:
        """The current queries by name. Later additions and drops have no effect on the result."""
        return self.running.queries

    @property
    def restarts(self) -> int:
        """Number of restarts of the streaming query after failures."""
        return self._supervisor.restarts

    def exception(self) -> StreamingQueryException | StateError | None:
        """Why the job failed; None if it did not."""
        return self._lost or (None if self.isActive else self._query.exception())

    def problem(self) -> str | None:
        """Why the job does not process rows now, in one line; None: it does."""
        if self._finishing or (self.isActive and self._query.isActive):
            return None
        error = self._lost or self._query.exception()
        if error is None:
            return "the job has ended"
        cause = root_cause(error)
        return f"the job failed{', and will be restarted' if self.isActive else ''}: {cause}"

    def serve_http(
        self, address: str = "127.0.0.1:0", *, token: str | None = None, read_only: bool = False
    ) -> HttpServer:
        """Serve the console, ``/healthz``, ``/metrics`` in the text format of Prometheus, and the
        answers of queries at ``/queries/NAME/answer``, until the job ends. It needs the package
        prometheus_client.

        Args:
            address: ``HOST:PORT``; port 0 is any free one.
            token: what requests have to send as ``Authorization: Bearer TOKEN``. Without one only
                a loopback address is possible, and the console only shows.
            read_only: the console only shows, too.

        Raises:
            DataError: the address is none, or needs a token.
            StateError: the job has ended, or the address cannot be used: the port may be in use.
            SetupError: prometheus_client is not installed.
        """
        if not self.isActive:
            raise StateError("the job has ended: it has no metrics any more")
        with extras_named():
            from eddyline.spark.operation.http_server import HttpServer
        server = HttpServer(address, token, read_only=read_only)
        server.serve(self)
        self._servers.append(server)
        return server

    def answer(self, name: str, timeout: float = 30.0) -> pa.Table:
        """Q(now): the rows of a query's answer as of its watermark, as a bag, with the rows that
        the sources had when this was called. It takes a batch, also where no rows come.

        Args:
            timeout: maximum number of seconds to wait for it.

        Raises:
            CatalogError: there is no such query.
            StateError: the query is set aside, or keeps no answer (see
                :meth:`eddyline.engine.query.Query.snapshot`); the answer is too large; or the job
                has ended, or ends before it answers.
            TimeoutError: there was no batch in time.
        """
        self._require_active("ask it for answers")
        return self._answers.get(name, timeout, lambda: self.isActive)

    def progress(self) -> JobProgress:
        """Rows in and out, watermarks, late and bad rows, after the last delivered batch."""
        return self._tracker.progress()

    def shards(self) -> list[dict[str, Any]]:
        """The last report of each shard: watermark, counts, bytes of state, seconds by phase."""
        return self._tracker.shards()

    def graphs(self) -> list[list[dict[str, Any]]]:
        """For the console, the running plan of each shard; see :meth:`ProgressTracker.graphs`."""
        return self._tracker.graphs()

    def follow(self, query: str, call: Callable[[pa.Table, int], None]) -> Callable[[], None]:
        """Call a function with the first changes of a query in each batch, and the number of all,
        in the thread that runs the batches, until the returned function is called.

        Raises:
            CatalogError: there is no such query.
        """
        key, name = uuid4().hex, self.running.shards_of(query)[0].name
        self._delivery.follow(name, key, lambda _, rows, n: call(rows, n))
        return lambda: self._delivery.unfollow(name, key)

    def check(self, script: str) -> None:
        """Check each statement of a script as :meth:`sql` does, without effect."""
        self.running.check(script)

    def on_batch(self, listener: BatchListener) -> None:
        """Call a function after each delivered batch, with its figures: rows by stream and query.

        It is called in the thread that runs the batches, which waits for it; an error that it
        raises is logged, and does not end the job.
        """
        self._tracker.listen(listener)

    def add(self, name: str, select: str, **sink: str) -> Query:
        """Add a query to the running job, with one of the next batches. Of the rows before, its
        windows contain those that the job holds for other queries of its layout. A query that fits
        no layout waits for the end of a batch, and begins with empty windows, and with the current
        rows of tables that change.

        Args:
            name: not used before in this job.
            select: over streams and tables that queries of the job read when it was started.
            sink: options as for :meth:`Session.query`.

        Raises:
            SqlError, DataError: the SELECT or the sink is wrong.
            CatalogError: the name is or was taken, or the query does not fit the job's streams.
            StateError: the job has ended, or ends before a new layout can begin.
        """
        self._require_active()
        return self.running.add(name, select, sink)

    def alter(self, name: str, **sink: str) -> None:
        """Give a query of the running job another sink, from one of the next batches on.

        Args:
            sink: all its options, as for :meth:`Session.query`.

        Raises:
            CatalogError: there is no such query. DataError: the sink is wrong.
            StateError: the job has ended.
        """
        self._require_active()
        self.running.alter(name, sink)

    def drop(self, name: str) -> None:
        """Drop a query from the running job, with one of the next batches. Its delivered rows stay.

        Raises:
            CatalogError: there is no such query, or another one reads it.
            StateError: the job has ended.
        """
        self._require_active()
        self.running.drop(name)

    def reset_watermark(self, stream: str) -> None:
        """Reset the watermark of a stream's group with one of the next batches; see
        :meth:`eddyline.Engine.reset_watermark`.

        Raises:
            CatalogError: the job reads no such stream.
            StateError: the job has ended.
        """
        self._require_active()
        self.running.reset_watermark(stream)

    def sql(self, script: str) -> list[Query | None]:
        """Execute the CREATE QUERY, ALTER QUERY, DROP QUERY and ALTER STREAM ... RESET WATERMARK
        statements of a script, one by one, as :meth:`add`, :meth:`alter`, :meth:`drop` and
        :meth:`reset_watermark` do.

        Raises:
            UnsupportedError: it is another statement. Otherwise as ``add`` and ``drop``; statements
                before the wrong one have taken effect.
        """
        self._require_active()
        return [query for _, query in self.running.run(script)]

    def stats(self) -> dict[str, dict[str, Any]]:
        """Metrics of the current queries: ``Engine.stats()["queries"]``, as of one of the last
        batches.
        """
        queries = self.queries
        return {name: of for name, of in self._tracker.stats().items() if name in queries}

    def _require_active(self, to: str = "add or drop queries") -> None:
        if not self.isActive:
            raise StateError(f"the job has ended: start it again to {to}")

    def awaitTermination(self, timeout: float | None = None) -> bool:
        """Wait until the job ends, at most ``timeout`` seconds; whether it has ended.

        Raises:
            StreamingQueryException: the job failed and is not restarted.
            StateError: a disk is full or broken, or another job has taken the checkpoint; or
                results wait for a sink, at the end of the input that was there at the start.
        """
        try:
            with self._disk_errors():
                ended = self._supervisor.wait(timeout)
            if ended and self._bounded and not self._stopped:
                self._sinks.finish()
            if ended and self._lost is not None:
                raise self._lost
            return ended
        finally:
            if not self.isActive:
                self._close()

    def processAllAvailable(self) -> None:
        """Wait until all rows that the sources hold now have been processed and delivered, or wait
        for a sink that fails (``progress().undelivered``).

        Raises:
            StreamingQueryException, StateError: as of :meth:`awaitTermination`.
        """
        with self._disk_errors():
            self._supervisor.process_all()

    def stop(self, *, after_batch: bool = False, timeout: float = 60.0) -> None:
        """Stop; a later start from the checkpoint continues exactly here.

        Args:
            after_batch: wait until the current batch is committed; otherwise the next start repeats
                it. timeout: maximum number of seconds for this.
        """
        self._stopped = True
        _log.info("the job is stopped%s", " after the current batch" if after_batch else "")
        if after_batch:
            self._supervisor.end_batch(timeout)
        self._supervisor.stop()
        self._close()

    def finish(self) -> None:
        """End the input: process the available rows, then the rows held for the watermark, then
        the expiries of all windows, and stop.

        An endless source such as ``rate`` ends with its current rows. Rows in a later run from the
        same checkpoint are late. If another thread stops the job meanwhile, it ends there, as if
        this had not been called.

        Raises:
            StreamingQueryException, StateError: as of :meth:`awaitTermination`.
        """
        self._finishing = True
        try:
            with self._disk_errors():
                if not self._bounded:
                    self._supervisor.stop()
                    self._begin(bounded=True)
                self._supervisor.wait()
                if not self._stopped and self._lost is None:
                    # only now, because it has to follow the last row
                    self.running.end_input()
                    self._begin(bounded=True)
                    self._supervisor.wait()
                    self._sinks.finish()
            if self._lost is not None:
                raise self._lost
        finally:
            self._finishing = False
            if not self.isActive:
                self._close()

    @contextmanager
    def _disk_errors(self) -> Iterator[None]:
        """Turn a failure caused by a disk into an error that names it."""
        try:
            yield
        except StreamingQueryException as e:
            error = disk_error(self._checkpoint, e)
            if error is None:
                raise
            raise error from e

    @property
    def _query(self) -> StreamingQuery:
        return self._supervisor.query

    def _begin(self, bounded: bool) -> None:
        self._sinks.open()
        self._supervisor.begin(bounded=bounded)
        if self._mailbox is not None:
            self._mailbox.open(lambda: self.isActive)

    def _close(self) -> None:
        """After the end of the job: close what serves it and its sinks; release the checkpoint."""
        for server in self._servers:
            server.close()
        self._sinks.close(has_checkpoint=self._lost is None)
        if self._mailbox is not None:
            self._mailbox.close()
        if self._lease is not None:
            self._lease.release()

    def _lose(self, error: StateError) -> None:
        """Stop because another job has taken the checkpoint."""
        self._lost = error
        _log.error("the job stops: %s", error)
        self._sinks.close(has_checkpoint=False)
        self._supervisor.stop()
