"""A running job: Spark's StreamingQuery, and progress in terms of streams and queries."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from eddyline.engine.query import Query
from eddyline.errors import StateError
from eddyline.spark.control import ControlStream
from eddyline.spark.disk import disk_error
from eddyline.spark.lease import Lease
from eddyline.spark.mailbox import Mailbox
from eddyline.spark.progress_tracker import JobProgress, ProgressTracker
from eddyline.spark.running_queries import RunningQueries
from eddyline.spark.supervisor import Supervisor

_log = logging.getLogger(__name__)


class Run:
    """What :meth:`Session.start` returns. Named as Spark's StreamingQuery where it has a name.

    Args:
        checkpoint: its path, for messages. supervisor: starts the streaming query from there.
        queries: the queries, which come and go through the control stream.
        control: it also asks the shards for what they hold back at the end.
        mailbox: where other processes reach the job, if they can. lease: of the checkpoint.
        bounded: whether it first runs over what the sources hold then, and no more.
    """

    def __init__(
        self,
        checkpoint: str,
        supervisor: Supervisor,
        queries: RunningQueries,
        control: ControlStream,
        tracker: ProgressTracker,
        mailbox: Mailbox | None,
        lease: Lease | None,
        *,
        bounded: bool,
    ) -> None:
        self._checkpoint = checkpoint
        self._supervisor = supervisor
        self._queries = queries
        self._control = control
        self._tracker = tracker
        self._mailbox = mailbox
        self._lease = lease
        self._bounded = bounded
        self._finishing = False
        self._stopped = False
        self._lost: StateError | None = None  # another job has the checkpoint
        self._begin(bounded)
        if lease is not None:
            lease.keep(lambda: self._finishing or self.isActive, self._lose)

    @property
    def id(self) -> str:
        """Identity of the checkpoint: the same after a restart."""
        return self._query.id

    @property
    def status(self) -> dict[str, Any]:
        """What the job is doing now, as Spark says it."""
        return self._query.status

    @property
    def isActive(self) -> bool:
        """Whether the job runs."""
        return self._supervisor.is_active

    @property
    def lastProgress(self) -> Any:
        """Spark's progress of the last batch; None before the first."""
        return self._query.lastProgress

    @property
    def recentProgress(self) -> list[Any]:
        """Spark's progress of the last batches."""
        return list(self._query.recentProgress)

    @property
    def restarts(self) -> int:
        """How many times the streaming query was started again after a failure."""
        return self._supervisor.restarts

    def exception(self) -> StreamingQueryException | StateError | None:
        """Why the job failed; None if it did not."""
        return self._lost or (None if self.isActive else self._query.exception())

    def progress(self) -> JobProgress:
        """Rows in and out, watermarks, late and bad rows, after the last delivered batch."""
        return self._tracker.progress()

    def shards(self) -> list[dict[str, Any]]:
        """Each shard's own report: watermark, counts, bytes of state, seconds by phase."""
        return self._tracker.shards()

    def add(self, name: str, select: str, **sink: str) -> Query:
        """Add a query to the running job. It is answered from one of the next batches on, over
        those rows in its windows that the job still holds for others.

        Args:
            name: no query of this job may have had it before.
            select: over streams and tables that queries of the job read when it was started.
            sink: options as for :meth:`Session.query`.

        Raises:
            SqlError, DataError: the SELECT or the sink is wrong.
            CatalogError: the name is taken or was, or the query does not fit the job's streams.
            StateError: the job has ended.
        """
        self._require_active()
        return self._queries.add(name, select, sink)

    def drop(self, name: str) -> None:
        """Drop a query from the running job, with one of the next batches. What it delivered stays.

        Raises:
            CatalogError: there is no such query, or another one reads it.
            StateError: the job has ended.
        """
        self._require_active()
        self._queries.drop(name)

    def reset_watermark(self, stream: str) -> None:
        """Let nothing be late by what has come so far, in the group of a stream, from one of the
        next batches on: as :meth:`eddyline.Engine.reset_watermark` does.

        Raises:
            CatalogError: the job reads no such stream.
            StateError: the job has ended.
        """
        self._require_active()
        self._queries.reset_watermark(stream)

    def sql(self, script: str) -> list[Query | None]:
        """Carry out the CREATE QUERY, DROP QUERY and ALTER STREAM ... RESET WATERMARK statements of
        a script, one after the other, as :meth:`add`, :meth:`drop` and :meth:`reset_watermark` do.

        Raises:
            UnsupportedError: another statement is among them. Otherwise as ``add`` and ``drop``;
                statements before the wrong one have taken effect.
        """
        self._require_active()
        return [made for _, made in self._queries.run(script)]

    def stats(self) -> dict[str, dict[str, Any]]:
        """By query what it has taken and given so far: ``Engine.stats()["queries"]``, as of one of
        the last batches.
        """
        return self._tracker.stats()

    def _require_active(self) -> None:
        if not self.isActive:
            raise StateError("the job has ended: start it again to add or drop queries")

    def awaitTermination(self, timeout: float | None = None) -> bool:
        """Wait until the job ends, at most ``timeout`` seconds; whether it has ended.

        Raises:
            StreamingQueryException: the job failed, for the last time if it is started again.
            StateError: a disk is full or broken, or another job has taken the checkpoint.
        """
        try:
            with self._disk_named():
                ended = self._supervisor.wait(timeout)
            if ended and self._lost is not None:
                raise self._lost
            return ended
        finally:
            if not self.isActive:
                self._close()

    def processAllAvailable(self) -> None:
        """Wait until everything that the sources hold now has been processed and delivered.

        Raises:
            StreamingQueryException, StateError: as of :meth:`awaitTermination`.
        """
        with self._disk_named():
            self._supervisor.process_all()

    def stop(self, *, after_batch: bool = False, timeout: float = 60.0) -> None:
        """Stop; a later start from the checkpoint continues exactly here.

        Args:
            after_batch: let the batch end that is being processed, rather than process it again at
                the next start. timeout: no longer than so many seconds.
        """
        self._stopped = True
        if after_batch:
            self._supervisor.end_batch(timeout)
        self._supervisor.stop()
        self._close()

    def finish(self) -> None:
        """Declare that no more input comes: process what is there, then the rows that are held for
        the watermark, then the expiries of all windows; and stop.

        A source that never ends, such as ``rate``, ends with what it has now.

        Rows that arrive in a later run from the same checkpoint would be late. If another thread
        stops the job meanwhile, it ends there, as if this had not been called.

        Raises:
            StreamingQueryException, StateError: as of :meth:`awaitTermination`.
        """
        self._finishing = True
        try:
            with self._disk_named():
                if not self._bounded:
                    self._supervisor.stop()
                    self._begin(bounded=True)
                self._supervisor.wait()
                if not self._stopped and self._lost is None:
                    # only now: it must come behind the last row
                    self._control.end_of_input(self._queries.drain_us())
                    self._begin(bounded=True)
                    self._supervisor.wait()
            if self._lost is not None:
                raise self._lost
        finally:
            self._finishing = False
            if not self.isActive:
                self._close()

    @contextmanager
    def _disk_named(self) -> Iterator[None]:
        """A failure because of a disk names it."""
        try:
            yield
        except StreamingQueryException as e:
            trouble = disk_error(self._checkpoint, e)
            if trouble is None:
                raise
            raise trouble from e

    @property
    def _query(self) -> StreamingQuery:
        return self._supervisor.query

    def _begin(self, bounded: bool) -> None:
        self._supervisor.begin(bounded=bounded)
        if self._mailbox is not None:
            self._mailbox.open(lambda: self.isActive)

    def _close(self) -> None:
        """The job has ended: others are told, and may go on from the checkpoint."""
        if self._mailbox is not None:
            self._mailbox.close()
        if self._lease is not None:
            self._lease.release()

    def _lose(self, error: StateError) -> None:
        """Another job has the checkpoint: what this one would do is not to be done."""
        self._lost = error
        _log.error("the job stops: %s", error)
        self._supervisor.stop()
