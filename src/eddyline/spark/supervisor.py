"""Keeps the streaming query of a job running: one that failed is started again, if that is wanted.

A failed batch was not committed, so the query that is started again runs it anew, with the same
rows and the same effect: what is guaranteed after a restart of the process holds here.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.query import StreamingQuery

from eddyline.spark.root_cause import root_cause

_log = logging.getLogger(__name__)
_LOOK_S: Final = 0.02


@dataclass(frozen=True)
class Restart:
    """Whether the streaming query of a job is started again when it has failed, in this process.

    Attributes:
        limit: how many times in a row, without a batch that succeeds in between; 0: never.
        first_s: how long to wait before the first time; each further time twice as long.
        most_s: no longer than this.
    """

    limit: int = 0
    first_s: float = 1.0
    most_s: float = 60.0

    def __post_init__(self) -> None:
        if self.limit < 0 or self.first_s < 0 or self.most_s < 0:
            raise ValueError(f"limit and seconds of a restart cannot be negative: {self}")

    def wait_s(self, failures: int) -> float:
        """How long to wait after so many failures in a row.

        >>> [Restart(9, first_s=1, most_s=5).wait_s(n) for n in (1, 2, 3, 4, 2000)]
        [1.0, 2.0, 4.0, 5, 5]
        """
        return min(self.first_s * 2.0 ** min(failures - 1, 60), self.most_s)


NEVER: Final = Restart()
ON_FAILURE: Final = Restart(limit=5)


class Supervisor:
    """Starts the streaming query of a job, again and again if need be.

    Args:
        launch: starts it from the checkpoint; with True, over a bounded input.
        restart: when. delivered: the id of the last batch that was delivered.

    Attributes:
        restarts: how many times it was started again after a failure.
    """

    def __init__(
        self,
        launch: Callable[[bool], StreamingQuery],
        restart: Restart,
        delivered: Callable[[], int | None],
    ) -> None:
        self.restarts = 0
        self._launch = launch
        self._restart = restart
        self._delivered = delivered
        self._stopping = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._query: StreamingQuery | None = None

    def begin(self, *, bounded: bool) -> None:
        """Start the query; none must be running."""
        self._stopping.clear()
        self._query = self._launch(bounded)
        self._thread = None
        if self._restart.limit:
            self._thread = threading.Thread(
                target=self._watch, args=(bounded,), name="eddyline-restart", daemon=True
            )
            self._thread.start()

    @property
    def query(self) -> StreamingQuery:
        """The query that was started last."""
        assert self._query is not None, "the job has begun"
        return self._query

    @property
    def is_active(self) -> bool:
        """Whether the query runs, or is going to be started again."""
        return (self._thread is not None and self._thread.is_alive()) or self.query.isActive

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until the query has ended for good, at most so long; whether it has.

        Raises:
            StreamingQueryException: it failed.
        """
        until = None if timeout_s is None else time.monotonic() + timeout_s
        if self._thread is not None:
            self._thread.join(timeout_s)
            if self._thread.is_alive():
                return False
        if until is None:
            self.query.awaitTermination()
            return True
        return bool(self.query.awaitTermination(max(1, math.ceil(until - time.monotonic()))))

    def process_all(self) -> None:
        """Wait until everything that the sources hold now has been processed and delivered.

        Raises:
            StreamingQueryException: the query failed for good.
        """
        while True:
            query = self.query
            try:
                query.processAllAvailable()
                return
            except StreamingQueryException:
                while self.query is query and self.is_active:
                    time.sleep(_LOOK_S)
                if self.query is query:
                    raise

    def end_batch(self, timeout_s: float) -> bool:
        """Wait until the batch that is being processed has been committed, at most so long; whether
        it has.
        """
        until = time.monotonic() + timeout_s
        query = self.query
        before = _last_batch(query)
        while query.isActive and query.status["isTriggerActive"] and _last_batch(query) == before:
            if time.monotonic() > until:
                return False
            time.sleep(_LOOK_S)
        return True

    def stop(self) -> None:
        """Stop the query, and do not start it again."""
        self._stopping.set()
        with self._lock:
            self.query.stop()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def _watch(self, bounded: bool) -> None:
        """Start the query again as long as it fails and that is wanted."""
        failures, last = 0, self._delivered()
        failure: Exception | None = self._failure()
        while failure is not None and not self._stopping.is_set():
            failures = failures + 1 if self._delivered() == last else 1
            last = self._delivered()
            if failures > self._restart.limit:
                return
            wait_s = self._restart.wait_s(failures)
            _log.warning(
                "the job failed; it is started again in %g s (%d of at most %d times in a row): %s",
                wait_s,
                failures,
                self._restart.limit,
                root_cause(failure),
            )
            self._stopping.wait(wait_s)
            failure = self._started_again(bounded)

    def _started_again(self, bounded: bool) -> Exception | None:
        """Start the query again, and wait for its end; why it failed, None if it did not."""
        with self._lock:
            if self._stopping.is_set():
                return None
            try:
                self._query = self._launch(bounded)
            except Exception as e:
                return e
            self.restarts += 1
        return self._failure()

    def _failure(self) -> StreamingQueryException | None:
        """Wait until the query ends; why it failed, None if it did not."""
        try:
            self.query.awaitTermination()
        except StreamingQueryException as e:
            return e
        return None


def _last_batch(query: StreamingQuery) -> int | None:
    progress = query.lastProgress
    return None if progress is None else int(progress["batchId"])
